//! `gate.replay.v1`: the gate's verdict on a past iteration, compared with labels and with an
//! earlier replay.

use gate_core::decide::reason::{Reason, Warning};
use gate_core::decide::score::Indicators;
use gate_core::decide::signal::Signal;
use gate_core::scan::Transcript;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use gate_core::Failure;
use gate_core::record::Mistake;

/// The name of a row's schema.
pub const ROW: &str = "gate.replay.v1";

/// The name of a group's schema.
pub const GROUP: &str = "gate.replay.group.v1";

/// The name of a summary's schema.
pub const SUMMARY: &str = "gate.replay.summary.v1";

/// One iteration of a transcript, as the gate would have judged it. Fields are
/// added, never changed.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ReplayRecord {
    /// Always `gate.replay.v1`.
    pub schema: &'static str,
    /// The version of gate that judged.
    pub gate_version: &'static str,
    /// The policy that it was judged under; null if the settings made none.
    pub policy_digest: Option<String>,
    /// The digest of the rule packs in that gate. Rows with equal versions and digests are comparable.
    pub patterns_digest: String,
    /// The file, as it was named or found.
    pub file: String,
    /// The iteration: its place in the file, or the run's place among its
    /// siblings, from 1.
    pub iteration: u64,
    /// The file's line in which the iteration begins, from 1. All other lines
    /// are counted from there.
    pub first_line: u64,
    /// The gate's verdict; null if the file could not be read.
    pub verdict: Option<ReplayVerdict>,
    /// The agent's claims to be done.
    pub signal: Option<Signal>,
    /// The hints at completion, passing checks among them.
    pub indicators: Option<Indicators>,
    /// Why the verdict is what it is.
    pub reasons: Vec<Reason>,
    /// Warnings.
    pub warnings: Vec<Warning>,
    /// The one cheapest thing that would change a verdict other than an exit.
    pub next: Option<String>,
    /// The configured checks. None was run: they are assumed to pass.
    pub assumed: Vec<String>,
    /// Data of the format beside the conversation. Its commands are the agent's own:
    /// observed, never evidence.
    pub transcript: Option<Transcript>,
    /// The label of this row.
    pub label: Option<Label>,
    /// The label is marked as worth a second look.
    pub ambiguous: bool,
    /// Comparison of the verdict with the label; null without one.
    pub judged: Option<Judged>,
    /// Change since the earlier replay; null if the verdict is the same, and without one.
    pub changed: Option<Changed>,
    /// Why the file could not be read.
    pub error: Option<Failure>,
    /// The iteration's length in bytes.
    pub bytes: u64,
    /// Time of reading and deciding, in milliseconds.
    pub duration_ms: u64,
}

/// The gate's verdict on an iteration.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum ReplayVerdict {
    /// The loop may end.
    Exit,
    /// The loop may end if the configured checks pass; they were not run.
    ExitIfChecksPass,
    /// Not done.
    Continue,
    /// The agent says that it cannot go on.
    Blocked,
    /// The breaker is open; never without state.
    Tripped,
}

impl ReplayVerdict {
    /// All of them, in the order in which they are counted.
    pub const ALL: [Self; 5] =
        [Self::Exit, Self::ExitIfChecksPass, Self::Continue, Self::Blocked, Self::Tripped];

    /// Its name, as in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exit => "exit",
            Self::ExitIfChecksPass => "exit-if-checks-pass",
            Self::Continue => "continue",
            Self::Blocked => "blocked",
            Self::Tripped => "tripped",
        }
    }

    /// Nothing that the agent wrote keeps the loop from ending.
    pub fn lets_end(self) -> bool {
        matches!(self, Self::Exit | Self::ExitIfChecksPass)
    }
}

/// A person's judgement of a transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Label {
    /// The agent says, with an explicit signal, that it is done: an exit.
    Exit,
    /// It claims so without a signal.
    ClaimsDone,
    /// It says that work remains.
    Continue,
    /// It cannot go on.
    Blocked,
    /// The only signals are not the agent's.
    Unrelated,
}

/// The right answer to a transcript that was judged by a decision with this mistake.
impl From<Mistake> for Label {
    fn from(mistake: Mistake) -> Self {
        match mistake {
            Mistake::FalseRefusal => Self::Exit,
            Mistake::FalseExit => Self::Continue,
        }
    }
}

impl Label {
    /// Its name, as in labels.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exit => "exit",
            Self::ClaimsDone => "claims-done",
            Self::Continue => "continue",
            Self::Blocked => "blocked",
            Self::Unrelated => "unrelated",
        }
    }
}

/// Comparison of a verdict with a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Judged {
    /// As labelled.
    Right,
    /// The loop would have ended, and must not have.
    FalseExit,
    /// The loop should have ended, and would have gone on.
    MissedExit,
    /// An exit that was missed, where the label itself is in doubt.
    Unclear,
}

impl Judged {
    /// A verdict beside a label.
    pub fn new(verdict: ReplayVerdict, label: Label, ambiguous: bool) -> Self {
        match (label == Label::Exit, verdict.lets_end()) {
            (true, true) | (false, false) => Self::Right,
            (false, true) => Self::FalseExit,
            (true, false) if ambiguous => Self::Unclear,
            (true, false) => Self::MissedExit,
        }
    }

    /// Its name, as in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::FalseExit => "false-exit",
            Self::MissedExit => "missed-exit",
            Self::Unclear => "unclear",
        }
    }

    /// The gate or the label is wrong.
    pub fn is_wrong(self) -> bool {
        matches!(self, Self::FalseExit | Self::MissedExit)
    }
}

/// Another verdict than in the earlier replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Changed {
    /// The verdict then; null if the file was absent or could not be read.
    pub from: Option<ReplayVerdict>,
    /// The verdict now; null if the file cannot be read.
    pub to: Option<ReplayVerdict>,
}

/// The iterations of one folder or session together.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ReplayGroup {
    /// Always `gate.replay.group.v1`.
    pub schema: &'static str,
    /// The folder, or the session's id; a file that names no session is a group of its own.
    pub group: String,
    /// The verdict over the last iteration.
    pub last: Option<ReplayVerdict>,
    /// Number of iterations.
    pub iterations: u64,
    /// Number of iterations that the loop may end after, checks or not.
    pub exits: u64,
    /// Number of `blocked` iterations.
    pub blocked: u64,
    /// Number of files that could not be read.
    pub errors: u64,
    /// Number of false exits, by the labels.
    pub false_exits: u64,
    /// Number of missed exits, by the labels.
    pub missed_exits: u64,
    /// Number of verdicts that differ from the earlier replay.
    pub changed: u64,
    /// Their length in bytes.
    pub bytes: u64,
}
