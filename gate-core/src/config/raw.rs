//! Settings as they are written: every key optional, nothing resolved.
//!
//! The doc comments here are the descriptions in the JSON schema.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::RawChecks;
use super::duration::Millis;
use crate::decide::language::Kind;
use crate::decide::pattern::{Guard, Scope};
use crate::decide::policy::{
    AgentOverride, Attendance, HookSignal, Judge, OnRed, SignalValue, Spelling, Subagents,
    TokenMode, Unverified,
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

/// Something that was asked for.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RawCriterion {
    /// Its name.
    pub id: Option<String>,
    /// The requirement, in its own words.
    pub text: Option<String>,
    /// The program, with its arguments, that exits with 0 if the criterion is met.
    #[schemars(length(min = 1))]
    pub verify: Option<Vec<String>>,
}

/// Conditions of an exit.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RawExitGate {
    /// The indicator threshold counts.
    pub enabled: Option<bool>,
    /// An exit needs an explicit signal.
    pub require_explicit_signal: Option<bool>,
    /// Indicators that an exit needs.
    pub indicator_threshold: Option<u32>,
    /// Passing iterations in a row that an exit needs.
    pub consecutive: Option<NonZeroU32>,
    /// Outcome of a completion that no check confirms.
    pub unverified: Option<Unverified>,
}

/// Forms of an explicit signal.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RawSignal {
    /// The spellings that are accepted.
    #[schemars(length(min = 1))]
    pub accept: Option<Vec<Spelling>>,
    /// Use of the iteration's token in a signal.
    pub token: Option<TokenMode>,
    /// Right of the agent to lift the threshold.
    pub agent_override: Option<AgentOverride>,
    /// The promise tag.
    pub promise: Option<RawPromise>,
    /// Signals of your own.
    pub custom: Option<Vec<RawCustomSignal>>,
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

/// When a loop that does not end is stopped; 0 switches a trip off.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RawBreaker {
    /// Iterations without a passing gate.
    pub no_exit: Option<u32>,
    /// Refused claims of completion in a row.
    pub refused: Option<u32>,
    /// Iterations in a row that left the tree as it was.
    pub no_progress: Option<u32>,
    /// Iterations in a row with the same error.
    pub same_error: Option<u32>,
    /// Inconclusive iterations in a row.
    pub inconclusive: Option<u32>,
    /// Iterations in a row in which a tool was denied and the tree left as it was.
    pub permission_denied: Option<u32>,
    /// Share of the earlier output, in percent, below which it trips.
    #[schemars(range(max = 100))]
    pub output_decline: Option<u32>,
    /// Iterations in a row that ended in a limit.
    pub rate_limited: Option<u32>,
    /// Time that it stays open before a probe.
    pub cooldown: Option<Millis>,
}

/// Bounds of a run; 0 means no bound.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RawBudget {
    /// Iterations.
    pub iterations: Option<u32>,
    /// Input and output tokens.
    pub tokens: Option<u64>,
    /// US dollars.
    #[schemars(range(min = 0))]
    pub cost_usd: Option<f64>,
    /// Wall time.
    pub wall: Option<Millis>,
}

/// Behaviour of stop hooks.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RawHook {
    /// Turns that are judged.
    pub judge: Option<Judge>,
    /// Refused stops before the agent is let go.
    pub max_blocks: Option<NonZeroU32>,
    /// Interactive turns that need an explicit signal and an `exit`.
    pub signal: Option<HookSignal>,
    /// Time that checks may take in a hook.
    pub budget: Option<Millis>,
    /// Use of stops of sub-agents.
    pub subagents: Option<Subagents>,
    /// Effect of a red check on a stop where a person is there.
    pub on_red: Option<OnRed>,
    /// The one in front of the client.
    pub person: Option<Attendance>,
}

/// Loops that gate runs.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RawRun {
    /// The folder that holds the projects' run folders.
    pub folder: Option<String>,
    /// Deepest nesting of runs.
    pub max_depth: Option<NonZeroU32>,
    /// The first wait after a limit, an overload, a lost connection or a crash at start.
    pub backoff_first: Option<Millis>,
    /// The longest such wait.
    pub backoff_max: Option<Millis>,
    /// Time that a loop goes on without one iteration in which the agent worked.
    pub backoff_limit: Option<Millis>,
    /// The agents that `--agent` starts, by name.
    pub agents: Option<BTreeMap<String, RawAgent>>,
}

/// Start of an agent by `gate run`.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RawAgent {
    /// Arguments that are added to its command line.
    pub args: Option<Vec<String>>,
}

/// Messages about ends of loops.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RawNotify {
    /// The events that are sent.
    pub on: Option<Vec<NotifyEvent>>,
    /// The program that gets the event as JSON on its standard input, and its arguments.
    pub command: Option<Vec<String>>,
    /// The address that the event is posted to as JSON.
    pub webhook: Option<String>,
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

/// Work items.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RawWork {
    /// The checks that `gate work ci` runs.
    pub ci: Option<Vec<String>>,
}

/// The tree digest.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RawTree {
    /// Globs of files that it leaves out.
    pub ignore: Option<Vec<String>>,
    /// Globs of branches that a loop works on beside its tree.
    pub branches: Option<Vec<String>>,
}

/// Guards against weakened tests and rules.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RawIntegrity {
    /// Exceptions that the operator has approved.
    pub allow: Option<Vec<RawAllowance>>,
}

/// The effect of a change of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum GuardedChange {
    /// A person has to approve it.
    Block,
}

/// A change that the operator has approved: `path`, `test` or `rule`, of which those
/// that are written have to fit, and why.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RawAllowance {
    /// Glob of files that may be edited or removed.
    pub path: Option<String>,
    /// Test that may be gone or skipped: its identity, where `*` stands for anything.
    pub test: Option<String>,
    /// The rule of a finding, as it is told.
    pub rule: Option<String>,
    /// Why.
    pub reason: Option<String>,
}

/// The project.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RawProject {
    /// Its name, the same on every machine.
    pub id: Option<String>,
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
