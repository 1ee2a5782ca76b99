//! Checks one source of settings alone.
//!
//! The raw types check types and ranges; [`cross`](super::cross) checks all sources together.

use std::collections::BTreeSet;

use super::error::{Fault, Problem, Validation};
use super::key::{KeyPath, is_name};
use super::matcher::{self, Room};
use super::pack;
use super::raw::{
    RawAllowance, RawBreaker, RawBudget, RawCheck, RawChecks, RawConfig, RawCriterion,
    RawCustomPattern, RawCustomSignal, RawIntegrity, RawLanguage, RawLanguageRule, RawNotify,
    RawPatterns, RawSignal, RawTaskType,
};
use super::unit::Dollars;
use crate::decide::checks::BUILT_IN;
use crate::decide::language::Language;
use crate::decide::pattern::Matcher;
use crate::decide::signal::BLOCKED;

/// Checks one source of settings.
pub(super) fn config(raw: &RawConfig) -> Validation {
    let root = KeyPath::default();
    signal(&root.key("signal"), raw.signal.as_ref())?;
    patterns(&root.key("patterns"), raw.patterns.as_ref())?;
    language(&root.key("language"), raw.language.as_ref())?;
    checks(&root.key("checks"), raw.checks.as_ref())?;
    criteria(&root.key("criteria"), raw.criteria.as_deref().unwrap_or_default())?;
    breaker(&root.key("breaker"), raw.breaker.as_ref())?;
    budget(&root.key("budget"), raw.budget.as_ref())?;
    expect_text(
        &KeyPath::dotted("run.folder"),
        raw.run.as_ref().and_then(|run| run.folder.as_ref()),
    )?;
    for (name, agent) in raw.run.iter().filter_map(|run| run.agents.as_ref()).flatten() {
        expect_texts(&KeyPath::dotted("run.agents").key(name).key("args"), agent.args.as_ref())?;
    }
    notify(&root.key("notify"), raw.notify.as_ref())?;
    expect_text(
        &KeyPath::dotted("project.id"),
        raw.project.as_ref().and_then(|project| project.id.as_ref()),
    )?;
    expect_texts(
        &KeyPath::dotted("tree.ignore"),
        raw.tree.as_ref().and_then(|tree| tree.ignore.as_ref()),
    )?;
    integrity(&root.key("integrity"), raw.integrity.as_ref())?;
    expect_texts(&KeyPath::dotted("work.ci"), raw.work.as_ref().and_then(|work| work.ci.as_ref()))?;
    let types_path = root.key("task_types");
    let mut types = raw.task_types.iter().flatten();
    types.try_for_each(|(name, raw)| task_type(&types_path.key(name), name, raw))
}

fn criteria(list_path: &KeyPath, criteria: &[RawCriterion]) -> Validation {
    for (index, raw) in criteria.iter().enumerate() {
        let path = list_path.index(index);
        let missing = |key| Fault::new(path.clone(), Problem::Missing(key));
        let id = raw.id.as_ref().ok_or_else(|| missing("id"))?;
        expect_name(&path.key("id"), "criterion", id)?;
        let text = raw.text.as_ref().ok_or_else(|| missing("text"))?;
        expect_text(&path.key("text"), Some(text))?;
        if let Some(verify) = &raw.verify {
            expect_any(&path.key("verify"), verify)?;
            expect_text(&path.key("verify").index(0), verify.first())?;
        }
        if let Some(supersedes) = &raw.supersedes {
            expect_any(&path.key("supersedes"), supersedes)?;
            expect_texts(&path.key("supersedes"), Some(supersedes))?;
        }
    }
    expect_unique(list_path, "criterion", criteria.iter().filter_map(|raw| raw.id.as_ref()))
}

fn notify(path: &KeyPath, raw: Option<&RawNotify>) -> Validation {
    let Some(raw) = raw else { return Ok(()) };
    expect_texts(&path.key("command"), raw.command.as_ref())?;
    let Some(webhook) = raw.webhook.as_deref() else { return Ok(()) };
    if webhook.is_empty() || webhook.starts_with("https://") || webhook.starts_with("http://") {
        return Ok(());
    }
    let message = format!("expected an address with https:// or http://, found {webhook:?}");
    Err(Fault::invalid(path.key("webhook"), message))
}

fn task_type(path: &KeyPath, task: &str, raw: &RawTaskType) -> Validation {
    expect_name(path, "task type", task)?;
    signal(&path.key("signal"), raw.signal.as_ref())?;
    patterns(&path.key("patterns"), raw.patterns.as_ref())?;
    checks(&path.key("checks"), raw.checks.as_ref())?;
    breaker(&path.key("breaker"), raw.breaker.as_ref())?;
    budget(&path.key("budget"), raw.budget.as_ref())
}

fn signal(path: &KeyPath, raw: Option<&RawSignal>) -> Validation {
    let Some(raw) = raw else { return Ok(()) };
    if let Some(accept) = &raw.accept {
        let accept_path = path.key("accept");
        expect_any(&accept_path, accept).map_err(|fault| {
            fault.hint("to do without a signal write `exit_gate.require_explicit_signal = false`")
        })?;
        expect_unique(&accept_path, "spelling", accept.iter().map(|spelling| spelling.name()))?;
    }
    if let Some(phrases) = raw.promise.as_ref().and_then(|promise| promise.phrases.as_ref()) {
        let phrases_path = path.key("promise").key("phrases");
        expect_any(&phrases_path, phrases)
            .map_err(|fault| fault.hint("to refuse promises leave `promise` out of `accept`"))?;
        expect_texts(&phrases_path, Some(phrases))?;
        if let Some(index) = phrases.iter().position(|text| text.eq_ignore_ascii_case(BLOCKED)) {
            let message = "this phrase always means that the agent cannot go on";
            return Err(Fault::invalid(phrases_path.index(index), message));
        }
    }
    let custom_path = path.key("custom");
    let mut room = Room::default();
    for (index, raw) in raw.custom.iter().flatten().enumerate() {
        custom_signal(&custom_path.index(index), index, raw, &mut room)?;
    }
    Ok(())
}

fn custom_signal(
    path: &KeyPath,
    index: usize,
    raw: &RawCustomSignal,
    room: &mut Room,
) -> Validation {
    let id = format!("signal.custom[{index}]");
    let matcher = matcher::matcher(path, raw.regex.as_deref(), raw.literal.as_deref())?;
    matcher::check(path, &id, &matcher, room)?;
    required(path, "value", raw.value.as_ref(), "write \"complete\", \"continue\" or \"blocked\"")?;
    Ok(())
}

fn patterns(path: &KeyPath, raw: Option<&RawPatterns>) -> Validation {
    let Some(raw) = raw else { return Ok(()) };
    let packs_path = path.key("packs");
    let packs = raw.packs.iter().flatten();
    for (index, name) in packs.clone().enumerate() {
        pack::expect_known(packs_path.index(index), name)?;
    }
    expect_unique(&packs_path, "pack", packs)?;
    custom_patterns(&path.key("custom"), raw.custom.as_deref().unwrap_or_default())
}

/// Most patterns of one list: each is searched for in all that an agent wrote.
const MAX_PATTERNS: usize = 2_000;

/// Checks patterns of one list, whose ids must differ.
pub(super) fn custom_patterns(path: &KeyPath, patterns: &[RawCustomPattern]) -> Validation {
    if patterns.len() > MAX_PATTERNS {
        let message = format!("{} patterns, at most {MAX_PATTERNS} are looked for", patterns.len());
        let fault = Fault::invalid(path.index(MAX_PATTERNS), message);
        return Err(fault.hint("one `regex` may name many texts: \"(one|other)\""));
    }
    let mut room = Room::default();
    for (index, raw) in patterns.iter().enumerate() {
        custom_pattern(&path.index(index), raw, &mut room)?;
    }
    let ids = patterns.iter().filter_map(|pattern| pattern.id.as_ref());
    expect_unique(path, "pattern id", ids)
}

fn custom_pattern(path: &KeyPath, raw: &RawCustomPattern, room: &mut Room) -> Validation {
    let hint = "give the pattern a name, such as \"all-done\"";
    let id = required(path, "id", raw.id.as_ref(), hint)?;
    expect_name(&path.key("id"), "pattern id", id)?;
    if raw.weight.is_some_and(|weight| !(1..=1000).contains(&weight)) {
        let fault = Fault::invalid(path.key("weight"), "a weight is a whole number from 1 to 1000");
        return Err(fault.hint("leave the pattern out if it shall count nothing"));
    }
    let matcher = matcher::matcher(path, raw.regex.as_deref(), raw.literal.as_deref())?;
    matcher::check(path, id, &matcher, room)
}

fn language(path: &KeyPath, raw: Option<&RawLanguage>) -> Validation {
    let rules = raw.and_then(|raw| raw.custom.as_deref()).unwrap_or_default();
    let custom_path = path.key("custom");
    let mut room = Room::default();
    for (index, raw) in rules.iter().enumerate() {
        language_rule(&custom_path.index(index), raw, &mut room)?;
    }
    expect_unique(&custom_path, "rule id", rules.iter().filter_map(|raw| raw.id.as_ref()))
}

fn language_rule(path: &KeyPath, raw: &RawLanguageRule, room: &mut Room) -> Validation {
    let hint = "a rule of your own needs a name; a near miss shows the shipped rules' names";
    let id = required(path, "id", raw.id.as_ref(), hint)?;
    if raw.enabled == Some(false) {
        let shipped: Vec<_> = Language::shipped_ids().collect();
        return match shipped.contains(&id.as_str()) {
            true => Ok(()),
            false => Err(Fault::unknown(path.key("id"), "rule", id, &shipped)),
        };
    }
    expect_name(&path.key("id"), "rule", id)?;
    let hint = "say which place asks for it, such as \"none\" or \"condition\"";
    required(path, "kind", raw.kind.as_ref(), hint)?;
    let hint = "write `regex`, or `enabled = false` to switch a shipped rule off";
    let regex = required(path, "regex", raw.regex.as_ref(), hint)?;
    matcher::check(path, id, &Matcher::Regex(regex.clone()), room)
}

fn checks(path: &KeyPath, raw: Option<&RawChecks>) -> Validation {
    for (name, raw) in raw.iter().flat_map(|checks| &checks.named) {
        check(&path.key(name), name, raw)?;
    }
    Ok(())
}

fn check(path: &KeyPath, id: &str, raw: &RawCheck) -> Validation {
    expect_name(path, "check", id)?;
    if let Some(command) = &raw.command {
        expect_any(&path.key("command"), command)?;
        expect_text(&path.key("command").index(0), command.first())?;
    }
    expect_text(&path.key("cwd"), raw.cwd.as_ref())?;
    for (key, list) in [("env", &raw.env), ("needs", &raw.needs), ("paths", &raw.paths)] {
        expect_texts(&path.key(key), list.as_ref())?;
    }
    if let Some(index) = raw.env.iter().flatten().position(|name| name.contains('=')) {
        let fault = Fault::invalid(path.key("env").index(index), "holds names only, no values");
        return Err(fault.hint("the value is taken from gate's own environment"));
    }
    check_runs(path, raw)?;
    built_in_keys(path, id, raw)
}

fn integrity(path: &KeyPath, raw: Option<&RawIntegrity>) -> Validation {
    let Some(raw) = raw else { return Ok(()) };
    let allow_path = path.key("allow");
    let mut allowances = raw.allow.iter().flatten().enumerate();
    allowances.try_for_each(|(index, raw)| allowance(&allow_path.index(index), raw))
}

fn allowance(path: &KeyPath, raw: &RawAllowance) -> Validation {
    for (key, text) in [("path", &raw.path), ("test", &raw.test), ("rule", &raw.rule)] {
        expect_text(&path.key(key), text.as_ref())?;
    }
    expect_text(&path.key("reason"), raw.reason.as_ref())?;
    let subject = raw.path.as_ref().or(raw.test.as_ref()).or(raw.rule.as_ref());
    required(path, "path", subject, "say what is allowed: `path`, `test` or `rule`")?;
    let hint = "say why it is allowed; the reason is recorded";
    required(path, "reason", raw.reason.as_ref(), hint)?;
    Ok(())
}

/// When and how often a check runs.
fn check_runs(path: &KeyPath, raw: &RawCheck) -> Validation {
    if raw.timeout.is_some_and(|timeout| timeout.0 == 0) {
        return Err(Fault::invalid(path.key("timeout"), "a check needs a timeout above 0"));
    }
    if raw.memory.is_some_and(|memory| memory.0 == 0) {
        let fault = Fault::invalid(path.key("memory"), "a check needs memory above 0");
        return Err(fault.hint("leave `memory` out for no limit"));
    }
    if raw.retry.is_some_and(|retry| retry > 10) {
        return Err(Fault::invalid(path.key("retry"), "at most 10 retries"));
    }
    let Some(starts) = &raw.when else { return Ok(()) };
    expect_any(&path.key("when"), starts)
        .map_err(|fault| fault.hint("to keep it from deciding write `mode = \"warn\"`"))
}

/// The keys that only some built-in checks know.
fn built_in_keys(path: &KeyPath, id: &str, raw: &RawCheck) -> Validation {
    let lists = [
        ("files", &raw.files),
        ("optional", &raw.optional),
        ("done_marks", &raw.done_marks),
        ("ignore", &raw.ignore),
    ];
    for (key, list) in lists {
        let checks = BUILT_IN.iter().filter(|check| check.keys.contains(&key));
        let names: Vec<_> = checks.map(|check| check.name).collect();
        expect_texts(&path.key(key), list.as_ref())?;
        if id == "clean_git" && raw.command.is_some() {
            let fault =
                Fault::invalid(path.key("command"), "the check `clean_git` runs no command");
            return Err(fault.hint("a check of another name does"));
        }
        if list.is_some() && !names.contains(&id) {
            let message = format!("only the check `{}` has `{key}`", names.join("` or `"));
            return Err(Fault::invalid(path.key(key), message));
        }
    }
    Ok(())
}

fn breaker(path: &KeyPath, raw: Option<&RawBreaker>) -> Validation {
    match raw.and_then(|raw| raw.output_decline) {
        Some(share) if share > 100 => {
            Err(Fault::invalid(path.key("output_decline"), "a share in percent is at most 100"))
        }
        _ => Ok(()),
    }
}

/// A bound on money that still fits in micro-dollars.
const MAX_USD: f64 = 1e9;

fn budget(path: &KeyPath, raw: Option<&RawBudget>) -> Validation {
    match raw.and_then(|raw| raw.cost_usd) {
        Some(Dollars(cost)) if !(0.0..=MAX_USD).contains(&cost) => {
            Err(Fault::invalid(path.key("cost_usd"), "a cost in dollars is 0 or more, at most 1e9"))
        }
        _ => Ok(()),
    }
}

/// The value of a key that each table of its kind needs.
fn required<'r, T>(
    path: &KeyPath,
    key: &'static str,
    value: Option<&'r T>,
    hint: &str,
) -> Result<&'r T, Fault> {
    value.ok_or_else(|| Fault::new(path.clone(), Problem::Missing(key)).hint(hint))
}

fn expect_name(path: &KeyPath, kind: &str, text: &str) -> Validation {
    if is_name(text) {
        return Ok(());
    }
    Err(Fault::invalid(path.clone(), format!("a {kind} is called by letters, digits, `-` and `_`")))
}

fn expect_text(path: &KeyPath, text: Option<&String>) -> Validation {
    match text {
        Some(text) if text.trim().is_empty() => Err(Fault::invalid(path.clone(), "is empty")),
        _ => Ok(()),
    }
}

fn expect_texts(path: &KeyPath, list: Option<&Vec<String>>) -> Validation {
    let mut texts = list.into_iter().flatten().enumerate();
    texts.try_for_each(|(index, text)| expect_text(&path.index(index), Some(text)))
}

fn expect_any<T>(path: &KeyPath, list: &[T]) -> Validation {
    if list.is_empty() {
        return Err(Fault::invalid(path.clone(), "the list is empty, at least one is needed"));
    }
    Ok(())
}

fn expect_unique(
    path: &KeyPath,
    kind: &'static str,
    names: impl Iterator<Item = impl ToString>,
) -> Validation {
    let mut earlier_names = BTreeSet::new();
    for (index, name) in names.map(|name| name.to_string()).enumerate() {
        if !earlier_names.insert(name.clone()) {
            return Err(Fault::new(path.index(index), Problem::Duplicate { kind, name }));
        }
    }
    Ok(())
}
