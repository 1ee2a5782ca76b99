//! Settings as they are written: every key optional, nothing resolved.
//!
//! The doc comments here are the descriptions in the JSON schema.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::RawChecks;
use super::duration::Millis;
use crate::decide::pattern::{Guard, Scope};
use crate::decide::policy::{
    AgentOverride, HookSignal, Judge, SignalValue, Spelling, Subagents, TokenMode, Unverified,
};

/// The settings of gate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RawConfig {
    /// What an exit needs.
    pub exit_gate: Option<RawExitGate>,
    /// What counts as an explicit signal.
    pub signal: Option<RawSignal>,
    /// What counts as a completion indicator.
    pub patterns: Option<RawPatterns>,
    /// What is looked at.
    pub checks: Option<RawChecks>,
    /// When a loop that does not end is stopped.
    pub breaker: Option<RawBreaker>,
    /// What a run may cost.
    pub budget: Option<RawBudget>,
    /// How stop hooks behave.
    pub hook: Option<RawHook>,
    /// Loops that gate runs.
    pub run: Option<RawRun>,
    /// Work items.
    pub work: Option<RawWork>,
    /// The tree digest.
    pub tree: Option<RawTree>,
    /// What must not be weakened.
    pub integrity: Option<RawIntegrity>,
    /// The project.
    pub project: Option<RawProject>,
    /// What is different for tasks of a type, by the type's name.
    pub task_types: Option<BTreeMap<String, RawTaskType>>,
}

/// What an exit needs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RawExitGate {
    /// Whether the indicator threshold counts.
    pub enabled: Option<bool>,
    /// Whether an exit needs an explicit signal.
    pub require_explicit_signal: Option<bool>,
    /// How many indicators an exit needs.
    pub indicator_threshold: Option<u32>,
    /// How many passing iterations in a row an exit needs.
    pub consecutive: Option<NonZeroU32>,
    /// What becomes of a completion that no check stands behind.
    pub unverified: Option<Unverified>,
}

/// What counts as an explicit signal.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RawSignal {
    /// The spellings that are accepted.
    #[schemars(length(min = 1))]
    pub accept: Option<Vec<Spelling>>,
    /// Whether the signal must carry the iteration's token.
    pub token: Option<TokenMode>,
    /// Whether the agent may lift the threshold.
    pub agent_override: Option<AgentOverride>,
    /// The promise tag.
    pub promise: Option<RawPromise>,
    /// Signals of your own.
    pub custom: Option<Vec<RawCustomSignal>>,
}

/// The promise tag.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RawPromise {
    /// What the tag must say to mean completion.
    #[schemars(length(min = 1))]
    pub phrases: Option<Vec<String>>,
}

/// A signal of your own: one of `literal` and `regex`, and its `value`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RawCustomSignal {
    /// Text to look for, without regard to case, within a line.
    pub literal: Option<String>,
    /// Regular expression, without regard to case, within a line.
    pub regex: Option<String>,
    /// What it means.
    pub value: Option<SignalValue>,
}

/// What counts as a completion indicator.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RawPatterns {
    /// Packs of patterns, by name.
    pub packs: Option<Vec<String>>,
    /// Patterns of your own.
    pub custom: Option<Vec<RawCustomPattern>>,
}

/// A pattern of your own: an `id`, and one of `regex` and `literal`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RawCustomPattern {
    /// Its name; that of a pack's pattern replaces it.
    pub id: Option<String>,
    /// Regular expression, without regard to case, within a line.
    pub regex: Option<String>,
    /// Text to look for, without regard to case, within a line.
    pub literal: Option<String>,
    /// What a hit counts; each pattern counts once.
    #[schemars(range(min = 1, max = 1000))]
    pub weight: Option<u32>,
    /// Whose text is searched.
    pub scope: Option<Scope>,
    /// What around a hit makes it none.
    pub unless: Option<Vec<Guard>>,
}

/// When a loop that does not end is stopped; 0 switches a trip off.
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
    /// How long it stays open before a probe.
    pub cooldown: Option<Millis>,
}

/// What a run may cost; 0 means no bound.
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

/// How stop hooks behave.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RawHook {
    /// Which turns are judged.
    pub judge: Option<Judge>,
    /// How often a stop is refused before the agent is let go.
    pub max_blocks: Option<NonZeroU32>,
    /// Which interactive turns need an explicit signal and an `exit`.
    pub signal: Option<HookSignal>,
    /// How long checks may take in a hook.
    pub budget: Option<Millis>,
    /// Whether stops of sub-agents are judged.
    pub subagents: Option<Subagents>,
}

/// Loops that gate runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RawRun {
    /// The folder that holds the projects' run folders.
    pub folder: Option<String>,
    /// How deep runs may start runs.
    pub max_depth: Option<NonZeroU32>,
    /// The first wait after a limit, an overload, a lost connection or a crash at start.
    pub backoff_first: Option<Millis>,
    /// The longest such wait.
    pub backoff_max: Option<Millis>,
    /// How long a loop goes on without one iteration in which the agent worked.
    pub backoff_limit: Option<Millis>,
    /// The agents that `--agent` starts, by name.
    pub agents: Option<BTreeMap<String, RawAgent>>,
}

/// How `gate run` starts an agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RawAgent {
    /// Arguments that are added to its command line.
    pub args: Option<Vec<String>>,
}

/// Work items.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RawWork {
    /// The checks that `gate work ci` runs.
    pub ci: Option<Vec<String>>,
}

/// The tree digest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RawTree {
    /// Globs of files that it leaves out.
    pub ignore: Option<Vec<String>>,
}

/// What must not be weakened.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RawIntegrity {
    /// Globs of files that only the operator changes, beside those that gate knows.
    pub protect: Option<Vec<String>>,
    /// How many suppressions of linters and type checkers are let through.
    pub budget: Option<u32>,
    /// What the operator has approved.
    pub allow: Option<Vec<RawAllowance>>,
}

/// A change that the operator has approved: `path`, `test` or `rule`, of which those
/// that are written have to fit, and why.
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RawProject {
    /// Its name, the same on every machine.
    pub id: Option<String>,
}

/// What is different for tasks of a type.
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
    /// What shows that such a task moves on.
    pub progress: Option<Progress>,
}

/// What shows that a task moves on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Progress {
    /// Nothing has to: `breaker.no_progress` is off.
    None,
    /// The tree changes.
    Tree,
}
