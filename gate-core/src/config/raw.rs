//! Settings as they are written: every key optional, nothing resolved.
//!
//! The doc comments here are the descriptions in the JSON schema.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

use super::backoff::Backoff;
use super::error::Fault;
use super::key::KeyPath;
use super::matcher::matcher;
use super::table::settings;
use super::unit::{ByteSize, Millis};
use crate::decide::language::Kind;
use crate::decide::pattern::{Guard, Scope};
use crate::decide::policy::{CustomSignal, SignalValue};

pub use crate::decide::policy::{
    RawAllowance, RawBreaker, RawBudget, RawCheck, RawCriterion, RawExitGate, RawHook,
    RawIntegrity, RawProject, RawSignal, RawTree,
};

/// The settings of gate.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RawConfig {
    /// Keys that no other source of settings may change: settings and whole tables. Only
    /// `/etc/gate/gate.toml` has it, and sets each of them.
    pub locked: Option<Vec<String>>,
    /// Conditions of an exit.
    pub exit_gate: Option<RawExitGate>,
    /// Forms of an explicit signal.
    pub signal: Option<RawSignal>,
    /// Completion indicators.
    pub patterns: Option<RawPatterns>,
    /// Vocabulary that tells a claim from an example.
    pub language: Option<RawLanguage>,
    /// Checks that gather evidence.
    pub checks: Option<RawChecks>,
    /// Acceptance criteria.
    pub criteria: Option<Vec<RawCriterion>>,
    /// When a loop that does not end is stopped.
    pub breaker: Option<RawBreaker>,
    /// Bounds of a run.
    pub budget: Option<RawBudget>,
    /// Behaviour of stop hooks.
    pub hook: Option<RawHook>,
    /// Loops that gate runs.
    pub run: Option<RawRun>,
    /// Messages about ends of loops.
    pub notify: Option<RawNotify>,
    /// Work items.
    pub work: Option<RawWork>,
    /// The tree digest.
    pub tree: Option<RawTree>,
    /// Changes of files that are for a person, by glob.
    pub guarded: Option<BTreeMap<String, GuardedChange>>,
    /// Guards against weakened tests and rules.
    pub integrity: Option<RawIntegrity>,
    /// The project.
    pub project: Option<RawProject>,
    /// Settings for tasks of a type, by the type's name.
    pub task_types: Option<BTreeMap<String, RawTaskType>>,
}

/// The promise tag.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RawPromise {
    /// Contents of the tag that mean completion.
    #[schemars(length(min = 1))]
    pub phrases: Option<Vec<String>>,
}

impl RawPromise {
    pub(crate) fn phrases(promise: Option<Self>) -> Result<Vec<String>, Fault> {
        let phrases = promise.and_then(|promise| promise.phrases);
        phrases.ok_or_else(|| Fault::missing("signal.promise.phrases"))
    }
}

/// A signal of your own: one of `literal` and `regex`, and its `value`.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RawCustomSignal {
    /// Text to look for, without regard to case, within a line.
    pub literal: Option<String>,
    /// Regular expression, without regard to case, within a line.
    pub regex: Option<String>,
    /// Meaning of the signal.
    pub value: Option<SignalValue>,
}

impl RawCustomSignal {
    pub(crate) fn settled(signals: Option<Vec<Self>>) -> Result<Vec<CustomSignal>, Fault> {
        let list_path = KeyPath::dotted("signal.custom");
        let settled = |(index, signal): (usize, Self)| {
            let (regex, literal) = (signal.regex.as_deref(), signal.literal.as_deref());
            Ok(CustomSignal {
                matcher: matcher(&list_path.index(index), regex, literal)?,
                value: signal.value.ok_or_else(|| Fault::missing("value"))?,
            })
        };
        signals.into_iter().flatten().enumerate().map(settled).collect()
    }
}

/// Completion indicators.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RawPatterns {
    /// Packs of patterns, by name.
    pub packs: Option<Vec<String>>,
    /// Patterns of your own.
    pub custom: Option<Vec<RawCustomPattern>>,
}

/// A pattern of your own: an `id`, and one of `regex` and `literal`.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RawCustomPattern {
    /// Its name; that of a pack's pattern replaces it.
    pub id: Option<String>,
    /// Regular expression, without regard to case, within a line.
    pub regex: Option<String>,
    /// Text to look for, without regard to case, within a line.
    pub literal: Option<String>,
    /// Weight of a hit; each pattern counts once.
    #[schemars(range(min = 1, max = 1000))]
    pub weight: Option<u32>,
    /// Whose text is searched.
    pub scope: Option<Scope>,
    /// Contexts in which a hit does not count.
    pub unless: Option<Vec<Guard>>,
}

/// Vocabulary that tells a claim from an example.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RawLanguage {
    /// Rules of your own, and shipped rules that you switch off.
    pub custom: Option<Vec<RawLanguageRule>>,
}

/// A rule of your own: `id`, `kind` and `regex`; or a shipped rule's `id` with
/// `enabled = false`.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RawLanguageRule {
    /// Its name; that of a shipped rule replaces it.
    pub id: Option<String>,
    /// False switches the shipped rule off.
    pub enabled: Option<bool>,
    /// The place that asks for it.
    pub kind: Option<Kind>,
    /// Regular expression, without regard to case.
    pub regex: Option<String>,
    /// The language, as its code.
    pub language: Option<String>,
    /// The words that a near miss shows.
    pub reason: Option<String>,
}

/// The keys of `[checks]`, and the checks by name.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(description = "")]
pub struct RawChecks {
    /// Most checks that run at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jobs: Option<NonZeroU32>,
    /// Most checks that run at once on the machine, in all loops of the user; 0: no bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine_jobs: Option<u32>,
    /// The most disk space of the copies of all work trees; 0: no bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copies_max: Option<ByteSize>,
    /// The checks.
    #[serde(flatten)]
    pub named: BTreeMap<String, RawCheck>,
}

/// Not derived: a map that serde flattens has lost the places of errors.
impl<'de> Deserialize<'de> for RawChecks {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ChecksVisitor)
    }
}

struct ChecksVisitor;

impl<'de> Visitor<'de> for ChecksVisitor {
    type Value = RawChecks;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawChecks, A::Error> {
        let mut checks = RawChecks::default();
        while let Some(name) = map.next_key::<String>()? {
            match name.as_str() {
                "jobs" => checks.jobs = Some(map.next_value()?),
                "machine_jobs" => checks.machine_jobs = Some(map.next_value()?),
                "copies_max" => checks.copies_max = Some(map.next_value()?),
                _ => drop(checks.named.insert(name, map.next_value()?)),
            }
        }
        Ok(checks)
    }
}

settings! {
    /// Loops that gate runs.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct RunSettings from RawRun in "run" {
        /// The folder that holds the projects' run folders.
        folder: String => folder: Option<String> = None,
        /// Deepest nesting of runs.
        max_depth: NonZeroU32 => max_depth: u32,
        /// The first wait after a limit, an overload, a lost connection or a crash at start.
        backoff_first: Millis => backoff_first_ms: u64,
        /// The longest such wait.
        backoff_max: Millis => backoff_max_ms: u64,
        /// Time that a loop goes on without one iteration in which the agent worked.
        backoff_limit: Millis => backoff_limit_ms: u64,
        /// The agents that `--agent` starts, by name.
        agents: BTreeMap<String, RawAgent> = BTreeMap::new(),
    }
}

impl RunSettings {
    /// Waiting times of a loop while its agent cannot work.
    pub fn backoff(&self) -> Backoff {
        Backoff {
            first_ms: self.backoff_first_ms,
            max_ms: self.backoff_max_ms,
            limit_ms: self.backoff_limit_ms,
        }
    }
}

/// Start of an agent by `gate run`.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RawAgent {
    /// Arguments that are added to its command line.
    pub args: Option<Vec<String>>,
}

settings! {
    /// Messages about ends of loops.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct NotifySettings from RawNotify in "notify" {
        /// The events that are sent.
        on: Vec<NotifyEvent>,
        /// The program that gets the event as JSON on its standard input, and its arguments.
        command: Vec<String>,
        /// The address that the event is posted to as JSON.
        webhook: String,
    }
}

impl NotifySettings {
    /// The settings have a program or an address to send to.
    pub fn names_a_place(&self) -> bool {
        !self.command.is_empty() || !self.webhook.is_empty()
    }
}

/// An event that a person may want to hear of.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum NotifyEvent {
    /// The work is done.
    Done,
    /// A breaker, a budget, a limit or a person ended the loop before the work was done.
    Stopped,
    /// The agent says that it cannot go on.
    Blocked,
    /// Changed settings or tests wait for a person's approval.
    NeedsPerson,
}

settings! {
    /// Work items.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct WorkSettings from RawWork in "work" {
        /// The checks that `gate work ci` runs.
        ci: Vec<String> = Vec::new(),
    }
}

/// The effect of a change of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum GuardedChange {
    /// A person has to approve it.
    Block,
}

/// Settings for tasks of a type.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RawTaskType {
    /// As `[exit_gate]`.
    pub exit_gate: Option<RawExitGate>,
    /// As `[signal]`.
    pub signal: Option<RawSignal>,
    /// As `[patterns]`.
    pub patterns: Option<RawPatterns>,
    /// As `[checks]`.
    pub checks: Option<RawChecks>,
    /// As `[breaker]`.
    pub breaker: Option<RawBreaker>,
    /// As `[budget]`.
    pub budget: Option<RawBudget>,
    /// Sign that such a task moves on.
    pub progress: Option<Progress>,
}

/// Sign that a task moves on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Progress {
    /// Nothing has to: `breaker.no_progress` is off.
    None,
    /// The tree changes.
    Tree,
}
