//! The effective settings as TOML.

use std::fmt::Write as _;

use super::resolve::{ConfigWarning, Resolved, Setting};
use crate::decide::policy::Threshold;
use crate::exit::AGENT_EXIT_PROTOCOL_ENABLED_ENV;

/// The effective settings as TOML that means the same again; with `origins`, each with its source.
pub fn show(resolved: &Resolved, origins: bool) -> String {
    let mut text = String::new();
    let mut open_table = String::new();
    for (table, setting) in in_tables(&resolved.settings()) {
        if open_table != table {
            let gap = if text.is_empty() { "" } else { "\n" };
            let _ = writeln!(text, "{gap}[{table}]");
            write_threshold(&mut text, table, resolved);
            write_exit_protocol(&mut text, table, resolved);
            open_table = table.to_owned();
        }
        let name = &setting.key[table.len() + 1..];
        let comment = match origins {
            true => format!("  # {}", origin(resolved, setting)),
            false => String::new(),
        };
        let _ = writeln!(text, "{name} = {}{comment}", setting.value);
    }
    text
}

/// The settings with their tables; a table's own keys before those of its inner
/// tables.
fn in_tables(settings: &[Setting]) -> Vec<(&str, &Setting)> {
    let mut by_table: Vec<_> = settings
        .iter()
        .map(|setting| (setting.key.rsplit_once('.').map_or("", |(table, _)| table), setting))
        .collect();
    by_table.sort_by_key(|(table, _)| *table);
    by_table
}

/// A threshold that no source sets has no key; its value is shown all the same.
fn write_threshold(text: &mut String, table: &str, resolved: &Resolved) {
    if table == "exit_gate" && resolved.policy.exit_gate.threshold == Threshold::Reachable {
        let number = resolved.policy.threshold_in_force();
        let _ =
            writeln!(text, "# indicator_threshold is not set: {number}, from the number of checks");
    }
}

/// The flag has no key either.
fn write_exit_protocol(text: &mut String, table: &str, resolved: &Resolved) {
    if table == "signal" {
        let state = if resolved.policy.signal.exit_protocol { "on" } else { "off" };
        let _ = writeln!(
            text,
            "# the agent exit protocol is {state}: {AGENT_EXIT_PROTOCOL_ENABLED_ENV}"
        );
    }
}

/// The source of a setting, its lock, and other sources that a lock keeps from it.
fn origin(resolved: &Resolved, setting: &Setting) -> String {
    let mut text = setting.origin.place(setting.line);
    if resolved.lock_of(&setting.key).is_some() {
        text.push_str(", locked");
    }
    for warning in &resolved.warnings {
        if let ConfigWarning::Locked(attempt) = warning
            && attempt.key == setting.key
        {
            let _ = write!(text, "; {} from {} is ignored", attempt.tried_value, attempt.source);
        }
    }
    text
}
