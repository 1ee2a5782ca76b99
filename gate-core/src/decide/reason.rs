//! The reasons of decisions: stable codes, each with a text that explains it and names the
//! remedy.

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
    /// A text of this reason's row with the name of its check; the message if the row has no
    /// such text.
    pub(super) fn wording(&self, row_text: &str, check: &str) -> String {
        match row_text {
            "" => self.message.clone(),
            _ => row_text.replace("{check}", check),
        }
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
    pub meaning: &'static str,
    /// The cause, or the purpose of the rule.
    pub cause: &'static str,
    /// One case.
    pub example: &'static str,
    /// The remedy.
    pub remedy: &'static str,
}

/// The row of a code in its table. In texts for an agent or a person, `{check}` stands for the name
/// of the check that a reason is about.
#[derive(Clone, Copy, Debug)]
pub(in crate::decide) struct CodeRow {
    pub(in crate::decide) explanation: Explanation,
    /// The effort that it takes to remove a reason: the least one is the next step. Reasons that only
    /// a person can remove come first, because nothing else would help.
    pub(in crate::decide) effort: u8,
    /// The reason in the agent's feedback; empty for the reason's own message.
    pub(in crate::decide) to_agent: &'static str,
    /// The next step of a person; empty for the reason's own message.
    pub(in crate::decide) to_person: &'static str,
    /// The warning comes with the input; the decision finds the others.
    pub(in crate::decide) comes_with_input: bool,
}

impl CodeRow {
    /// A code whose rule is gone.
    const REMOVED: Self = Self {
        explanation: Explanation {
            meaning: "A rule of an older version of gate, which this version does not have.",
            cause: "Records keep the codes that they were made with. Such a decision is not decided again.",
            example: "A decision in `gate log` that an older version made.",
            remedy: "Nothing.",
        },
        effort: 0,
        to_agent: "",
        to_person: "",
        comes_with_input: false,
    };
}

/// The explanation of a reason's or a warning's code.
pub fn explain(code: &str) -> Option<Explanation> {
    let mut reasons = ReasonCode::ALL.iter().chain(ReasonCode::REMOVED);
    if let Some(reason) = reasons.find(|reason| reason.code() == code) {
        return Some(reason.explanation());
    }
    let mut warnings = WarningCode::ALL.iter().chain(WarningCode::REMOVED);
    Some(warnings.find(|warning| warning.code() == code)?.explanation())
}

/// One of the reasons has this code.
pub(super) fn has_code(reasons: &[Reason], code: ReasonCode) -> bool {
    reasons.iter().any(|reason| reason.code == code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_code_is_explained_by_its_own_words() {
        for code in ReasonCode::ALL {
            let explanation = explain(code.code()).expect("each code is known");
            assert_eq!(explanation.meaning, code.explanation().meaning);
        }
        for code in WarningCode::ALL {
            let explanation = explain(code.code()).expect("each code is known");
            assert_eq!(explanation.meaning, code.explanation().meaning);
        }
        assert!(explain("unheard-of").is_none());
    }
}
