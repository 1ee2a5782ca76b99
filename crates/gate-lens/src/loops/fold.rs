//! Folds records into loops.

use std::collections::BTreeMap;

use gate_core::decide::breaker::BreakerState;
use gate_core::decide::evidence::Evidence;
use gate_core::decide::iteration_facts::OutageCause;
use gate_core::decide::signal::{Signal, Status};
use gate_core::decide::spent::Spent;
use gate_core::history::kind;
use gate_core::ledger::Sealed;
use gate_core::{Decision, Verdict};
use gate_transcript::Forced;
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
    // Starts without an end so far, by the name of the loop.
    let mut starts: BTreeMap<&str, Start<'_>> = BTreeMap::new();
    for sealed in records {
        let Some(run) = sealed.record.run.as_deref() else { continue };
        if kind::is_decision(&sealed.record.kind) {
            let record = Record::from_sealed(sealed)?;
            let start = starts.get_mut(loop_name(run)).map(|start| start.attach(run));
            loops.entry(run).or_default().decided(record, start);
        } else if sealed.record.kind == kind::RUN_STARTED {
            // Only one loop has a task at a time, so an earlier one has died.
            let earlier = starts.insert(loop_name(run), Start { sealed, run: None });
            undecided.extend(earlier.and_then(|start| start.undecided(project, LoopState::Died)));
        } else if sealed.record.kind == kind::RUN_ENDED {
            starts.remove(loop_name(run));
            match loops.get_mut(run) {
                Some(open) if open.goes_on() => open.end = Some(sealed),
                _ => undecided.push(without_decision(project, run, sealed)),
            }
        }
    }
    undecided.extend(starts.values().filter_map(|start| start.undecided(project, LoopState::Open)));
    let decided = loops.into_iter().filter_map(|(run, open)| open.into_record(project, run));
    let mut loops: Vec<_> = decided.chain(undecided).collect();
    loops.sort_by(|one, other| one.started.cmp(&other.started));
    Ok(loops)
}

/// The name of a loop, without the number of a later run.
fn loop_name(run: &str) -> &str {
    run.split_once('#').map_or(run, |(name, _)| name)
}

/// The recorded start of a loop.
struct Start<'r> {
    sealed: &'r Sealed,
    /// The run with its decisions.
    run: Option<&'r str>,
}

impl<'r> Start<'r> {
    fn attach(&mut self, run: &'r str) -> &'r Sealed {
        self.run = Some(run);
        self.sealed
    }

    /// The loop that this start began, if it came to no decision.
    fn undecided(&self, project: &str, state: LoopState) -> Option<LoopRecord> {
        let Self { sealed, run: None } = self else { return None };
        let (time, run) = (sealed.record.time.clone(), sealed.record.run.clone()?);
        Some(LoopRecord {
            state,
            why: NO_END.to_owned(),
            next: stated(sealed, "resume").map(|resume| format!("go on with: `{resume}`")),
            started: time.clone(),
            unended_on: stated(sealed, "machine"),
            unreported: vec![1],
            ..bare(project, &run, sealed, time)
        })
    }
}

/// The reason of a loop that died, as long as nothing more is known.
const NO_END: &str = "no end was recorded: gate was killed, or the machine went down";

/// A loop while its records are read.
#[derive(Default)]
struct Open<'r> {
    start: Option<&'r Sealed>,
    iterations: Vec<IterationRecord>,
    last: Option<Record>,
    end: Option<&'r Sealed>,
}

impl<'r> Open<'r> {
    fn decided(&mut self, record: Record, start: Option<&'r Sealed>) {
        // The end of an earlier loop with this name is not the end of this one.
        if start.is_some() {
            self.end = None;
        }
        self.start = start;
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
        let Self { start, iterations, last, end } = self;
        let last = last?;
        let started = started(iterations.first()?);
        let ended = end.map_or(&last.time, |end| &end.record.time).clone();
        let state = state(&last, end);
        let is_done = state == LoopState::Done && last.decision.verified;
        let remedy = end.and_then(|end| stated(end, "next"));
        let next = remedy.or_else(|| next_step(&last.decision)).map(|next| for_run(&next, run));
        let facts = end.or(start);
        let fact = |key| facts.and_then(|sealed| stated(sealed, key));
        let unended = if end.is_none() { start } else { None };
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
            tree: fact("root"),
            folder: fact("folder"),
            handoff: fact("handoff"),
            resume: fact("resume"),
            unended_on: unended.and_then(|start| stated(start, "machine")),
            unreported: iterations
                .iter()
                .filter(|one| one.is_unreported())
                .map(|one| one.iteration)
                .collect(),
            iterations,
            task: last.task,
            client: last.transcript.format.as_deref().and_then(client),
            agent: last.transcript.format,
            model: last.transcript.model,
        })
    }
}

/// A loop that ended before any decision, such as one whose agent could not be started.
fn without_decision(project: &str, run: &str, end: &Sealed) -> LoopRecord {
    let (ended, duration_ms) = (end.record.time.clone(), number(end, "duration_ms"));
    LoopRecord {
        state: end_state(end),
        why: text(end, "message").to_owned(),
        next: stated(end, "next"),
        started: earlier(&ended, duration_ms),
        duration_ms,
        usage: Usage::new(number(end, "tokens"), number(end, "cost_micro_usd")),
        ..bare(project, run, end, ended)
    }
}

/// The program that writes this format, or that has this name.
fn client(name: &str) -> Option<String> {
    let forced = name.parse::<Forced>().ok()?;
    forced.client().map(str::to_owned)
}

/// A loop of which only this record, of its start or its end, is known.
fn bare(project: &str, run: &str, sealed: &Sealed, time: String) -> LoopRecord {
    LoopRecord {
        project: project.to_owned(),
        run: run.to_owned(),
        task: stated(sealed, "task"),
        agent: stated(sealed, "agent"),
        client: stated(sealed, "agent").and_then(|agent| client(&agent)),
        model: None,
        state: LoopState::Open,
        why: String::new(),
        next: None,
        started: time.clone(),
        ended: time,
        duration_ms: 0,
        usage: Usage::default(),
        breaker: BreakerState::Closed,
        tree: stated(sealed, "root"),
        folder: stated(sealed, "folder"),
        handoff: stated(sealed, "handoff"),
        resume: stated(sealed, "resume"),
        unended_on: None,
        unreported: Vec::new(),
        iterations: Vec::new(),
    }
}

/// A step whose command names the loop that it is about: it is typed anywhere in the project.
fn for_run(next: &str, run: &str) -> String {
    let named = format!("`gate breaker reset --run {run} --reason …`");
    next.replace("`gate breaker reset --reason …`", &named)
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
        cut_off: decision.input.observed.outage.as_ref().is_some_and(|outage| {
            matches!(outage.cause, OutageCause::Cancelled | OutageCause::Crash)
        }),
        crashed: decision
            .input
            .observed
            .outage
            .as_ref()
            .is_some_and(|outage| outage.cause == OutageCause::Crash),
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
