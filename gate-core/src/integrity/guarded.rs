//! Files that decide whether a project's tests mean anything: the pack `guarded`.
//!
//! The names are the conventions of the tools that read them; a project says more in `[guarded]`. The
//! folders of agents' clients stand in a list of their own.

use std::sync::LazyLock;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::agents::AGENT_FOLDERS;
use super::language::Language;

/// The pack, in the order of its file.
pub(super) static PACK: LazyLock<Pack> = LazyLock::new(|| {
    #[allow(clippy::expect_used, reason = "the text is a constant, and a test reads it")]
    toml::from_str(gate_patterns::GUARDED).expect("the pack is right")
});

/// The rows of the pack. A test reads the keys that are for people.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pack {
    #[serde(rename = "doc")]
    _doc: IgnoredAny,
    files: Vec<Row>,
    loaded: Vec<Row>,
    pub(super) words: Words,
}

/// Words in paths, and names of modules of Python.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Words {
    helps: Vec<String>,
    vendored: Vec<String>,
    pub(super) tools: Vec<String>,
    pub(super) imported: Vec<String>,
}

/// Files, by their names and folders.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Row {
    kind: Option<Guarded>,
    #[serde(rename = "change")]
    _change: IgnoredAny,
    #[serde(rename = "runner")]
    _runner: IgnoredAny,
    names: Vec<String>,
    endings: Vec<String>,
    top: Vec<String>,
    folders: Vec<String>,
    inside: Vec<String>,
    is_code: bool,
}

/// Why a file is guarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
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

/// The reason to guard a file of this name, relative to the tree's root and with slashes; `None` if it
/// is not guarded.
pub fn guarded(path: &str) -> Option<Guarded> {
    let path = PathParts::new(path);
    let is_clients = path.top().is_some_and(|top| AGENT_FOLDERS.contains(&top));
    if is_clients && path.name != "gate.toml" {
        let is_data = is_clients_data(path.folders.get(1).copied(), path.name);
        return (!is_data).then_some(Guarded::Hook);
    }
    // The first row decides. A row without a kind takes a file out that a later one would guard.
    PACK.files.iter().find(|row| row.matches(&path)).and_then(|row| row.kind)
}

/// A runner or an interpreter loads a file of this name, relative to the tree's root and with slashes,
/// by itself. It can change each test that runs beside it.
pub fn loaded_by_itself(path: &str) -> bool {
    let path = PathParts::new(path);
    PACK.loaded.iter().any(|row| row.matches(&path))
}

struct PathParts<'p> {
    folders: Vec<&'p str>,
    /// The file's own name.
    name: &'p str,
}

impl<'p> PathParts<'p> {
    fn new(path: &'p str) -> Self {
        let mut folders: Vec<_> = path.split('/').collect();
        let name = folders.pop().unwrap_or_default();
        Self { folders, name }
    }

    fn top(&self) -> Option<&'p str> {
        self.folders.first().copied()
    }
}

impl Row {
    /// A path fits in all columns that the row fills.
    fn matches(&self, path: &PathParts<'_>) -> bool {
        let ending = path.name.rsplit_once('.').map_or("", |(_, ending)| ending);
        (self.names.is_empty() || matches_any(&self.names, path.name))
            && (self.endings.is_empty() || self.endings.iter().any(|name| name == ending))
            && (self.top.is_empty() || path.top().is_some_and(|top| matches_any(&self.top, top)))
            && (self.folders.is_empty()
                || path.folders.iter().any(|folder| matches_any(&self.folders, folder)))
            && (self.inside.is_empty()
                || path.folders.last().is_some_and(|folder| matches_any(&self.inside, folder)))
            && (!self.is_code || Language::from_path(path.name).is_some())
    }
}

fn matches_any(globs: &[String], name: &str) -> bool {
    globs.iter().any(|glob| matches_glob(glob, name))
}

/// Tests a name against a glob, in which `*` stands for anything and `[ab]` for one of these.
fn matches_glob(glob: &str, name: &str) -> bool {
    let mut glob_letters = glob.chars();
    match glob_letters.next() {
        None => name.is_empty(),
        Some('*') => {
            let glob = glob_letters.as_str();
            let mut endings = name.char_indices().map(|(offset, _)| &name[offset..]);
            glob.is_empty() || endings.any(|ending| matches_glob(glob, ending))
        }
        Some('[') => {
            let Some((set, glob)) = glob_letters.as_str().split_once(']') else { return false };
            let mut letters = name.chars();
            letters.next().is_some_and(|letter| set.contains(letter))
                && matches_glob(glob, letters.as_str())
        }
        Some(letter) => {
            name.strip_prefix(letter).is_some_and(|name| matches_glob(glob_letters.as_str(), name))
        }
    }
}

/// Files that a client writes below its folder by itself, beside its settings.
fn is_clients_data(folder: Option<&str>, name: &str) -> bool {
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

/// Text for people, by a file's name.
pub fn is_prose(name: &str) -> bool {
    [".md", ".rst", ".adoc", ".markdown"].iter().any(|end| name.ends_with(end))
}

/// A file of the product, inline tests apart.
pub(super) fn is_product(path: &str, guarded: Option<Guarded>) -> bool {
    guarded.is_none() && !serves_tests(path)
}

fn serves_tests(path: &str) -> bool {
    let words = path.split(|c: char| !c.is_ascii_alphanumeric());
    let mut lower_words = words.map(str::to_ascii_lowercase);
    let name = path.rsplit('/').next().unwrap_or(path);
    // `src/config.rs` is the product; `vite.config.ts` is not.
    let is_config = name.contains(".config.") || name.starts_with("setup");
    is_config || lower_words.any(|word| PACK.words.helps.contains(&word))
}

/// A file that came with somebody else's code.
pub(super) fn is_vendored(path: &str) -> bool {
    let vendored = &PACK.words.vendored;
    path.split('/').any(|folder| vendored.iter().any(|name| name == folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_says_what_happens_to_a_change() {
        let pack: toml::Table = gate_patterns::GUARDED.parse().unwrap();
        let rows = |key: &str| pack[key].as_array().unwrap().clone();
        for row in rows("files") {
            let change = row.get("change").and_then(toml::Value::as_str);
            let expected: &[Option<&str>] = match row.get("kind").and_then(toml::Value::as_str) {
                None => &[None],
                Some("gate") => &[Some("trust")],
                Some("ci" | "hook") => &[Some("note")],
                Some(_) => &[Some("restore")],
            };
            assert!(expected.contains(&change), "{row}");
        }
        assert!(rows("loaded").iter().all(|row| row.get("runner").is_some()));
    }

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

    #[test]
    fn what_is_loaded_without_being_named() {
        for path in [
            "conftest.py",
            "tests/unit/conftest.py",
            "tests/__init__.py",
            "pkg/tests/a/__init__.py",
            "a_test.go",
            "pkg/main_test.go",
            "__mocks__/fs.js",
            "src/__mocks__/a/b.json",
            "jest.setup.js",
            "jest.setup.config.ts",
            "vitest-setup.mts",
            "src/setupTests.ts",
            "setup-jest.js",
            "sitecustomize.py",
            "lib/usercustomize.py",
            "a.pth",
            "lib/python3/site-packages/a.b.pth",
            "spec/spec_helper.rb",
        ] {
            assert!(loaded_by_itself(path), "{path}");
        }
    }

    #[test]
    fn what_somebody_has_to_name_is_not() {
        for path in [
            "",
            "/",
            "build.rs",
            "tests/common/mod.rs",
            "tests/helpers.py",
            "src/__init__.py",
            "pkg/latest/__init__.py",
            "tests/test_a.py",
            "my_plugin.py",
            "src/main.go",
            "src/testing.go",
            "src/setup.ts",
            "src/jester.js",
            "mocks/fs.js",
            "conftest.pyc",
            "docs/conftest.md",
        ] {
            assert!(!loaded_by_itself(path), "{path}");
        }
    }

    #[test]
    fn what_serves_tests_is_not_the_product() {
        for (path, expected) in [
            ("src/app.py", true),
            ("src/config.rs", true),
            ("src/latest.js", true),
            ("src/testing/util.py", false),
            ("src/__mocks__/a.js", false),
            ("src/test_helpers.rs", false),
            ("vite.config.ts", false),
        ] {
            assert_eq!(is_product(path, None), expected, "{path}");
        }
        assert!(!is_product("a", Some(Guarded::Support)));
        assert!(is_vendored("go/vendor/x/y.go") && !is_vendored("src/vendors.go"));
    }
}
