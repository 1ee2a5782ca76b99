//! The stops that an agent's hook asks about, and the number of their refusals.
//!
//! The client's own mark of a stop that follows a refusal (`stop_hook_active`)
//! is no measure: Qwen Code always sets it, Gemini CLI clears it after a tool
//! call, Claude Code after a background task. So refusals are counted here.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reason::{Reason, ReasonCode, has_code};
use super::situation::{FailureShares, Released, Situation};
use super::verdict::Verdict;

/// A stop that an agent's hook asks about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stop {
    /// The agent's name.
    pub agent: String,
    /// The id of the person's prompt, if the client gives one.
    #[serde(default)]
    pub prompt: Option<String>,
    /// The background tasks that the agent leaves running.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub background: Vec<String>,
    /// The circumstances of the stop. None in records that are older than releases: those
    /// stops were decided as a loop's iterations are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub situation: Option<Situation>,
}

/// The refusals of an agent's stop since the agent was last let go, or since the person's
/// prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Refusals {
    /// The id of the prompt that they belong to, if the client gives one.
    pub prompt: Option<String>,
    /// The number of refusals.
    pub blocks: u32,
    /// A refusal was for an absent signal: the agent has been given the protocol.
    pub reminded: bool,
    /// A refusal was for tasks in the background.
    pub waited: bool,
    /// A digest of the failing checks and tests that the last refusal was for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// The number of times in a row that this failure refused.
    pub same: u32,
    /// The number of pauses in a row: stops that waited for a helper or a wake-up.
    #[serde(skip_serializing_if = "is_zero")]
    pub waits: u32,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde's form")]
pub(super) fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl Stop {
    /// The stop with the owners of its failures, if its circumstances are known.
    #[must_use]
    pub fn with_failures(&self, failures: Vec<FailureShares>) -> Self {
        let mut stop = self.clone();
        if let Some(situation) = &mut stop.situation {
            situation.failures = failures;
        }
        stop
    }
}

impl Refusals {
    pub(crate) fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// The refusals that count for a stop: another prompt begins anew.
    #[must_use]
    pub fn before(&self, stop: &Stop) -> Self {
        let is_new_prompt =
            self.prompt.is_some() && stop.prompt.is_some() && self.prompt != stop.prompt;
        let refusals = match is_new_prompt {
            // A helper that ends comes with a prompt of the client's. So pauses go on counting.
            true => Self { waits: self.waits, ..self.failures_alone() },
            false => self.clone(),
        };
        Self { prompt: stop.prompt.clone().or(refusals.prompt), ..refusals }
    }

    /// The part that outlives a prompt: a failure that was refused twice is not refused
    /// again because the person wrote something else.
    fn failures_alone(&self) -> Self {
        Self { failure: self.failure.clone(), same: self.same, ..Self::default() }
    }

    /// The refusals after a decision about the stop: whoever is let go begins anew.
    /// `failure` is a digest of the red checks and tests at this stop.
    pub(crate) fn after(
        &self,
        verdict: Verdict,
        released: Option<Released>,
        reasons: &[Reason],
        failure: Option<String>,
    ) -> Self {
        match released {
            // The turn goes on.
            Some(Released::Waiting) => {
                return Self { waits: self.waits.saturating_add(1), ..self.clone() };
            }
            Some(Released::Green) => return Self::default(),
            Some(Released::Red | Released::NotRun) => return self.failures_alone(),
            None if verdict != Verdict::Continue => return Self::default(),
            None => {}
        }
        let is_same = failure.is_some() && failure == self.failure;
        Self {
            prompt: self.prompt.clone(),
            blocks: self.blocks.saturating_add(1),
            reminded: self.reminded || has_code(reasons, ReasonCode::SignalAbsent),
            waited: self.waited || has_code(reasons, ReasonCode::BackgroundRunning),
            same: if is_same { self.same.saturating_add(1) } else { u32::from(failure.is_some()) },
            waits: 0,
            failure,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stop(prompt: Option<&str>) -> Stop {
        let prompt = prompt.map(str::to_owned);
        Stop { agent: "codex".to_owned(), prompt, background: Vec::new(), situation: None }
    }

    #[test]
    fn another_prompt_begins_anew_and_so_does_letting_go() {
        let absent = [Reason::new(ReasonCode::SignalAbsent, "")];
        let one = Refusals::default().before(&stop(Some("a")));
        let one = one.after(Verdict::Continue, None, &absent, None);
        assert_eq!((one.blocks, one.reminded, one.waited), (1, true, false));
        assert_eq!(one.before(&stop(Some("a"))).blocks, 1);
        assert_eq!(one.before(&stop(None)), one);
        assert_eq!(one.before(&stop(Some("b"))).blocks, 0);
        for verdict in [Verdict::Exit, Verdict::Tripped, Verdict::Blocked] {
            assert!(one.after(verdict, None, &[], None).is_none());
        }
    }

    #[test]
    fn the_same_failure_is_counted_over_prompts_until_it_is_green() {
        let red = |before: &Refusals, prompt| {
            let before = before.before(&stop(Some(prompt)));
            before.after(Verdict::Continue, None, &[], Some("f".to_owned()))
        };
        let twice = red(&red(&Refusals::default(), "a"), "b");
        assert_eq!((twice.same, twice.blocks), (2, 1));
        let released = twice.after(Verdict::Continue, Some(Released::Red), &[], None);
        assert_eq!((released.same, released.blocks), (2, 0));
        let green = twice.after(Verdict::Continue, Some(Released::Green), &[], None);
        assert!(green.is_none());
        let other = twice.after(Verdict::Continue, None, &[], Some("g".to_owned()));
        assert_eq!(other.same, 1);
    }
}
