//! Folds records into loops.

use std::collections::BTreeMap;

use gate_core::decide::breaker::BreakerState;
use gate_core::decide::evidence::Evidence;
use gate_core::decide::signal::{Signal, Status};
use gate_core::decide::spent::Spent;
use gate_core::history::kind;
use gate_core::ledger::Sealed;
use gate_core::{Decision, Verdict};
use jiff::Timestamp;
use serde_json::Value;

use super::{CheckRecord, IterationRecord, LoopRecord, LoopState, Usage};
use gate_card::next_step;
use gate_core::Failure;
use gate_core::record::Record;

/// The loops of these records of a project, in the order in which they began.
///
/// # Errors
///
/// A record that cannot be read.
pub fn fold(project: &str, records: &[Sealed]) -> Result<Vec<LoopRecord>, Failure> {
    let mut loops: BTreeMap<&str, Open> = BTreeMap::new();
    let mut undecided = Vec::new();
    for sealed in records {
        let Some(run) = sealed.record.run.as_deref() else { continue };
        if kind::is_decision(&sealed.record.kind) {
            let record = Record::from_sealed(sealed)?;
            loops.entry(run).or_default().decided(record);
        } else if sealed.record.kind == kind::RUN_ENDED {
            match loops.get_mut(run) {
                Some(open) if open.goes_on() => open.end = Some(sealed),
                _ => undecided.push(without_decision(project, run, sealed)),
            }
        }
    }
    let decided = loops.into_iter().filter_map(|(run, open)| open.into_record(project, run));
    let mut loops: Vec<_> = decided.chain(undecided).collect();
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

    /// True if its latest record is a decision. An end after another end is one of a loop that
    /// came to no decision.
    fn goes_on(&self) -> bool {
        let place = self.last.as_ref().and_then(|last| last.ledger.as_ref());
        place.map(|place| place.seq) > self.end.map(|end| end.record.seq)
    }

    fn into_record(self, project: &str, run: &str) -> Option<LoopRecord> {
        let Self { iterations, last, end } = self;
        let last = last?;
        let started = started(iterations.first()?);
        let ended = end.map_or(&last.time, |end| &end.record.time).clone();
        let state = state(&last, end);
        let is_done = state == LoopState::Done && last.decision.verified;
        let remedy = end.and_then(|end| stated(end, "next"));
        let next = remedy.or_else(|| next_step(&last.decision));
        Some(LoopRecord {
            project: project.to_owned(),
            run: run.to_owned(),
            state,
            why: end.map_or_else(|| first_reason(&last), |end| text(end, "message").to_owned()),
            next: if is_done { None } else { next },
            duration_ms: between(&started, &ended),
            started,
            ended,
            usage: iterations.iter().fold(Usage::default(), |sum, one| sum.plus(one.usage)),
            breaker: last.decision.breaker.state,
            iterations,
            task: last.task,
            agent: last.transcript.format,
            model: last.transcript.model,
        })
    }
}

/// A loop that ended before any decision, such as one whose agent could not be started.
fn without_decision(project: &str, run: &str, end: &Sealed) -> LoopRecord {
    let (ended, duration_ms) = (end.record.time.clone(), number(end, "duration_ms"));
    LoopRecord {
        project: project.to_owned(),
        run: run.to_owned(),
        task: stated(end, "task"),
        agent: stated(end, "agent"),
        model: None,
        state: end_state(end),
        why: text(end, "message").to_owned(),
        next: stated(end, "next"),
        started: earlier(&ended, duration_ms),
        ended,
        duration_ms,
        usage: Usage::new(number(end, "tokens"), number(end, "cost_micro_usd")),
        breaker: BreakerState::Closed,
        iterations: Vec::new(),
    }
}

fn end_state(end: &Sealed) -> LoopState {
    match text(end, "stopped_by") {
        "completed" => LoopState::Done,
        "blocked" => LoopState::Blocked,
        _ => LoopState::Stopped,
    }
}

/// The end of a loop counts more than its last decision: a person may have stopped it since.
fn state(last: &Record, end: Option<&Sealed>) -> LoopState {
    match end {
        Some(end) => end_state(end),
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
pub fn iteration(record: &Record) -> IterationRecord {
    let decision = &record.decision;
    let before = decision.input.memory.as_ref().map(|memory| memory.run.spent.clone());
    IterationRecord {
        seq: record.ledger.as_ref().map_or(0, |place| place.seq),
        decision_id: record.decision_id.clone(),
        iteration: record.iteration.unwrap_or_default(),
        time: record.time.clone(),
        verdict: decision.verdict,
        released: decision.released,
        forced: decision.forced,
        verified: decision.verified,
        claim: decision.input.signal.status,
        claim_reason: claim_reason(&decision.input.signal),
        reason: decision.reasons.first().map(|reason| reason.code),
        why: first_reason(record),
        checks: decision.input.evidence.iter().map(check).collect(),
        changed: changed(decision),
        changed_files: decision.input.observed.tree.as_ref().and_then(|tree| tree.changed_files),
        agent_ms: record.transcript.duration_ms,
        decision_ms: record.duration_ms,
        usage: used(before.as_ref(), decision.spent().as_ref(), record),
    }
}

/// True if the iteration left another work tree than the one before, or than the run found.
fn changed(decision: &Decision) -> Option<bool> {
    let tree = decision.input.observed.tree.as_ref()?;
    match decision.input.memory.as_ref().and_then(|memory| memory.run.tree.as_ref()) {
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
    earlier(&first.time, took)
}

/// A time so many milliseconds before; the same if one of them cannot be read.
fn earlier(time: &str, milliseconds: u64) -> String {
    let took = i64::try_from(milliseconds).map(jiff::SignedDuration::from_millis);
    match (time.parse::<Timestamp>(), took) {
        (Ok(time), Ok(took)) => time.checked_sub(took).unwrap_or(time).to_string(),
        _ => time.to_owned(),
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

/// A text in the body of a record; none if it is empty.
fn stated(sealed: &Sealed, key: &str) -> Option<String> {
    Some(text(sealed, key).to_owned()).filter(|text| !text.is_empty())
}

/// A text in the body of a record; empty if there is none.
fn text<'r>(sealed: &'r Sealed, key: &str) -> &'r str {
    sealed.record.body.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// A number in the body of a record; 0 if there is none.
fn number(sealed: &Sealed, key: &str) -> u64 {
    sealed.record.body.get(key).and_then(Value::as_u64).unwrap_or_default()
}
