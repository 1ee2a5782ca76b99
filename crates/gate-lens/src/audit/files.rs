//! The files that a call changes, by their names.

use std::path::Path;

use gate_core::integrity::{Guarded, guarded};
use gate_transcript::Call;

/// The file of a change that does not name one.
pub(crate) const A_FILE: &str = "a file";

/// Endings of prose.
const PROSE: [&str; 9] = ["md", "txt", "rst", "adoc", "markdown", "log", "mdx", "org", "textile"];

/// Files of prose without an ending.
const PROSE_NAMES: [&str; 6] =
    ["LICENSE", "COPYING", "README", "CHANGELOG", "COMMIT_EDITMSG", "AUTHORS"];

/// Beginnings of the names in which loops keep what is to do and what is done. They may be data, and
/// agents tick them after the tests. Lower case, without separators.
const PLANS: [&str; 13] = [
    "prd",
    "fixplan",
    "implementationplan",
    "plan",
    "progress",
    "sprintstatus",
    "sprintstate",
    "sprintplan",
    "todo",
    "tasks",
    "featurelist",
    "userstories",
    "backlog",
];

/// Endings of such a list that is data. Those that are prose need no name.
const PLAN_ENDINGS: [&str; 5] = ["json", "jsonl", "yaml", "yml", "toml"];

/// Folders of loops and of trackers for their tasks. Nothing in them is the product.
const OF_LOOPS: [&str; 6] = [".ralph", ".ralph-tui", ".beads", ".taskmaster", ".specify", ".cub"];

/// Folders for scratch files, outside of any project.
const SCRATCH: [&str; 8] = [
    "/tmp/",
    "/private/tmp/",
    "/var/tmp/",
    "/var/folders/",
    "/private/var/folders/",
    "/dev/",
    "$TMPDIR",
    "${TMPDIR",
];

/// The folder for scratch files below the home of a user on Windows.
const SCRATCH_BELOW: &str = "/appdata/local/temp/";

/// Folders for what a build makes.
const OUTPUTS: [&str; 3] = ["dist", "node_modules", "__pycache__"];

/// Endings of what is packed from other files.
const ARCHIVES: [&str; 7] = [".zip", ".gz", ".tgz", ".tar", ".whl", ".vsix", ".jar"];

/// Parts of the folder for scratch files of a conversation.
const SCRATCH_OF_ANTIGRAVITY: [&str; 2] = ["/brain/", "/scratch/"];

/// Folders below the home of a user in which clients keep files of their own.
const OF_CLIENTS: [&str; 4] =
    ["/.gemini/tmp/", "/.claude/plans/", "/.claude/projects/", "/.cursor/projects/"];

/// Marks of a file in a patch of Codex's.
const PATCHED: [&str; 4] =
    ["*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "];

/// The longest text that is taken for a path, in bytes.
const MAX_PATH_BYTES: usize = 400;

/// The files that an edit changes. An edit whose path cannot be found changes [`A_FILE`].
pub(crate) fn paths(call: &Call<'_>) -> Vec<String> {
    let patched: Vec<_> = call.texts.iter().flat_map(|text| patched(text)).collect();
    if !patched.is_empty() {
        return patched;
    }
    let path = call.texts.iter().find(|text| is_whole_path(text));
    let path = path.or_else(|| call.texts.iter().find(|text| is_path(text)));
    vec![path.map_or_else(|| A_FILE.to_owned(), |path| path.to_string())]
}

/// The files of a patch in a text.
pub(crate) fn patched(text: &str) -> impl Iterator<Item = String> {
    let marked =
        text.lines().filter_map(|line| PATCHED.iter().find_map(|mark| line.strip_prefix(mark)));
    marked.map(|path| path.trim().to_owned())
}

/// True for a path from the root or the home on, which may have spaces.
fn is_whole_path(text: &str) -> bool {
    let is_drive = text.as_bytes().get(1..3).is_some_and(|c| c == b":\\" || c == b":/");
    text.len() <= MAX_PATH_BYTES
        && !text.contains('\n')
        && (is_drive || text.starts_with("~/") || text.starts_with('/'))
        && !text.starts_with("//")
        && !text.starts_with("/*")
}

fn is_path(text: &str) -> bool {
    let short = !text.is_empty() && text.len() <= MAX_PATH_BYTES;
    short && !text.contains(['\n', ' ', '"', '(']) && (text.contains('/') || text.contains('.'))
}

/// True for a file of prose, which no check looks at.
pub(crate) fn is_prose(path: &str) -> bool {
    let path = path.replace('\\', "/");
    let path = Path::new(&path);
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    PROSE.contains(&ending.to_ascii_lowercase().as_str())
        || PROSE_NAMES.contains(&name)
        || path.components().any(|part| part.as_os_str() == ".git")
}

/// True for a loop's own list of tasks, whatever its form. No check looks at it.
pub(crate) fn is_plan(path: &str) -> bool {
    let lower = path.replace('\\', "/").to_ascii_lowercase();
    let (folders, name) = lower.rsplit_once('/').unwrap_or(("", &lower));
    if folders.split('/').any(|folder| OF_LOOPS.contains(&folder)) {
        return true;
    }
    let Some((stem, ending)) = name.rsplit_once('.') else { return false };
    let stem = stem.trim_start_matches(['@', '.', '_']);
    let joined = stem.replace(['-', '_'], "");
    let is_named = PLANS.iter().any(|plan| {
        // A longer word may name a part of the product: `planner.json`, `progressbar.json`.
        joined == *plan
            || stem.strip_prefix(plan).is_some_and(|end| end.starts_with(['-', '_', '.']))
    });
    PLAN_ENDINGS.contains(&ending) && is_named
}

/// True for a scratch file outside of the project.
pub(crate) fn is_scratch(path: &str) -> bool {
    if !path.contains(['/', '\\', '$']) {
        return false;
    }
    let lower = path.replace('\\', "/").to_ascii_lowercase();
    let folder = format!("{lower}/");
    SCRATCH.iter().any(|begin| folder.starts_with(&begin.to_ascii_lowercase()))
        || folder.contains(SCRATCH_BELOW)
        || SCRATCH_OF_ANTIGRAVITY.iter().all(|part| folder.contains(part))
        || is_of_client(path)
}

/// True for a file that a client keeps for itself. No project is in such a folder.
pub(crate) fn is_of_client(path: &str) -> bool {
    let lower = path.replace('\\', "/").to_ascii_lowercase();
    OF_CLIENTS.iter().any(|part| lower.contains(part))
}

/// True for a file by which a machine or a user's account is set up.
pub(crate) fn is_set_up(path: &str) -> bool {
    let path = path.replace('\\', "/");
    let home = ["~", "$HOME", "/root"].iter().find_map(|home| path.strip_prefix(home));
    let home = home.and_then(|below| below.strip_prefix('/'));
    let user = || {
        let rest = ["/home/", "/Users/"].iter().find_map(|home| path.strip_prefix(home))?;
        rest.split_once('/').map(|(_, below)| below)
    };
    let below = home.or_else(user);
    below.is_some_and(|below| below.starts_with('.') || below.starts_with("Library/"))
        || path.starts_with("/etc/")
}

/// True for a file in which tools note what they leave out or have chosen,
/// and for what a build has made.
pub(crate) fn is_note(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    (name.starts_with('.') && name.ends_with("ignore"))
        || name.ends_with(".lock")
        || ARCHIVES.iter().any(|ending| name.ends_with(ending))
        || path.split(['/', '\\']).rev().skip(1).any(|folder| OUTPUTS.contains(&folder))
        || stem.ends_with("-lock")
}

/// True for a file of tests, or one that they rest on.
pub(crate) fn is_test(path: &str) -> bool {
    matches!(guarded(&path.replace('\\', "/")), Some(Guarded::Test | Guarded::Support))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_and_prose_are_known_by_their_names() {
        for path in ["tests/a.rs", "a/test_b.py", "b.spec.ts", "b_test.go", "src\\tests.rs"] {
            assert!(is_test(path), "{path}");
        }
        assert!(!is_test("src/latest.py") && !is_test("src/contest/a.rs"));
        for path in ["docs/a.md", "C:\\w\\NOTES.txt", "LICENSE", ".git/config"] {
            assert!(is_prose(path), "{path}");
        }
        for path in ["src/a.rs", A_FILE, ".gitignore", "~/.zshrc", "app.desktop", "prd.json"] {
            assert!(!is_prose(path), "{path}");
        }
    }

    #[test]
    fn lists_of_tasks_are_known_by_name_and_folder() {
        for path in [
            "prd.json",
            "/w/tasks/prd-channel-overrides.json",
            "docs/sprint-status.yaml",
            "@fix_plan.json",
            "feature_list.json",
            ".beads/issues.jsonl",
            "a\\.ralph\\state",
        ] {
            assert!(is_plan(path), "{path}");
        }
        for path in ["src/plan.rs", "planner.json", "tasks/build.py", "todo.ts", "tasks/deploy.yml"]
        {
            assert!(!is_plan(path), "{path}");
        }
    }

    #[test]
    fn a_machine_is_set_up_in_its_own_folders() {
        for path in ["~/.zshrc", "/Users/a/Library/LaunchAgents/b.plist", "/etc/hosts"] {
            assert!(is_set_up(path), "{path}");
        }
        for path in [".env", "/home/a/project/.github/ci.yml", "src/etc/a.rs"] {
            assert!(!is_set_up(path), "{path}");
        }
    }

    #[test]
    fn scratch_files_are_no_work() {
        for path in ["/tmp/a.py", "/var/folders/x/b", "C:\\Users\\a\\AppData\\Local\\Temp\\b.ps1"] {
            assert!(is_scratch(path), "{path}");
        }
        for path in ["/home/a/tmp/b.py", "tmp/b.py", "/etc/fstab"] {
            assert!(!is_scratch(path), "{path}");
        }
    }
}
