//! What the breaker is fed from a transcript.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Signature;
use crate::decide::observed::Limited;

/// What the breaker is fed from a transcript, all of it of the final turn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Effort {
    /// What went wrong. None where nothing did, and where a limit ended the
    /// turn: that is nobody's error.
    pub signature: Option<Signature>,
    /// The rate or usage limit that ended the turn.
    pub limited: Option<Limited>,
    /// The tools that were denied, each once. Questions and plans that nobody
    /// answered are none.
    pub denied: Vec<String>,
    /// How much the agent wrote, in characters.
    pub output: u64,
}
