//! What a handoff says, by the names of its protocol.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The version of A2A that the extension speaks of: this string, and no number.
pub const PROTOCOL_VERSION: &str = "0.3";

/// What one agent leaves to the next.
///
/// It may be unfinished: what nobody said is empty, or a placeholder such as
/// `...`. [`Handoff::problems`] says what it lacks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(description = "What one agent leaves to the next.")]
pub struct Handoff {
    /// The target, in one sentence.
    #[schemars(regex(pattern = r"\S"))]
    pub objective: String,
    /// What the next agent is responsible for.
    #[schemars(length(min = 1), inner(regex(pattern = r"\S")))]
    pub in_scope: Vec<String>,
    /// What it is not.
    #[schemars(length(min = 1), inner(regex(pattern = r"\S")))]
    pub out_of_scope: Vec<String>,
    /// The files that were changed, by their full paths.
    #[schemars(length(min = 1), inner(regex(pattern = r"\S")))]
    pub changed_files: Vec<String>,
    /// Which commands were run, and what came of them.
    #[schemars(length(min = 1))]
    pub verification: Vec<Verification>,
    /// What may go wrong, and whose it is.
    #[schemars(length(min = 1))]
    pub open_risks: Vec<Risk>,
    /// What to do next, in order: at most three.
    #[schemars(length(min = 1, max = 3), inner(regex(pattern = r"\S")))]
    pub next_actions: Vec<String>,
    /// What was taken for granted when decisions were made.
    #[schemars(length(min = 1), inner(regex(pattern = r"\S")))]
    pub assumptions: Vec<String>,
    /// What agents of other makes need to know.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "A2a")]
    pub a2a: Option<A2a>,
}

/// A command that was run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend(
    "if" = json!({ "properties": { "result": { "const": "FAIL" } } }),
    "then" = json!({ "required": ["blocker"] }),
))]
pub struct Verification {
    /// The command, as it was typed.
    #[schemars(regex(pattern = r"\S"))]
    pub command: String,
    /// What came of it.
    #[schemars(with = "String", extend("enum" = ["PASS", "FAIL"]))]
    pub result: Outcome,
    /// A short note.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub notes: Option<String>,
    /// How bad a failure is, and the way back: required where it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Blocker")]
    pub blocker: Option<Blocker>,
}

/// What came of a command, in the word that stands there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Outcome {
    /// `PASS`
    Pass,
    /// `FAIL`
    Fail,
    /// Any other text, the empty one included: it says neither.
    Unsaid(String),
}

/// What a failure means.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Blocker {
    /// How bad it is.
    #[schemars(regex(pattern = r"\S"))]
    pub severity: String,
    /// How to get back to where it worked.
    #[schemars(regex(pattern = r"\S"))]
    pub rollback: String,
}

/// Something that may go wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Risk {
    /// What.
    #[schemars(regex(pattern = r"\S"))]
    pub risk: String,
    /// What would come of it.
    #[schemars(regex(pattern = r"\S"))]
    pub impact: String,
    /// Who looks after it.
    #[schemars(regex(pattern = r"\S"))]
    pub owner: String,
}

/// The extension for agents that speak A2A 0.3.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct A2a {
    /// Always the string `0.3`.
    #[schemars(extend("const" = PROTOCOL_VERSION))]
    pub protocol_version: String,
    /// Who hands over.
    pub sender: Agent,
    /// Who takes over.
    pub receiver: Agent,
    /// What the sender can do.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<String>", inner(regex(pattern = r"\S")))]
    pub capabilities_declared: Option<Vec<String>>,
    /// What the receiver has to be able to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<String>", inner(regex(pattern = r"\S")))]
    pub capabilities_required: Option<Vec<String>>,
    /// The thread that it belongs to.
    #[schemars(regex(pattern = r"\S"))]
    pub interaction_id: String,
    /// From where the work can be resumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", regex(pattern = r"\S"))]
    pub checkpoint_id: Option<String>,
    /// Where the agent is described.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", regex(pattern = r"\S"))]
    pub agent_card_ref: Option<String>,
    /// Why the work is handed over.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", regex(pattern = r"\S"))]
    pub handoff_reason: Option<String>,
}

/// An agent, as the extension names it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Agent {
    /// Its name.
    #[schemars(regex(pattern = r"\S"))]
    pub agent_id: String,
    /// Who runs its model.
    #[schemars(regex(pattern = r"\S"))]
    pub provider: String,
    /// Its model.
    #[schemars(regex(pattern = r"\S"))]
    pub model: String,
}

impl Outcome {
    /// The word.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Pass => "PASS",
            Self::Fail => "FAIL",
            Self::Unsaid(text) => text,
        }
    }
}

impl Default for Outcome {
    fn default() -> Self {
        Self::Unsaid(String::new())
    }
}

impl From<String> for Outcome {
    fn from(text: String) -> Self {
        match text.as_str() {
            "PASS" => Self::Pass,
            "FAIL" => Self::Fail,
            _ => Self::Unsaid(text),
        }
    }
}

impl From<Outcome> for String {
    fn from(outcome: Outcome) -> Self {
        outcome.as_str().to_owned()
    }
}
