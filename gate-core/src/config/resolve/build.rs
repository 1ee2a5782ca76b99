//! From merged settings to a policy.
//!
//! Defaults are the embedded text's: a key that must have one and has none is a
//! fault of that text, not a second default here.

use std::collections::BTreeMap;

use toml::Value;

use super::{Backoff, NotifySettings, RunSettings};
use crate::config::check::RawCheck;
use crate::config::error::Problem;
use crate::config::fault::Fault;
use crate::config::key::KeyPath;
use crate::config::matcher;
use crate::config::pack;
use crate::config::raw::{
    GuardedChange, RawAllowance, RawBreaker, RawBudget, RawConfig, RawCriterion, RawCustomSignal,
    RawHook, RawLanguage, RawLanguageRule, RawNotify, RawPatterns, RawRun, RawSignal,
};
use crate::decide::checks::{CRITERIA, built_in};
use crate::decide::language::{Language, LanguageChange, LanguageRule};
use crate::decide::pattern::Pattern;
use crate::decide::policy::{
    Allowance, BreakerPolicy, Budget, CheckPolicy, Criterion, CustomSignal, HookPolicy,
    IntegrityPolicy, Mode, Policy, SignalPolicy, Spelling, Threshold,
};

/// Defaults of the check of this name.
pub(super) fn check_defaults(name: &str) -> Vec<(&'static str, Value)> {
    let mode = built_in(name).map_or(Mode::Require, |check| check.mode);
    let mut defaults = vec![
        ("shell", Value::from(false)),
        ("timeout", Value::from("10m")),
        ("priority", Value::from("low")),
        ("mode", Value::from(mode.name())),
        ("hermetic", Value::from(false)),
        ("control", Value::from(true)),
        ("reveal", Value::from("count")),
        ("retry", Value::from(0)),
        ("when", strings(&["check", "run", "hook"])),
    ];
    if name == CRITERIA {
        defaults.push(("optional", strings(&OPTIONAL_HEADINGS)));
    }
    defaults
}

fn strings(values: &[&str]) -> Value {
    Value::Array(values.iter().map(|&value| value.into()).collect())
}

/// Headings below which open criteria do not block, unless settings name others.
const OPTIONAL_HEADINGS: [&str; 4] = ["Optional", "Future", "Future Enhancements", "Nice to Have"];

/// The policy that merged settings mean.
pub(super) fn policy(raw: &RawConfig) -> Result<Policy, Fault> {
    let gate = raw.exit_gate.clone().unwrap_or_default();
    let checks = raw.checks.clone().unwrap_or_default();
    Ok(Policy {
        enabled: set(gate.enabled, "exit_gate.enabled")?,
        require_explicit_signal: set(
            gate.require_explicit_signal,
            "exit_gate.require_explicit_signal",
        )?,
        threshold: gate.indicator_threshold.map_or(Threshold::Reachable, Threshold::Fixed),
        consecutive: set(gate.consecutive, "exit_gate.consecutive")?,
        unverified: set(gate.unverified, "exit_gate.unverified")?,
        signal: signal(raw.signal.clone().unwrap_or_default(), language(raw.language.clone()))?,
        patterns: patterns(&raw.patterns.clone().unwrap_or_default())?,
        jobs: set(checks.jobs, "checks.jobs")?,
        machine_jobs: set(checks.machine_jobs, "checks.machine_jobs")?,
        copies_max_bytes: set(checks.copies_max, "checks.copies_max")?.0,
        checks: with_criteria(
            checks
                .named
                .into_iter()
                .map(|(name, raw)| Ok((name, check(raw)?)))
                .collect::<Result<_, Fault>>()?,
            raw.criteria.as_deref().unwrap_or_default(),
        ),
        breaker: breaker(&raw.breaker.clone().unwrap_or_default())?,
        budget: budget(&raw.budget.clone().unwrap_or_default())?,
        hook: hook(&raw.hook.clone().unwrap_or_default())?,
        integrity: integrity(raw)?,
        tree_ignore: raw.tree.clone().and_then(|tree| tree.ignore).unwrap_or_default(),
        tree_branches: raw.tree.clone().and_then(|tree| tree.branches).unwrap_or_default(),
        project_id: raw.project.clone().and_then(|project| project.id),
    })
}

/// The checks, of which one has the criteria. They were checked.
fn with_criteria(
    mut checks: BTreeMap<String, CheckPolicy>,
    criteria: &[RawCriterion],
) -> BTreeMap<String, CheckPolicy> {
    if let Some(check) = checks.get_mut(CRITERIA) {
        let all = criteria.iter().filter_map(|raw| {
            let verify = raw.verify.clone().unwrap_or_default();
            Some(Criterion { id: raw.id.clone()?, text: raw.text.clone()?, verify })
        });
        check.criteria = all.collect();
    }
    checks
}

fn set<T>(value: Option<T>, key: &'static str) -> Result<T, Fault> {
    value.ok_or_else(|| Fault::new(KeyPath::default(), Problem::Missing(key)))
}

fn signal(raw: RawSignal, language: Language) -> Result<SignalPolicy, Fault> {
    let at = KeyPath::dotted("signal.custom");
    let custom = raw.custom.unwrap_or_default();
    let custom = custom.iter().enumerate().map(|(index, signal)| custom_signal(&at, index, signal));
    let custom = custom.collect::<Result<Vec<_>, _>>()?;
    let mut accept = set(raw.accept, "signal.accept")?;
    // A signal that settings define is meant to be accepted.
    if !custom.is_empty() && !accept.contains(&Spelling::Custom) {
        accept.push(Spelling::Custom);
    }
    Ok(SignalPolicy {
        accept,
        phrases: set(raw.promise.and_then(|promise| promise.phrases), "signal.promise.phrases")?,
        token: set(raw.token, "signal.token")?,
        agent_override: set(raw.agent_override, "signal.agent_override")?,
        custom,
        language,
        exit_protocol: false,
    })
}

fn custom_signal(at: &KeyPath, index: usize, raw: &RawCustomSignal) -> Result<CustomSignal, Fault> {
    let (regex, literal) = (raw.regex.as_deref(), raw.literal.as_deref());
    Ok(CustomSignal {
        matcher: matcher::matcher(&at.index(index), regex, literal)?,
        value: set(raw.value, "value")?,
    })
}

/// The rules, which were checked.
fn language(raw: Option<RawLanguage>) -> Language {
    let rules = raw.and_then(|raw| raw.custom).unwrap_or_default().into_iter();
    rules.filter_map(language_rule).collect::<Vec<_>>().into()
}

fn language_rule(raw: RawLanguageRule) -> Option<LanguageChange> {
    let rule = match raw.enabled {
        Some(false) => None,
        Some(true) | None => Some(LanguageRule {
            kind: raw.kind?,
            regex: raw.regex?,
            language: raw.language.unwrap_or_else(|| "any".to_owned()),
            reason: raw.reason.unwrap_or_else(|| "a rule of the settings refuses it".to_owned()),
        }),
    };
    Some(LanguageChange { id: raw.id?, rule })
}

fn patterns(raw: &RawPatterns) -> Result<Vec<Pattern>, Fault> {
    let mut patterns = Patterns::default();
    for (index, name) in set(raw.packs.as_deref(), "patterns.packs")?.iter().enumerate() {
        let path = KeyPath::dotted("patterns.packs").index(index);
        let loaded = pack::patterns(name).ok_or_else(|| pack::unknown(path, name))?;
        loaded.into_iter().for_each(|pattern| patterns.add(pattern));
    }
    for (index, raw) in raw.custom.iter().flatten().enumerate() {
        let at = KeyPath::dotted("patterns.custom").index(index);
        patterns.add(pack::pattern(&at, "custom", raw)?);
    }
    Ok(patterns.all)
}

/// Patterns, each id once.
#[derive(Default)]
struct Patterns {
    all: Vec<Pattern>,
    places: BTreeMap<String, usize>,
}

impl Patterns {
    /// Adds a pattern; it takes the place of an earlier one of the same id.
    fn add(&mut self, new: Pattern) {
        match self.places.get(&new.id) {
            Some(place) => self.all[*place] = new,
            None => {
                self.places.insert(new.id.clone(), self.all.len());
                self.all.push(new);
            }
        }
    }
}

fn check(raw: RawCheck) -> Result<CheckPolicy, Fault> {
    Ok(CheckPolicy {
        mode: set(raw.mode, "mode")?,
        command: raw.command.unwrap_or_default(),
        shell: set(raw.shell, "shell")?,
        cwd: raw.cwd,
        env: raw.env.unwrap_or_default(),
        timeout_ms: set(raw.timeout, "timeout")?.0,
        memory_bytes: raw.memory.map(|size| size.0),
        priority: set(raw.priority, "priority")?,
        needs: raw.needs.unwrap_or_default(),
        hermetic: set(raw.hermetic, "hermetic")?,
        control: set(raw.control, "control")?,
        sealed: raw.sealed,
        reveal: set(raw.reveal, "reveal")?,
        tests: BTreeMap::new(),
        report: raw.report,
        retry: set(raw.retry, "retry")?,
        when: set(raw.when, "when")?,
        paths: raw.paths.unwrap_or_default(),
        files: raw.files.unwrap_or_default(),
        criteria: Vec::new(),
        optional: raw.optional.unwrap_or_default(),
        done_marks: raw.done_marks.unwrap_or_default(),
        ignore: raw.ignore.unwrap_or_default(),
    })
}

fn allowance(raw: RawAllowance) -> Result<Allowance, Fault> {
    let RawAllowance { path, test, rule, reason } = raw;
    Ok(Allowance { path, test, rule, reason: set(reason, "reason")? })
}

fn integrity(raw: &RawConfig) -> Result<IntegrityPolicy, Fault> {
    let guarded = raw.guarded.iter().flatten();
    let allow = raw.integrity.clone().unwrap_or_default().allow;
    Ok(IntegrityPolicy {
        protect: guarded.map(|(glob, GuardedChange::Block)| glob.clone()).collect(),
        allow: allow.into_iter().flatten().map(allowance).collect::<Result<_, Fault>>()?,
    })
}

fn breaker(raw: &RawBreaker) -> Result<BreakerPolicy, Fault> {
    Ok(BreakerPolicy {
        no_exit: set(raw.no_exit, "breaker.no_exit")?,
        refused: set(raw.refused, "breaker.refused")?,
        no_progress: set(raw.no_progress, "breaker.no_progress")?,
        same_error: set(raw.same_error, "breaker.same_error")?,
        inconclusive: set(raw.inconclusive, "breaker.inconclusive")?,
        permission_denied: set(raw.permission_denied, "breaker.permission_denied")?,
        output_decline: set(raw.output_decline, "breaker.output_decline")?,
        rate_limited: set(raw.rate_limited, "breaker.rate_limited")?,
        cooldown_ms: set(raw.cooldown, "breaker.cooldown")?.0,
    })
}

fn budget(raw: &RawBudget) -> Result<Budget, Fault> {
    Ok(Budget {
        iterations: set(raw.iterations, "budget.iterations")?,
        tokens: set(raw.tokens, "budget.tokens")?,
        cost_micro_usd: (set(raw.cost_usd, "budget.cost_usd")? * 1e6).round() as u64,
        wall_ms: set(raw.wall, "budget.wall")?.0,
    })
}

pub(super) fn run(raw: &RawRun) -> Result<RunSettings, Fault> {
    let max_depth = set(raw.max_depth, "run.max_depth")?.get();
    let backoff = Backoff {
        first_ms: set(raw.backoff_first, "run.backoff_first")?.0,
        max_ms: set(raw.backoff_max, "run.backoff_max")?.0,
        limit_ms: set(raw.backoff_limit, "run.backoff_limit")?.0,
    };
    let agents = raw.agents.iter().flatten();
    let agents = agents.map(|(name, agent)| (name.clone(), agent.args.clone().unwrap_or_default()));
    Ok(RunSettings { folder: raw.folder.clone(), max_depth, backoff, agents: agents.collect() })
}

pub(super) fn notify(raw: &RawNotify) -> NotifySettings {
    let RawNotify { on, command, webhook } = raw.clone();
    NotifySettings {
        on: on.unwrap_or_default(),
        command: command.unwrap_or_default(),
        webhook: webhook.unwrap_or_default(),
    }
}

fn hook(raw: &RawHook) -> Result<HookPolicy, Fault> {
    Ok(HookPolicy {
        judge: set(raw.judge, "hook.judge")?,
        max_blocks: set(raw.max_blocks, "hook.max_blocks")?.get(),
        signal: set(raw.signal, "hook.signal")?,
        budget_ms: set(raw.budget, "hook.budget")?.0,
        subagents: set(raw.subagents, "hook.subagents")?,
        on_red: set(raw.on_red, "hook.on_red")?,
        person: set(raw.person, "hook.person")?,
    })
}
