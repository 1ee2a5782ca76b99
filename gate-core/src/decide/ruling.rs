//! The ruling: the reasons against `exit`, and the order in which they count.

mod changed_tests;
mod listed;
mod remarks;
mod work_left;

use super::breaker::{Admission, BreakerState};
use super::budget;
use super::evidence::{Evidence, Outcome, worst_of};
use super::input::Input;
use super::iteration_facts::Outage;
use super::policy::{AgentOverride, Mode, Policy, Unverified};
use super::reason::{Reason, ReasonCode};
use super::release::{StopCase, StopRuling, beyond_a_hook, checked_elsewhere};
use super::run_state::LoopState;
use super::sealed_tests::MAX_SEALED_REFUSALS;
use super::signal::Status;
use super::situation::{Course, Released};
use super::verdict::Verdict;

pub(super) use changed_tests::is_about_tests_alone;
use changed_tests::tests_changed;

/// One case before the gate.
pub(super) struct Case<'a> {
    pub(super) input: &'a Input,
    pub(super) policy: &'a Policy,
}

/// The ruling on a case.
pub(super) struct Ruling {
    pub(super) verdict: Verdict,
    /// Set if a stop is let go without a verdict that ends the work.
    pub(super) released: Option<Released>,
    pub(super) reasons: Vec<Reason>,
}

impl Ruling {
    fn new(verdict: Verdict, reasons: Vec<Reason>) -> Self {
        Self { verdict, released: None, reasons }
    }
}

impl From<StopRuling> for Ruling {
    fn from(ruling: StopRuling) -> Self {
        match ruling {
            StopRuling::Release(released, reason) => {
                Self { verdict: Verdict::Continue, released: Some(released), reasons: vec![reason] }
            }
            StopRuling::Refuse(reasons) => Self::new(Verdict::Continue, reasons),
            StopRuling::Advise(reasons) => {
                Self { verdict: Verdict::Continue, released: Some(Released::Red), reasons }
            }
        }
    }
}

impl Case<'_> {
    /// The verdict and its reasons.
    pub(super) fn rule(&self) -> Ruling {
        if let Some(reason) = &self.input.force_reason {
            let message = format!("forced by the operator: {reason}");
            return Ruling::new(Verdict::Exit, vec![Reason::new(ReasonCode::Forced, message)]);
        }
        let stopped = self.stopped();
        let course = stopped
            .as_ref()
            .map_or(Course::Decide, |stopped| stopped.situation.course(self.input.signal.status));
        // An open breaker does not stop a session that is released as it stands.
        match (course, &stopped) {
            (Course::Release, Some(stopped)) => return stopped.release().into(),
            (Course::Wait, Some(stopped)) => return stopped.wait().into(),
            _ => {}
        }
        // Before the agent's word and the checks: neither may pass an open breaker.
        if let Some(reasons) = self.stopping_reasons() {
            return Ruling::new(Verdict::Tripped, reasons);
        }
        if let Some(ruling) = self.listed() {
            return ruling;
        }
        if self.input.signal.status == Status::Blocked {
            return Ruling::new(Verdict::Blocked, vec![self.blocked()]);
        }
        match (course, &stopped) {
            (Course::Look, Some(stopped)) => {
                let mut objections: Vec<_> = self.tampered().collect();
                objections.extend(self.failed_checks());
                match self.with_background(stopped.look(objections)) {
                    Ruling { released: None, reasons, .. } if is_about_tests_alone(&reasons) => {
                        self.changed_tests(reasons)
                    }
                    ruling => ruling,
                }
            }
            _ => self.decided(stopped.as_ref()),
        }
    }

    fn decided(&self, stopped: Option<&StopCase<'_>>) -> Ruling {
        let mut objections = self.objections();
        if objections.is_empty() {
            if let Some(ruling) = stopped.and_then(|stopped| checked_elsewhere(stopped.situation)) {
                return ruling.into();
            }
            return match self.settings_changed() {
                Some(reason) => Ruling::new(Verdict::Blocked, vec![reason]),
                None => {
                    Ruling::new(Verdict::Exit, vec![Reason::new(ReasonCode::Passed, self.passed())])
                }
            };
        }
        if let Some(cause) = self.input.outage().and_then(|outage| outage.gives_up.as_ref()) {
            objections.insert(0, Reason::new(ReasonCode::BackoffLimit, cause));
            return Ruling::new(Verdict::Tripped, objections);
        }
        if self.needs_approval_alone(&objections) {
            objections.retain(|reason| reason.code == ReasonCode::TestsChanged);
            return self.changed_tests(objections);
        }
        if self.is_last_sealed_refusal(&objections) {
            objections.retain(|reason| reason.code == ReasonCode::SealedTestsFailed);
            return Ruling::new(Verdict::Blocked, objections);
        }
        let release = stopped.and_then(|_| beyond_a_hook(&objections, self.input, self.policy));
        release.map_or_else(|| Ruling::new(Verdict::Continue, objections), Ruling::from)
    }

    /// Sealed tests refuse for the last time in this run.
    fn is_last_sealed_refusal(&self, objections: &[Reason]) -> bool {
        let earlier_refusals = self.input.kept().map_or(0, |memory| memory.run.sealed_refusals);
        objections.iter().any(|reason| reason.code == ReasonCode::SealedTestsFailed)
            && earlier_refusals.saturating_add(1) >= MAX_SEALED_REFUSALS
    }

    /// A claim with tasks in the background waits for them, once.
    fn with_background(&self, ruling: StopRuling) -> Ruling {
        if self.input.signal.status == Status::Complete
            && matches!(ruling, StopRuling::Release(Released::Green, _))
            && let Some(reason) = self.background()
        {
            return StopRuling::Refuse(vec![reason]).into();
        }
        ruling.into()
    }

    /// The stop that a hook asks about, if its circumstances are known.
    fn stopped(&self) -> Option<StopCase<'_>> {
        let situation = self.input.observed.stop.as_ref()?.situation.as_ref()?;
        let refusals = self.input.refusals();
        Some(StopCase { input: self.input, policy: self.policy, situation, refusals })
    }

    /// A digest of the failures at a stop.
    pub(super) fn failure(&self) -> Option<String> {
        self.stopped()?.failure()
    }

    /// The reason that a person has to look at settings first. In a hook the approved
    /// settings suffice, and the person gets a message.
    fn settings_changed(&self) -> Option<Reason> {
        if self.input.observed.stop.is_some() {
            return None;
        }
        let changed = self.input.settings_changed.as_ref()?;
        Some(Reason::new(ReasonCode::SettingsChanged, changed))
    }

    /// The reason that the agent could not work.
    fn outage(&self) -> Option<Reason> {
        if let Some(outage) = self.input.outage() {
            return Some(outage.reason());
        }
        let limit = self.input.observed.limited.as_ref()?;
        let message = format!("the iteration ended in a limit: {}", limit.text);
        Some(Reason::new(ReasonCode::RateLimited, message))
    }

    /// Everything that forbids `exit`.
    fn objections(&self) -> Vec<Reason> {
        // The first reason is the one that people read, so the order is by weight: a check
        // that was worked around, then the agent's own word, then evidence, then counting.
        // All reasons are collected, because an agent that learns one a turn needs a turn for
        // each.
        let mut objections: Vec<_> = self.tampered().collect();
        let signal = self.signal();
        let is_forbidden = signal.is_some();
        objections.extend(self.agent_failed());
        objections.extend(signal);
        objections.extend(self.work_left());
        let mut checks = self.failed_checks();
        // A signal that forbids `exit` keeps checks from running at all: that they did
        // not run is no fault of theirs.
        checks.retain(|reason| !(is_forbidden && reason.code == ReasonCode::CheckNotRun));
        objections.extend(checks);
        objections.extend(self.too_few_indicators(is_forbidden));
        if !objections.is_empty() || self.input.outage().is_some_and(Outage::is_cancelled) {
            objections.splice(0..0, self.outage());
        } else {
            objections.extend(self.lacks_evidence());
            objections.extend(self.too_few_in_a_row());
            objections.extend(self.background());
            objections.extend(self.work_elsewhere());
            objections.extend(self.only_new_files());
        }
        objections
    }

    /// The reasons to stop the run before anything else counts; `None` if nothing stops it.
    fn stopping_reasons(&self) -> Option<Vec<Reason>> {
        if self.input.admission(self.policy) != Admission::Held {
            return None;
        }
        let Some(memory) = self.input.kept() else {
            let cause = self.input.lost.as_deref().unwrap_or("it is missing");
            let message = format!(
                "the breaker stops this loop, because its state cannot be trusted: {cause}"
            );
            return Some(vec![Reason::new(ReasonCode::BreakerOpen, message)]);
        };
        let mut reasons = Vec::from_iter(self.breaker(memory));
        let messages = budget::overspent(&memory.run.spent, self.policy).into_iter();
        reasons.extend(messages.map(|message| Reason::new(ReasonCode::BudgetSpent, message)));
        Some(reasons)
    }

    /// The reason that a breaker gives unless it is closed.
    fn breaker(&self, memory: &LoopState) -> Option<Reason> {
        let breaker = memory.governing();
        let trip = match &breaker.trip {
            Some(trip) => trip.message.as_str(),
            None => "no reason recorded",
        };
        let (code, message) = match breaker.state {
            BreakerState::Closed => return None,
            BreakerState::Isolated => {
                (ReasonCode::BreakerIsolated, format!("an operator stopped this loop: {trip}"))
            }
            BreakerState::HalfOpen => (
                ReasonCode::BreakerOpen,
                format!(
                    "the breaker lets one iteration try again, and another one is trying now: {trip}"
                ),
            ),
            BreakerState::Open => {
                (ReasonCode::BreakerOpen, format!("the breaker stopped this loop: {trip}"))
            }
        };
        Some(Reason::new(code, message))
    }

    fn blocked(&self) -> Reason {
        let cause = self.input.signal.reason.as_deref().unwrap_or("it gives no reason");
        Reason::new(
            ReasonCode::SignalBlocked,
            format!("the agent says that it cannot go on: {cause}"),
        )
    }

    fn tampered(&self) -> impl Iterator<Item = Reason> {
        let evidence = self.input.evidence.iter();
        evidence.filter(|record| record.outcome == Outcome::Tamper).map(|evidence| {
            Reason::for_check(
                ReasonCode::Tampered,
                &evidence.check,
                with_summary(evidence, "does not count"),
            )
        })
    }

    fn agent_failed(&self) -> Option<Reason> {
        let code = self.input.agent_exit_code.filter(|&code| code != 0)?;
        (self.input.signal.status != Status::Complete).then(|| {
            Reason::new(
                ReasonCode::AgentFailed,
                format!("the agent's program ended with code {code} and without a complete signal"),
            )
        })
    }

    fn signal(&self) -> Option<Reason> {
        let signal = &self.input.signal;
        let problem = signal.problems.first().map(String::as_str);
        match signal.status {
            Status::Complete if problem.is_none() => None,
            Status::Absent if !self.wants_signal() => None,
            Status::Absent => Some(Reason::new(
                ReasonCode::SignalAbsent,
                "the agent's final message contains no exit signal",
            )),
            Status::Complete | Status::Continue => Some(match problem {
                Some(problem) => Reason::new(ReasonCode::SignalContradicts, problem),
                None => Reason::new(ReasonCode::SignalContinue, self.work_remains()),
            }),
            Status::Invalid => Some(Reason::new(
                ReasonCode::SignalInvalid,
                problem.unwrap_or("the exit signal cannot be read"),
            )),
            Status::Blocked => Some(self.blocked()),
        }
    }

    /// A missing signal forbids `exit`. An agent whose stop a hook refuses may
    /// never have heard of the protocol: gate explains it once, and then the evidence
    /// decides.
    fn wants_signal(&self) -> bool {
        self.policy.exit_gate.require_explicit_signal && !self.input.refusals().reminded
    }

    fn work_remains(&self) -> String {
        let signal = &self.input.signal;
        match signal.remaining_work.as_deref().or(signal.reason.as_deref()) {
            Some(work) => format!("the agent says that work remains: {work}"),
            None => "the agent says that work remains".to_owned(),
        }
    }

    /// Required checks that did not pass, and configured ones that left no record: the loss of a
    /// record must never help.
    fn failed_checks(&self) -> Vec<Reason> {
        let mut names: Vec<_> =
            self.input.evidence.iter().map(|evidence| evidence.check.as_str()).collect();
        if !self.input.checks_left_out {
            names.extend(self.policy.checks.keys().map(String::as_str));
        }
        names.sort_unstable();
        names.dedup();
        let mut reasons: Vec<_> = names.into_iter().filter_map(|name| self.check(name)).collect();
        // Where a check did not pass, later ones may have been left out for that:
        // then they are no reasons of their own.
        if self.has_failed_check() {
            reasons.retain(|reason| !self.was_skipped(reason));
        }
        reasons
    }

    /// A required check was run and did not pass.
    fn has_failed_check(&self) -> bool {
        self.input.evidence.iter().any(|record| match record.outcome {
            Outcome::Tamper => true,
            Outcome::Fail | Outcome::Inconclusive => record.mode == Mode::Require,
            Outcome::Pass | Outcome::Skipped => false,
        })
    }

    fn was_skipped(&self, reason: &Reason) -> bool {
        let check = reason.check.as_deref().unwrap_or_default();
        worst_of(&self.input.evidence, check)
            .is_some_and(|record| record.outcome == Outcome::Skipped)
    }

    fn check(&self, name: &str) -> Option<Reason> {
        let Some(worst) = worst_of(&self.input.evidence, name) else {
            let message = format!("{name} is configured and left no record");
            return Some(Reason::for_check(ReasonCode::CheckNotRun, name, message));
        };
        let policy_mode = self.policy.checks.get(name).map_or(worst.mode, |check| check.mode);
        if policy_mode != Mode::Require && worst.mode != Mode::Require {
            return None;
        }
        if worst.sealed_refuse() {
            let message = with_summary(worst, "failed");
            return Some(Reason::for_check(ReasonCode::SealedTestsFailed, name, message));
        }
        if let changed @ [_, ..] = worst.changed_tests().as_slice() {
            return Some(tests_changed(name, changed));
        }
        let (code, predicate) = match worst.outcome {
            Outcome::Pass | Outcome::Tamper => return None,
            Outcome::Fail => (ReasonCode::RequiredCheckFailed, "failed"),
            Outcome::Inconclusive => (ReasonCode::RequiredCheckInconclusive, "gave no result"),
            Outcome::Skipped if worst.running => (ReasonCode::CheckRunning, "is still running"),
            Outcome::Skipped => (ReasonCode::CheckNotRun, "did not run"),
        };
        Some(Reason::for_check(code, name, with_summary(worst, predicate)))
    }

    /// Too few indicators. If the signal already forbids `exit`, checks have not run, and
    /// the indicators that they would add are not missed.
    fn too_few_indicators(&self, is_forbidden: bool) -> Option<Reason> {
        let (score, threshold) = (self.input.indicators.score, self.input.indicators.threshold);
        let is_lifted = !self.policy.exit_gate.enabled || self.override_granted();
        let is_unknown =
            is_forbidden && !self.policy.checks.is_empty() && self.input.indicators.checks == 0;
        (score < threshold && !is_lifted && !is_unknown).then(|| {
            let message = format!("{score} of {threshold} completion indicators");
            Reason::new(ReasonCode::ThresholdNotReached, message)
        })
    }

    /// No check supports what would otherwise be an exit, and one is required.
    fn lacks_evidence(&self) -> Option<Reason> {
        let is_required = self.policy.exit_gate.unverified == Unverified::Continue;
        let message = "no check confirms the agent's word, and one is required";
        (is_required && !self.has_evidence())
            .then(|| Reason::new(ReasonCode::EvidenceRequired, message))
    }

    /// A check that gate ran itself passes and counts.
    fn has_evidence(&self) -> bool {
        let evidence = &self.input.evidence;
        let mut records = evidence.iter().filter_map(|record| worst_of(evidence, &record.check));
        records.any(|record| record.counts() && !record.claim)
    }

    /// A verdict rests on more than the agent's word. It does not for an exit that no
    /// passing check supports, or that was forced over a required check.
    pub(super) fn is_verified(&self, verdict: Verdict) -> bool {
        verdict != Verdict::Exit || (self.has_evidence() && self.failed_checks().is_empty())
    }

    fn too_few_in_a_row(&self) -> Option<Reason> {
        let passed = self.input.passed_in_a_row().saturating_add(1);
        let needed = self.policy.exit_gate.consecutive.get();
        (passed < needed).then(|| {
            let message = format!("this iteration passes: {passed} of {needed} in a row");
            Reason::new(ReasonCode::ConsecutiveNotReached, message)
        })
    }

    /// Tasks in the background: a reason to wait, once.
    fn background(&self) -> Option<Reason> {
        let tasks = self.input.observed.stop.as_ref().map(|stop| stop.background.as_slice())?;
        let first = tasks.first()?;
        if self.input.refusals().waited {
            return None;
        }
        let message = match tasks.len() {
            1 => format!("a background task is still running: {first}"),
            count => format!("{count} background tasks are still running, one of them {first}"),
        };
        Some(Reason::new(ReasonCode::BackgroundRunning, message))
    }

    /// The reason to let an agent go that would be refused again.
    pub(super) fn lets_go(&self) -> Option<Reason> {
        self.input.observed.stop.as_ref()?;
        let (blocks, most) = (self.input.refusals().blocks, self.policy.hook.max_blocks);
        (blocks >= most).then(|| {
            let message =
                format!("the stop was refused {blocks} times, the limit of `hook.max_blocks`");
            Reason::new(ReasonCode::MaxBlocks, message)
        })
    }

    fn override_granted(&self) -> bool {
        let signal = &self.input.signal;
        signal.status == Status::Complete
            && signal.override_requested
            && signal.confidence.as_deref() == Some("high")
            && self.policy.signal.agent_override == AgentOverride::HighConfidence
    }

    fn passed(&self) -> String {
        let threshold = self.input.indicators.threshold;
        let counted = self.input.indicators.score.min(threshold);
        let signal = match self.input.signal.status {
            Status::Complete => "an explicit signal",
            _ => "no signal required",
        };
        let checks = match self.input.evidence.as_slice() {
            [] => "no checks",
            records if records.iter().any(|record| record.mode == Mode::Require) => {
                "every required check passes"
            }
            _ => "no check is required",
        };
        let indicators = match threshold {
            0 => "no indicators needed".to_owned(),
            _ => format!("{counted} of {threshold} needed indicators"),
        };
        let conditions = format!("{signal}, {indicators}, {checks}");
        match self.input.observed.about_change() {
            Some(change) => format!("{conditions}; {change}"),
            None => conditions,
        }
    }
}

/// A sentence about a check, with the summary of its record.
fn with_summary(evidence: &Evidence, predicate: &str) -> String {
    let (check, summary) = (&evidence.check, &evidence.summary);
    if summary.is_empty() {
        format!("{check} {predicate}")
    } else {
        format!("{check} {predicate}: {summary}")
    }
}

#[cfg(test)]
mod tests;
