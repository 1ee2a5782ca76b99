//! Facts of a transcript that feed the breaker.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Signature;
use crate::decide::iteration_facts::LimitNotice;

/// Facts of a transcript's final turn that feed the breaker.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Effort {
    /// The signature of the error that ended the turn. `None` if there was no error, or if
    /// a limit ended the turn: that is nobody's error.
    pub signature: Option<Signature>,
    /// The rate or usage limit that ended the turn.
    pub limited: Option<LimitNotice>,
    /// The client's message that it did not reach its service, if that ended the turn. It
    /// counts only for a program that failed.
    pub outage: Option<String>,
    /// The agent spoke, thought, or called a tool.
    pub acted: bool,
    /// The tools that were denied, each once. Questions and plans that nobody
    /// answered are none.
    pub denied: Vec<String>,
    /// The length of the agent's text, in characters.
    pub output: u64,
}
