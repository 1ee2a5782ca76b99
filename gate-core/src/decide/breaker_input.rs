//! Derives the breaker's view of an iteration from a decision's input and its ruling.

use std::cmp::max_by_key;
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

/// The iteration that a ruling and its input describe, given the state before it.
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
    Iteration {
        at: observed.at.clone(),
        exits: verdict == Verdict::Exit,
        passed,
        claimed: input.signal.status == Status::Complete && !waits,
        limited: observed.limited.is_some(),
        progress: progress(input, &memory.run),
        excused: waits || only_words_are_missing(reasons, input, policy),
        signature: signature(input, &memory.run),
        inconclusive: input.evidence.iter().any(|record| record.counts_as(Outcome::Inconclusive)),
        tampered: input.evidence.iter().any(|record| record.outcome == Outcome::Tamper),
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
        let outage = self.observed.outage.as_ref()?;
        if outage.cause == OutageCause::Crash {
            let progress = self.kept().and_then(|memory| progress(self, &memory.run));
            return (progress != Some(true)).then_some(outage);
        }
        Some(outage)
    }
}

/// True if there are reasons and all have one of these codes.
fn all(reasons: &[Reason], codes: &[ReasonCode]) -> bool {
    !reasons.is_empty() && reasons.iter().all(|reason| codes.contains(&reason.code))
}

/// True if the agent is only asked to wait: all that is missing still runs.
fn waits(reasons: &[Reason]) -> bool {
    use ReasonCode::{BackgroundRunning, CheckRunning, ThresholdNotReached};
    reasons.iter().any(|reason| matches!(reason.code, CheckRunning | BackgroundRunning))
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

/// The signature of the iteration's error. An error that only the transcript shows does
/// not count if the agent went on to commit its work.
fn signature(input: &Input, run: &RunState) -> Option<String> {
    let committed = input.observed.tree.as_ref().zip(run.tree.as_ref());
    let committed = committed.is_some_and(|(seen, left)| {
        (&seen.before.head, &seen.before.branches) != (&left.head, &left.branches)
    });
    let failed = input.evidence.iter().any(|record| record.counts_as(Outcome::Fail));
    if committed && !failed { None } else { input.observed.signature.clone() }
}

/// Work that evidence shows to be finished, and that only lacks words. Without a
/// required check, all evidence that counts has to pass. Boxes that the agent ticked
/// itself prove nothing, so at least one pass has to be of another kind.
fn only_words_are_missing(reasons: &[Reason], input: &Input, policy: &Policy) -> bool {
    let evidence = &input.evidence;
    let is_required = evidence.iter().any(|record| record.mode == Mode::Require);
    let mode = if is_required { Mode::Require } else { Mode::Count };
    let mut deciding = evidence.iter().filter(|record| record.mode == mode);
    all(reasons, &[ReasonCode::SignalAbsent, ReasonCode::ThresholdNotReached])
        && measured(input, policy)
        && deciding.clone().all(|record| record.outcome == Outcome::Pass)
        && deciding.any(|record| !record.claim)
}

/// True if each required check has a record that says something.
fn measured(input: &Input, policy: &Policy) -> bool {
    let mut required = policy.checks.iter().filter(|(_, check)| check.mode == Mode::Require);
    !input.checks_left_out && required.all(|(name, _)| is_measured(&input.evidence, name))
}

fn is_measured(evidence: &[Evidence], check: &str) -> bool {
    evidence.iter().any(|record| {
        record.check == check && !matches!(record.outcome, Outcome::Skipped | Outcome::Inconclusive)
    })
}

/// The outcomes of the checks that ran and count; of several records of a check the
/// worst.
fn outcomes(evidence: &[Evidence]) -> BTreeMap<String, Outcome> {
    let mut outcomes = BTreeMap::new();
    for record in evidence {
        if record.outcome == Outcome::Skipped || record.mode == Mode::Warn {
            continue;
        }
        let worst = outcomes.entry(record.check.clone()).or_insert(record.outcome);
        *worst = max_by_key(*worst, record.outcome, |outcome| severity(*outcome));
    }
    outcomes
}
