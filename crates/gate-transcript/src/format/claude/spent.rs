//! Tokens, cost and duration of a run of Claude Code.

use crate::claude_like::Tokens;
use crate::out::Out;
use crate::tally::Tally;
use crate::{Fact, Usage};

/// Adds up usage. A result counts what its turn used, so that messages count
/// only if no result follows; cost is cumulative within a call of the client.
#[derive(Debug, Default)]
pub(super) struct Spent {
    results: Option<u64>,
    messages: Tally,
    /// True if lines were left out, so that the sums are not known.
    lost: bool,
    /// Calls of the client, as far as results tell.
    calls: u64,
    earlier_cost: u64,
    cost: Option<u64>,
    duration: Option<u64>,
}

impl Spent {
    /// One API message is split over several records: the last one counts.
    pub(super) fn message(&mut self, id: &str, tokens: Tokens) {
        self.messages.count(id, tokens.total().unwrap_or(0));
    }

    /// Lines were left out: of the sums only those are known that the client itself keeps.
    pub(super) fn lose(&mut self) {
        self.lost = true;
    }

    /// A result's usage replaces that of its messages.
    pub(super) fn result(&mut self, tokens: Option<Tokens>, duration: Option<u64>) {
        if let Some(tokens) = tokens {
            add(&mut self.results, tokens.total().unwrap_or(0));
            self.messages = Tally::default();
        }
        if let Some(duration) = duration {
            add(&mut self.duration, duration);
        }
    }

    /// The session's cost so far, as the client's file of the session has it.
    pub(super) fn cost(&mut self, micro: Option<u64>) {
        self.cost = micro.or(self.cost);
    }

    /// The cost of a call so far, by its result with this number in the call. A sum that shrank is
    /// another call's; without a number a result may be either's.
    pub(super) fn cost_of_call(&mut self, number: Option<u64>, micro: Option<u64>) {
        let has_shrunk = micro.zip(self.cost).is_some_and(|(now, before)| now < before);
        if number == Some(0) || has_shrunk {
            self.next_session();
        }
        if number.is_none_or(|number| number == 0) {
            self.calls += 1;
        }
        self.cost(micro);
    }

    /// The session's duration so far, if the client adds it up itself.
    pub(super) fn duration(&mut self, milliseconds: Option<u64>) {
        self.duration = milliseconds.or(self.duration);
    }

    /// Another session begins, and its cost from zero.
    pub(super) fn next_session(&mut self) {
        self.earlier_cost = self.earlier_cost.saturating_add(self.cost.take().unwrap_or(0));
    }

    /// Sends the totals, if there are any.
    pub(super) fn send(&self, out: &mut Out<'_>) {
        let tokens = self.messages.total().into_iter().chain(self.results);
        let tokens = tokens.reduce(u64::saturating_add);
        let cost = self.cost.or((self.earlier_cost > 0).then_some(0));
        let cost_micro_usd = cost.map(|cost| cost.saturating_add(self.earlier_cost));
        let (tokens, duration_ms) = if self.lost { (None, None) } else { (tokens, self.duration) };
        let usage = Usage { tokens, cost_micro_usd, duration_ms, is_of_call: false };
        if usage != Usage::default() {
            out.fact(Fact::Usage(Usage { is_of_call: self.calls == 1 && !self.lost, ..usage }));
        }
    }
}

fn add(sum: &mut Option<u64>, more: u64) {
    *sum = Some(sum.unwrap_or(0).saturating_add(more));
}
