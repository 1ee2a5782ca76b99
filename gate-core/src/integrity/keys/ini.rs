//! `setup.cfg` and `tox.ini`: sections of pytest, coverage and tox, and what
//! linters leave out.

use super::key::{Free, Keys, Reach};
use super::python::{LEAVES_OUT, is_harmless};
use crate::integrity::rule;

pub(super) fn keys(text: &str, _: &Reach) -> Option<Keys> {
    let mut keys = Keys::default();
    for (section, key, value) in entries(text) {
        let at = format!("{section}.{key}");
        if runs_tests(&section) && !is_harmless(&key) {
            keys.add(at, &value, Free::Not);
        } else if LEAVES_OUT.contains(&key.as_str()) {
            for item in value.split([',', '\n']).map(str::trim).filter(|item| !item.is_empty()) {
                keys.add_for(&rule::LINT, format!("{at} {item}"), "", Free::ToRemove);
            }
        }
    }
    Some(keys)
}

/// A section selects or runs tests.
pub(super) fn runs_tests(section: &str) -> bool {
    ["pytest", "tool:pytest", "tox"].contains(&section)
        || section.starts_with("coverage:")
        || section.starts_with("testenv")
}

/// Each key with its section and its value; what is indented goes on.
pub(super) fn entries(text: &str) -> Vec<(String, String, String)> {
    let (mut section, mut entries) = (String::new(), Vec::<(String, String, String)>::new());
    for line in text.lines() {
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with(['#', ';']) {
            continue;
        }
        let head = trimmed.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        let is_indented = line.starts_with([' ', '\t']);
        if let Some((name, _)) = head
            && !is_indented
        {
            section = name.trim().to_owned();
        } else if is_indented && entries.last().is_some_and(|last| last.0 == section) {
            if let Some(last) = entries.last_mut() {
                last.2 += &format!("\n{trimmed}");
            }
        } else if let Some((key, value)) = trimmed.split_once(['=', ':']) {
            let key = key.trim().to_ascii_lowercase();
            entries.push((section.clone(), key, value.trim().to_owned()));
        }
    }
    entries
}
