//! Which files decide whether a project's tests mean anything, by their names.
//!
//! The names are the conventions of the tools that read them; what is not among
//! them is protected by `[integrity] protect`.

/// Why a file is guarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Guarded {
    /// It holds tests.
    Test,
    /// Tests rest on it: fixtures, snapshots, helpers.
    Support,
    /// It configures a test runner.
    Runner,
    /// It configures continuous integration.
    Ci,
    /// It configures agents, or hooks of agents or of git.
    Hook,
    /// A manifest: only the keys that select or run tests count.
    Manifest,
    /// gate's own settings.
    Gate,
}

/// Why a file of this name, relative to the tree's root and with slashes, is
/// guarded; none where it is not.
pub fn guarded(path: &str) -> Option<Guarded> {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    if name == "gate.toml" {
        return Some(Guarded::Gate);
    }
    by_name(name)
        .or_else(|| by_folder(folders, name))
        .or_else(|| is_test(name).then_some(Guarded::Test))
        .or_else(|| in_tests(folders, name))
}

/// Files that have one meaning wherever they stand.
fn by_name(name: &str) -> Option<Guarded> {
    const CI: &[&str] = &[
        ".gitlab-ci.yml",
        ".travis.yml",
        ".drone.yml",
        "azure-pipelines.yml",
        "bitbucket-pipelines.yml",
        "Jenkinsfile",
    ];
    const HOOK: &[&str] = &[
        ".pre-commit-config.yaml",
        "lefthook.yml",
        "lefthook.yaml",
        ".lefthook.yml",
        ".lefthook.yaml",
    ];
    const MANIFEST: &[&str] = &[
        "Cargo.toml",
        "package.json",
        "pyproject.toml",
        "setup.cfg",
        "tox.ini",
        "Makefile",
        "makefile",
        "GNUmakefile",
        "justfile",
        "Justfile",
        "Taskfile.yml",
        "pom.xml",
        "build.gradle",
        "build.gradle.kts",
    ];
    const RUNNER: &[&str] = &[
        "pytest.ini",
        ".pytest.ini",
        "noxfile.py",
        ".coveragerc",
        "nextest.toml",
        "sitecustomize.py",
        "usercustomize.py",
        ".nycrc",
        ".nycrc.json",
    ];
    const RUNNER_STARTS: &[&str] =
        &["jest.config.", "vitest.config.", "vitest.workspace.", "karma.conf.", ".mocharc."];
    let is = |names: &[&str]| names.contains(&name);
    if is(CI) {
        Some(Guarded::Ci)
    } else if is(HOOK) {
        Some(Guarded::Hook)
    } else if is(MANIFEST) {
        Some(Guarded::Manifest)
    } else if is(RUNNER) || RUNNER_STARTS.iter().any(|start| name.starts_with(start)) {
        Some(Guarded::Runner)
    } else if name == "conftest.py" {
        Some(Guarded::Support)
    } else {
        None
    }
}

/// Files that a folder gives their meaning.
fn by_folder(folders: &str, name: &str) -> Option<Guarded> {
    let mut parts = folders.split('/');
    let top = parts.next().unwrap_or_default();
    let hook = [
        ".claude",
        ".codex",
        ".gemini",
        ".qwen",
        ".cursor",
        ".factory",
        ".opencode",
        ".husky",
        ".githooks",
    ];
    let ci = [".github", ".circleci", ".buildkite", ".woodpecker"];
    if hook.contains(&top) {
        Some(Guarded::Hook)
    } else if ci.contains(&top) {
        Some(Guarded::Ci)
    } else if folders.ends_with(".cargo") && matches!(name, "config" | "config.toml") {
        Some(Guarded::Runner)
    } else {
        None
    }
}

/// Whether a file's name says that it holds tests.
fn is_test(name: &str) -> bool {
    let Some((stem, kind)) = name.rsplit_once('.') else { return false };
    match kind {
        "py" => stem.starts_with("test_") || stem.ends_with("_test") || stem == "tests",
        "rs" => stem == "tests" || stem.ends_with("_test") || stem.ends_with("_tests"),
        "go" => stem.ends_with("_test"),
        "js" | "mjs" | "cjs" | "jsx" | "ts" | "mts" | "cts" | "tsx" => {
            [".test", ".spec", "-test", "_test"].iter().any(|end| stem.ends_with(end))
        }
        "java" | "kt" | "cs" | "php" => stem.ends_with("Test") || stem.ends_with("Tests"),
        "rb" => stem.ends_with("_spec") || stem.ends_with("_test"),
        "bats" | "snap" => true,
        _ => false,
    }
}

/// Files below a folder of tests: what does not say by its name that it holds
/// tests is what they rest on, but where a folder alone makes a test.
fn in_tests(folders: &str, name: &str) -> Option<Guarded> {
    const FOLDERS: &[&str] = &[
        "test",
        "tests",
        "__tests__",
        "spec",
        "specs",
        "testdata",
        "__snapshots__",
        "__fixtures__",
    ];
    let inside = folders.split('/').any(|folder| FOLDERS.contains(&folder));
    let in_last = folders.rsplit('/').next().is_some_and(|last| FOLDERS.contains(&last));
    let by_place =
        in_last && [".rs", ".js", ".mjs", ".cjs", ".ts"].iter().any(|it| name.ends_with(it));
    match (inside, by_place) {
        (true, true) => Some(Guarded::Test),
        (true, false) => Some(Guarded::Support),
        (false, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_guarded() {
        for (path, expected) in [
            ("gate.toml", Some(Guarded::Gate)),
            ("app/gate.toml", Some(Guarded::Gate)),
            ("tests/test_a.py", Some(Guarded::Test)),
            ("src/a_test.go", Some(Guarded::Test)),
            ("src/a.test.ts", Some(Guarded::Test)),
            ("tests/cli.rs", Some(Guarded::Test)),
            ("crates/a/src/tests.rs", Some(Guarded::Test)),
            ("src/test/java/ATest.java", Some(Guarded::Test)),
            ("tests/conftest.py", Some(Guarded::Support)),
            ("pkg/testdata/a.json", Some(Guarded::Support)),
            ("src/__snapshots__/a.test.ts.snap", Some(Guarded::Test)),
            ("pytest.ini", Some(Guarded::Runner)),
            (".cargo/config.toml", Some(Guarded::Runner)),
            ("jest.config.mjs", Some(Guarded::Runner)),
            (".github/workflows/ci.yml", Some(Guarded::Ci)),
            (".claude/settings.json", Some(Guarded::Hook)),
            ("Cargo.toml", Some(Guarded::Manifest)),
            ("src/main.rs", None),
            ("latest.py", None),
            ("contest/main.rs", None),
            ("README.md", None),
        ] {
            assert_eq!(guarded(path), expected, "{path}");
        }
    }
}
