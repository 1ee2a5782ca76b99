//! The tests of a file, found in reports: by the file that a test's name begins with, else by the
//! names that stand in the file's text.
//!
//! A limit: two packages of one cargo workspace whose test programs share a name are one to it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use gate_core::integrity::{Guarded, Language, guarded, loaded_by_itself, test_names};

use super::identities::{is_named_after, name_suffixes};
use crate::worktree::WorkTree;

/// A file of tests.
#[derive(Clone, Debug)]
pub(super) struct FileTests {
    /// Relative to the root.
    pub(super) path: PathBuf,
    /// The names of its tests, as far as they stand in its text.
    names: BTreeSet<String>,
    /// Go's name of the file's package, if it is a file of Go.
    package: Option<String>,
    /// The folder of the check, relative to the root.
    cwd: PathBuf,
}

impl FileTests {
    /// The tests in these texts of a file.
    pub(super) fn new<'t>(
        path: PathBuf,
        texts: impl IntoIterator<Item = &'t [u8]>,
        tree: &WorkTree,
        cwd: &Path,
    ) -> Self {
        let name = path.to_string_lossy();
        let names = texts.into_iter().flat_map(|text| test_names(&name, text)).collect();
        let package = package_of(&path, tree);
        Self { names, package, cwd: cwd.to_owned(), path }
    }

    /// The same file with these names of its tests alone.
    pub(super) fn with_names(&self, names: BTreeSet<String>) -> Self {
        Self { names, ..self.clone() }
    }

    /// A runner that finds the file reports tests of it.
    pub(super) fn holds_tests(&self) -> bool {
        let name = self.path.to_string_lossy();
        let is_test = guarded(&name) == Some(Guarded::Test) && !loaded_by_itself(&name);
        !self.names.is_empty() || is_test && Language::from_path(&name).is_some()
    }

    /// The test of this name is one of the file's.
    pub(super) fn has(&self, id: &str) -> bool {
        if let Some(file) = file_in(id) {
            let mut folders = self.cwd.ancestors();
            return folders.any(|folder| folder.join(file) == self.path);
        }
        if let Some(package) = &self.package {
            let test = id.strip_prefix(package.as_str()).and_then(|test| test.strip_prefix('.'));
            return test.is_some_and(|test| self.has_name(test));
        }
        let is_of_file = match Language::from_path(&self.path.to_string_lossy()) {
            Some(Language::Rust) => self.is_module_in(id),
            _ => self.names.is_empty(),
        };
        let is_named = self.names.is_empty() || self.has_name(id);
        is_named
            && (is_of_file || self.is_nameless(id) || is_named_after(id, &self.path, &self.cwd))
    }

    /// Names of this form say nothing about their file.
    fn is_nameless(&self, id: &str) -> bool {
        let is_rust = self.path.extension().is_some_and(|extension| extension == "rs");
        !is_rust && !id.contains("::") && !id.contains(" (")
    }

    /// One of the names in the file's text ends the test's, but for parameters and subtests.
    pub(super) fn has_name(&self, id: &str) -> bool {
        let ends_name = |end: &str| {
            end.is_empty() || end.starts_with(['/', '[', '(', ':']) || end.starts_with(" (")
        };
        name_suffixes(id).any(|suffix| {
            self.names.iter().any(|name| suffix.strip_prefix(name.as_str()).is_some_and(ends_name))
        })
    }

    /// The file's module, or the program that is called like it, is a part of a name in Rust.
    fn is_module_in(&self, id: &str) -> bool {
        let stem = |path: &Path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let module = match stem(&self.path).as_deref() {
            Some("mod" | "main") => self.path.parent().and_then(stem),
            Some("lib") => return true,
            module => module.map(str::to_owned),
        };
        module.is_some_and(|module| id.split("::").any(|part| part == module))
    }
}

/// The file that a test's name begins with; `None` if it begins with something else.
pub(super) fn file_in(id: &str) -> Option<&str> {
    let head = id.split("::").next().unwrap_or(id);
    let head = head.split(" > ").next().unwrap_or(head);
    // A program of cargo's may be followed by its source.
    let is_file = Language::from_path(head).is_some() && !head.contains(" (");
    is_file.then_some(head)
}

/// The name of a Go file's package in reports: that of the module, and its folder there.
fn package_of(path: &Path, tree: &WorkTree) -> Option<String> {
    if path.extension()? != "go" {
        return None;
    }
    let folder = path.parent()?;
    let (module_folder, module) = folder.ancestors().find_map(|folder| {
        let text = tree.bytes(&folder.join("go.mod"))?;
        let text = String::from_utf8_lossy(&text).into_owned();
        let line = text.lines().find_map(|line| line.trim().strip_prefix("module "))?;
        let module = line.split("//").next()?.trim().trim_matches('"');
        Some((folder, module.to_owned()))
    })?;
    let inside = folder.strip_prefix(module_folder).ok()?;
    Some(match inside.to_str()? {
        "" => module,
        inside => format!("{module}/{inside}"),
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::site::CheckSite;

    #[test]
    fn a_test_belongs_to_the_file_that_its_name_shows() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("api")).unwrap();
        fs::write(folder.path().join("api/go.mod"), "// one\nmodule example.com/api // two\n")
            .unwrap();
        let tree = WorkTree::open(&CheckSite::new(folder.path())).unwrap();
        let rust = "#[test]\nfn adds() {}\n";
        let go = "func TestAdd(t *testing.T) {\n}\n";
        let js = "it('adds', () => {})\nit(`${x}`, () => {})\n";
        for (path, text, cwd, id, expected) in [
            ("tests/test_a.py", "def test_a():\n    pass\n", "", "tests/test_a.py::T::b[1]", true),
            ("tests/test_a.py", "", "", "test_a.py::test_a", false),
            ("py/tests/test_a.py", "", "py", "tests/test_a.py::test_a", true),
            ("py/tests/test_a.py", "", "py", "py/tests/test_a.py::test_a", true),
            ("test/a.test.js", js, "", "test/a.test.js > made up", true),
            ("test/a.test.js", js, "", "test/b.test.js > adds", false),
            ("test/a.test.js", js, "", "adds", true),
            ("test/a.test.js", js, "", "adds more", false),
            ("tests/it.rs", rust, "", "it::adds", true),
            ("tests/it.rs", rust, "", "calc::it::adds::case_1", true),
            ("tests/it.rs", rust, "", "hidden::adds", false),
            ("tests/it.rs", rust, "", "it::adds_more", false),
            ("tests/it/main.rs", rust, "", "it::adds", true),
            ("src/lib.rs", rust, "", "calc::tests::adds", true),
            ("api/sum/a_test.go", go, "api", "example.com/api/sum.TestAdd/zero", true),
            ("api/sum/a_test.go", go, "api", "example.com/api.TestAdd", false),
            ("api/sum/a_test.go", go, "api", "example.com/api/sum.TestAddMore", false),
            ("test_a.py", "def test_b(self):\n    pass\n", "", "test_a.Case::test_b", true),
            ("test_a.py", "def test_b(self):\n    pass\n", "", "test_c.Case::test_b", false),
            ("test_a.py", "def test_b(self):\n    pass\n", "", "test_b (test_a.C.test_b)", true),
            ("test_a.py", "def test_b(self):\n    pass\n", "", "test_b (test_c.C.test_b)", false),
        ] {
            let tests = FileTests::new(path.into(), [text.as_bytes()], &tree, Path::new(cwd));
            assert_eq!(tests.has(id), expected, "{path} {id}");
        }
    }
}
