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
    verdict: Verdict,
    reasons: &[Reason],
    input: &Input,
    policy: &Policy,
    memory: &LoopState,
) -> Iteration {
    let observed = &input.observed;
    // Where only a person has to look at settings, nothing of the work is missing.
    let passed = verdict == Verdict::Exit
        || have_only(reasons, &[ReasonCode::ConsecutiveNotReached])
        || have_only(reasons, &[ReasonCode::SettingsChanged]);
    let waits = are_waits(reasons);
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
        measured: is_measured(input, policy),
    }
}

impl Input {
    /// The outage that kept the agent from working. A program that changed the tree before it
    /// failed did work.
    pub(crate) fn outage(&self) -> Option<&Outage> {
        let outage = self.observed.outage.as_ref()?;
        if outage.cause == OutageCause::Crash {
            let progress = self.kept().and_then(|memory| progress(self, &memory.run));
            return (progress != Some(true)).then_some(outage);
        }
        Some(outage)
    }
}

/// There are reasons and all have one of these codes.
fn have_only(reasons: &[Reason], codes: &[ReasonCode]) -> bool {
    !reasons.is_empty() && reasons.iter().all(|reason| codes.contains(&reason.code))
}

/// The agent is only asked to wait: all that is missing still runs.
fn are_waits(reasons: &[Reason]) -> bool {
    use ReasonCode::{BackgroundRunning, CheckRunning, ThresholdNotReached};
    reasons.iter().any(|reason| matches!(reason.code, CheckRunning | BackgroundRunning))
        && have_only(reasons, &[CheckRunning, BackgroundRunning, ThresholdNotReached])
}

/// The tree is another than the last iteration of the run left; in the first iteration, than it
/// was when the run began. `None` if nobody looked.
fn progress(input: &Input, run: &RunState) -> Option<bool> {
    let seen_tree = input.observed.tree.as_ref()?;
    match &run.tree {
        Some(last_tree) => Some(*last_tree != seen_tree.before),
        None => seen_tree.uncommitted,
    }
}

/// The signature of the iteration's error. An error that only the transcript shows does
/// not count if the agent went on to commit its work.
fn signature(input: &Input, run: &RunState) -> Option<String> {
    let trees = input.observed.tree.as_ref().zip(run.tree.as_ref());
    let has_committed = trees.is_some_and(|(seen_tree, last_tree)| {
        let found = &seen_tree.before;
        found.head != last_tree.head || found.branches != last_tree.branches
    });
    let has_failed_check = input.evidence.iter().any(|record| record.counts_as(Outcome::Fail));
    if has_committed && !has_failed_check { None } else { input.observed.signature.clone() }
}

/// Work that evidence shows to be finished, and that only lacks words. Without a
/// required check, all evidence that counts has to pass. Boxes that the agent ticked
/// itself prove nothing, so at least one pass has to be of another kind.
fn only_words_are_missing(reasons: &[Reason], input: &Input, policy: &Policy) -> bool {
    let evidence = &input.evidence;
    let is_required = evidence.iter().any(|record| record.mode == Mode::Require);
    let mode = if is_required { Mode::Require } else { Mode::Count };
    let mut deciding = evidence.iter().filter(|record| record.mode == mode);
    have_only(reasons, &[ReasonCode::SignalAbsent, ReasonCode::ThresholdNotReached])
        && is_measured(input, policy)
        && deciding.clone().all(|record| record.outcome == Outcome::Pass)
        && deciding.any(|record| !record.claim)
}

/// Each required check has a conclusive record.
fn is_measured(input: &Input, policy: &Policy) -> bool {
    let mut required = policy.checks.iter().filter(|(_, check)| check.mode == Mode::Require);
    !input.checks_left_out && required.all(|(name, _)| is_conclusive(&input.evidence, name))
}

fn is_conclusive(evidence: &[Evidence], check: &str) -> bool {
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
