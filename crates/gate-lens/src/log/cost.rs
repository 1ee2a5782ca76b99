//! The cost of the decisions in a log, and their sum.

use std::collections::BTreeSet;
use std::time::Duration;

use gate_core::history::kind;
use gate_core::ledger::Sealed;
use gate_core::text::counted;

use crate::loops::{Usage, iteration};
use gate_card::span;
use gate_core::{Failure, Record};

/// The sum over the decisions of a log.
#[derive(Debug, Default)]
pub struct Costs {
    decisions: u64,
    /// The runs, each with its project if the log has several.
    runs: BTreeSet<(Option<String>, String)>,
    usage: Usage,
    time_ms: u64,
}

impl Costs {
    /// Adds a record, and returns its cost and time in words; none if it is no decision.
    pub fn add(
        &mut self,
        sealed: &Sealed,
        project: Option<&str>,
    ) -> Result<Option<String>, Failure> {
        if !kind::is_decision(&sealed.record.kind) {
            return Ok(None);
        }
        let iteration = iteration(&Record::from_sealed(sealed)?);
        let time_ms = iteration.agent_ms.unwrap_or_default() + iteration.decision_ms;
        self.decisions += 1;
        let run = sealed.record.run.clone();
        self.runs.extend(run.map(|run| (project.map(str::to_owned), run)));
        self.usage = self.usage.plus(iteration.usage);
        self.time_ms = self.time_ms.saturating_add(time_ms);
        Ok(Some(in_words(iteration.usage, time_ms)))
    }

    /// The last line of the log.
    pub fn sum(&self) -> String {
        let Self { decisions, runs, usage, time_ms } = self;
        let (cost, runs) = (in_words(*usage, *time_ms), runs.len());
        let decisions = counted(*decisions, "decision");
        format!("{decisions} in {}: {cost}, {} tokens", counted(runs, "run"), usage.tokens)
    }
}

fn in_words(usage: Usage, time_ms: u64) -> String {
    let time = span(Duration::from_millis(time_ms));
    match usage.dollars() {
        cost if cost.is_empty() => format!("no cost known, {time}"),
        cost => format!("{cost}, {time}"),
    }
}
