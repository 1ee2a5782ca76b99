//! Warnings: remarks on a decision that do not change it.

use super::{Case, with_summary};
use crate::decide::evidence::{Evidence, Outcome};
use crate::decide::policy::Mode;
use crate::decide::reason::{Reason, ReasonCode, Warning, WarningCode};
use crate::decide::signal::Status;
use crate::decide::verdict::Verdict;

impl Case<'_> {
    /// Warnings about the decision. They do not repeat its `reasons`.
    pub(in crate::decide) fn warnings(&self, verdict: Verdict, reasons: &[Reason]) -> Vec<Warning> {
        let mut warnings = Vec::new();
        if !reasons.iter().any(|reason| reason.code == ReasonCode::SettingsChanged) {
            let changed = self.input.settings_changed.iter();
            warnings
                .extend(changed.map(|changed| Warning::new(WarningCode::SettingsDiffer, changed)));
        }
        warnings.extend(self.about_user_settings());
        warnings.extend(self.about_evidence(verdict));
        warnings.extend(self.about_threshold());
        warnings.extend(self.about_streak());
        warnings.extend(self.about_override());
        warnings.extend(self.about_agent());
        warnings.extend(self.about_denials());
        let mut evidence: Vec<_> = self.input.evidence.iter().collect();
        if self.has_failed_check() {
            evidence.retain(|record| record.outcome != Outcome::Skipped);
        }
        warnings.extend(evidence.into_iter().filter_map(about_check));
        warnings
    }

    /// The user's settings lie in the home folder, where an agent can write.
    fn about_user_settings(&self) -> Option<Warning> {
        let first_settings = self.input.kept()?.run.user_settings.as_ref()?;
        let settings = self.input.observed.user_settings.as_ref()?;
        (first_settings != settings).then(|| {
            let message = "gate/config.toml in your settings folder changed since this run began: \
                           if it was not you, look at it, and check again";
            Warning::new(WarningCode::SettingsOfUserChanged, message)
        })
    }

    fn about_evidence(&self, verdict: Verdict) -> Option<Warning> {
        if self.policy.checks.is_empty() && self.input.evidence.is_empty() {
            let message = match verdict {
                Verdict::Exit if self.input.indicators.rests_on_signal() => {
                    "only the agent's word: no check and no second condition".to_owned()
                }
                _ => format!("threshold {}: no checks configured", self.input.indicators.threshold),
            };
            Some(Warning::new(WarningCode::NoEvidence, message))
        } else if self.rests_on_claims() {
            let message = "all that passes is what the agent itself ticked or wrote";
            Some(Warning::new(WarningCode::NoEvidence, message))
        } else if self.input.checks_left_out {
            // No option of a hook leaves checks out: this stop needed none.
            self.input.observed.stop.is_none().then(|| {
                let message = "the configured checks did not run";
                Warning::new(WarningCode::ChecksNotRun, message)
            })
        } else if !self.is_verified(verdict) && self.input.force_reason.is_none() {
            let message = "no check that counts has passed, so this rests on what the agent wrote";
            Some(Warning::new(WarningCode::NoEvidence, message))
        } else {
            None
        }
    }

    /// Evidence passes, and all of it on the agent's own word.
    fn rests_on_claims(&self) -> bool {
        let evidence = self.input.evidence.iter();
        let mut passing = evidence.filter(|record| record.outcome == Outcome::Pass).peekable();
        passing.peek().is_some() && passing.all(|evidence| evidence.claim)
    }

    /// Warns if all sources together cannot reach the threshold.
    fn about_threshold(&self) -> Option<Warning> {
        let sum = self.policy.most_indicators();
        let threshold = self.input.indicators.threshold;
        (self.policy.exit_gate.enabled && threshold > sum).then(|| {
            let message = format!("the threshold is {threshold}, and all sources add up to {sum}");
            Warning::new(WarningCode::ThresholdUnreachable, message)
        })
    }

    /// Warns that without state the iterations that pass in a row are not counted.
    fn about_streak(&self) -> Option<Warning> {
        let needed = self.policy.exit_gate.consecutive.get();
        (needed > 1 && !self.input.stateful).then(|| {
            let message = format!("{needed} passing iterations in a row are asked for, and no state is kept to count them");
            Warning::new(WarningCode::StreakNotCounted, message)
        })
    }

    fn about_override(&self) -> Option<Warning> {
        if self.override_granted() {
            let message = "the agent's override lifted the threshold";
            Some(Warning::new(WarningCode::OverrideGranted, message))
        } else if self.input.signal.override_requested {
            let message = "the agent asked to bypass the threshold; that was not granted";
            Some(Warning::new(WarningCode::OverrideIgnored, message))
        } else {
            None
        }
    }

    fn about_denials(&self) -> Option<Warning> {
        let denied = &self.input.observed.denied;
        (!denied.is_empty()).then(|| {
            let message = format!("the agent was not allowed to use: {}", denied.join(", "));
            Warning::new(WarningCode::ToolDenied, message)
        })
    }

    fn about_agent(&self) -> Option<Warning> {
        let code = self.input.agent_exit_code.filter(|&code| code != 0)?;
        (self.input.signal.status == Status::Complete).then(|| {
            Warning::new(
                WarningCode::AgentExitCode,
                format!("the agent's program ended with code {code} after a complete signal"),
            )
        })
    }
}

fn about_check(evidence: &Evidence) -> Option<Warning> {
    if !evidence.flaky.is_empty() && evidence.outcome == Outcome::Pass {
        let names = evidence.flaky.join(", ");
        let message = format!("{} passed only when it was run again: {names}", evidence.check);
        return Some(Warning::new(WarningCode::Flaky, message));
    }
    if matches!(evidence.outcome, Outcome::Pass | Outcome::Tamper) {
        return None;
    }
    let code = match evidence.mode {
        Mode::Require => return None,
        Mode::Count => WarningCode::CheckDidNotCount,
        Mode::Warn => WarningCode::CheckWarning,
    };
    Some(Warning::new(code, with_summary(evidence, "did not pass")))
}
