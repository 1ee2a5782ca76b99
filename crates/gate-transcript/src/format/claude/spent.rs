//! Tokens, cost and duration of a run of Claude Code.

use crate::claude_like::Tokens;
use crate::out::Out;
use crate::tally::Tally;
use crate::{Fact, Usage};

/// Adds up usage. A result counts what its turn used, so that messages count
/// only if no result follows; cost is cumulative within a call of the client.
#[derive(Debug, Default)]
pub(super) struct Spent {
    /// The tokens of results.
    results: Option<u64>,
    /// The tokens of messages that no result counts.
    messages: Tally,
    /// Lines were left out, so that the sums are not known.
    has_gaps: bool,
    /// Calls of the client, as far as results tell.
    calls: u64,
    /// The cost of earlier sessions, in micro-dollars.
    earlier_cost: u64,
    /// The cost of this session, in micro-dollars.
    cost: Option<u64>,
    /// In milliseconds.
    duration: Option<u64>,
}

impl Spent {
    /// One API message is split over several records: the last one counts.
    pub(super) fn message(&mut self, id: &str, tokens: Tokens) {
        self.messages.count(id, tokens.total().unwrap_or(0));
    }

    /// Lines were left out: of the sums only those are known that the client itself keeps.
    pub(super) fn lose(&mut self) {
        self.has_gaps = true;
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
    pub(super) fn cost(&mut self, micro_usd: Option<u64>) {
        self.cost = micro_usd.or(self.cost);
    }

    /// The cost of a call so far, by its result with this number in the call. A sum that shrank is
    /// another call's; without a number a result may be either's.
    pub(super) fn cost_of_call(&mut self, number: Option<u64>, micro_usd: Option<u64>) {
        let costs = micro_usd.zip(self.cost);
        let has_shrunk = costs.is_some_and(|(micro_usd, last_cost)| micro_usd < last_cost);
        if number == Some(0) || has_shrunk {
            self.next_session();
        }
        if number.is_none_or(|number| number == 0) {
            self.calls += 1;
        }
        self.cost(micro_usd);
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
        let counts = self.messages.total().into_iter().chain(self.results);
        let tokens = counts.reduce(u64::saturating_add);
        let session_cost = self.cost.or((self.earlier_cost > 0).then_some(0));
        let usage = Usage {
            tokens: if self.has_gaps { None } else { tokens },
            cost_micro_usd: session_cost.map(|cost| cost.saturating_add(self.earlier_cost)),
            duration_ms: if self.has_gaps { None } else { self.duration },
            is_of_call: false,
        };
        if usage != Usage::default() {
            let is_of_call = self.calls == 1 && !self.has_gaps;
            out.fact(Fact::Usage(Usage { is_of_call, ..usage }));
        }
    }
}

fn add(sum: &mut Option<u64>, added: u64) {
    *sum = Some(sum.unwrap_or(0).saturating_add(added));
}
