//! The packages that `cargo test` tests, and the sources that it builds with their tests.

use std::path::{Path, PathBuf};

use super::rust_source::modules;
use super::test_tree::{TestTree, file_name, read_text};
use crate::worktree::Globs;

/// A package, and what its manifest says of tests.
pub(super) struct Package {
    pub(super) folder: PathBuf,
    name: String,
    /// cargo finds the files in `tests/` by itself.
    pub(super) finds_tests: bool,
    /// The library's file, which need not be there.
    library: String,
    /// The library's own tests are run.
    tests_library: bool,
    /// The program's own tests are run, and it is where it usually is.
    tests_program: bool,
    /// The names of the tests that the manifest has settings for.
    configured_tests: Vec<String>,
}

/// The most sources of one package that are looked at.
const MAX_SOURCES: usize = 500;

impl Package {
    /// The package that is tested: the one that the command names, else that of
    /// the nearest manifest, else the first member of its workspace.
    pub(super) fn tested(tree: &TestTree<'_>) -> Option<Self> {
        let base = base_folder(tree)?;
        let named_package = tree.option_value(&["-p", "--package"]);
        if let Some(package) = Self::read(&base)
            && named_package.is_none_or(|name| package.name == name)
        {
            return Some(package);
        }
        let mut candidates = packages_below(tree, &base)?;
        match named_package {
            Some(name) => candidates.find(|candidate| candidate.package.name == name),
            None => candidates.find(|candidate| candidate.is_tested),
        }
        .map(|candidate| candidate.package)
    }

    /// The other tested packages in which files changed since the baseline.
    pub(super) fn changed_siblings(&self, tree: &TestTree<'_>) -> Vec<Self> {
        let Some(base) = base_folder(tree) else { return Vec::new() };
        let tests_workspace =
            tree.has_option(&["--workspace", "--all"]) || Self::read(&base).is_none();
        if !tests_workspace || tree.option_value(&["-p", "--package"]).is_some() {
            return Vec::new();
        }
        let candidates = packages_below(tree, &base).into_iter().flatten();
        let tested = candidates.filter(|candidate| candidate.is_tested);
        tested
            .map(|candidate| candidate.package)
            .filter(|package| package.folder != self.folder && package.has_changes(tree))
            .collect()
    }

    fn has_changes(&self, tree: &TestTree<'_>) -> bool {
        let mut changed_files = tree.changed.edited.iter().chain(tree.changed.added);
        changed_files.any(|file| {
            file_name(file).ends_with(".rs") && tree.root.join(file).starts_with(&self.folder)
        })
    }

    /// The library's own file.
    pub(super) fn library(&self) -> PathBuf {
        self.folder.join(&self.library)
    }

    /// The sources that are built with their own tests, as far as that is certain.
    pub(super) fn sources(&self, tree: &TestTree<'_>) -> Vec<PathBuf> {
        let options = ["--lib", "--bins", "--bin", "--test", "--doc", "--examples", "--benches"];
        let selects_targets = options.iter().any(|option| has_option(tree, option));
        let mut sources = Vec::new();
        if self.tests_library && (!selects_targets || has_option(tree, "--lib")) {
            sources.push(self.library());
        }
        if self.tests_program && (!selects_targets || has_option(tree, "--bins")) {
            sources.push(self.folder.join("src/main.rs"));
        }
        sources.retain(|file| file.is_file());
        let root_count = sources.len();
        let mut index = 0;
        while index < sources.len() && sources.len() < MAX_SOURCES {
            let modules = modules(&sources[index], index < root_count).into_iter();
            let unknown: Vec<_> = modules.filter(|file| !sources.contains(file)).collect();
            sources.extend(unknown);
            index += 1;
        }
        sources
    }

    /// The file holds tests, stands beside the sources, and is run as cargo runs it by itself.
    pub(super) fn has_test(&self, tree: &TestTree<'_>, file: &Path) -> bool {
        let options = ["--lib", "--bins", "--bin", "--doc", "--examples", "--benches"];
        let named_test = tree.option_value(&["--test"]);
        let stem = file_name(file).strip_suffix(".rs").unwrap_or_default();
        self.finds_tests
            && file.parent() == Some(&self.folder.join("tests"))
            && !self.configured_tests.iter().any(|test| test == stem)
            && !stem.is_empty()
            && named_test.is_none_or(|name| name == stem)
            && !options.iter().any(|option| has_option(tree, option))
    }

    /// The package of a folder's manifest; `None` if it is a workspace alone.
    fn read(folder: &Path) -> Option<Self> {
        let manifest = read_manifest(folder)?;
        let package = manifest.get("package")?;
        let library = manifest.get("lib");
        let tests =
            manifest.get("test").and_then(toml::Value::as_array).map_or(&[][..], Vec::as_slice);
        Some(Self {
            folder: folder.to_owned(),
            name: string(package, "name").unwrap_or_default(),
            finds_tests: is_on(Some(package), "autotests"),
            library: library
                .and_then(|library| string(library, "path"))
                .unwrap_or_else(|| "src/lib.rs".to_owned()),
            tests_library: is_on(library, "test") && is_on(library, "harness"),
            tests_program: manifest.get("bin").is_none() && is_on(Some(package), "autobins"),
            configured_tests: tests.iter().filter_map(|test| string(test, "name")).collect(),
        })
    }
}

fn string(table: &toml::Value, key: &str) -> Option<String> {
    Some(table.get(key)?.as_str()?.to_owned())
}

/// A setting that is on unless the table turns it off.
fn is_on(table: Option<&toml::Value>, key: &str) -> bool {
    table.and_then(|table| table.get(key)).and_then(toml::Value::as_bool).unwrap_or(true)
}

/// The command has an option, with a value or without one.
fn has_option(tree: &TestTree<'_>, option: &str) -> bool {
    tree.has_option(&[option]) || tree.option_value(&[option]).is_some()
}

/// The folder of the manifest that cargo starts from.
fn base_folder(tree: &TestTree<'_>) -> Option<PathBuf> {
    if let Some(path) = tree.option_value(&["--manifest-path"]) {
        return Some(tree.cwd.join(path).parent()?.to_owned());
    }
    let mut ancestors = tree.cwd.ancestors().take_while(|folder| folder.starts_with(tree.root));
    Some(ancestors.find(|folder| folder.join("Cargo.toml").is_file())?.to_owned())
}

/// A package that may belong to a workspace.
struct Candidate {
    package: Package,
    /// The workspace tests it if the command names no package.
    is_tested: bool,
}

/// The packages in and below the folder of a workspace.
fn packages_below(tree: &TestTree<'_>, base: &Path) -> Option<impl Iterator<Item = Candidate>> {
    let manifest = read_manifest(base).unwrap_or_default();
    let workspace = manifest.get("workspace");
    let members = ["default-members", "members"]
        .into_iter()
        .find_map(|key| workspace?.get(key)?.as_array())
        .map_or(&[][..], Vec::as_slice);
    let patterns: Vec<_> =
        members.iter().filter_map(toml::Value::as_str).map(str::to_owned).collect();
    let globs = Globs::new(&patterns).ok()?;
    let manifests =
        tree.files_below(base).into_iter().filter(|file| file_name(file) == "Cargo.toml");
    let base = base.to_owned();
    Some(manifests.filter_map(move |manifest| {
        let package = Package::read(manifest.parent()?)?;
        let relative = package.folder.strip_prefix(&base).unwrap_or(&package.folder);
        let is_tested = globs.matches(relative.as_os_str().as_encoded_bytes());
        Some(Candidate { package, is_tested })
    }))
}

fn read_manifest(folder: &Path) -> Option<toml::Table> {
    read_text(&folder.join("Cargo.toml")).parse().ok()
}
