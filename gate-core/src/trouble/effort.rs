//! What the breaker is fed from a transcript.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Signature;
use crate::decide::iteration_facts::Limited;

/// What the breaker is fed from a transcript, all of it of the final turn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Effort {
    /// What went wrong. None where nothing did, and where a limit ended the
    /// turn: that is nobody's error.
    pub signature: Option<Signature>,
    /// The rate or usage limit that ended the turn.
    pub limited: Option<Limited>,
    /// The client's word that it did not reach its service, where that ended the turn.
    /// It is to be believed of a program that failed.
    pub outage: Option<String>,
    /// Whether the agent did anything: spoke, thought, or called a tool.
    pub acted: bool,
    /// The tools that were denied, each once. Questions and plans that nobody
    /// answered are none.
    pub denied: Vec<String>,
    /// How much the agent wrote, in characters.
    pub output: u64,
}
