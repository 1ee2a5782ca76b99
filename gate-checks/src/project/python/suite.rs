//! Detects the test framework of a Python project.

use super::PyProject;
use crate::project::folder::Folder;
use crate::project::proposal::Findings;

/// A test framework.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Suite {
    Pytest,
    /// With the arguments that name where discovery begins.
    Unittest(&'static [&'static str]),
}

impl Suite {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Pytest => "pytest",
            Self::Unittest(_) => "unittest",
        }
    }
}

/// Files that only a project with pytest has.
const PYTEST_FILES: [&str; 6] = [
    "pytest.ini",
    ".pytest.ini",
    "pytest.toml",
    "conftest.py",
    "tests/conftest.py",
    "test/conftest.py",
];

/// Files in which pytest has a section.
const SECTIONS: [(&str, &str); 2] = [("setup.cfg", "[tool:pytest]"), ("tox.ini", "[pytest]")];

/// Files that say what a project needs.
const DEPENDENCY_FILES: [&str; 5] = [
    "pyproject.toml",
    "requirements-dev.txt",
    "dev-requirements.txt",
    "requirements-test.txt",
    "requirements.txt",
];

/// Usual folders of tests.
const TEST_FOLDERS: [TestFolder; 3] = [
    TestFolder {
        name: "tests",
        folder_arguments: &["-s", "tests"],
        package_arguments: &["-s", "tests", "-t", "."],
    },
    TestFolder {
        name: "test",
        folder_arguments: &["-s", "test"],
        package_arguments: &["-s", "test", "-t", "."],
    },
    TestFolder { name: ".", folder_arguments: &[], package_arguments: &[] },
];

/// A folder of tests, and how unittest finds them: where the folder is a
/// package, they are modules of it.
struct TestFolder {
    name: &'static str,
    folder_arguments: &'static [&'static str],
    package_arguments: &'static [&'static str],
}

impl TestFolder {
    fn path(&self, file: &str) -> String {
        match self.name {
            "." => file.to_owned(),
            folder => format!("{folder}/{file}"),
        }
    }
}

/// The most test files that are read.
const MAX_TEST_FILES: usize = 200;

/// The test framework of a project.
pub(super) struct Detected {
    pub(super) suite: Suite,
    pub(super) evidence: String,
}

impl Detected {
    fn pytest(evidence: impl Into<String>) -> Self {
        Self { suite: Suite::Pytest, evidence: evidence.into() }
    }
}

pub(super) fn detect(
    folder: &Folder<'_>,
    project: &PyProject,
    findings: &mut Findings,
) -> Option<Detected> {
    if project.has_tool("pytest") {
        return Some(Detected::pytest("[tool.pytest] in pyproject.toml"));
    }
    if let Some(file) = folder.first_file(&PYTEST_FILES) {
        return Some(Detected::pytest(file));
    }
    for (file, section) in SECTIONS {
        if folder.text(file, findings).is_some_and(|text| has_line(&text, section)) {
            return Some(Detected::pytest(format!("{section} in {file}")));
        }
    }
    let by_files = TEST_FOLDERS.iter().find_map(|tests| detect_by_files(folder, tests));
    by_files.or_else(|| detect_by_dependency(folder))
}

fn has_line(text: &str, section: &str) -> bool {
    text.lines().any(|line| line.trim() == section)
}

/// By the test files of one folder: tests that use unittest and say nothing of
/// pytest need nothing but Python.
fn detect_by_files(folder: &Folder<'_>, tests: &TestFolder) -> Option<Detected> {
    let mut names = folder.names(tests.name);
    names.retain(|name| is_test_file(name));
    names.truncate(MAX_TEST_FILES);
    let texts = names.into_iter().filter_map(|name| {
        let text = folder.text(&tests.path(&name), &mut Findings::default())?;
        // Outside of a folder of tests a helper script may be called like one.
        (tests.name != "." || holds_test(&text)).then_some((name, text))
    });
    let texts: Vec<_> = texts.collect();
    let (first_name, _) = texts.first()?;
    let evidence = tests.path(first_name);
    let uses_unittest = texts.iter().any(|(_, text)| imports(text, "unittest"));
    let uses_pytest = texts.iter().any(|(_, text)| imports(text, "pytest"));
    // By itself unittest looks for no other names.
    let are_found_by_unittest = texts.iter().all(|(name, _)| name.starts_with("test"));
    if !uses_unittest || uses_pytest || !are_found_by_unittest {
        return Some(Detected::pytest(evidence));
    }
    let is_package = folder.has_file(&format!("{}/__init__.py", tests.name));
    let start = if is_package { tests.package_arguments } else { tests.folder_arguments };
    let evidence = format!("{evidence}, which uses unittest");
    Some(Detected { suite: Suite::Unittest(start), evidence })
}

/// By the dependencies that the project declares.
fn detect_by_dependency(folder: &Folder<'_>) -> Option<Detected> {
    DEPENDENCY_FILES.iter().find_map(|file| {
        let text = folder.text(file, &mut Findings::default())?;
        let mut words = text.split(['"', '\'', '\n', ' ', '[', '=', '>', '<', '~', ';', '#']);
        let names_pytest = words.any(|word| word.trim() == "pytest");
        names_pytest.then(|| Detected::pytest(format!("pytest in {file}")))
    })
}

fn is_test_file(name: &str) -> bool {
    let stem = name.strip_suffix(".py").unwrap_or_default();
    stem.starts_with("test_") || stem.ends_with("_test")
}

/// A text defines a test, takes one from elsewhere, makes them while it runs, or uses a
/// test framework.
fn holds_test(text: &str) -> bool {
    let uses_framework = imports(text, "pytest") || imports(text, "unittest");
    uses_framework
        || text.lines().any(|line| {
            let mut words = line.trim_start().trim_start_matches("async ").split_whitespace();
            match (words.next(), words.next()) {
                (Some("def"), Some(name)) => name.starts_with("test"),
                (Some("class"), Some(name)) => {
                    name.starts_with("Test") || line.contains("TestCase")
                }
                (Some("from"), Some(_)) => {
                    line.contains(" import *") || line.contains(" import test")
                }
                (Some(name), Some("=")) => name.starts_with("test_") || name.starts_with("Test"),
                _ => false,
            }
        })
}

fn imports(text: &str, module: &str) -> bool {
    text.lines().any(|line| {
        let mut words = line.split_whitespace();
        let keyword = words.next();
        let path = words.next().unwrap_or_default();
        let top_module = path.split(['.', ',']).next().unwrap_or_default();
        matches!(keyword, Some("import" | "from")) && top_module == module
    })
}

#[cfg(test)]
mod tests {
    use super::{holds_test, imports, is_test_file};

    #[test]
    fn a_helper_script_is_no_test() {
        for text in [
            "def test_a():\n    pass\n",
            "class A(unittest.TestCase):\n",
            "class TestA:\n",
            "from .base import *\n",
            "    async def test_b(self):\n",
            "test_x = make(1)\n",
        ] {
            assert!(holds_test(text), "{text}");
        }
        assert!(!holds_test("import sys\n\ndef main():\n    run_tests()\n\nmain()\n"));
    }

    #[test]
    fn imports_are_found_by_the_modules_name() {
        assert!(imports("import unittest\n", "unittest"));
        assert!(imports("    from unittest.mock import patch\n", "unittest"));
        assert!(imports("import pytest, os\n", "pytest"));
        assert!(!imports("import pytest_asyncio\n# import unittest\n", "pytest"));
        assert!(!imports("# import unittest\n", "unittest"));
    }

    #[test]
    fn test_files_are_known_by_name() {
        assert!(is_test_file("test_a.py") && is_test_file("a_test.py"));
        assert!(
            !is_test_file("tests.py")
                && !is_test_file("test_a.txt")
                && !is_test_file("conftest.py")
        );
    }
}
