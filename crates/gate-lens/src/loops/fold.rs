//! Folds records into loops.

#[cfg(test)]
mod tests;

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

use super::{CheckRecord, IterationRecord, LoopLock, LoopRecord, LoopState, Usage, restarted};
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
    // Starts without an end so far.
    let mut starts: BTreeMap<Place<'_>, Start<'_>> = BTreeMap::new();
    for sealed in records {
        let Some(run) = sealed.record.run.as_deref() else { continue };
        if kind::is_decision(&sealed.record.kind) {
            let record = Record::from_sealed(sealed)?;
            let start = attached(&mut starts, run, sealed);
            loops.entry(run).or_default().decided(record, start);
        } else if sealed.record.kind == kind::RUN_STARTED {
            // Only one loop has a task's folder at a time, so an earlier one has died.
            let earlier = starts.insert(Place::new(run, sealed), Start { sealed, run: None });
            match earlier {
                Some(Start { run: Some(run), .. }) => loops.entry(run).or_default().died(),
                Some(start) => undecided.extend(start.undecided(project, true)),
                None => {}
            }
        } else if sealed.record.kind == kind::RUN_ENDED {
            let place = Place::new(run, sealed);
            starts.retain(|begun, _start| !begun.may_be(&place));
            match loops.get_mut(run) {
                Some(open) if open.goes_on() && open.may_end_at(run, &place) => {
                    open.end = Some(sealed);
                }
                _ => undecided.push(without_decision(project, run, sealed)),
            }
        }
    }
    undecided.extend(starts.values().filter_map(|start| start.undecided(project, false)));
    let decided = loops.into_iter().filter_map(|(run, open)| open.into_record(project, run));
    let mut loops: Vec<_> = decided.chain(undecided).collect();
    loops.sort_by(|one, other| one.started.cmp(&other.started));
    Ok(loops)
}

/// The name of a loop, without the number of a later run.
fn loop_name(run: &str) -> &str {
    run.split_once('#').map_or(run, |(name, _)| name)
}

/// The place of a loop. Two machines, or two homes, may run loops of one name at a time.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Place<'r> {
    name: &'r str,
    machine: &'r str,
    folder: &'r str,
}

impl<'r> Place<'r> {
    /// The place that the record of a start or of an end states.
    fn new(run: &'r str, sealed: &'r Sealed) -> Self {
        let (machine, folder) = (text(sealed, "machine"), text(sealed, "folder"));
        Self { name: loop_name(run), machine, folder }
    }

    /// Nothing that both state differs. Ends did not always state a machine.
    fn may_be(&self, other: &Self) -> bool {
        let agrees = |one: &str, other: &str| one == other || one.is_empty() || other.is_empty();
        self.name == other.name
            && agrees(self.machine, other.machine)
            && agrees(self.folder, other.folder)
    }
}

/// The start of the loop that came to this decision: of those with its name the latest, rather one
/// in the same work tree. Another start of the run goes on as a loop of its own.
fn attached<'r>(
    starts: &mut BTreeMap<Place<'r>, Start<'r>>,
    run: &'r str,
    decision: &Sealed,
) -> Option<&'r Sealed> {
    let tree = text(decision, "tree");
    let mut of_name: Vec<_> =
        starts.values_mut().filter(|start| start.has_name(loop_name(run))).collect();
    of_name.sort_by_key(|start| (text(start.sealed, "tree") == tree, start.sealed.record.seq));
    let start = of_name.pop()?;
    for other in of_name {
        other.run = other.run.filter(|earlier| *earlier != run);
    }
    Some(start.attach(run))
}

/// The recorded start of a loop.
struct Start<'r> {
    sealed: &'r Sealed,
    /// The run with its decisions.
    run: Option<&'r str>,
}

impl<'r> Start<'r> {
    fn has_name(&self, name: &str) -> bool {
        self.sealed.record.run.as_deref().map(loop_name) == Some(name)
    }

    fn attach(&mut self, run: &'r str) -> &'r Sealed {
        self.run = Some(run);
        self.sealed
    }

    /// The loop that this start began, if it came to no decision.
    fn undecided(&self, project: &str, was_restarted: bool) -> Option<LoopRecord> {
        let Self { sealed, run: None } = self else { return None };
        let (time, run) = (sealed.record.time.clone(), sealed.record.run.clone()?);
        let resume = stated(sealed, "resume").map(|resume| format!("go on with: `{resume}`"));
        Some(LoopRecord {
            state: if was_restarted { LoopState::Died } else { LoopState::Open },
            why: if was_restarted { restarted(&[1]) } else { NO_END.to_owned() },
            next: if was_restarted { None } else { resume },
            started: time.clone(),
            unended_on: if was_restarted { None } else { stated(sealed, "machine") },
            lock: (!was_restarted).then(|| lock(sealed)),
            unreported: vec![1],
            ..bare(project, &run, sealed, time)
        })
    }
}

/// The reason of a loop of which nothing but its start is known.
const NO_END: &str = "no decision and no end are recorded";

/// A loop while its records are read.
#[derive(Default)]
struct Open<'r> {
    start: Option<&'r Sealed>,
    iterations: Vec<IterationRecord>,
    last: Option<Record>,
    end: Option<&'r Sealed>,
    /// The iterations in which its gate died.
    deaths: Vec<u64>,
    /// Its gate died, and no decision came after that.
    is_dead: bool,
}

impl<'r> Open<'r> {
    /// Its task was started again, and no end had been recorded.
    fn died(&mut self) {
        self.deaths.push(self.last_iteration() + 1);
        self.is_dead = true;
    }

    fn last_iteration(&self) -> u64 {
        self.iterations.last().map_or(0, |one| one.iteration)
    }

    fn decided(&mut self, record: Record, start: Option<&'r Sealed>) {
        // The end of an earlier loop with this name is not the end of this one.
        if start.is_some() {
            self.end = None;
        }
        self.start = start;
        self.is_dead = false;
        self.iterations.push(iteration(&record));
        self.last = Some(record);
    }

    /// Its latest record is a decision. An end after another end is one of a loop that
    /// came to no decision.
    fn goes_on(&self) -> bool {
        let place = self.last.as_ref().and_then(|last| last.ledger.as_ref());
        place.map(|place| place.seq) > self.end.map(|end| end.record.seq)
    }

    /// The iteration that ran when gate could not go on: it came to no decision.
    fn lost_iteration(&self) -> Option<u64> {
        let end = self.end.filter(|end| is_failure(end))?;
        let began = self.start.map_or(0, |start| start.record.seq);
        let decided = self.iterations.iter().filter(|one| one.seq > began).count();
        (number(end, "iterations") > decided as u64).then(|| self.last_iteration() + 1)
    }

    /// The loop that goes on may be the one that ended at this place.
    fn may_end_at(&self, run: &str, place: &Place<'_>) -> bool {
        self.start.is_none_or(|start| Place::new(run, start).may_be(place))
    }

    fn into_record(self, project: &str, run: &str) -> Option<LoopRecord> {
        let lost = self.lost_iteration();
        let Self { start, iterations, last, end, deaths, is_dead } = self;
        let last = last?;
        let started = started(iterations.first()?);
        let ended = end.map_or(&last.time, |end| &end.record.time).clone();
        let state = if is_dead { LoopState::Died } else { state(&last, end) };
        let is_done = state == LoopState::Done && last.decision.verified;
        let remedy = end.and_then(|end| stated(end, "next"));
        let next = remedy.or_else(|| next_step(&last.decision)).map(|next| for_run(&next, run));
        let facts = end.or(start);
        let fact = |key| facts.and_then(|sealed| stated(sealed, key));
        let unended = if end.is_none() && !is_dead { start } else { None };
        let cut_off = iterations.iter().filter(|one| one.is_unreported());
        let mut unreported: Vec<_> = cut_off.map(|one| one.iteration).chain(lost).collect();
        unreported.extend(&deaths);
        unreported.sort_unstable();
        unreported.dedup();
        let client = last.transcript.format.as_deref().and_then(client);
        Some(LoopRecord {
            project: project.to_owned(),
            run: run.to_owned(),
            state,
            why: match end {
                Some(end) => text(end, "message").to_owned(),
                None if is_dead => restarted(&deaths),
                None => last.decision.cause(),
            },
            next: if is_done || is_dead { None } else { next },
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
            lock: unended.map(lock),
            unreported,
            deaths,
            iterations,
            goals: last.goals,
            task: last.task,
            agent: match &client {
                Some(_) => last.transcript.format,
                None => fact("agent").or(last.transcript.format),
            },
            client,
            model: last.transcript.model,
        })
    }
}

/// The end of a loop in which gate could not go on.
fn is_failure(end: &Sealed) -> bool {
    text(end, "stopped_by") == "failed"
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
        unreported: if is_failure(end) && number(end, "iterations") > 0 { vec![1] } else { vec![] },
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
        lock: None,
        unreported: Vec::new(),
        deaths: Vec::new(),
        goals: Vec::new(),
        iterations: Vec::new(),
    }
}

/// The lock of a loop, as its start states it.
fn lock(start: &Sealed) -> LoopLock {
    LoopLock { mark: stated(start, "lock"), since: start.record.time.clone() }
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
        why: record.decision.cause(),
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

/// The iteration left another work tree than the one before, or than the run found.
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
