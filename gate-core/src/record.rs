//! `gate.decision.v1`: a decision with its time and place.

use std::time::Duration;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::decide::grounds::Ground;
use crate::decide::policy::Allowance;
use crate::ledger::Sealed;
use crate::mask::{self, MASKED};
use crate::scan::Transcript;
use crate::{Decision, Failure, Verdict};

/// The version of this program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The name of this record's schema.
pub const SCHEMA: &str = "gate.decision.v1";

/// A decision with its time and place. Fields are added, never changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Record {
    /// Always `gate.decision.v1`.
    pub schema: String,
    /// A UUID of version 7.
    pub decision_id: String,
    /// When it was decided (RFC 3339, UTC).
    pub time: String,
    /// The version of gate that decided.
    pub gate_version: String,
    /// The run's name.
    pub run: Option<String>,
    /// The iteration's number within the run, from 1.
    pub iteration: Option<u64>,
    /// It is the recorded decision of an earlier call.
    pub repeated: bool,
    /// The task's id.
    pub task: Option<String>,
    /// The decision.
    #[serde(flatten)]
    pub decision: Decision,
    /// The grounds of an exit, the strongest first; empty for any other verdict.
    #[serde(default)]
    pub rests_on: Vec<Ground>,
    /// When a limit that ended the iteration is over (RFC 3339, UTC).
    pub retry_at: Option<String>,
    /// The digest of what was judged, if state is kept: of a large file its ends and its length.
    #[serde(default)]
    pub input_digest: Option<String>,
    /// The policy that it was decided under.
    pub policy_digest: String,
    /// The baseline that checks were compared with.
    pub baseline: Option<String>,
    /// The effort that the agent needs to get around the gate: T0 (nothing
    /// out of reach) to T3 (decided on another machine).
    pub trust: String,
    /// The work tree before and after the checks.
    pub tree: Option<Tree>,
    /// JSON pointers of fields whose text was masked.
    pub masked: Vec<String>,
    /// The agent's use of tokens and money.
    pub usage: UsageRecord,
    /// The place of the decision in the ledger.
    pub ledger: Option<Ledger>,
    /// Facts of the transcript beside the conversation.
    pub transcript: Transcript,
    /// The changes of tests that the operator had approved for it.
    #[serde(default)]
    pub approved: Vec<ApprovedChange>,
    /// The files that the decision names as changed, as they were.
    #[serde(default)]
    pub judged: Vec<FileContent>,
    /// The goals of persons that were in force.
    #[serde(default)]
    pub goals: Vec<GoalRecord>,
    /// The operator's mark, if the decision was wrong.
    #[serde(default)]
    pub wrong: Option<WrongMark>,
    /// The time for the decision, in milliseconds.
    pub duration_ms: u64,
}

/// Digests of the work tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tree {
    /// Before the checks.
    pub before: String,
    /// After them.
    pub after: String,
    /// Files that appeared while checks ran.
    #[serde(default)]
    pub wrote: Vec<String>,
    /// Files that existed and were changed or removed while checks ran.
    #[serde(default)]
    pub changed: Vec<String>,
    /// Files of the caller's in the project that were no part of it, such as the transcript.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub callers_files: Vec<String>,
}

/// The agent's use of tokens and money.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UsageRecord {
    /// Input and output tokens together.
    pub tokens: Option<u64>,
    /// Cost in dollars.
    pub cost_usd: Option<f64>,
    /// Only a part of the transcript was read.
    pub partial: bool,
}

/// The latest decision of a loop, and what the loop has used.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct LatestDecision {
    /// The latest decision's id.
    pub decision_id: Option<String>,
    /// The latest verdict.
    pub verdict: Option<Verdict>,
    /// Tokens of the loop, if its transcripts count them.
    pub tokens: Option<u64>,
    /// US dollars of the loop, if its transcripts count them.
    pub cost_usd: Option<f64>,
}

/// A place in the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ledger {
    /// The record's number.
    pub seq: u64,
    /// The record's hash.
    pub hash: String,
}

/// A goal that a person gave, at a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GoalRecord {
    /// The person's words.
    pub text: String,
    /// The command that exits with 0 if the goal is reached; null if no command can tell.
    pub command: Option<String>,
    /// Its state after the decision.
    pub state: GoalState,
}

/// The state of a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GoalState {
    /// Its command passes.
    Met,
    /// Its command fails.
    NotMet,
    /// Its command could not be run to an end.
    Unknown,
    /// Its command was not run.
    NotRun,
    /// It has no command, and the work is done.
    Claimed,
    /// It has no command.
    Open,
}

impl GoalState {
    /// The state in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::NotMet => "not met",
            Self::Unknown => "not known",
            Self::NotRun => "not run",
            Self::Claimed => "only claimed",
            Self::Open => "no command",
        }
    }
}

impl GoalRecord {
    /// The goal in one line: its words, its command, its state.
    pub fn line(&self) -> String {
        format!("{}: {}", self.words(), self.state.words())
    }

    /// The goal's words, with its command.
    pub fn words(&self) -> String {
        let command = self.command.as_ref().map(|command| format!(" (`{command}`)"));
        format!("{}{}", self.text, command.unwrap_or_default())
    }
}

/// A file with its content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileContent {
    /// Its name, relative to the project.
    pub file: String,
    /// `blake3:` and 64 hex digits over its bytes, or `gone`.
    pub content: String,
}

/// A change that the operator has approved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovedChange {
    /// Glob of the files, relative to the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The file whose change was approved, relative to the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The bytes that it holds for: `blake3:` and 64 hex digits, or `gone`. Without it, it holds
    /// for a failing test until that passes, and for a rule until the next exit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// The rule of a finding that concerns no file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The test's name, in which `*` stands for anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// The operator's reason.
    pub reason: String,
}

impl ApprovedChange {
    /// A test that may fail.
    pub fn from_test(test: &str, reason: &str) -> Self {
        Self {
            path: None,
            file: None,
            content: None,
            rule: None,
            test: Some(test.to_owned()),
            reason: reason.to_owned(),
        }
    }

    /// The glob or the test's name.
    pub fn name(&self) -> &str {
        let names = [&self.test, &self.file, &self.path, &self.rule];
        names.into_iter().find_map(Option::as_deref).unwrap_or_default()
    }
}

impl From<ApprovedChange> for Allowance {
    fn from(approved: ApprovedChange) -> Self {
        let ApprovedChange { path, test, rule, reason, .. } = approved;
        Self { path, test, rule, reason }
    }
}

/// The mistake in a decision. It follows from the verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mistake {
    /// The work was done, and the loop did not end as done.
    FalseRefusal,
    /// The work was not done, and the loop ended as done.
    FalseExit,
}

impl Mistake {
    /// The mistake of a verdict that was wrong.
    pub fn in_verdict(verdict: Verdict) -> Self {
        if verdict == Verdict::Exit { Self::FalseExit } else { Self::FalseRefusal }
    }

    /// The mistake for a person.
    pub fn words(self) -> &'static str {
        match self {
            Self::FalseRefusal => "false refusal",
            Self::FalseExit => "false exit",
        }
    }
}

/// An operator's mark on a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WrongMark {
    /// The mistake.
    pub mistake: Mistake,
    /// The operator's reason.
    pub reason: String,
    /// When it was marked (RFC 3339, UTC).
    pub time: String,
    /// The mark's record.
    pub ledger: Ledger,
}

impl Record {
    /// The decision of a ledger's record, with its place.
    ///
    /// # Errors
    ///
    /// A record that gate cannot have written like this.
    pub fn from_sealed(sealed: &Sealed) -> Result<Self, Failure> {
        let mut decision = sealed.record.body.get("decision").cloned().unwrap_or_default();
        let cost_micro_usd = decision.pointer("/usage/cost_micro_usd").and_then(Value::as_u64);
        if let Some(usage) = decision.get_mut("usage").and_then(Value::as_object_mut) {
            usage.remove("cost_micro_usd");
            let cost_usd = cost_micro_usd.map(|micro| micro as f64 / 1e6);
            usage.insert("cost_usd".to_owned(), json!(cost_usd));
        }
        let record: Self =
            serde_json::from_value(decision).map_err(|error| damaged(sealed, &error))?;
        // Older gates have not written it.
        let rests_on = record.decision.rests_on();
        Ok(Self { rests_on, ledger: Some(Ledger::place(sealed)), ..record })
    }

    /// Time from `now` to `retry_at`; zero if that has come, or is not set.
    pub fn time_to_retry(&self, now: Timestamp) -> Duration {
        let retry_at = self.retry_at.as_ref().and_then(|time| time.parse::<Timestamp>().ok());
        let wait = retry_at.map(|retry_at| retry_at.duration_since(now));
        wait.and_then(|wait| wait.try_into().ok()).unwrap_or_default()
    }

    /// The record with the pointers of what is masked in it.
    #[must_use]
    pub fn with_masked(self) -> Self {
        let json = serde_json::to_vec(&self).unwrap_or_default();
        // Few records have a secret, and a search is quicker than to parse each.
        if memchr::memmem::find(&json, MASKED.as_bytes()).is_none() {
            return self;
        }
        let pointers = serde_json::from_slice(&json).map(|value| mask::pointers(&value));
        Self { masked: pointers.unwrap_or_default(), ..self }
    }
}

impl Ledger {
    /// A record's place.
    pub fn place(sealed: &Sealed) -> Self {
        Self { seq: sealed.record.seq, hash: sealed.hash.to_string() }
    }
}

/// The failure of a record that gate cannot have written like this.
pub fn damaged(sealed: &Sealed, error: &serde_json::Error) -> Failure {
    let message = format!("record {} of the ledger cannot be read: {error}", sealed.record.seq);
    Failure::internal("state-corrupt", message)
}

impl LatestDecision {
    /// The decision of a record, and what its loop has used.
    pub fn new(record: Option<&Record>) -> Self {
        let spent = record.and_then(|record| record.decision.spent()).unwrap_or_default();
        let cost_micro_usd = spent.cost_micro_usd;
        Self {
            decision_id: record.map(|record| record.decision_id.clone()),
            verdict: record.map(|record| record.decision.verdict),
            tokens: (spent.tokens > 0).then_some(spent.tokens),
            cost_usd: (cost_micro_usd > 0).then_some(cost_micro_usd as f64 / 1e6),
        }
    }
}

impl UsageRecord {
    /// The use that a transcript reports.
    pub fn new(transcript: &Transcript) -> Self {
        Self {
            tokens: transcript.tokens,
            cost_usd: transcript.cost_micro_usd.map(|micro_usd| micro_usd as f64 / 1e6),
            partial: transcript.skipped > 0,
        }
    }
}
