//! The decision: one pure function from what is known to a verdict.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::breaker::BreakerView;
use super::evidence::Evidence;
use super::feedback;
use super::input::Input;
use super::policy::Policy;
use super::reason::{Reason, Warning};
use super::ruling::Case;
use super::score::Indicators;
use super::signal::Signal;
use super::verdict::Verdict;

/// A verdict with everything that led to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Decision {
    /// What it comes to.
    pub verdict: Verdict,
    /// The verdict's exit code.
    pub exit_code: u8,
    /// Whether the loop must not go on.
    pub stop: bool,
    /// Whether the work counts as done.
    pub success: bool,
    /// Whether the operator forced it.
    pub forced: bool,
    /// The operator's reason, where forced.
    #[serde(default)]
    pub force_reason: Option<String>,
    /// A text for the agent's next turn, at most 1,500 characters. It never
    /// holds the text that would pass.
    pub feedback: String,
    /// The one cheapest thing that would change a verdict other than `exit`.
    #[serde(default)]
    pub next: Option<String>,
    /// What the agent says about being done.
    pub signal: Signal,
    /// What speaks for completion.
    pub indicators: Indicators,
    /// What gate itself looked at.
    pub evidence: Vec<Evidence>,
    /// Why the verdict is what it is.
    pub reasons: Vec<Reason>,
    /// What is worth knowing beside it.
    pub warnings: Vec<Warning>,
    /// The breaker before this decision.
    pub breaker: BreakerView,
    /// Whether state is kept; without it there is no breaker.
    pub stateful: bool,
    /// The exit code of the agent's program, where it was given.
    #[serde(default)]
    pub agent_exit_code: Option<i32>,
    /// How many iterations before this one passed in a row.
    #[serde(default)]
    pub passed_in_a_row: u32,
    /// Whether configured checks were left out as the caller asked.
    #[serde(default)]
    pub checks_left_out: bool,
}

/// Decides whether the loop may end.
///
/// The function is pure: equal inputs under equal policies give equal
/// decisions, today and when decided again from a record.
pub fn decide(input: &Input, policy: &Policy) -> Decision {
    let indicators = Indicators::of(input, policy);
    let case = Case { input, policy, indicators: &indicators };
    let (verdict, reasons) = case.rule();
    let warnings = input.warnings.iter().cloned().chain(case.warnings()).collect();
    Decision {
        verdict,
        exit_code: verdict.exit_code(),
        stop: verdict.stops(),
        success: verdict == Verdict::Exit,
        forced: input.forced.is_some(),
        force_reason: input.forced.clone(),
        feedback: feedback::text(verdict, &reasons, &input.signal),
        next: feedback::next(verdict, &reasons, &input.signal),
        signal: input.signal.clone(),
        indicators,
        evidence: input.evidence.clone(),
        reasons,
        warnings,
        breaker: input.breaker_in_force(),
        stateful: input.stateful,
        agent_exit_code: input.agent_exit_code,
        passed_in_a_row: input.passed_in_a_row,
        checks_left_out: input.checks_left_out,
    }
}

impl Decision {
    /// The input from which this decision is decided again.
    pub fn input(&self) -> Input {
        Input {
            signal: self.signal.clone(),
            hits: self.indicators.hits.clone(),
            evidence: self.evidence.clone(),
            checks_left_out: self.checks_left_out,
            stateful: self.stateful,
            breaker: self.stateful.then(|| self.breaker.clone()),
            passed_in_a_row: self.passed_in_a_row,
            agent_exit_code: self.agent_exit_code,
            forced: self.force_reason.clone(),
            warnings: self
                .warnings
                .iter()
                .filter(|warning| warning.code.is_given())
                .cloned()
                .collect(),
        }
    }
}
