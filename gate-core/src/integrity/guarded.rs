//! Files that decide whether a project's tests mean anything, by their names.
//!
//! The names are the conventions of the tools that read them; what is not among
//! them is protected by `[integrity] protect`.

use super::agents::AGENT_FOLDERS;
use super::language::Language;

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

/// Why a file of this name, relative to the tree's root and with slashes, is guarded; none if it is
/// not.
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
        ".woodpecker.yml",
        ".appveyor.yml",
        "appveyor.yml",
        "azure-pipelines.yml",
        "bitbucket-pipelines.yml",
        "cloudbuild.yaml",
        "Jenkinsfile",
    ];
    const HOOK: &[&str] =
        &[".pre-commit-config.yaml", ".overcommit.yml", ".huskyrc", ".huskyrc.json"];
    const MANIFEST: &[&str] = &[
        "Cargo.toml",
        "package.json",
        "pyproject.toml",
        "setup.cfg",
        "tox.ini",
        "go.mod",
        "go.work",
        "Makefile",
        "makefile",
        "GNUmakefile",
        "justfile",
        "Justfile",
        ".justfile",
        "Taskfile.yml",
        "Taskfile.yaml",
        "pom.xml",
        "build.gradle",
        "build.gradle.kts",
    ];
    const RUNNER: &[&str] = &[
        "pytest.ini",
        ".pytest.ini",
        "pytest.toml",
        ".pytest.toml",
        "noxfile.py",
        ".coveragerc",
        "nextest.toml",
        "sitecustomize.py",
        "usercustomize.py",
        ".taprc",
        ".rspec",
        "phpunit.xml",
        "phpunit.xml.dist",
        "codecov.yml",
        ".codecov.yml",
        "testng.xml",
        "junit-platform.properties",
        "xunit.runner.json",
    ];
    const RUNNER_STARTS: &[&str] = &[
        "jest.config.",
        "vitest.config.",
        "vitest.workspace.",
        "karma.conf.",
        "ava.config.",
        "babel.config.",
        ".babelrc",
        "playwright.config.",
        "cypress.config.",
        "wdio.conf.",
        ".mocharc.",
        ".nycrc",
        ".c8rc",
    ];
    let starts = |all: &[&str]| all.iter().any(|start| name.starts_with(start));
    if CI.contains(&name) {
        Some(Guarded::Ci)
    } else if HOOK.contains(&name) || starts(&["lefthook", ".lefthook"]) {
        Some(Guarded::Hook)
    } else if MANIFEST.contains(&name) || starts(&["vite.config."]) || name.ends_with(".mk") {
        Some(Guarded::Manifest)
    } else if RUNNER.contains(&name) || starts(RUNNER_STARTS) || name.ends_with(".runsettings") {
        Some(Guarded::Runner)
    } else if name == "conftest.py" {
        Some(Guarded::Support)
    } else {
        None
    }
}

/// Files that a folder gives their meaning.
fn by_folder(folders: &str, name: &str) -> Option<Guarded> {
    const HOOKS: &[&str] = &[".husky", ".githooks", ".git-hooks"];
    const CI: &[&str] =
        &[".github", ".gitea", ".forgejo", ".circleci", ".buildkite", ".woodpecker", ".ci"];
    let mut parts = folders.split('/');
    let top = parts.next().unwrap_or_default();
    if AGENT_FOLDERS.contains(&top) {
        return (!is_clients_own(parts.next(), name)).then_some(Guarded::Hook);
    }
    // Skills and prompts stand beside the plug-ins.
    if HOOKS.contains(&top) || folders.starts_with(".agents/plugins") {
        Some(Guarded::Hook)
    } else if CI.contains(&top) {
        (!is_prose(name)).then_some(Guarded::Ci)
    } else if name == "entry_points.txt"
        && [".egg-info", ".dist-info"].iter().any(|end| folders.ends_with(end))
    {
        // A plug-in of pytest may be registered there.
        Some(Guarded::Runner)
    } else if folders.ends_with(".cargo") && matches!(name, "config" | "config.toml") {
        Some(Guarded::Runner)
    } else {
        None
    }
}

/// Files that a client writes below its folder by itself, beside its settings.
fn is_clients_own(folder: Option<&str>, name: &str) -> bool {
    const DATA: &[&str] = &[
        "plans",
        "todos",
        "worktrees",
        "projects",
        "sessions",
        "tmp",
        "logs",
        "log",
        "history",
        "memory",
        "agent-memory",
        "checkpoints",
        "shell-snapshots",
        "statsig",
        "cache",
        "node_modules",
    ];
    folder.is_some_and(|folder| DATA.contains(&folder)) || name.ends_with(".lock")
}

/// True for text for people, by a file's name.
pub fn is_prose(name: &str) -> bool {
    [".md", ".rst", ".adoc", ".markdown"].iter().any(|end| name.ends_with(end))
}

/// Test files and expected outputs, by name.
fn is_test(name: &str) -> bool {
    let Some((stem, kind)) = name.rsplit_once('.') else { return false };
    let ends = |all: &[&str]| all.iter().any(|end| stem.ends_with(end));
    match kind {
        "py" => stem.starts_with("test_") || stem.ends_with("_test") || stem == "tests",
        "rs" => stem == "tests" || ends(&["_test", "_tests"]) || stem.starts_with("test_"),
        "go" => stem.ends_with("_test"),
        "js" | "mjs" | "cjs" | "jsx" | "ts" | "mts" | "cts" | "tsx" => {
            ends(&[".test", ".spec", "-test", "_test", ".cy", ".e2e"])
        }
        "java" | "kt" | "cs" | "php" | "groovy" => ends(&["Test", "Tests", "TestCase", "Spec"]),
        "rb" => ends(&["_spec", "_test"]) || stem.starts_with("test_"),
        "c" | "cc" | "cpp" | "cxx" => {
            ends(&["_test", "_tests", "_unittest", "Test", "Tests"]) || stem.starts_with("test_")
        }
        "sh" | "bash" => ends(&["_test", "_tests"]) || stem.starts_with("test_"),
        "bats" | "snap" | "ambr" | "golden" => true,
        _ => stem.ends_with(".approved") || stem.ends_with(".golden"),
    }
}

/// Folders of tests.
pub(super) const TEST_FOLDERS: &[&str] =
    &["test", "tests", "__tests__", "integration_tests", "e2e", "cypress"];

/// Folders of what tests read.
pub(super) const DATA_FOLDERS: &[&str] = &[
    "testdata",
    "__snapshots__",
    "__fixtures__",
    "__mocks__",
    "fixture",
    "fixtures",
    "golden",
    "goldens",
];

/// Folders on top of a project whose code helps tests.
pub(super) const HELP_FOLDERS: &[&str] = &["testing", "testlib", "testutil", "testutils"];

/// Data that says by its name that something is expected to be so.
fn is_expected(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name);
    let is_named_so =
        stem == "expected" || stem.starts_with("expected_") || stem.ends_with("_expected");
    is_named_so && Language::from_path(name).is_none() && !is_prose(name)
}

/// Files below a folder of tests: what does not say by its name that it holds
/// tests is what they rest on, but where a folder alone makes a test.
fn in_tests(folders: &str, name: &str) -> Option<Guarded> {
    // What is specified elsewhere may be anything.
    const SPECS: &[&str] = &["spec", "specs"];
    const BY_PLACE: &[&str] = &[".rs", ".js", ".mjs", ".cjs", ".ts"];
    let is_code = Language::from_path(name).is_some();
    let is = |folder: &str| {
        let folder = &*folder.to_ascii_lowercase();
        let tests = TEST_FOLDERS.contains(&folder)
            || folder.ends_with(".tests")
            || SPECS.contains(&folder) && is_code;
        DATA_FOLDERS.contains(&folder) || tests && !is_prose(name)
    };
    let first = folders.split('/').next().unwrap_or_default();
    // A package may well offer something for tests; the project's own help stands on top.
    let is_help = HELP_FOLDERS.contains(&first) && is_code;
    if !(folders.split('/').any(is) || is_help || is_expected(name)) {
        return None;
    }
    let last = folders.rsplit('/').next().is_some_and(is);
    let by_place = last && BY_PLACE.iter().any(|end| name.ends_with(end));
    Some(if by_place { Guarded::Test } else { Guarded::Support })
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
            (".pytest.toml", Some(Guarded::Runner)),
            ("x.egg-info/entry_points.txt", Some(Guarded::Runner)),
            ("babel.config.js", Some(Guarded::Runner)),
            ("go.work", Some(Guarded::Manifest)),
            ("mk/flags.mk", Some(Guarded::Manifest)),
            ("fixtures/expected.json", Some(Guarded::Support)),
            ("data/expected.json", Some(Guarded::Support)),
            ("expected_sums.txt", Some(Guarded::Support)),
            ("testing/checks.py", Some(Guarded::Support)),
            ("src/testing/checks.py", None),
            (".cargo/config.toml", Some(Guarded::Runner)),
            ("jest.config.mjs", Some(Guarded::Runner)),
            (".github/workflows/ci.yml", Some(Guarded::Ci)),
            (".claude/settings.json", Some(Guarded::Hook)),
            ("Cargo.toml", Some(Guarded::Manifest)),
            (".claude/settings.local.json", Some(Guarded::Hook)),
            (".claude/hooks/stop.sh", Some(Guarded::Hook)),
            (".claude/plans/a.md", None),
            (".claude/worktrees/b/src/a.py", None),
            (".github/ISSUE_TEMPLATE/bug.md", None),
            (".github/actions/a/action.yml", Some(Guarded::Ci)),
            (".husky/pre-commit", Some(Guarded::Hook)),
            ("lefthook-local.yml", Some(Guarded::Hook)),
            ("vite.config.ts", Some(Guarded::Manifest)),
            ("go.mod", Some(Guarded::Manifest)),
            ("phpunit.xml.dist", Some(Guarded::Runner)),
            ("App.Tests/UnitTest1.cs", Some(Guarded::Support)),
            ("src/FooTests.cs", Some(Guarded::Test)),
            ("spec/a_spec.rb", Some(Guarded::Test)),
            ("spec/spec_helper.rb", Some(Guarded::Support)),
            ("docs/spec/api.md", None),
            ("spec/openapi.json", None),
            ("tests/README.md", None),
            ("testdata/in.md", Some(Guarded::Support)),
            ("test_parser.c", Some(Guarded::Test)),
            ("scripts/test_all.sh", Some(Guarded::Test)),
            ("tests/smoke.bats", Some(Guarded::Test)),
            ("src/main.rs", None),
            ("latest.py", None),
            ("contest/main.rs", None),
            ("README.md", None),
        ] {
            assert_eq!(guarded(path), expected, "{path}");
        }
    }
}
