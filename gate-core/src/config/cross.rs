//! Rules about several settings, checked once all sources are merged.

use std::collections::BTreeSet;

use super::error::{Fault, Problem, Validation};
use super::key::KeyPath;
use super::raw::{RawCheck, RawChecks, RawConfig};
use crate::decide::policy::Spelling;

/// Checks the merged settings.
pub(super) fn config(raw: &RawConfig) -> Validation {
    gate(raw)?;
    signal(raw)?;
    let Some(checks) = &raw.checks else { return Ok(()) };
    for (name, check) in &checks.named {
        script(name, check)?;
        let path = KeyPath::dotted("checks").key(name).key("needs");
        expect_checks(&path, check.needs.as_deref().unwrap_or_default(), checks)?;
    }
    refuse_cycle(checks)?;
    let ci = raw.work.as_ref().and_then(|work| work.ci.as_deref()).unwrap_or_default();
    expect_checks(&KeyPath::dotted("work.ci"), ci, checks)
}

/// Without threshold and without signal, silence would end the loop.
fn gate(raw: &RawConfig) -> Validation {
    let Some(gate) = &raw.exit_gate else { return Ok(()) };
    if gate.enabled != Some(false) || gate.require_explicit_signal != Some(false) {
        return Ok(());
    }
    let message = "contradicts `exit_gate.enabled = false`: nothing would be left to decide";
    let path = KeyPath::dotted("exit_gate.require_explicit_signal");
    Err(Fault::new(path, Problem::Conflict(message.to_owned())).hint("keep at most one of the two"))
}

fn signal(raw: &RawConfig) -> Validation {
    let Some(signal) = &raw.signal else { return Ok(()) };
    let only_custom = signal.accept.as_deref() == Some(&[Spelling::Custom]);
    if only_custom && signal.custom.as_ref().is_none_or(Vec::is_empty) {
        let message = "accepts only custom signals, and there is none".to_owned();
        let fault = Fault::new(KeyPath::dotted("signal.accept"), Problem::Conflict(message));
        return Err(fault.hint("write a [[signal.custom]]"));
    }
    Ok(())
}

fn script(name: &str, check: &RawCheck) -> Validation {
    let words = check.command.as_ref().map_or(1, Vec::len);
    if check.shell != Some(true) || words == 1 {
        return Ok(());
    }
    let path = KeyPath::dotted("checks").key(name).key("command");
    Err(Fault::invalid(
        path,
        format!("with `shell = true` a command is one script, not {words} words"),
    )
    .hint("write [\"one script\"], or leave `shell` out"))
}

fn expect_checks(path: &KeyPath, names: &[String], checks: &RawChecks) -> Validation {
    for (index, name) in names.iter().enumerate() {
        if !checks.named.contains_key(name) {
            let check_names: Vec<&str> = checks.named.keys().map(String::as_str).collect();
            return Err(Fault::unknown(path.index(index), "check", name, &check_names));
        }
    }
    Ok(())
}

fn needs<'a>(checks: &'a RawChecks, name: &str) -> std::slice::Iter<'a, String> {
    let check = checks.named.get(name);
    check.and_then(|check| check.needs.as_deref()).unwrap_or_default().iter()
}

/// Follows `needs` from each check, each of them once; a way back to a check that it
/// came from is a fault.
fn refuse_cycle(checks: &RawChecks) -> Validation {
    let mut followed = BTreeSet::new();
    for start in checks.named.keys() {
        // The way from there: each check with the needs that are still to be followed.
        let mut way = vec![(start, needs(checks, start))];
        let mut on_way = BTreeSet::from([start]);
        while let Some((name, needs_left)) = way.last_mut() {
            let name = *name;
            match needs_left.next() {
                Some(next) if on_way.contains(next) => {
                    let steps = way.iter().map(|(name, _)| *name).chain([next]);
                    let steps: Vec<_> = steps.skip_while(|name| *name != next).collect();
                    return Err(cycle_fault(&steps));
                }
                Some(next) if followed.contains(next) => {}
                Some(next) => {
                    on_way.insert(next);
                    way.push((next, needs(checks, next)));
                }
                None => {
                    followed.insert(name);
                    on_way.remove(name);
                    way.pop();
                }
            }
        }
    }
    Ok(())
}

/// The most steps of a cycle that an error names.
const MAX_NAMED_STEPS: usize = 20;

fn cycle_fault(steps: &[&String]) -> Fault {
    let path = KeyPath::dotted("checks").key(steps[0]).key("needs");
    let names = steps.iter().map(|name| name.as_str());
    let words = match steps.len() {
        0..=MAX_NAMED_STEPS => names.collect::<Vec<_>>().join(" → "),
        count => {
            let first_names = names.take(MAX_NAMED_STEPS).collect::<Vec<_>>().join(" → ");
            format!("{first_names} → … ({} checks)", count - 1)
        }
    };
    Fault::new(path, Problem::Cycle(words))
}
