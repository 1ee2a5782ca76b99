//! What a run of Claude Code has cost.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hasher};

use super::record::Tokens;
use crate::read::out::Out;
use crate::read::{Fact, Usage};

/// How many messages are remembered to count each of them once.
const MAX_MESSAGES: usize = 64;

/// Adds up usage. A result counts what its turn used, so that messages count
/// only where no result follows; cost is cumulative within a session.
#[derive(Debug, Default)]
pub(super) struct Spent {
    results: Option<u64>,
    messages: VecDeque<(u64, u64)>,
    /// How many of them have a digest with this last byte: most messages are new.
    alike: [[u8; 16]; 16],
    /// Whether some of what was used is not known.
    lost: bool,
    earlier: Option<u64>,
    earlier_cost: u64,
    cost: Option<u64>,
    duration: Option<u64>,
}

impl Spent {
    /// One API message stands in several records: the last one counts.
    pub(super) fn message(&mut self, id: &str, tokens: Tokens) {
        let (id, total) = (digest(id.as_bytes()), tokens.total());
        if *self.alike(id) != 0 && id != NO_ID {
            let known = self.messages.iter_mut().rfind(|(known, _)| *known == id);
            if let Some(known) = known {
                known.1 = total;
                return;
            }
        }
        if self.messages.len() == MAX_MESSAGES
            && let Some((old, used)) = self.messages.pop_front()
        {
            *self.alike(old) -= 1;
            add(&mut self.earlier, used);
        }
        *self.alike(id) += 1;
        self.messages.push_back((id, total));
    }

    /// How many of the messages have a digest that ends like this one.
    fn alike(&mut self, id: u64) -> &mut u8 {
        let byte = id as u8;
        &mut self.alike[usize::from(byte >> 4)][usize::from(byte & 15)]
    }

    /// Some of what was used will not be told: only sums that the client itself
    /// keeps are known.
    pub(super) fn lose(&mut self) {
        self.lost = true;
    }

    /// A result's usage replaces that of its messages.
    pub(super) fn result(&mut self, tokens: Option<Tokens>, duration: Option<u64>) {
        if let Some(tokens) = tokens {
            add(&mut self.results, tokens.total());
            self.messages.clear();
            self.alike = Default::default();
            self.earlier = None;
        }
        if let Some(duration) = duration {
            add(&mut self.duration, duration);
        }
    }

    /// The session's cost so far.
    pub(super) fn cost(&mut self, micro: Option<u64>) {
        self.cost = micro.or(self.cost);
    }

    /// The session's duration so far, where the client adds it up itself.
    pub(super) fn duration(&mut self, milliseconds: Option<u64>) {
        self.duration = milliseconds.or(self.duration);
    }

    /// Another session begins, and its cost from zero.
    pub(super) fn next_session(&mut self) {
        self.earlier_cost = self.earlier_cost.saturating_add(self.cost.take().unwrap_or(0));
    }

    /// Sends the totals, if there are any.
    pub(super) fn send(&self, out: &mut Out<'_>) {
        let counts = self.messages.iter().map(|(_, tokens)| *tokens);
        let counts = counts.chain(self.results).chain(self.earlier);
        let tokens = counts.reduce(u64::saturating_add);
        let cost = self.cost.or((self.earlier_cost > 0).then_some(0));
        let cost_micro_usd = cost.map(|cost| cost.saturating_add(self.earlier_cost));
        let known = |sum: Option<u64>| sum.filter(|_| !self.lost);
        let (tokens, duration_ms) = (known(tokens), known(self.duration));
        let usage = Usage { tokens, cost_micro_usd, duration_ms };
        if usage != Usage::default() {
            out.fact(Fact::Usage(usage));
        }
    }
}

/// The digest of no id.
const NO_ID: u64 = 0;

/// A digest of a message's id.
pub(super) fn digest(id: &[u8]) -> u64 {
    if id.is_empty() {
        return NO_ID;
    }
    let mut hasher = DefaultHasher::new();
    hasher.write(id);
    hasher.finish()
}

fn add(sum: &mut Option<u64>, more: u64) {
    *sum = Some(sum.unwrap_or(0).saturating_add(more));
}
