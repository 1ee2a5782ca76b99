//! The decision: one pure function from an input to a verdict.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::breaker::{Admission, BreakerView, Cause, Change, Event, Trip};
use super::breaker_input;
use super::budget;
use super::changed_tests::ChangedTests;
use super::evidence::{Evidence, Outcome};
use super::feedback;
use super::input::Input;
use super::policy::Policy;
use super::reason::{Reason, ReasonCode, WarningCode, has_code};
use super::ruling::{Case, Ruling, is_about_tests_alone};
use super::run_state::{LoopState, StateUpdate};
use super::situation::Released;
use super::spent::Spent;
use super::verdict::Verdict;

/// The built-in check of older versions that this one does not have.
const REMOVED_CHECK: &str = "noticed";

/// The pauses in a row that count for nothing.
const MAX_FREE_WAITS: u32 = 3;

/// A verdict with everything that led to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Decision {
    /// The verdict.
    pub verdict: Verdict,
    /// The verdict's exit code.
    pub exit_code: u8,
    /// The loop must not go on.
    pub stop: bool,
    /// The work counts as done.
    pub success: bool,
    /// The operator forced the verdict.
    pub forced: bool,
    /// The result of a stop that a hook let go without `exit`, `tripped` or `blocked`.
    #[serde(default)]
    pub released: Option<Released>,
    /// The verdict rests on more than the agent's word. It does not for an `exit` that
    /// no passing check supports.
    #[serde(default)]
    pub verified: bool,
    /// A text for the agent's next turn, at most 1,500 characters. It never
    /// holds the text that would pass.
    pub feedback: String,
    /// The one cheapest thing that would change a verdict other than `exit`.
    #[serde(default)]
    pub next: Option<String>,
    /// All that it rests on beside the policy: decided again, it gives the same decision.
    #[serde(flatten)]
    pub input: Input,
    /// Why the verdict is what it is.
    pub reasons: Vec<Reason>,
    /// The breaker after this decision.
    pub breaker: BreakerView,
    /// The number of iterations that passed in a row before this one.
    #[serde(default)]
    pub passed_in_a_row: u32,
}

/// A decision, and the state to keep of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The decision.
    pub decision: Decision,
    /// The state after the decision; `None` without state.
    pub memory: Option<LoopState>,
    /// The transition of the breaker, if any.
    pub change: Option<Change>,
}

/// Decides whether the loop may end.
///
/// The function is pure: equal inputs under equal policies give equal
/// decisions, today and when decided again from a record.
pub fn decide(input: &Input, policy: &Policy) -> Decision {
    judge(input, policy).decision
}

/// Decides, and returns the state to keep: the run and the breaker after the decision.
///
/// An iteration that would go on and trips the breaker, or spends its run's
/// budget, is `tripped`; one that passes is `exit` all the same.
pub fn judge(input: &Input, policy: &Policy) -> Judged {
    let mut input = input.under(policy);
    let case = Case { input: &input, policy };
    let Ruling { verdict: ruled_verdict, released, mut reasons } = case.rule();
    let mut update = match released {
        // The first pauses in a row count for nothing; later ones do, or a helper that never
        // ends would hold the loop for ever.
        Some(Released::Waiting) if input.waits() >= MAX_FREE_WAITS => {
            state_after(ruled_verdict, &reasons, &input, policy)
        }
        Some(released) => input.kept().map(|memory| memory.released(released, &input.observed)),
        None => state_after(ruled_verdict, &reasons, &input, policy),
    };
    let trips = update.as_ref().map(|update| update.trips.as_slice()).unwrap_or_default();
    let change = update.as_ref().and_then(|update| update.change.as_ref());
    let probe_failed = change.is_some_and(|change| change.event == Event::ProbeFailed);
    let denied = &input.observed.denied;
    let mut stops: Vec<_> =
        trips.iter().map(|trip| tripped_reason(trip, probe_failed, denied)).collect();
    if ruled_verdict == Verdict::Continue && released.is_none() {
        let spent = update.as_ref().map(|update| &update.memory.run.spent);
        let overspent = spent.map(|spent| budget::overspent(spent, policy)).unwrap_or_default();
        stops.extend(
            overspent.into_iter().map(|message| Reason::new(ReasonCode::BudgetSpent, message)),
        );
    }
    let (mut verdict, released) =
        if stops.is_empty() { (ruled_verdict, released) } else { (Verdict::Tripped, None) };
    reasons.splice(0..0, stops);
    let refuses = verdict == Verdict::Continue && released.is_none();
    if refuses && let Some(reason) = case.lets_go() {
        verdict = Verdict::Tripped;
        reasons.insert(0, reason);
    }
    if let Some(update) = update.as_mut() {
        let run = &mut update.memory.run;
        if refuses {
            run.told_of_tests |= is_about_tests_alone(&reasons);
            run.told_of_new_files |= has_code(&reasons, ReasonCode::OnlyNewFiles);
        }
        if has_code(&reasons, ReasonCode::WorkLeft) {
            run.work_left = Some(case.refused_words());
        }
        if input.evidence.iter().any(Evidence::sealed_refuse) {
            run.sealed_refusals = run.sealed_refusals.saturating_add(1);
        }
        if input.observed.stop.is_some() {
            let refusals = input.refusals();
            run.refusals = refusals.after(verdict, released, &reasons, case.failure());
        }
    }
    let feedback = match released {
        Some(_) if has_code(&reasons, ReasonCode::Released) => String::new(),
        _ => {
            let run = update.as_ref().map(|update| &update.memory.run);
            feedback::text(verdict, &reasons, &input, policy, run)
        }
    };
    let next = match released {
        Some(_) => None,
        None => feedback::next(verdict, &reasons, &input),
    };
    let verified = case.is_verified(verdict);
    let warnings = case.warnings(verdict, &reasons);
    let breaker = breaker_view(&input, update.as_ref());
    let passed_in_a_row = input.passed_in_a_row();
    input.warnings.extend(warnings);
    if verdict != Verdict::Continue || !refuses {
        input.next_token = None;
    }
    let decision = Decision {
        verdict,
        exit_code: verdict.exit_code(),
        stop: verdict.stops() || released.is_some(),
        success: verdict == Verdict::Exit,
        forced: input.force_reason.is_some(),
        released,
        verified,
        feedback,
        next,
        input,
        reasons,
        breaker,
        passed_in_a_row,
    };
    let (memory, change) =
        update.map_or((None, None), |update| (Some(update.memory), update.change));
    Judged { decision, memory, change }
}

/// The reason of a breaker that opened, or opened again. Denied tools are named.
fn tripped_reason(trip: &Trip, probe_failed: bool, denied: &[String]) -> Reason {
    let tools = match trip.cause {
        Cause::PermissionDenied if !denied.is_empty() => format!(": {}", denied.join(", ")),
        _ => String::new(),
    };
    let message = match probe_failed {
        true => format!("the one try failed, and the loop is stopped again: {}", trip.message),
        false => trip.message.clone(),
    };
    Reason::new(ReasonCode::BreakerTripped, message + &tools)
}

/// The state after a ruling; `None` without state.
fn state_after(
    verdict: Verdict,
    reasons: &[Reason],
    input: &Input,
    policy: &Policy,
) -> Option<StateUpdate> {
    let memory = input.kept()?;
    let observed = &input.observed;
    if input.force_reason.is_some() {
        return Some(memory.forced(observed));
    }
    if input.admission(policy) == Admission::Held {
        return Some(memory.held(observed));
    }
    // Before the work begins, nothing of it can go wrong: a list of open decisions counts as no
    // iteration.
    if observed.listing.is_some() && memory.governing().is_closed() {
        return Some(memory.idle(observed));
    }
    // A person is waited for: nothing of that is the agent's failure.
    if verdict == Verdict::Blocked
        && is_about_tests_alone(reasons)
        && memory.governing().is_closed()
    {
        return Some(memory.held(observed));
    }
    let iteration = breaker_input::iteration(verdict, reasons, input, policy, memory);
    if input.outage().is_some() && !iteration.passed && memory.governing().is_closed() {
        return Some(memory.idle(observed));
    }
    Some(memory.after(&iteration, observed, policy))
}

/// The breaker after the decision.
fn breaker_view(input: &Input, update: Option<&StateUpdate>) -> BreakerView {
    match update {
        Some(update) => update.memory.breaker_view(),
        None if input.is_lost() => BreakerView::lost(),
        None => BreakerView::default(),
    }
}

impl Decision {
    /// Nothing is missing but a person's approval of changed settings.
    pub fn waits_for_settings(&self) -> bool {
        self.reasons.iter().any(|reason| reason.code == ReasonCode::SettingsChanged)
    }

    /// Nothing is missing but a person's approval of changed tests.
    pub fn waits_for_tests(&self) -> bool {
        is_about_tests_alone(&self.reasons)
    }

    /// A rule that is gone had a part in it: this version does not decide it again.
    pub fn rests_on_removed_rule(&self) -> bool {
        self.reasons.iter().any(|reason| ReasonCode::REMOVED.contains(&reason.code))
            || self
                .input
                .warnings
                .iter()
                .any(|warning| WarningCode::REMOVED.contains(&warning.code))
            || self.input.evidence.iter().any(|evidence| {
                // As a built-in check it ran no command.
                evidence.check == REMOVED_CHECK
                    && evidence.argv.is_empty()
                    && evidence.outcome != Outcome::Skipped
            })
    }

    /// The changed tests that a person has to approve.
    pub fn changed_tests(&self) -> Vec<ChangedTests> {
        self.input.evidence.iter().flat_map(Evidence::changed_tests).collect()
    }

    /// The run's use of its budget, this iteration included; `None` without state.
    pub fn spent(&self) -> Option<Spent> {
        self.input.memory.as_ref().map(|memory| memory.run.spent.with(&self.input.observed))
    }
}
