//! From merged settings to a policy.
//!
//! Defaults are the embedded text's: a key that must have one and has none is a
//! fault of that text, not a second default here.

use toml::Value;

use super::Resolved;
use crate::config::error::Fault;
use crate::config::key::KeyPath;
use crate::config::pack;
use crate::config::raw::{
    GuardedChange, RawConfig, RawLanguage, RawLanguageRule, RawPatterns, RawSignal,
};
use crate::decide::checks::{CRITERIA, built_in};
use crate::decide::language::{Language, LanguageChange, LanguageRule};
use crate::decide::pattern::Pattern;
use crate::decide::policy::{IntegrityPolicy, Mode, Policy, RawCriterion, SignalPolicy, Spelling};

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

/// The meaning of merged settings.
pub(super) fn resolved(raw: RawConfig) -> Result<Resolved, Fault> {
    let checks = raw.checks.unwrap_or_default();
    let named = checks.named.into_iter().map(|(name, raw)| Ok((name, raw.settled()?)));
    let guarded = raw.guarded.into_iter().flatten();
    let mut policy = Policy {
        exit_gate: raw.exit_gate.unwrap_or_default().settled()?,
        signal: signal(raw.signal.unwrap_or_default(), language(raw.language))?,
        patterns: patterns(&raw.patterns.unwrap_or_default())?,
        jobs: expect_set(checks.jobs, "checks.jobs")?,
        machine_jobs: expect_set(checks.machine_jobs, "checks.machine_jobs")?,
        copies_max_bytes: expect_set(checks.copies_max, "checks.copies_max")?.0,
        checks: named.collect::<Result<_, Fault>>()?,
        breaker: raw.breaker.unwrap_or_default().settled()?,
        budget: raw.budget.unwrap_or_default().settled()?,
        hook: raw.hook.unwrap_or_default().settled()?,
        integrity: IntegrityPolicy {
            protect: guarded.map(|(glob, GuardedChange::Block)| glob).collect(),
            ..raw.integrity.unwrap_or_default().settled()?
        },
        tree: raw.tree.unwrap_or_default().settled()?,
        project: raw.project.unwrap_or_default().settled()?,
    };
    if let Some(check) = policy.checks.get_mut(CRITERIA) {
        let criteria = raw.criteria.into_iter().flatten().map(RawCriterion::settled);
        check.criteria = criteria.collect::<Result<_, _>>()?;
    }
    Ok(Resolved {
        policy,
        run: raw.run.unwrap_or_default().settled()?,
        notify: raw.notify.unwrap_or_default().settled()?,
        work: raw.work.unwrap_or_default().settled()?,
        warnings: Vec::new(),
        locks: Vec::new(),
        layers: Vec::new(),
        task_type: None,
    })
}

fn expect_set<T>(value: Option<T>, key: &'static str) -> Result<T, Fault> {
    value.ok_or_else(|| Fault::missing(key))
}

fn signal(raw: RawSignal, language: Language) -> Result<SignalPolicy, Fault> {
    let mut signal = SignalPolicy { language, ..raw.settled()? };
    // A signal that settings define is meant to be accepted.
    if !signal.custom.is_empty() && !signal.accept.contains(&Spelling::Custom) {
        signal.accept.push(Spelling::Custom);
    }
    Ok(signal)
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
    let mut patterns = Vec::new();
    // Unknown packs were refused when their source was read.
    let packs = expect_set(raw.packs.as_deref(), "patterns.packs")?.iter();
    for pattern in packs.filter_map(|name| pack::patterns(name)).flatten() {
        add(&mut patterns, pattern);
    }
    for (index, raw) in raw.custom.iter().flatten().enumerate() {
        let path = KeyPath::dotted("patterns.custom").index(index);
        add(&mut patterns, pack::pattern(&path, "custom", raw)?);
    }
    Ok(patterns)
}

/// Adds a pattern; it takes the place of an earlier one of the same id.
fn add(patterns: &mut Vec<Pattern>, pattern: Pattern) {
    match patterns.iter_mut().find(|earlier| earlier.id == pattern.id) {
        Some(earlier) => *earlier = pattern,
        None => patterns.push(pattern),
    }
}
