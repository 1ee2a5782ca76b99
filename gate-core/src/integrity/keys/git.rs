//! `.git/config`: the keys that decide what git runs and shows.

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
pub(super) fn decisive(text: &str) -> String {
    let (mut section, mut kept) = (String::new(), Vec::new());
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
        let value = value.trim();
        // What husky's installation leaves is a folder that is guarded.
        let is_husky = key == "hookspath" && matches!(value, ".husky" | ".husky/_");
        if decides && !is_husky && !key.is_empty() && !key.starts_with(['#', ';']) {
            kept.push(format!("{section}.{key} = {value}"));
        }
    }
    kept.sort();
    kept.join("\n")
}
