//! Adds up what messages have cost.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Messages that are remembered, so that each is counted once.
const MAX_MESSAGES: usize = 256;

/// A sum over messages. One that is written again counts with its last value.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// The digest of each message's id, if it has one, and its count.
    messages: VecDeque<(Option<u64>, u64)>,
    earlier: Option<u64>,
}

impl Tally {
    /// The message with this id has cost `count`; without an id it is one of
    /// its own.
    pub(super) fn count(&mut self, id: &str, count: u64) {
        // Most messages are new and are compared with all that are remembered: digests
        // make that cheap.
        let digest = (!id.is_empty()).then(|| {
            let mut hasher = DefaultHasher::new();
            id.hash(&mut hasher);
            hasher.finish()
        });
        let known = self.messages.iter_mut().rfind(|(known, _)| *known == digest);
        if digest.is_some()
            && let Some((_, old)) = known
        {
            *old = count;
            return;
        }
        if self.messages.len() == MAX_MESSAGES
            && let Some((_, old)) = self.messages.pop_front()
        {
            self.earlier = Some(self.earlier.unwrap_or(0).saturating_add(old));
        }
        self.messages.push_back((digest, count));
    }

    /// The sum; `None` if there was nothing to add up.
    pub(super) fn total(&self) -> Option<u64> {
        let counts = self.messages.iter().map(|(_, count)| *count);
        counts.chain(self.earlier).reduce(u64::saturating_add)
    }
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
