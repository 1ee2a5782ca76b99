//! `gate.report.v1`: loops, and the figures over all of them.

use std::collections::BTreeMap;

use gate_core::Verdict;
use gate_core::decide::evidence::Outcome;
use gate_core::decide::signal::Status;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::behind::BehindClaims;
use crate::loops::{CheckRecord, IterationRecord, LoopRecord, LoopState, Usage};

/// Loops of some time, and the figures over all of them.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ReportRecord {
    /// Always `gate.report.v1`.
    pub schema: &'static str,
    /// The beginning of the time (RFC 3339, UTC); none if the report is of one loop.
    pub since: Option<String>,
    /// Its end.
    pub until: String,
    /// The figures over all loops.
    pub totals: Totals,
    /// The loops, in the order in which they began.
    pub loops: Vec<LoopRecord>,
    /// Refused claims by the code of the first reason, the most frequent first.
    pub refusals: Vec<Refusals>,
    /// The checks, the slowest first.
    pub checks: Vec<CheckFigures>,
    /// The agents, by name.
    pub agents: Vec<AgentFigures>,
    /// The checks behind the claims, as the transcripts in run folders show them.
    pub behind: Option<BehindClaims>,
}

/// Figures over all loops.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Totals {
    /// All loops.
    pub loops: u64,
    /// Loops whose work is done.
    pub done: u64,
    /// Loops that a breaker, a budget, a limit or a person ended.
    pub stopped: u64,
    /// Loops that need a person.
    pub blocked: u64,
    /// Sessions that a hook let go.
    pub released: u64,
    /// Loops without a recorded end.
    pub open: u64,
    /// Loops whose gate is gone without a recorded end.
    pub died: u64,
    /// Decisions.
    pub iterations: u64,
    /// Claims of completion.
    pub claims: u64,
    /// Claims of completion that did not end the loop.
    pub refused: u64,
    /// Tokens and money.
    pub usage: Usage,
    /// The loops' times together, in milliseconds.
    pub duration_ms: u64,
}

/// Refused claims for one reason.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Refusals {
    /// The reason's code.
    pub code: &'static str,
    /// The number of refused claims.
    pub count: u64,
}

/// Figures of a check.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct CheckFigures {
    /// The check's name.
    pub check: String,
    /// Runs with an outcome.
    pub runs: u64,
    /// Runs that did not pass.
    pub failed: u64,
    /// Runs in which a test failed first and passed then.
    pub flaky: u64,
    /// The longest run in milliseconds.
    pub slowest_ms: u64,
    /// All runs together, in milliseconds.
    pub total_ms: u64,
}

/// Figures of an agent.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct AgentFigures {
    /// The client and the model; without a client, the agent or the format of its output.
    pub agent: String,
    /// The program that wrote the outputs, if their format tells.
    pub client: Option<String>,
    /// The model, if the transcripts name it.
    pub model: Option<String>,
    /// Its loops.
    pub loops: u64,
    /// Loops whose work is done.
    pub done: u64,
    /// Claims of completion.
    pub claims: u64,
    /// Claims of completion that did not end the loop.
    pub refused: u64,
    /// Tokens and money.
    pub usage: Usage,
    /// The cost of a loop whose work is done, in dollars; none if no work is done or no cost
    /// is known.
    pub cost_per_done_usd: Option<f64>,
}

impl ReportRecord {
    /// The figures of these loops, which ended between two times.
    pub fn new(loops: Vec<LoopRecord>, since: Option<Timestamp>, until: Timestamp) -> Self {
        Self {
            schema: "gate.report.v1",
            since: since.map(|since| since.to_string()),
            until: until.to_string(),
            totals: totals(&loops),
            refusals: refusals(&loops),
            checks: checks(&loops),
            agents: agents(&loops),
            behind: None,
            loops,
        }
    }
}

/// True for a claim of completion that did not end the loop.
pub(crate) fn is_refused(iteration: &IterationRecord) -> bool {
    iteration.claim == Status::Complete
        && iteration.verdict != Verdict::Exit
        && iteration.released.is_none()
}

fn totals(loops: &[LoopRecord]) -> Totals {
    let mut totals = Totals::default();
    for one in loops {
        totals.loops += 1;
        match one.state {
            LoopState::Done => totals.done += 1,
            LoopState::Stopped => totals.stopped += 1,
            LoopState::Blocked => totals.blocked += 1,
            LoopState::Released => totals.released += 1,
            LoopState::Open => totals.open += 1,
            LoopState::Died => totals.died += 1,
        }
        totals.iterations += one.iterations.len() as u64;
        totals.claims += claims(one);
        totals.refused += refused(one);
        totals.usage = totals.usage.plus(one.usage);
        totals.duration_ms = totals.duration_ms.saturating_add(one.duration_ms);
    }
    totals
}

fn claims(one: &LoopRecord) -> u64 {
    let claims = one.iterations.iter().filter(|iteration| iteration.claim == Status::Complete);
    claims.count() as u64
}

pub(crate) fn refused(one: &LoopRecord) -> u64 {
    one.iterations.iter().filter(|iteration| is_refused(iteration)).count() as u64
}

fn refusals(loops: &[LoopRecord]) -> Vec<Refusals> {
    let mut counts = BTreeMap::new();
    for iteration in loops.iter().flat_map(|one| &one.iterations) {
        if let Some(reason) = iteration.reason
            && is_refused(iteration)
        {
            *counts.entry(reason.code()).or_default() += 1;
        }
    }
    let mut refusals: Vec<_> =
        counts.into_iter().map(|(code, count)| Refusals { code, count }).collect();
    refusals.sort_by_key(|one| std::cmp::Reverse(one.count));
    refusals
}

fn checks(loops: &[LoopRecord]) -> Vec<CheckFigures> {
    let mut by_name: BTreeMap<&str, CheckFigures> = BTreeMap::new();
    for check in loops.iter().flat_map(|one| &one.iterations).flat_map(|one| &one.checks) {
        if check.outcome == Outcome::Skipped {
            continue;
        }
        by_name.entry(&check.check).or_default().add(check);
    }
    let mut checks: Vec<_> = by_name.into_values().collect();
    checks.sort_by_key(|check| std::cmp::Reverse(check.slowest_ms));
    checks
}

impl CheckFigures {
    fn add(&mut self, check: &CheckRecord) {
        self.check.clone_from(&check.check);
        self.runs += 1;
        self.failed += u64::from(check.outcome != Outcome::Pass);
        self.flaky += u64::from(!check.flaky.is_empty());
        self.slowest_ms = self.slowest_ms.max(check.duration_ms);
        self.total_ms = self.total_ms.saturating_add(check.duration_ms);
    }
}

fn agents(loops: &[LoopRecord]) -> Vec<AgentFigures> {
    let mut by_name: BTreeMap<String, AgentFigures> = BTreeMap::new();
    for one in loops {
        let agent = agent_name(one);
        let figures = by_name.entry(agent.clone()).or_default();
        figures.agent = agent;
        figures.client.clone_from(&one.client);
        figures.model.clone_from(&one.model);
        figures.loops += 1;
        figures.done += u64::from(one.state == LoopState::Done);
        figures.claims += claims(one);
        figures.refused += refused(one);
        figures.usage = figures.usage.plus(one.usage);
    }
    let mut agents: Vec<_> = by_name.into_values().collect();
    for agent in &mut agents {
        if agent.done > 0 && agent.usage.cost_micro_usd > 0 {
            agent.cost_per_done_usd = Some(agent.usage.cost_usd / agent.done as f64);
        }
    }
    agents
}

/// The client, or without one the agent, and the model of a loop.
pub(crate) fn agent_name(one: &LoopRecord) -> String {
    match (one.client.as_ref().or(one.agent.as_ref()), &one.model) {
        (Some(agent), Some(model)) => format!("{agent}, {model}"),
        (Some(name), None) | (None, Some(name)) => name.clone(),
        (None, None) => "unknown".to_owned(),
    }
}
