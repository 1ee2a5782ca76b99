//! `.git/config`: the keys by which the repository says what git runs and shows.

use super::{Free, Keys};
use crate::integrity::finding::Finding;
use crate::integrity::rule;

/// Keys of `[core]` that name programs, other files or another tree.
const CORE: [&str; 9] = [
    "hookspath",
    "fsmonitor",
    "attributesfile",
    "excludesfile",
    "worktree",
    "checkstat",
    "trustctime",
    "sshcommand",
    "bare",
];

/// What is different between two versions of a repository's settings, as far as
/// it concerns what git runs and shows.
pub fn findings(path: &str, before: &str, now: &str) -> Vec<Finding> {
    keys(before).findings(&keys(now), path, now)
}

fn keys(text: &str) -> Keys {
    let mut keys = Keys::default();
    let (mut section, mut at) = (String::new(), 0);
    for line in text.lines().map(str::trim) {
        if let Some((name, _)) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            name.clone_into(&mut section);
            continue;
        }
        let (key, value) = line.split_once('=').unwrap_or((line, "true"));
        let key = key.trim().to_ascii_lowercase();
        let kind = section.split([' ', '"']).next().unwrap_or_default().to_ascii_lowercase();
        let decides = match kind.as_str() {
            "core" => CORE.contains(&key.as_str()),
            "filter" | "include" | "includeif" | "diff" | "merge" | "extensions" => true,
            _ => false,
        };
        if decides && !key.is_empty() && !key.starts_with(['#', ';']) {
            // A key may stand there several times.
            at += 1;
            let name = format!("{section}.{key}");
            let name = if keys.0.contains_key(&name) { format!("{name} {at}") } else { name };
            keys.of(&rule::GIT, name, value.trim(), Free::Not);
        }
    }
    keys
}
