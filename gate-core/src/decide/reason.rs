//! Why a decision is what it is: stable codes, each with a text that explains
//! it and says what to do.

#[macro_use]
mod codes;
mod warning_codes;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use codes::ReasonCode;
pub use warning_codes::WarningCode;

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
    /// A text of this reason's row with the name of its check; the message if the row has none.
    pub(super) fn told(&self, text: &str, check: &str) -> String {
        if text.is_empty() { self.message.clone() } else { text.replace("{check}", check) }
    }

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

/// The row of a code in its table. In texts for an agent or a person, `{check}` stands for the name
/// of the check that a reason is about.
#[derive(Clone, Copy, Debug)]
pub(in crate::decide) struct Entry {
    pub(in crate::decide) explanation: Explanation,
    /// The effort that it takes to remove a reason: the least one is the next step. Reasons that only
    /// a person can remove come first, because nothing else would help.
    pub(in crate::decide) effort: u8,
    /// The reason in the agent's feedback; empty for the reason's own message.
    pub(in crate::decide) to_agent: &'static str,
    /// The next step of a person; empty for the reason's own message.
    pub(in crate::decide) to_person: &'static str,
    /// True for a warning that comes with the input; the others are found by the decision.
    pub(in crate::decide) is_given: bool,
}

impl Entry {
    /// A code whose rule is gone.
    const REMOVED: Self = Self {
        explanation: Explanation {
            what: "A rule of an older version of gate, which this version does not have.",
            why: "Records keep the codes that they were made with. Such a decision is not decided again.",
            example: "A decision in `gate log` that an older version made.",
            next: "Nothing.",
        },
        effort: 0,
        to_agent: "",
        to_person: "",
        is_given: false,
    };
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
