//! Derives the breaker's view of an iteration from a decision's input and its ruling.

use std::collections::BTreeMap;

use super::breaker::Iteration;
use super::evidence::{Evidence, Outcome, severity};
use super::input::Input;
use super::iteration_facts::{Outage, OutageCause};
use super::policy::{Mode, Policy};
use super::reason::{Reason, ReasonCode};
use super::run_state::{LoopState, RunState};
use super::signal::Status;
use super::verdict::Verdict;

/// What a ruling and its input mean, after this memory.
pub(super) fn iteration(
    (verdict, reasons): (Verdict, &[Reason]),
    input: &Input,
    policy: &Policy,
    memory: &LoopState,
) -> Iteration {
    let observed = &input.observed;
    // Where only a person has to look at settings, nothing of the work is missing.
    let passed = verdict == Verdict::Exit
        || all(reasons, &[ReasonCode::ConsecutiveNotReached])
        || all(reasons, &[ReasonCode::SettingsChanged]);
    let waits = waits(reasons);
    let bad = |outcome| input.evidence.iter().any(move |it| it.outcome == outcome);
    let unsure = |it: &Evidence| it.outcome == Outcome::Inconclusive && it.mode != Mode::Warn;
    Iteration {
        at: observed.at.clone(),
        exits: verdict == Verdict::Exit,
        passed,
        claimed: input.signal.status == Status::Complete && !waits,
        limited: observed.limited.is_some(),
        progress: progress(input, &memory.run),
        excused: waits || only_words_are_missing(reasons, input, policy),
        signature: signature(input, &memory.run),
        inconclusive: input.evidence.iter().any(unsure),
        tampered: bad(Outcome::Tamper),
        denied: !observed.denied.is_empty(),
        output: observed.output,
        found: observed.tree.as_ref().map(|tree| tree.before.clone()),
        tree: observed.tree.as_ref().map(|tree| tree.after.clone()),
        checks: outcomes(&input.evidence),
        measured: measured(input, policy),
    }
}

impl Input {
    /// Why the agent could not work. A program that changed the tree before it failed
    /// did work.
    pub(crate) fn outage(&self) -> Option<&Outage> {
        let worked = || self.kept().and_then(|memory| progress(self, &memory.run)) == Some(true);
        let outage = self.observed.outage.as_ref();
        outage.filter(|it| it.cause != OutageCause::Crash || !worked())
    }
}

/// Whether there are reasons, all of these kinds.
fn all(reasons: &[Reason], codes: &[ReasonCode]) -> bool {
    !reasons.is_empty() && reasons.iter().all(|reason| codes.contains(&reason.code))
}

/// Whether the agent is only asked to wait: what still runs is what is missing.
fn waits(reasons: &[Reason]) -> bool {
    use ReasonCode::{BackgroundRunning, CheckRunning, ThresholdNotReached};
    let runs = |reason: &Reason| matches!(reason.code, CheckRunning | BackgroundRunning);
    reasons.iter().any(runs)
        && all(reasons, &[CheckRunning, BackgroundRunning, ThresholdNotReached])
}

/// The tree beside what the last iteration of the run left; in the first one,
/// beside what it was when the run began.
fn progress(input: &Input, run: &RunState) -> Option<bool> {
    let seen = input.observed.tree.as_ref()?;
    match &run.tree {
        Some(left) => Some(*left != seen.before),
        None => seen.uncommitted,
    }
}

/// The signature of the iteration's error. An error that the transcript alone
/// tells, of an agent that goes on to commit its work, stops nobody.
fn signature(input: &Input, run: &RunState) -> Option<String> {
    let failed = |it: &Evidence| it.outcome == Outcome::Fail && it.mode != Mode::Warn;
    let committed = input.observed.tree.as_ref().zip(run.tree.as_ref());
    let committed = committed.is_some_and(|(seen, left)| {
        (&seen.before.head, &seen.before.branches) != (&left.head, &left.branches)
    });
    let told = committed && !input.evidence.iter().any(failed);
    input.observed.signature.clone().filter(|_| !told)
}

/// Work that evidence shows to be finished, and that is only not said to be.
/// Where nothing is required, everything that counts has to speak for it; what
/// the agent ticked itself is no such evidence, and does not speak against it.
fn only_words_are_missing(reasons: &[Reason], input: &Input, policy: &Policy) -> bool {
    let words = [ReasonCode::SignalAbsent, ReasonCode::ThresholdNotReached];
    let of = |mode| input.evidence.iter().filter(move |it: &&Evidence| it.mode == mode);
    let mode = if of(Mode::Require).next().is_some() { Mode::Require } else { Mode::Count };
    let passes = |it: &Evidence| it.outcome == Outcome::Pass;
    all(reasons, &words)
        && measured(input, policy)
        && of(mode).all(passes)
        && of(mode).any(|it| !it.claim)
}

/// Whether each required check left a record that says something.
fn measured(input: &Input, policy: &Policy) -> bool {
    let required = policy.checks.iter().filter(|(_, check)| check.mode == Mode::Require);
    let told = |name: &str| {
        let tells = |it: &Evidence| {
            it.check == name && !matches!(it.outcome, Outcome::Skipped | Outcome::Inconclusive)
        };
        input.evidence.iter().any(tells)
    };
    !input.checks_left_out && required.into_iter().all(|(name, _)| told(name))
}

/// What counts of what ran: of several records of a check the worst.
fn outcomes(evidence: &[Evidence]) -> BTreeMap<String, Outcome> {
    let ran = |it: &&Evidence| it.outcome != Outcome::Skipped && it.mode != Mode::Warn;
    let mut outcomes = BTreeMap::new();
    for it in evidence.iter().filter(ran) {
        let worst = outcomes.entry(it.check.clone()).or_insert(it.outcome);
        if severity(it.outcome) > severity(*worst) {
            *worst = it.outcome;
        }
    }
    outcomes
}
