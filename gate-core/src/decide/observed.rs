//! What was observed of an iteration beside its signal, its indicators and its
//! evidence. It feeds the breaker, and is never evidence.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::moment::Moment;
use super::stop::Stop;

/// What was observed of an iteration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Observed {
    /// When it was decided.
    pub at: Moment,
    /// Its number within the run, from 1.
    pub iteration: u64,
    /// The work tree; none where nobody looked.
    pub tree: Option<TreeSeen>,
    /// The normalised signature of its error: of failing evidence, else of what
    /// the transcript tells.
    pub signature: Option<String>,
    /// The tools that were denied in the final turn.
    pub denied: Vec<String>,
    /// The limit that it ended in.
    pub limited: Option<Limited>,
    /// How many characters the agent wrote in its final turn.
    pub output: u64,
    /// The client's id of the session.
    pub session: Option<String>,
    /// Tokens of the transcript.
    pub tokens: Option<u64>,
    /// Cost of the transcript in micro-dollars.
    pub cost_micro_usd: Option<u64>,
    /// The id under which this decision holds the breaker's probe.
    pub probe: Option<String>,
    /// The stop that the agent's hook asks about; none where a loop asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Stop>,
    /// The project's settings that it was decided under, as a digest or a word;
    /// none where nobody holds runs against them, or they were not to be believed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settings: Option<String>,
}

/// The work tree around the checks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TreeSeen {
    /// Before them: what the agent left.
    pub before: TreeState,
    /// After them.
    pub after: TreeState,
    /// In the first look of a run, whether something was done since the run began:
    /// something is not committed, or another commit is there. None where that is
    /// not known.
    #[serde(default)]
    pub uncommitted: Option<bool>,
}

/// A state of the work tree. A commit changes it, also where no file changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TreeState {
    /// The digest of its files.
    pub digest: String,
    /// The commit that it stands on.
    #[serde(default)]
    pub head: Option<String>,
    /// A digest of the repository's branches: a commit on another one, or in
    /// another work tree, is progress too.
    #[serde(default)]
    pub branches: Option<String>,
}

/// A rate or usage limit that ended an iteration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Limited {
    /// The client's words.
    pub text: String,
    /// When it ends, in seconds since 1970, where the client says so.
    #[serde(default)]
    pub resets_at: Option<i64>,
}
