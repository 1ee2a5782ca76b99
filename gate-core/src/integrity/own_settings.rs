//! Settings of git and of agents: the part of them that decides what runs.

use serde_json::Value;

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

/// The lines of a repository's settings that decide what git runs and shows, in order: settings
/// with the same lines are the same here. They hold no credentials.
fn decisive_of_git(text: &str) -> String {
    let (mut section, mut decisive_lines) = (String::new(), Vec::new());
    for line in text.lines().map(str::trim) {
        if let Some((name, _)) = line.strip_prefix('[').and_then(|head| head.split_once(']')) {
            name.clone_into(&mut section);
            continue;
        }
        // Git takes a key without a value for true.
        let (key, value) = line.split_once('=').unwrap_or((line, "true"));
        let key = key.trim().to_ascii_lowercase();
        // `[filter "lfs"]` is one of the filters.
        let kind = section.split([' ', '"']).next().unwrap_or_default().to_ascii_lowercase();
        let decides = match kind.as_str() {
            "core" => CORE.contains(&key.as_str()),
            "filter" | "include" | "includeif" | "diff" | "merge" | "extensions" => true,
            _ => false,
        };
        let value = value.trim();
        // What husky's installation leaves is a folder that is guarded.
        let is_husky = key == "hookspath" && matches!(value, ".husky" | ".husky/_");
        if decides && !is_husky && !key.is_empty() && !key.starts_with(['#', ';']) {
            decisive_lines.push(format!("{section}.{key} = {value}"));
        }
    }
    decisive_lines.sort();
    decisive_lines.join("\n")
}

/// The part of a file outside of the tree, or one that git ignores, that can get around the checks.
/// Two versions with the same part are the same here.
pub fn decisive_part(path: &str, bytes: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes);
    if path.ends_with(".git/config") {
        return decisive_of_git(&text).into_bytes();
    }
    match hook_settings(path, bytes) {
        Some(settings) => settings.to_string().into_bytes(),
        None => bytes.to_vec(),
    }
}

/// The part of an agent's settings that concerns hooks; `None` if the file holds no
/// settings, or cannot be read as such.
fn hook_settings(path: &str, bytes: &[u8]) -> Option<Value> {
    const HOOK_KEYS: [&str; 5] =
        ["hooks", "disableAllHooks", "allowManagedHooksOnly", "env", "hooksConfig"];
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_local = name == "settings.local.json";
    if !(is_local || name == "settings.json") {
        return None;
    }
    let Ok(Value::Object(mut table)) = serde_json::from_slice(bytes) else { return None };
    // A client's own file is not guarded, except for the keys about what it runs and about its
    // environment.
    table.retain(|key, _| match is_local {
        true => HOOK_KEYS.contains(&key.as_str()),
        false => key != "permissions",
    });
    Some(Value::Object(table))
}

/// Two versions of an agent's settings differ only in what concerns no hook: its
/// client itself keeps there what a person permitted.
pub(super) fn only_permissions(path: &str, old: Option<&[u8]>, new: Option<&[u8]>) -> bool {
    let [old, new] = [old, new].map(|bytes| hook_settings(path, bytes.unwrap_or(b"{}")));
    old.is_some() && old == new
}
