//! `gate.decision.v1`: a decision with its time and place.

use std::time::Duration;

use gate_checks::{CheckSite, TreeChange};
use gate_core::decide::policy::Allowance;
use gate_core::mask::{self, MASKED, Masker};
use gate_core::scan::Transcript;
use gate_core::{Decision, Verdict};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of this program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Most files that a record names.
const SHOWN_FILES: usize = 200;

/// The name of this record's schema.
pub const SCHEMA: &str = "gate.decision.v1";

/// A decision with its time and place. Fields are added, never changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
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
    /// True for the recorded decision of an earlier call.
    pub repeated: bool,
    /// The task's id.
    pub task: Option<String>,
    /// The decision.
    #[serde(flatten)]
    pub decision: Decision,
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
    /// The operator's mark, if the decision was wrong.
    #[serde(default)]
    pub wrong: Option<WrongMark>,
    /// The time for the decision, in milliseconds.
    pub duration_ms: u64,
}

/// Digests of the work tree.
#[non_exhaustive]
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
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UsageRecord {
    /// Input and output tokens together.
    pub tokens: Option<u64>,
    /// Cost in dollars.
    pub cost_usd: Option<f64>,
    /// True if only a part of the transcript was read.
    pub partial: bool,
}

/// The latest decision of a loop, and what the loop has used.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct LatestDecision {
    /// The latest decision's id.
    pub(crate) decision_id: Option<String>,
    /// The latest verdict.
    pub(crate) verdict: Option<Verdict>,
    /// Tokens of the loop, if its transcripts count them.
    pub(crate) tokens: Option<u64>,
    /// US dollars of the loop, if its transcripts count them.
    pub(crate) cost_usd: Option<f64>,
}

/// A place in the ledger.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ledger {
    /// The record's number.
    pub seq: u64,
    /// The record's hash.
    pub hash: String,
}

/// A file with its content.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileContent {
    /// Its name, relative to the project.
    pub file: String,
    /// `blake3:` and 64 hex digits over its bytes, or `gone`.
    pub content: String,
}

/// A change that the operator has approved.
#[non_exhaustive]
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
    pub(crate) fn from_test(test: &str, reason: &str) -> Self {
        let (test, reason) = (Some(test.to_owned()), reason.to_owned());
        Self { path: None, file: None, content: None, rule: None, test, reason }
    }

    /// The glob or the test's name.
    pub(crate) fn name(&self) -> &str {
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
    pub(crate) fn in_verdict(verdict: Verdict) -> Self {
        if verdict == Verdict::Exit { Self::FalseExit } else { Self::FalseRefusal }
    }

    /// The mistake for a person.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::FalseRefusal => "false refusal",
            Self::FalseExit => "false exit",
        }
    }
}

/// An operator's mark on a decision.
#[non_exhaustive]
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
    /// Time from now to `retry_at`; nothing if that has come, or is not set.
    pub fn time_to_retry(&self) -> Duration {
        let at = self.retry_at.as_ref().and_then(|at| at.parse::<Timestamp>().ok());
        let left = at.map(|at| at.duration_since(Timestamp::now()));
        left.and_then(|left| left.try_into().ok()).unwrap_or_default()
    }

    /// The record with the pointers of what is masked in it.
    #[must_use]
    pub(crate) fn with_masked(self) -> Self {
        let text = serde_json::to_vec(&self).unwrap_or_default();
        if memchr::memmem::find(&text, MASKED.as_bytes()).is_none() {
            return self;
        }
        let masked = serde_json::from_slice(&text).map(|value| mask::pointers(&value));
        Self { masked: masked.unwrap_or_default(), ..self }
    }
}

impl Tree {
    /// The digests and, without secrets, the names.
    pub(crate) fn masked(tree: TreeChange, site: &CheckSite, masker: &Masker) -> Self {
        let callers_files = site.callers_files.iter().filter_map(|file| {
            let inside = file.strip_prefix(&site.project).ok()?;
            Some(masker.text(&inside.to_string_lossy()))
        });
        let TreeChange { before, after, wrote, changed, .. } = tree;
        Self {
            before: before.digest,
            after: after.digest,
            wrote: brief(&wrote, masker),
            changed: brief(&changed, masker),
            callers_files: callers_files.collect(),
        }
    }
}

/// The first of many files.
fn brief(files: &[String], masker: &Masker) -> Vec<String> {
    files.iter().take(SHOWN_FILES).map(|file| masker.text(file)).collect()
}

impl LatestDecision {
    pub(crate) fn new(record: Option<&Record>) -> Self {
        let spent = record.and_then(|record| record.decision.spent()).unwrap_or_default();
        let cost = spent.cost_micro_usd;
        Self {
            decision_id: record.map(|record| record.decision_id.clone()),
            verdict: record.map(|record| record.decision.verdict),
            tokens: (spent.tokens > 0).then_some(spent.tokens),
            cost_usd: (cost > 0).then_some(cost as f64 / 1e6),
        }
    }
}

impl UsageRecord {
    pub(crate) fn new(transcript: &Transcript) -> Self {
        Self {
            tokens: transcript.tokens,
            cost_usd: transcript.cost_micro_usd.map(|micro| micro as f64 / 1e6),
            partial: transcript.skipped > 0,
        }
    }
}
