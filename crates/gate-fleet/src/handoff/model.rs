//! The data of a handoff, by the names of its protocol.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of A2A that the extension speaks of: this string, and no number.
pub const PROTOCOL_VERSION: &str = "0.3";

/// The state of the work that one agent leaves to the next.
///
/// It may be unfinished: an unknown text is empty, or a placeholder such as `...`.
/// [`Handoff::problems`] lists what is missing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(description = "What one agent leaves to the next.")]
pub struct Handoff {
    /// The target, in one sentence.
    #[schemars(regex(pattern = r"\S"))]
    pub objective: String,
    /// Work that the next agent is responsible for.
    #[schemars(length(min = 1), inner(regex(pattern = r"\S")))]
    pub in_scope: Vec<String>,
    /// Work that it is not responsible for.
    #[schemars(length(min = 1), inner(regex(pattern = r"\S")))]
    pub out_of_scope: Vec<String>,
    /// The files that were changed, by their full paths.
    #[schemars(length(min = 1), inner(regex(pattern = r"\S")))]
    pub changed_files: Vec<String>,
    /// Commands that were run, with their results.
    #[schemars(length(min = 1))]
    pub verification: Vec<Verification>,
    /// Risks, with their owners.
    #[schemars(length(min = 1))]
    pub open_risks: Vec<Risk>,
    /// Next steps, in order: at most three.
    #[schemars(length(min = 1, max = 3), inner(regex(pattern = r"\S")))]
    pub next_actions: Vec<String>,
    /// Assumptions that decisions rest on.
    #[schemars(length(min = 1), inner(regex(pattern = r"\S")))]
    pub assumptions: Vec<String>,
    /// Data for agents of other makes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "A2a")]
    pub a2a: Option<A2a>,
}

/// A command that was run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend(
    "if" = serde_json::json!({ "properties": { "result": { "const": "FAIL" } } }),
    "then" = serde_json::json!({ "required": ["blocker"] }),
))]
pub struct Verification {
    /// The command, as it was typed.
    #[schemars(regex(pattern = r"\S"))]
    pub command: String,
    /// The result.
    #[schemars(with = "String", extend("enum" = ["PASS", "FAIL"]))]
    pub result: Outcome,
    /// A short note.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub notes: Option<String>,
    /// Severity and rollback: required if the command failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Blocker")]
    pub blocker: Option<Blocker>,
}

/// Result of a command, in the word of the text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Outcome {
    /// `PASS`
    Pass,
    /// `FAIL`
    Fail,
    /// Any other text, the empty one included: it says neither.
    #[serde(untagged)]
    Unsaid(String),
}

/// Consequence of a failure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Blocker {
    /// Its severity.
    #[schemars(regex(pattern = r"\S"))]
    pub severity: String,
    /// The way back to a working state.
    #[schemars(regex(pattern = r"\S"))]
    pub rollback: String,
}

/// Something that may go wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend(
    "if" = serde_json::json!({ "properties": { "risk": { "pattern": r"^\W*[Nn]([Oo]|[Ii][Ll]|/?[Aa])" } } }),
    "else" = serde_json::json!({ "properties": { "impact": { "pattern": r"\S" }, "owner": { "pattern": r"\S" } } }),
))]
pub struct Risk {
    /// The risk; `none` if there is no open one.
    #[schemars(regex(pattern = r"\S"))]
    pub risk: String,
    /// Its effect.
    pub impact: String,
    /// The person or agent responsible.
    pub owner: String,
}

/// The extension for agents that speak A2A 0.3.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct A2a {
    /// Always the string `0.3`.
    #[schemars(extend("const" = PROTOCOL_VERSION))]
    pub protocol_version: String,
    /// The agent that hands over.
    pub sender: Agent,
    /// The agent that takes over.
    pub receiver: Agent,
    /// Capabilities of the sender.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<String>", inner(regex(pattern = r"\S")))]
    pub capabilities_declared: Option<Vec<String>>,
    /// Capabilities that the receiver needs.
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
    /// Address of the agent's description.
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
    /// The provider of its model.
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
