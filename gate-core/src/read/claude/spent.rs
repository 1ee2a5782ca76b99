//! What a run of Claude Code has cost.

use std::collections::VecDeque;

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
    messages: VecDeque<(String, u64)>,
    earlier: Option<u64>,
    earlier_cost: u64,
    cost: Option<u64>,
    duration: Option<u64>,
}

impl Spent {
    /// One API message stands in several records: the last one counts.
    pub(super) fn message(&mut self, id: &str, tokens: Tokens) {
        let total = tokens.total();
        if let Some(known) =
            self.messages.iter_mut().find(|(known, _)| known == id && !id.is_empty())
        {
            known.1 = total;
            return;
        }
        if self.messages.len() == MAX_MESSAGES
            && let Some((_, old)) = self.messages.pop_front()
        {
            add(&mut self.earlier, old);
        }
        self.messages.push_back((id.to_owned(), total));
    }

    /// A result's usage replaces that of its messages.
    pub(super) fn result(&mut self, tokens: Option<Tokens>, duration: Option<u64>) {
        if let Some(tokens) = tokens {
            add(&mut self.results, tokens.total());
            self.messages.clear();
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
        let usage = Usage { tokens, cost_micro_usd, duration_ms: self.duration };
        if usage != Usage::default() {
            out.fact(Fact::Usage(usage));
        }
    }
}

fn add(sum: &mut Option<u64>, more: u64) {
    *sum = Some(sum.unwrap_or(0).saturating_add(more));
}
