//! What settings say together, once all sources are laid over each other.

use super::check::{RawCheck, RawChecks};
use super::error::Problem;
use super::fault::{Checked, Fault};
use super::key::KeyPath;
use super::raw::RawConfig;
use crate::decide::policy::Spelling;

/// Checks the merged settings.
pub(super) fn config(raw: &RawConfig) -> Checked {
    gate(raw)?;
    signal(raw)?;
    let Some(checks) = &raw.checks else { return Ok(()) };
    for (name, check) in &checks.named {
        script(name, check)?;
        let path = KeyPath::dotted("checks").key(name).key("needs");
        known(&path, check.needs.as_deref().unwrap_or_default(), checks)?;
        cycle(&path, name, checks)?;
    }
    let ci = raw.work.as_ref().and_then(|work| work.ci.as_deref()).unwrap_or_default();
    known(&KeyPath::dotted("work.ci"), ci, checks)
}

/// Without threshold and without signal, silence would end the loop.
fn gate(raw: &RawConfig) -> Checked {
    let Some(gate) = &raw.exit_gate else { return Ok(()) };
    if gate.enabled != Some(false) || gate.require_explicit_signal != Some(false) {
        return Ok(());
    }
    let message = "contradicts `exit_gate.enabled = false`: nothing would be left to decide";
    let path = KeyPath::dotted("exit_gate.require_explicit_signal");
    Err(Fault::new(path, Problem::Conflict(message.to_owned())).hint("keep at most one of the two"))
}

fn signal(raw: &RawConfig) -> Checked {
    let Some(signal) = &raw.signal else { return Ok(()) };
    let own = signal.accept.as_deref() == Some(&[Spelling::Custom]);
    if own && signal.custom.as_ref().is_none_or(Vec::is_empty) {
        let message = "accepts only custom signals, and there is none".to_owned();
        let fault = Fault::new(KeyPath::dotted("signal.accept"), Problem::Conflict(message));
        return Err(fault.hint("write a [[signal.custom]]"));
    }
    Ok(())
}

fn script(name: &str, check: &RawCheck) -> Checked {
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

fn known(path: &KeyPath, names: &[String], checks: &RawChecks) -> Checked {
    for (index, name) in names.iter().enumerate() {
        if !checks.named.contains_key(name) {
            let known: Vec<&str> = checks.named.keys().map(String::as_str).collect();
            return Err(Fault::unknown(path.index(index), "check", name, &known));
        }
    }
    Ok(())
}

/// Follows `needs` from one check; a way back to it is a fault.
fn cycle(path: &KeyPath, start: &str, checks: &RawChecks) -> Checked {
    let mut ways = vec![vec![start]];
    let mut seen = Vec::new();
    while let Some(way) = ways.pop() {
        let needs = way.last().and_then(|name| checks.named.get(*name)?.needs.as_ref());
        for next in needs.into_iter().flatten() {
            let longer = [way.as_slice(), &[next]].concat();
            if next == start {
                return Err(Fault::new(path.clone(), Problem::Cycle(longer.join(" → "))));
            }
            if !seen.contains(&next) {
                seen.push(next);
                ways.push(longer);
            }
        }
    }
    Ok(())
}
