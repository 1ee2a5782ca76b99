//! The policy: everything that settings say about a decision, resolved.
//!
//! A policy is made by [`config`](crate::config), or by hand in a program that
//! uses this crate as a library. It is plain data: two decisions under equal
//! policies and equal inputs are equal, and [`Policy::digest`] names it in
//! every record.

mod check;
mod integrity;

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::checks::is_of_behaviour;
use super::language::Language;
use super::pattern::{Matcher, Pattern};
use crate::config::{Dollars, Millis, RawCustomSignal, RawPromise, settings};

pub use super::signal::Spelling;
pub use check::{
    CheckPolicy, Criterion, Mode, Priority, RawCheck, RawCriterion, ReportFormat, Reveal, When,
};
pub use integrity::{Allowance, IntegrityPolicy, RawAllowance, RawIntegrity};

/// Everything that settings say about a decision.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    /// The conditions of an exit.
    #[serde(flatten)]
    pub exit_gate: ExitGatePolicy,
    /// The texts that count as a signal.
    pub signal: SignalPolicy,
    /// The patterns of all packs and of the settings.
    pub patterns: Vec<Pattern>,
    /// The checks, by name.
    pub checks: BTreeMap<String, CheckPolicy>,
    /// The number of checks that run at once.
    pub jobs: NonZeroU32,
    /// The number of checks that run at once on the machine; 0: no bound. It does not
    /// affect decisions and is part of no digest.
    #[serde(skip, default)]
    pub machine_jobs: u32,
    /// Most bytes on disk of the copies of all work trees; 0: no bound. As `machine_jobs`, it
    /// is part of no digest.
    #[serde(skip, default)]
    pub copies_max_bytes: u64,
    /// When the breaker trips.
    pub breaker: BreakerPolicy,
    /// The budget of a run.
    pub budget: Budget,
    /// The behaviour of stop hooks.
    pub hook: HookPolicy,
    /// Protected files, tests and settings.
    #[serde(default, skip_serializing_if = "is_default")]
    pub integrity: IntegrityPolicy,
    /// The tree digest.
    #[serde(flatten)]
    pub tree: TreePolicy,
    /// The project.
    #[serde(flatten)]
    pub project: ProjectPolicy,
}

settings! {
    /// Conditions of an exit.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[non_exhaustive]
    pub struct ExitGatePolicy from RawExitGate in "exit_gate" {
        /// The indicator threshold counts.
        enabled: bool,
        /// An exit needs an explicit signal.
        require_explicit_signal: bool,
        /// Indicators that an exit needs.
        indicator_threshold: u32 => threshold: Threshold = Threshold::Reachable,
        /// Passing iterations in a row that an exit needs.
        consecutive: NonZeroU32,
        /// Outcome of a completion that no check confirms.
        #[serde(default, skip_serializing_if = "is_default")]
        unverified: Unverified,
    }
}

/// The origin of the indicator threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Threshold {
    /// The seed's fixed number, a setting or a flag.
    Fixed(u32),
    /// Nobody set it: the number of configured checks that can count, at
    /// least 1 and at most 2, so that it can always be reached. Without any such
    /// check the signal's own tag or fields count as the one.
    Reachable,
}

impl From<u32> for Threshold {
    fn from(indicators: u32) -> Self {
        Self::Fixed(indicators)
    }
}

/// The verdict on a completion that no check supports.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Unverified {
    /// The loop may end; the decision says that it is not verified.
    #[default]
    Exit,
    /// The loop goes on.
    Continue,
}

settings! {
    /// Forms of an explicit signal.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub struct SignalPolicy from RawSignal in "signal" {
        /// The spellings that are accepted.
        #[schemars(length(min = 1))]
        accept: Vec<Spelling>,
        /// Use of the iteration's token in a signal.
        token: TokenMode,
        /// Right of the agent to lift the threshold.
        agent_override: AgentOverride,
        /// The promise tag.
        promise: RawPromise => phrases: Vec<String> as RawPromise::phrases,
        /// Signals of your own.
        custom: Vec<RawCustomSignal> => custom: Vec<CustomSignal> as RawCustomSignal::settled,
        /// The vocabulary that tells a claim from an example.
        #[serde(default, skip_serializing_if = "Language::is_shipped")]
        _ => language: Language = Language::default(),
        /// The JSON exit signal is read at all: the feature flag of the agent exit
        /// protocol, which only the environment switches on.
        #[serde(default, skip_serializing_if = "is_default")]
        _ => exit_protocol: bool = false,
    }
}

/// Policies that were recorded before a setting existed have the digest of those that leave it out.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The use of the iteration's token in a signal.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum TokenMode {
    /// No token is looked at.
    #[default]
    Off,
    /// A signal without this iteration's token does not count.
    Required,
}

/// The effect of the agent's `EXIT_OVERRIDE: true` on the threshold.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum AgentOverride {
    /// It is recorded and changes nothing.
    #[default]
    Never,
    /// Together with `EXIT_CONFIDENCE: HIGH` it lifts the threshold, never a
    /// required check.
    HighConfidence,
}

/// A signal that settings define.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CustomSignal {
    /// The text to look for, without regard to case, within a line.
    pub matcher: Matcher,
    /// The status that the text means.
    pub value: SignalValue,
}

/// The content of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SignalValue {
    /// The work is done.
    Complete,
    /// The work goes on.
    Continue,
    /// The agent cannot go on.
    Blocked,
}

settings! {
    /// When a loop that does not end is stopped; 0 switches a trip off.
    #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
    #[non_exhaustive]
    pub struct BreakerPolicy from RawBreaker in "breaker" {
        /// Iterations without a passing gate.
        no_exit: u32,
        /// Refused claims of completion in a row.
        refused: u32,
        /// Iterations in a row that left the tree as it was.
        no_progress: u32,
        /// Iterations in a row with the same error.
        same_error: u32,
        /// Inconclusive iterations in a row.
        inconclusive: u32,
        /// Iterations in a row in which a tool was denied and the tree left as it was.
        permission_denied: u32,
        /// Share of the earlier output, in percent, below which it trips.
        #[schemars(range(max = 100))]
        output_decline: u32,
        /// Iterations in a row that ended in a limit.
        rate_limited: u32,
        /// Time that it stays open before a probe.
        cooldown: Millis => cooldown_ms: u64,
    }
}

impl BreakerPolicy {
    /// A trip depends on changes of the work tree.
    pub fn watches_tree(&self) -> bool {
        self.no_progress > 0 || self.permission_denied > 0 || self.output_decline > 0
    }
}

settings! {
    /// Bounds of a run; 0 means no bound.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[non_exhaustive]
    pub struct Budget from RawBudget in "budget" {
        /// Iterations.
        iterations: u32,
        /// Input and output tokens.
        tokens: u64,
        /// US dollars.
        #[schemars(range(min = 0))]
        cost_usd: Dollars => cost_micro_usd: u64,
        /// Wall time.
        wall: Millis => wall_ms: u64,
    }
}

settings! {
    /// Behaviour of stop hooks.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[non_exhaustive]
    pub struct HookPolicy from RawHook in "hook" {
        /// Turns that are judged.
        judge: Judge,
        /// Refused stops before the agent is let go.
        max_blocks: NonZeroU32 => max_blocks: u32,
        /// Interactive turns that need an explicit signal and an `exit`.
        #[serde(default)]
        signal: HookSignal,
        /// Time that checks may take in a hook.
        #[serde(default = "hook_budget_ms")]
        budget: Millis => budget_ms: u64,
        /// Use of stops of sub-agents.
        #[serde(default)]
        subagents: Subagents,
        /// Effect of a red check on a stop where a person is there.
        #[serde(default)]
        on_red: OnRed,
        /// The one in front of the client.
        #[serde(default)]
        person: Attendance,
    }
}

settings! {
    /// The tree digest.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[non_exhaustive]
    pub struct TreePolicy from RawTree in "tree" {
        /// Globs of files that it leaves out.
        #[serde(rename = "tree_ignore")]
        ignore: Vec<String> = Vec::new(),
        /// Globs of branches that a loop works on beside its tree.
        #[serde(rename = "tree_branches", default, skip_serializing_if = "Vec::is_empty")]
        branches: Vec<String> = Vec::new(),
    }
}

settings! {
    /// The project.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[non_exhaustive]
    pub struct ProjectPolicy from RawProject in "project" {
        /// Its name, the same on every machine.
        #[serde(rename = "project_id")]
        id: String => id: Option<String> = None,
    }
}

/// The effect of a red check on the stop of an agent that a person sits in front of.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum OnRed {
    /// The agent goes on.
    #[default]
    Refuse,
    /// The agent may stop, and reads of the failure with the next prompt.
    Advise,
}

/// The one in front of a client.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Attendance {
    /// As the client says.
    #[default]
    Auto,
    /// A person.
    Yes,
    /// Nobody.
    No,
}

/// The hook's budget of policies that were recorded without one, in milliseconds.
fn hook_budget_ms() -> u64 {
    60_000
}

/// The interactive turns that need an explicit signal and an `exit`.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum HookSignal {
    /// Those of a task, and those of a session that was switched to it.
    #[default]
    Auto,
    /// All that changed something.
    Require,
}

/// The treatment of sub-agents' stops.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Subagents {
    /// They are let go.
    #[default]
    Never,
    /// Their checks are looked at, as at a stop of the agent.
    Always,
}

/// The turns that a stop hook judges.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Judge {
    /// Turns that changed something, and headless ones with an explicit signal.
    #[default]
    Auto,
    /// All.
    Always,
    /// None.
    Never,
}

impl Policy {
    /// The policy in one place: with the checks that run there alone.
    #[must_use]
    pub fn at(mut self, place: When) -> Self {
        self.checks.retain(|_, check| check.when.contains(&place));
        let names: Vec<String> = self.checks.keys().cloned().collect();
        for check in self.checks.values_mut() {
            // A check that runs elsewhere cannot be waited for here.
            check.needs.retain(|need| names.contains(need));
        }
        self
    }

    /// The threshold in force: the fixed one, or the reachable default.
    pub fn threshold_in_force(&self) -> u32 {
        match self.exit_gate.threshold {
            Threshold::Fixed(indicators) => indicators,
            Threshold::Reachable => self.counting_checks().clamp(1, 2),
        }
    }

    /// Configured checks that can add an indicator.
    pub(super) fn counting_checks(&self) -> u32 {
        self.checks.values().filter(|check| check.mode != Mode::Warn).count() as u32
    }

    /// A required check runs the product: its tests, or criteria with commands.
    pub fn requires_behaviour(&self) -> bool {
        self.checks.iter().any(|(name, check)| {
            let has_command = |criterion: &Criterion| !criterion.verify.is_empty();
            check.mode == Mode::Require
                && (is_of_behaviour(name) || check.criteria.iter().any(has_command))
        })
    }

    /// The sum that all sources can reach: patterns, the checks that count, and the signal's tag
    /// or fields if nobody set the threshold.
    pub fn most_indicators(&self) -> u32 {
        let patterns: u32 = self.patterns.iter().map(|pattern| pattern.weight).sum();
        let signal = u32::from(self.exit_gate.threshold == Threshold::Reachable);
        patterns.saturating_add(self.counting_checks()).saturating_add(signal)
    }
}

#[cfg(test)]
mod tests;
