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
    filled(&KeyPath::dotted("run.folder"), raw.run.as_ref().and_then(|run| run.folder.as_ref()))?;
    for (name, agent) in raw.run.iter().filter_map(|run| run.agents.as_ref()).flatten() {
        strings(&KeyPath::dotted("run.agents").key(name).key("args"), agent.args.as_ref())?;
    }
    notify(&root.key("notify"), raw.notify.as_ref())?;
    filled(
        &KeyPath::dotted("project.id"),
        raw.project.as_ref().and_then(|project| project.id.as_ref()),
    )?;
    strings(
        &KeyPath::dotted("tree.ignore"),
        raw.tree.as_ref().and_then(|tree| tree.ignore.as_ref()),
    )?;
    integrity(&root.key("integrity"), raw.integrity.as_ref())?;
    strings(&KeyPath::dotted("work.ci"), raw.work.as_ref().and_then(|work| work.ci.as_ref()))?;
    let (mut types, at) = (raw.task_types.iter().flatten(), root.key("task_types"));
    types.try_for_each(|(name, raw)| task_type(&at.key(name), name, raw))
}

fn criteria(at: &KeyPath, all: &[RawCriterion]) -> Validation {
    for (index, raw) in all.iter().enumerate() {
        let at = at.index(index);
        let missing = |key| Fault::new(at.clone(), Problem::Missing(key));
        let id = raw.id.as_ref().ok_or_else(|| missing("id"))?;
        name(&at.key("id"), "criterion", id)?;
        let text = raw.text.as_ref().ok_or_else(|| missing("text"))?;
        filled(&at.key("text"), Some(text))?;
        if let Some(verify) = &raw.verify {
            some(&at.key("verify"), verify)?;
            filled(&at.key("verify").index(0), verify.first())?;
        }
    }
    once(at, "criterion", all.iter().filter_map(|raw| raw.id.as_ref()))
}

fn notify(at: &KeyPath, raw: Option<&RawNotify>) -> Validation {
    let Some(raw) = raw else { return Ok(()) };
    strings(&at.key("command"), raw.command.as_ref())?;
    let Some(webhook) = raw.webhook.as_deref() else { return Ok(()) };
    if webhook.is_empty() || webhook.starts_with("https://") || webhook.starts_with("http://") {
        return Ok(());
    }
    let message = format!("expected an address with https:// or http://, found {webhook:?}");
    Err(Fault::invalid(at.key("webhook"), message))
}

fn task_type(at: &KeyPath, task: &str, raw: &RawTaskType) -> Validation {
    name(at, "task type", task)?;
    signal(&at.key("signal"), raw.signal.as_ref())?;
    patterns(&at.key("patterns"), raw.patterns.as_ref())?;
    checks(&at.key("checks"), raw.checks.as_ref())?;
    breaker(&at.key("breaker"), raw.breaker.as_ref())?;
    budget(&at.key("budget"), raw.budget.as_ref())
}

fn signal(at: &KeyPath, raw: Option<&RawSignal>) -> Validation {
    let Some(raw) = raw else { return Ok(()) };
    if let Some(accept) = &raw.accept {
        let path = at.key("accept");
        some(&path, accept).map_err(|fault| {
            fault.hint("to do without a signal write `exit_gate.require_explicit_signal = false`")
        })?;
        once(&path, "spelling", accept.iter().map(|spelling| spelling.name()))?;
    }
    if let Some(phrases) = raw.promise.as_ref().and_then(|promise| promise.phrases.as_ref()) {
        let path = at.key("promise").key("phrases");
        some(&path, phrases)
            .map_err(|fault| fault.hint("to refuse promises leave `promise` out of `accept`"))?;
        strings(&path, Some(phrases))?;
        if let Some(index) = phrases.iter().position(|text| text.eq_ignore_ascii_case(BLOCKED)) {
            let message = "this phrase always means that the agent cannot go on";
            return Err(Fault::invalid(path.index(index), message));
        }
    }
    let (mut custom, at) = (raw.custom.iter().flatten().enumerate(), at.key("custom"));
    let mut room = Room::default();
    custom.try_for_each(|(index, raw)| custom_signal(&at.index(index), index, raw, &mut room))
}

fn custom_signal(at: &KeyPath, index: usize, raw: &RawCustomSignal, room: &mut Room) -> Validation {
    let id = format!("signal.custom[{index}]");
    let matcher = matcher::matcher(at, raw.regex.as_deref(), raw.literal.as_deref())?;
    matcher::check(at, &id, &matcher, room)?;
    required(at, "value", raw.value.as_ref(), "write \"complete\", \"continue\" or \"blocked\"")?;
    Ok(())
}

fn patterns(at: &KeyPath, raw: Option<&RawPatterns>) -> Validation {
    let Some(raw) = raw else { return Ok(()) };
    let (packs, path) = (raw.packs.iter().flatten(), at.key("packs"));
    for (index, name) in packs.clone().enumerate() {
        pack::known(path.index(index), name)?;
    }
    once(&path, "pack", packs)?;
    custom_patterns(&at.key("custom"), raw.custom.as_deref().unwrap_or_default())
}

/// Most patterns of one list: each is searched for in all that an agent wrote.
const MAX_PATTERNS: usize = 2_000;

/// Checks patterns of one list, whose ids must differ.
pub(super) fn custom_patterns(at: &KeyPath, patterns: &[RawCustomPattern]) -> Validation {
    if patterns.len() > MAX_PATTERNS {
        let message = format!("{} patterns, at most {MAX_PATTERNS} are looked for", patterns.len());
        let fault = Fault::invalid(at.index(MAX_PATTERNS), message);
        return Err(fault.hint("one `regex` may name many texts: \"(one|other)\""));
    }
    let mut room = Room::default();
    for (index, raw) in patterns.iter().enumerate() {
        custom_pattern(&at.index(index), raw, &mut room)?;
    }
    let ids = patterns.iter().filter_map(|pattern| pattern.id.as_ref());
    once(at, "pattern id", ids)
}

fn custom_pattern(at: &KeyPath, raw: &RawCustomPattern, room: &mut Room) -> Validation {
    let hint = "give the pattern a name, such as \"all-done\"";
    let id = required(at, "id", raw.id.as_ref(), hint)?;
    name(&at.key("id"), "pattern id", id)?;
    if raw.weight.is_some_and(|weight| !(1..=1000).contains(&weight)) {
        let fault = Fault::invalid(at.key("weight"), "a weight is a whole number from 1 to 1000");
        return Err(fault.hint("leave the pattern out if it shall count nothing"));
    }
    let matcher = matcher::matcher(at, raw.regex.as_deref(), raw.literal.as_deref())?;
    matcher::check(at, id, &matcher, room)
}

fn language(at: &KeyPath, raw: Option<&RawLanguage>) -> Validation {
    let rules = raw.and_then(|raw| raw.custom.as_deref()).unwrap_or_default();
    let (at, mut room) = (at.key("custom"), Room::default());
    for (index, raw) in rules.iter().enumerate() {
        language_rule(&at.index(index), raw, &mut room)?;
    }
    once(&at, "rule id", rules.iter().filter_map(|raw| raw.id.as_ref()))
}

fn language_rule(at: &KeyPath, raw: &RawLanguageRule, room: &mut Room) -> Validation {
    let hint = "a rule of your own needs a name; a near miss shows the shipped rules' names";
    let id = required(at, "id", raw.id.as_ref(), hint)?;
    if raw.enabled == Some(false) {
        let shipped: Vec<_> = Language::shipped_ids().collect();
        return match shipped.contains(&id.as_str()) {
            true => Ok(()),
            false => Err(Fault::unknown(at.key("id"), "rule", id, &shipped)),
        };
    }
    name(&at.key("id"), "rule", id)?;
    let hint = "say which place asks for it, such as \"none\" or \"condition\"";
    required(at, "kind", raw.kind.as_ref(), hint)?;
    let hint = "write `regex`, or `enabled = false` to switch a shipped rule off";
    let regex = required(at, "regex", raw.regex.as_ref(), hint)?;
    matcher::check(at, id, &Matcher::Regex(regex.clone()), room)
}

fn checks(at: &KeyPath, raw: Option<&RawChecks>) -> Validation {
    for (name, raw) in raw.iter().flat_map(|checks| &checks.named) {
        check(&at.key(name), name, raw)?;
    }
    Ok(())
}

fn check(at: &KeyPath, id: &str, raw: &RawCheck) -> Validation {
    name(at, "check", id)?;
    if let Some(command) = &raw.command {
        some(&at.key("command"), command)?;
        filled(&at.key("command").index(0), command.first())?;
    }
    filled(&at.key("cwd"), raw.cwd.as_ref())?;
    for (key, list) in [("env", &raw.env), ("needs", &raw.needs), ("paths", &raw.paths)] {
        strings(&at.key(key), list.as_ref())?;
    }
    if let Some(at_name) = raw.env.iter().flatten().position(|name| name.contains('=')) {
        let fault = Fault::invalid(at.key("env").index(at_name), "holds names only, no values");
        return Err(fault.hint("the value is taken from gate's own environment"));
    }
    check_runs(at, raw)?;
    check_own(at, id, raw)
}

fn integrity(at: &KeyPath, raw: Option<&RawIntegrity>) -> Validation {
    let Some(raw) = raw else { return Ok(()) };
    let (mut allow, at) = (raw.allow.iter().flatten().enumerate(), at.key("allow"));
    allow.try_for_each(|(index, allowed)| allowance(&at.index(index), allowed))
}

fn allowance(at: &KeyPath, raw: &RawAllowance) -> Validation {
    for (key, text) in [("path", &raw.path), ("test", &raw.test), ("rule", &raw.rule)] {
        filled(&at.key(key), text.as_ref())?;
    }
    filled(&at.key("reason"), raw.reason.as_ref())?;
    let allowed = raw.path.as_ref().or(raw.test.as_ref()).or(raw.rule.as_ref());
    required(at, "path", allowed, "say what is allowed: `path`, `test` or `rule`")?;
    let hint = "say why it is allowed; the reason is recorded";
    required(at, "reason", raw.reason.as_ref(), hint)?;
    Ok(())
}

/// When and how often a check runs.
fn check_runs(at: &KeyPath, raw: &RawCheck) -> Validation {
    if raw.timeout.is_some_and(|timeout| timeout.0 == 0) {
        return Err(Fault::invalid(at.key("timeout"), "a check needs a timeout above 0"));
    }
    if raw.memory.is_some_and(|memory| memory.0 == 0) {
        let fault = Fault::invalid(at.key("memory"), "a check needs memory above 0");
        return Err(fault.hint("leave `memory` out for no limit"));
    }
    if raw.retry.is_some_and(|retry| retry > 10) {
        return Err(Fault::invalid(at.key("retry"), "at most 10 retries"));
    }
    let off = "to keep it from deciding write `mode = \"warn\"`";
    let when = raw.when.as_ref().map_or(Ok(()), |when| some(&at.key("when"), when));
    when.map_err(|fault| fault.hint(off))
}

/// The keys that only some built-in checks know.
fn check_own(at: &KeyPath, id: &str, raw: &RawCheck) -> Validation {
    let lists = [
        ("files", &raw.files),
        ("optional", &raw.optional),
        ("done_marks", &raw.done_marks),
        ("ignore", &raw.ignore),
    ];
    for (key, list) in lists {
        let checks = BUILT_IN.iter().filter(|check| check.keys.contains(&key));
        let names: Vec<_> = checks.map(|check| check.name).collect();
        strings(&at.key(key), list.as_ref())?;
        if id == "clean_git" && raw.command.is_some() {
            let fault = Fault::invalid(at.key("command"), "the check `clean_git` runs no command");
            return Err(fault.hint("a check of another name does"));
        }
        if list.is_some() && !names.contains(&id) {
            let message = format!("only the check `{}` has `{key}`", names.join("` or `"));
            return Err(Fault::invalid(at.key(key), message));
        }
    }
    Ok(())
}

fn breaker(at: &KeyPath, raw: Option<&RawBreaker>) -> Validation {
    match raw.and_then(|raw| raw.output_decline) {
        Some(share) if share > 100 => {
            Err(Fault::invalid(at.key("output_decline"), "a share in percent is at most 100"))
        }
        _ => Ok(()),
    }
}

/// A bound on money that still fits in micro-dollars.
const MAX_USD: f64 = 1e9;

fn budget(at: &KeyPath, raw: Option<&RawBudget>) -> Validation {
    match raw.and_then(|raw| raw.cost_usd) {
        Some(Dollars(cost)) if !(0.0..=MAX_USD).contains(&cost) => {
            Err(Fault::invalid(at.key("cost_usd"), "a cost in dollars is 0 or more, at most 1e9"))
        }
        _ => Ok(()),
    }
}

/// The value of a key that each table of its kind needs.
fn required<'r, T>(
    at: &KeyPath,
    key: &'static str,
    value: Option<&'r T>,
    hint: &str,
) -> Result<&'r T, Fault> {
    value.ok_or_else(|| Fault::new(at.clone(), Problem::Missing(key)).hint(hint))
}

fn name(at: &KeyPath, what: &str, text: &str) -> Validation {
    if is_name(text) {
        return Ok(());
    }
    Err(Fault::invalid(at.clone(), format!("a {what} is called by letters, digits, `-` and `_`")))
}

fn filled(at: &KeyPath, text: Option<&String>) -> Validation {
    match text {
        Some(text) if text.trim().is_empty() => Err(Fault::invalid(at.clone(), "is empty")),
        _ => Ok(()),
    }
}

fn strings(at: &KeyPath, list: Option<&Vec<String>>) -> Validation {
    let mut items = list.into_iter().flatten().enumerate();
    items.try_for_each(|(index, text)| filled(&at.index(index), Some(text)))
}

fn some<T>(at: &KeyPath, list: &[T]) -> Validation {
    if list.is_empty() {
        return Err(Fault::invalid(at.clone(), "the list is empty, at least one is needed"));
    }
    Ok(())
}

fn once(
    at: &KeyPath,
    what: &'static str,
    names: impl Iterator<Item = impl ToString>,
) -> Validation {
    let mut seen = BTreeSet::new();
    for (index, name) in names.map(|name| name.to_string()).enumerate() {
        if !seen.insert(name.clone()) {
            return Err(Fault::new(at.index(index), Problem::Duplicate { what, name }));
        }
    }
    Ok(())
}
