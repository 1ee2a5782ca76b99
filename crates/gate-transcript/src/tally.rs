//! Adds up what messages have cost.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Messages that are remembered, so that each is counted once: clients write the records
/// of one message together, and those of a few agents in turns.
const MAX_MESSAGES: usize = 64;

/// A sum over messages. One that is written again counts with its last value.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// The digest of each message's id; [`NO_ID`] without one.
    digests: VecDeque<u64>,
    /// The count of each message, in the same order.
    counts: VecDeque<u64>,
    /// The sum over the messages that are no longer remembered.
    forgotten: Option<u64>,
}

impl Tally {
    /// The message with this id has cost `count`; without an id it is one of
    /// its own.
    pub(super) fn count(&mut self, id: &str, count: u64) {
        let digest = digest(id);
        // Most messages are new and are compared with all that are remembered, which is
        // cheap for numbers side by side.
        if digest != NO_ID
            && self.digests.contains(&digest)
            && let Some(at) = self.digests.iter().position(|counted| *counted == digest)
        {
            self.counts[at] = count;
            return;
        }
        if self.counts.len() == MAX_MESSAGES
            && let Some(oldest) = self.counts.pop_front()
        {
            self.digests.pop_front();
            self.forgotten = Some(self.forgotten.unwrap_or(0).saturating_add(oldest));
        }
        self.digests.push_back(digest);
        self.counts.push_back(count);
    }

    /// The sum; `None` if there was nothing to add up.
    pub(super) fn total(&self) -> Option<u64> {
        self.counts.iter().copied().chain(self.forgotten).reduce(u64::saturating_add)
    }
}

/// The digest of no id.
const NO_ID: u64 = 0;

fn digest(id: &str) -> u64 {
    if id.is_empty() {
        return NO_ID;
    }
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::{MAX_MESSAGES, Tally};

    #[test]
    fn a_message_counts_once() {
        let mut tally = Tally::default();
        assert_eq!(tally.total(), None);
        for (id, count) in [("a", 3), ("b", 4), ("a", 5), ("", 1), ("", 1)] {
            tally.count(id, count);
        }
        assert_eq!(tally.total(), Some(11));
        (0..MAX_MESSAGES).for_each(|n| tally.count(&n.to_string(), 1));
        assert_eq!(tally.total(), Some(11 + MAX_MESSAGES as u64));
    }
}
