//! Facts about an iteration beside its signal, its indicators and its evidence. They feed
//! the breaker and are never evidence.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::elsewhere::WorkElsewhere;
use super::open_decisions::{ConfirmedDecision, Listing};
use super::reason::{Reason, ReasonCode};
use super::stop::Stop;
use super::timestamp::Timestamp;

/// Facts about an iteration.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(rename = "Observed")]
pub struct IterationFacts {
    /// The time of its decision.
    pub at: Timestamp,
    /// Its number within the run, from 1.
    pub iteration: u64,
    /// The work tree; absent if nobody looked.
    pub tree: Option<TreeSeen>,
    /// The normalised signature of its error: of failing evidence, else of the
    /// transcript.
    pub signature: Option<String>,
    /// The tools that were denied in the final turn.
    pub denied: Vec<String>,
    /// The limit that it ended in.
    pub limited: Option<LimitNotice>,
    /// The length of the agent's text in its final turn, in characters.
    pub output: u64,
    /// The client's id of the session.
    pub session: Option<String>,
    /// Tokens of the transcript.
    pub tokens: Option<u64>,
    /// Cost of the transcript in micro-dollars.
    pub cost_micro_usd: Option<u64>,
    /// Tokens and cost are of one call of the client alone, also where its session goes on.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_of_call: bool,
    /// The id under which this decision holds the breaker's probe.
    pub probe: Option<String>,
    /// The stop that the agent's hook asks about; absent if a loop asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Stop>,
    /// The cause that kept the agent from working, if the runner found one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outage: Option<Outage>,
    /// The project's settings under which it was decided, as a digest or a word; none if
    /// no run is checked against them, or they were not trusted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settings: Option<String>,
    /// The settings of the user, for all projects, as a digest or a word; absent if no run is
    /// checked against them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_settings: Option<String>,
    /// Work that does not stand in the tree that was judged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<WorkElsewhere>,
    /// The open decisions of the task; absent unless this turn was to list them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listing: Option<Listing>,
    /// The decisions of a person before the work began.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub decided: Vec<ConfirmedDecision>,
}

impl IterationFacts {
    /// The words of an `exit` about the change since the loop began; `None` if it is as usual.
    pub fn about_change(&self) -> Option<String> {
        if let Some(unused) = self.unused_files() {
            return Some(format!("only new files that nothing uses: {unused}"));
        }
        if !self.elsewhere.is_empty() {
            let places: Vec<_> = self.elsewhere.iter().map(WorkElsewhere::words).collect();
            return Some(format!("also judged: {}", places.join(", ")));
        }
        let changes = self.tree.as_ref()?.since_beginning.as_ref()?;
        (!changes.changed).then(|| "nothing changed since the loop began".to_owned())
    }

    /// The new files, if they are the only change and no other file names them.
    pub(super) fn unused_files(&self) -> Option<String> {
        let changes = self.tree.as_ref()?.since_beginning.as_ref()?;
        let has_no_other_change = !changes.changed && self.elsewhere.is_empty();
        (has_no_other_change && !changes.unused.is_empty()).then(|| changes.unused.join(", "))
    }

    /// There is work elsewhere whose checks did not pass there.
    pub(super) fn is_work_missing(&self) -> bool {
        self.elsewhere.iter().any(|work| !work.is_checked())
    }
}

/// The files of a loop's beginning beside those of now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SinceBeginning {
    /// One of those files was changed, removed or renamed, a submodule moved, or a new
    /// file is used by another one.
    pub changed: bool,
    /// New files that no other file names; empty if something else changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unused: Vec<String>,
}

/// The work tree around the checks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TreeSeen {
    /// Before them: what the agent left.
    pub before: TreeState,
    /// After them.
    pub after: TreeState,
    /// In the first iteration of a run: something was done since the run began. Something is
    /// not committed, or there is another commit. Absent if that is not known.
    #[serde(default)]
    pub uncommitted: Option<bool>,
    /// Number of files that differ from the commit at which the run began. Absent if that is not
    /// known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_files: Option<u64>,
    /// The files of the loop's beginning beside those of now. Absent if those are not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since_beginning: Option<SinceBeginning>,
}

/// A state of the work tree. A commit changes it, even if no file changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TreeState {
    /// The digest of its files.
    pub digest: String,
    /// The commit that is checked out.
    #[serde(default)]
    pub head: Option<String>,
    /// A digest of the repository's branches: a commit on another one, or in
    /// another work tree, is progress too.
    #[serde(default)]
    pub branches: Option<String>,
}

/// A rate or usage limit that ended an iteration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Limited")]
pub struct LimitNotice {
    /// The client's words.
    pub text: String,
    /// The end of the limit in seconds since 1970, if the client gives one.
    #[serde(default)]
    pub resets_at: Option<i64>,
}

/// The outage that kept an agent from working in an iteration. Neither the work nor the agent
/// is to blame, so the iteration feeds no counter of the breaker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Outage {
    /// The kind of cause.
    pub cause: OutageCause,
    /// The client's message, or the way its program ended.
    pub text: String,
    /// The last lines of the agent's standard error.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
    /// The number of such iterations in a row, this one included.
    #[serde(default)]
    pub count: u64,
    /// The reason why the loop waits no longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gives_up: Option<String>,
}

/// The kinds of causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutageCause {
    /// A rate or usage limit, or an overloaded service.
    Limit,
    /// No connection to the service.
    Connection,
    /// The agent's program ended with an error before it did anything.
    Crash,
    /// Somebody ended the loop while the agent worked.
    Cancelled,
}

impl Outage {
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cause == OutageCause::Cancelled
    }

    /// A sentence about the outage.
    pub fn words(&self) -> String {
        let words = match self.cause {
            OutageCause::Limit => "the agent's service refused the request",
            OutageCause::Connection => "the agent lost the connection to its service",
            OutageCause::Crash => "the agent's program failed at its start",
            OutageCause::Cancelled => "the loop was ended while the agent worked",
        };
        if self.text.is_empty() { words.to_owned() } else { format!("{words}: {}", self.text) }
    }

    /// The outage as a decision's reason.
    pub(crate) fn reason(&self) -> Reason {
        let code = match self.cause {
            OutageCause::Limit => ReasonCode::RateLimited,
            OutageCause::Connection | OutageCause::Crash => ReasonCode::AgentUnavailable,
            OutageCause::Cancelled => ReasonCode::Cancelled,
        };
        let stderr_words = match self.stderr.as_str() {
            "" => String::new(),
            stderr => format!("; its standard error ends: {stderr}"),
        };
        Reason::new(code, self.words() + &stderr_words)
    }
}
