//! Folds records into loops.

use std::collections::BTreeMap;

use gate_core::decide::evidence::Evidence;
use gate_core::decide::signal::{Signal, Status};
use gate_core::decide::spent::Spent;
use gate_core::history::kind;
use gate_core::ledger::Sealed;
use gate_core::{Decision, Verdict};
use jiff::Timestamp;
use serde_json::Value;

use super::{CheckRecord, IterationRecord, LoopRecord, LoopState, Usage};
use crate::failure::Failure;
use crate::memory::decision_of;
use crate::record::Record;
use crate::render::card::next_step;

/// The loops of these records of a project, in the order in which they began.
///
/// # Errors
///
/// A record that cannot be read.
pub(crate) fn fold(project: &str, records: &[Sealed]) -> Result<Vec<LoopRecord>, Failure> {
    let mut loops: BTreeMap<&str, Open> = BTreeMap::new();
    for sealed in records {
        let Some(run) = sealed.record.run.as_deref() else { continue };
        if kind::is_decision(&sealed.record.kind) {
            let record = decision_of(sealed)?;
            loops.entry(run).or_default().decided(record);
        } else if sealed.record.kind == kind::RUN_ENDED
            && let Some(open) = loops.get_mut(run)
        {
            open.end = Some(sealed);
        }
    }
    let mut loops: Vec<_> =
        loops.into_iter().filter_map(|(run, open)| open.into_record(project, run)).collect();
    loops.sort_by(|one, other| one.started.cmp(&other.started));
    Ok(loops)
}

/// A loop while its records are read.
#[derive(Default)]
struct Open<'r> {
    iterations: Vec<IterationRecord>,
    last: Option<Record>,
    end: Option<&'r Sealed>,
}

impl Open<'_> {
    fn decided(&mut self, record: Record) {
        self.iterations.push(iteration(&record));
        self.last = Some(record);
    }

    fn into_record(self, project: &str, run: &str) -> Option<LoopRecord> {
        let Self { iterations, last, end } = self;
        let last = last?;
        let started = started(iterations.first()?);
        let ended = end.map_or(&last.time, |end| &end.record.time).clone();
        let usage = iterations.iter().fold(Usage::default(), |sum, one| sum.plus(one.usage));
        let state = state(&last, end);
        let why = match end {
            Some(end) => text(end, "message").to_owned(),
            None => first_reason(&last),
        };
        let is_done = state == LoopState::Done && last.decision.verified;
        Some(LoopRecord {
            project: project.to_owned(),
            run: run.to_owned(),
            task: last.task.clone(),
            agent: last.transcript.format.clone(),
            model: last.transcript.model.clone(),
            state,
            why,
            next: if is_done { None } else { next_step(&last.decision) },
            duration_ms: between(&started, &ended),
            started,
            ended,
            usage,
            breaker: last.decision.breaker.state,
            iterations,
        })
    }
}

/// The end of a loop counts more than its last decision: a person may have stopped it since.
fn state(last: &Record, end: Option<&Sealed>) -> LoopState {
    match end.map(|end| text(end, "stopped_by")) {
        Some("completed") => LoopState::Done,
        Some("blocked") => LoopState::Blocked,
        Some(_) => LoopState::Stopped,
        None if last.decision.released.is_some() => LoopState::Released,
        None => match last.decision.verdict {
            Verdict::Exit => LoopState::Done,
            Verdict::Tripped => LoopState::Stopped,
            Verdict::Blocked => LoopState::Blocked,
            Verdict::Continue => LoopState::Open,
        },
    }
}

/// A decision as an iteration of its loop.
pub(crate) fn iteration(record: &Record) -> IterationRecord {
    let decision = &record.decision;
    let before = decision.memory.as_ref().map(|memory| memory.run.spent.clone());
    IterationRecord {
        seq: record.ledger.as_ref().map_or(0, |place| place.seq),
        decision_id: record.decision_id.clone(),
        iteration: record.iteration.unwrap_or_default(),
        time: record.time.clone(),
        verdict: decision.verdict,
        released: decision.released,
        forced: decision.forced,
        verified: decision.verified,
        claim: decision.signal.status,
        claim_reason: claim_reason(&decision.signal),
        reason: decision.reasons.first().map(|reason| reason.code),
        why: first_reason(record),
        checks: decision.evidence.iter().map(check).collect(),
        changed: changed(decision),
        changed_files: decision.observed.tree.as_ref().and_then(|tree| tree.changed_files),
        agent_ms: record.transcript.duration_ms,
        decision_ms: record.duration_ms,
        usage: used(before.as_ref(), decision.spent().as_ref(), record),
    }
}

/// True if the iteration left another work tree than the one before, or than the run found.
fn changed(decision: &Decision) -> Option<bool> {
    let tree = decision.observed.tree.as_ref()?;
    match decision.memory.as_ref().and_then(|memory| memory.run.tree.as_ref()) {
        Some(earlier) => Some(tree.before != *earlier),
        None => tree.uncommitted,
    }
}

/// The use of one iteration: the growth of the run's use. A record without state has only
/// the transcript's own figures.
fn used(before: Option<&Spent>, after: Option<&Spent>, record: &Record) -> Usage {
    match before.zip(after) {
        Some((before, after)) => Usage::new(
            after.tokens.saturating_sub(before.tokens),
            after.cost_micro_usd.saturating_sub(before.cost_micro_usd),
        ),
        None => Usage::new(
            record.transcript.tokens.unwrap_or_default(),
            record.transcript.cost_micro_usd.unwrap_or_default(),
        ),
    }
}

fn check(evidence: &Evidence) -> CheckRecord {
    CheckRecord {
        check: evidence.check.clone(),
        outcome: evidence.outcome,
        duration_ms: evidence.duration_ms,
        summary: evidence.summary.clone(),
        excerpt: evidence.excerpt.clone(),
        flaky: evidence.flaky.clone(),
    }
}

fn claim_reason(signal: &Signal) -> Option<String> {
    let Signal { reason, remaining_work, .. } = signal;
    match signal.status {
        Status::Continue => remaining_work.clone().or_else(|| reason.clone()),
        _ => reason.clone(),
    }
}

fn first_reason(record: &Record) -> String {
    record.decision.reasons.first().map(|reason| reason.message.clone()).unwrap_or_default()
}

/// When an iteration began: its decision's time less the time of the agent and the checks.
fn started(first: &IterationRecord) -> String {
    let took = first.agent_ms.unwrap_or_default().saturating_add(first.decision_ms);
    let took = i64::try_from(took).map(jiff::SignedDuration::from_millis);
    match (first.time.parse::<Timestamp>(), took) {
        (Ok(time), Ok(took)) => time.checked_sub(took).unwrap_or(time).to_string(),
        _ => first.time.clone(),
    }
}

/// Milliseconds from one time to another; 0 if one of them cannot be read.
fn between(from: &str, to: &str) -> u64 {
    match (from.parse::<Timestamp>(), to.parse::<Timestamp>()) {
        (Ok(from), Ok(to)) => {
            u64::try_from(to.duration_since(from).as_millis()).unwrap_or_default()
        }
        _ => 0,
    }
}

/// A text in the body of a record; empty if there is none.
fn text<'r>(sealed: &'r Sealed, key: &str) -> &'r str {
    sealed.record.body.get(key).and_then(Value::as_str).unwrap_or_default()
}
