//! Detects the test framework of a Python project.

use super::Project;
use crate::project::folder::Folder;
use crate::project::proposal::Found;

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

/// Files whose being there means pytest.
const FILES: [&str; 6] = [
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
const NEEDS: [&str; 5] = [
    "pyproject.toml",
    "requirements-dev.txt",
    "dev-requirements.txt",
    "requirements-test.txt",
    "requirements.txt",
];

/// Usual folders of tests.
const PLACES: [Place; 3] = [
    Place { name: "tests", folder: &["-s", "tests"], package: &["-s", "tests", "-t", "."] },
    Place { name: "test", folder: &["-s", "test"], package: &["-s", "test", "-t", "."] },
    Place { name: ".", folder: &[], package: &[] },
];

/// A folder of tests, and how unittest finds them: where the folder is a
/// package, they are modules of it.
struct Place {
    name: &'static str,
    folder: &'static [&'static str],
    package: &'static [&'static str],
}

impl Place {
    fn path(&self, file: &str) -> String {
        match self.name {
            "." => file.to_owned(),
            folder => format!("{folder}/{file}"),
        }
    }
}

/// The most test files that are read.
const MAX_TEST_FILES: usize = 200;

/// The test framework, and the evidence for it.
pub(super) fn detect(
    folder: &Folder<'_>,
    project: &Project,
    found: &mut Found,
) -> Option<(Suite, String)> {
    if project.has_tool("pytest") {
        return Some((Suite::Pytest, "[tool.pytest] in pyproject.toml".to_owned()));
    }
    if let Some(file) = folder.first(&FILES) {
        return Some((Suite::Pytest, file.to_owned()));
    }
    for (file, section) in SECTIONS {
        if folder.text(file, found).is_some_and(|text| has_line(&text, section)) {
            return Some((Suite::Pytest, format!("{section} in {file}")));
        }
    }
    let by_files = PLACES.iter().find_map(|place| by_files(folder, place));
    by_files.or_else(|| by_need(folder))
}

fn has_line(text: &str, line: &str) -> bool {
    text.lines().any(|own| own.trim() == line)
}

/// By the test files of one folder: tests that use unittest and say nothing of
/// pytest need nothing but Python.
fn by_files(folder: &Folder<'_>, place: &Place) -> Option<(Suite, String)> {
    let mut names = folder.names(place.name);
    names.retain(|name| is_test(name));
    names.truncate(MAX_TEST_FILES);
    let texts = names.into_iter().filter_map(|name| {
        let text = folder.text(&place.path(&name), &mut Found::default())?;
        // Outside of a folder of tests a helper script may be called like one.
        (place.name != "." || holds_test(&text)).then_some((name, text))
    });
    let texts: Vec<_> = texts.collect();
    let (first, _) = texts.first()?;
    let why = place.path(first);
    let uses_unittest = texts.iter().any(|(_, text)| imports(text, "unittest"));
    let uses_pytest = texts.iter().any(|(_, text)| imports(text, "pytest"));
    // By itself unittest looks for no other names.
    let found_by_unittest = texts.iter().all(|(name, _)| name.starts_with("test"));
    if !uses_unittest || uses_pytest || !found_by_unittest {
        return Some((Suite::Pytest, why));
    }
    let is_package = folder.has(&format!("{}/__init__.py", place.name));
    let start = if is_package { place.package } else { place.folder };
    Some((Suite::Unittest(start), format!("{why}, which uses unittest")))
}

/// By the dependencies that the project declares.
fn by_need(folder: &Folder<'_>) -> Option<(Suite, String)> {
    NEEDS.iter().find_map(|file| {
        let text = folder.text(file, &mut Found::default())?;
        let needed = text.split(['"', '\'', '\n', ' ', '[', '=', '>', '<', '~', ';', '#']);
        let names_it = needed.into_iter().any(|word| word.trim() == "pytest");
        names_it.then(|| (Suite::Pytest, format!("pytest in {file}")))
    })
}

fn is_test(name: &str) -> bool {
    let stem = name.strip_suffix(".py").unwrap_or_default();
    stem.starts_with("test_") || stem.ends_with("_test")
}

/// True if a text defines a test, takes one from elsewhere, makes them while it runs, or uses a
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
        let verb = words.next();
        let named = words.next().unwrap_or_default();
        let named = named.split(['.', ',']).next().unwrap_or_default();
        matches!(verb, Some("import" | "from")) && named == module
    })
}

#[cfg(test)]
mod tests {
    use super::{holds_test, imports, is_test};

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
        assert!(is_test("test_a.py") && is_test("a_test.py"));
        assert!(!is_test("tests.py") && !is_test("test_a.txt") && !is_test("conftest.py"));
    }
}
