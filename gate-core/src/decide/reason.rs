//! Why a decision is what it is: stable codes, each with a text that explains
//! it and says what to do.

mod codes;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use codes::{ReasonCode, WarningCode};

/// One reason of a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reason {
    /// Its code.
    pub code: ReasonCode,
    /// The check that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
    /// A sentence for a person or an agent.
    pub message: String,
}

/// One warning of a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Warning {
    /// Its code.
    pub code: WarningCode,
    /// A sentence for a person.
    pub message: String,
}

impl Reason {
    pub(crate) fn new(code: ReasonCode, message: impl Into<String>) -> Self {
        Self { code, check: None, message: message.into() }
    }

    pub(crate) fn for_check(code: ReasonCode, check: &str, message: impl Into<String>) -> Self {
        Self { code, check: Some(check.to_owned()), message: message.into() }
    }
}

impl Warning {
    /// A warning with this text.
    pub fn new(code: WarningCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// A code in words, a sentence or two each.
#[derive(Clone, Copy, Debug)]
pub struct Explanation {
    /// The meaning of the code.
    pub what: &'static str,
    /// The cause, or the purpose of the rule.
    pub why: &'static str,
    /// One case.
    pub example: &'static str,
    /// The remedy.
    pub next: &'static str,
}

/// The explanation of a reason's or a warning's code.
pub fn explain(code: &str) -> Option<Explanation> {
    let mut reasons = ReasonCode::ALL.iter().chain(ReasonCode::REMOVED);
    if let Some(reason) = reasons.find(|known| known.code() == code) {
        return Some(reason.explanation());
    }
    let mut warnings = WarningCode::ALL.iter().chain(WarningCode::REMOVED);
    Some(warnings.find(|known| known.code() == code)?.explanation())
}

impl WarningCode {
    /// True if the warning came with the input; the others are found by the decision.
    pub(super) fn is_given(self) -> bool {
        matches!(
            self,
            Self::InputProblem
                | Self::UnknownFormat
                | Self::ThresholdFromEnvironment
                | Self::SettingLocked
                | Self::SettingGone
                | Self::AgentError
                | Self::LimitReached
                | Self::CheckElsewhere
                | Self::NoBaseline
                | Self::BaselineOfHistory
                | Self::TrustLowered
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_code_is_explained_by_its_own_words() {
        for code in ReasonCode::ALL {
            let found = explain(code.code()).expect("it is known");
            assert_eq!(found.what, code.explanation().what);
        }
        for code in WarningCode::ALL {
            let found = explain(code.code()).expect("it is known");
            assert_eq!(found.what, code.explanation().what);
        }
        assert!(explain("unheard-of").is_none());
    }
}
