//! The files of test runners, among the dependencies that are installed in the tree.
//!
//! They are no part of the tree, and they decide what a test means. Of each package a hash of its
//! files is kept, so that installing the same version again changes nothing. The rest of the
//! dependencies is not looked at.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use gate_core::integrity::{Finding, HARNESS, Severity, python_dependencies};

use super::{Baseline, Change};
use crate::copy;
use crate::worktree::{File, Snapshot, WorkTree};

/// Packages of Python that run tests, with the project that installs each.
const PYTHON: [(&str, &str); 4] =
    [("_pytest", "pytest"), ("coverage", "coverage"), ("pluggy", "pluggy"), ("pytest", "pytest")];

/// Modules that Python loads at every start.
const ALWAYS_LOADED: [&str; 2] = ["sitecustomize.py", "usercustomize.py"];

/// Packages of node that run tests or compile them.
const NODE: [&str; 9] =
    ["c8", "chai", "expect", "mocha", "nyc", "ts-node", "tsx", "vite-node", "vitest"];

/// Beginnings of the names of further such packages.
const NODE_FAMILIES: [&str; 3] = ["jest", "@jest/", "@vitest/"];

/// Ends of files that a runner executes.
const CODE: [&str; 7] = [".py", ".so", ".js", ".cjs", ".mjs", ".node", ".json"];

/// Files that say which versions are installed.
const VERSION_FILES: [&str; 17] = [
    "Pipfile",
    "Pipfile.lock",
    "bun.lock",
    "bun.lockb",
    "environment.yml",
    "npm-shrinkwrap.json",
    "package-lock.json",
    "package.json",
    "pdm.lock",
    "pnpm-lock.yaml",
    "poetry.lock",
    "pylock.toml",
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
    "uv.lock",
    "yarn.lock",
];

/// The most files of a package that are read.
const MAX_FILES: usize = 4000;

/// The deepest folder of a package that is read.
const MAX_DEPTH: usize = 12;

/// In a lock file the version stands so many characters after the package's name, at most.
const LOCK_ENTRY_CHARACTERS: usize = 200;

/// The section of an entry point with which a package makes pytest load it.
const PLUGINS: &str = "[pytest11]";

/// The packages and files of test runners, by their paths in the tree: each with its version, a
/// space, and a hash.
type Packages = BTreeMap<String, String>;

/// The packages of test runners that are installed in the tree.
pub(super) fn installed_runners(tree: &WorkTree, snapshot: &Snapshot) -> Packages {
    let files: BTreeSet<&Path> = snapshot.files().map(File::path).collect();
    let has_file =
        |folder: &Path| files.range(folder..).next().is_some_and(|file| file.starts_with(folder));
    let mut listing = Listing { root: tree.root(), packages: Packages::new() };
    for folder in copy::installed(tree.root(), files.iter().copied(), &has_file) {
        // Dependencies that are part of the tree are compared as its other files.
        if !has_file(&folder) {
            listing.add_node_modules(&folder);
            listing.add_python_environment(&folder);
        }
    }
    listing.packages
}

/// Lists the packages below the root. Folders are relative to it.
struct Listing<'a> {
    root: &'a Path,
    packages: Packages,
}

impl Listing<'_> {
    fn add_node_modules(&mut self, folder: &Path) {
        for name in names(&self.root.join(folder)) {
            let path = folder.join(&name);
            match name.as_str() {
                ".pnpm" => {
                    // Each folder holds one package, beside links to what it needs.
                    for version in names(&self.root.join(&path)) {
                        self.add_node_modules(&path.join(version).join("node_modules"));
                    }
                }
                scope if scope.starts_with('@') => {
                    for package in names(&self.root.join(&path)) {
                        self.add_node_package(folder, &format!("{scope}/{package}"));
                    }
                }
                package => self.add_node_package(folder, package),
            }
        }
    }

    fn add_node_package(&mut self, modules: &Path, package: &str) {
        let is_runner = NODE.contains(&package)
            || NODE_FAMILIES.iter().any(|family| package.starts_with(family));
        let folder = self.root.join(modules).join(package);
        if !is_runner || !folder.symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
            return;
        }
        let text = fs::read(folder.join("package.json")).unwrap_or_default();
        let manifest: serde_json::Value = serde_json::from_slice(&text).unwrap_or_default();
        let version = manifest["version"].as_str().unwrap_or("?").to_owned();
        self.insert(&modules.join(package), &version, hash(&folder));
    }

    fn add_python_environment(&mut self, environment: &Path) {
        let lib = environment.join("lib");
        for version in names(&self.root.join(&lib)) {
            self.add_site_packages(&lib.join(version).join("site-packages"));
        }
    }

    fn add_site_packages(&mut self, folder: &Path) {
        let names = names(&self.root.join(folder));
        for name in &names {
            let path = folder.join(name);
            let absolute_path = self.root.join(&path);
            if let Some((_, project)) = PYTHON.iter().find(|(package, _)| package == name) {
                self.insert(&path, version_of(project, &names), hash(&absolute_path));
            } else if ALWAYS_LOADED.contains(&name.as_str()) || name.ends_with(".pth") {
                let text = text(&absolute_path);
                // A file that only adds folders to the search path hides nothing that is installed.
                if !name.ends_with(".pth") || text.lines().any(|line| line.starts_with("import")) {
                    self.insert(&path, "-", blake3::hash(text.as_bytes()));
                }
            } else if name.ends_with(".dist-info") {
                let entry_points = text(&absolute_path.join("entry_points.txt"));
                if let Some((_, plugins)) = entry_points.split_once(PLUGINS) {
                    let section = plugins.split("\n[").next().unwrap_or_default().trim();
                    let (project, version) = project_and_version(name);
                    let path = folder.join(format!("{project} {PLUGINS}"));
                    self.insert(&path, version, blake3::hash(section.as_bytes()));
                }
            }
        }
    }

    fn insert(&mut self, path: &Path, version: &str, hash: blake3::Hash) {
        self.packages.insert(path.display().to_string(), format!("{version} {}", hash.to_hex()));
    }
}

/// The names in a folder that are text, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<_> =
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

/// A project and its version, by the name of its record: `pytest-9.2.0.dist-info`.
fn project_and_version(record: &str) -> (&str, &str) {
    record.trim_end_matches(".dist-info").split_once('-').unwrap_or((record, "?"))
}

fn version_of<'a>(project: &str, names: &'a [String]) -> &'a str {
    names
        .iter()
        .filter(|name| name.ends_with(".dist-info"))
        .map(|record| project_and_version(record))
        .find(|(name, _)| *name == project)
        .map_or("?", |(_, version)| version)
}

/// The hash of the names and bytes of a package's code.
fn hash(folder: &Path) -> blake3::Hash {
    let mut files = Vec::new();
    list_code(folder, MAX_DEPTH, &mut files);
    files.sort();
    let mut hasher = blake3::Hasher::new();
    for file in files {
        let name = file.strip_prefix(folder).unwrap_or(&file);
        hasher.update(name.as_os_str().as_encoded_bytes());
        hasher.update(&copy::hash(&file).unwrap_or_default());
    }
    hasher.finalize()
}

fn list_code(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(file_type) = entry.file_type() else { continue };
        let file_name = entry.file_name();
        let name = file_name.to_string_lossy();
        // Bytecode is written by each run, and the modules inside are packages of their own.
        let is_passed_over = name == "__pycache__" || name == "node_modules";
        if file_type.is_dir() && depth > 0 && !is_passed_over {
            list_code(&entry.path(), depth - 1, files);
        } else if !file_type.is_dir()
            && files.len() < MAX_FILES
            && CODE.iter().any(|ending| name.ends_with(ending))
        {
            files.push(entry.path());
        }
    }
}

impl Baseline {
    /// The files of test runners that changed. A baseline from history knows none.
    pub(crate) fn changed_runners(
        &self,
        tree: &WorkTree,
        snapshot: &Snapshot,
        changes: &[Change],
    ) -> Vec<Finding> {
        if self.is_from_history() || self.body.harness.is_empty() {
            return Vec::new();
        }
        let old_packages = &self.body.harness;
        let has_changed_versions = changes.iter().any(|change| is_version_file(&change.path));
        let mut findings = Vec::new();
        for (path, package) in &installed_runners(tree, snapshot) {
            let old_package = old_packages.get(path);
            if old_package == Some(package) {
                continue;
            }
            let is_declared = has_changed_versions || is_locked(tree, snapshot, path, package);
            let severity = match old_package {
                Some(old_package) => {
                    Some(severity_of_change(path, old_package, package, is_declared))
                }
                None => self.severity_of_new(tree, snapshot, path, is_declared),
            };
            if let Some(severity) = severity {
                let change = if old_package.is_some() { "was changed" } else { "is new" };
                let finding = HARNESS.finding(path);
                let message = format!("{}: it {change}", finding.message);
                findings.push(Finding { message, severity, ..finding });
            }
        }
        findings
    }

    /// The severity of a new file that pytest or Python loads by itself. A new package has replaced
    /// no runner: `None`.
    fn severity_of_new(
        &self,
        tree: &WorkTree,
        snapshot: &Snapshot,
        name: &str,
        is_declared: bool,
    ) -> Option<Severity> {
        let path = Path::new(name);
        let mut old_paths = self.body.harness.keys().map(Path::new);
        if !is_single_file(path) {
            None
        } else if !old_paths.any(|old_path| old_path.parent() == path.parent()) {
            // Who had no environment before has installed all of it.
            None
        } else if is_recorded(&tree.root().join(path)) || self.declares(tree, snapshot, name) {
            Some(Severity::Warn)
        } else if is_declared {
            // Its manifest is the agent's own: a person has to say if the plug-in is meant.
            Some(Severity::Block)
        } else {
            Some(Severity::Tamper)
        }
    }

    /// A manifest of the baseline names the project that a plug-in belongs to.
    fn declares(&self, tree: &WorkTree, snapshot: &Snapshot, name: &str) -> bool {
        let file_name = name.rsplit('/').next().unwrap_or(name);
        let project = file_name.split(' ').next().unwrap_or(file_name);
        let project = project.to_ascii_lowercase().replace('-', "_");
        let is_manifest = |path: &Path| {
            path.file_name().is_some_and(|name| {
                let name = name.to_string_lossy();
                name == "pyproject.toml" || name.starts_with("requirements")
            })
        };
        snapshot.files().map(File::path).filter(|path| is_manifest(path)).any(|path| {
            let Ok(Some(manifest)) = self.content(tree, path) else { return false };
            let text = String::from_utf8_lossy(&manifest.bytes);
            python_dependencies(&path.to_string_lossy(), &text).contains(&project)
        })
    }
}

/// The severity of a package or a file that is another one than in the baseline.
fn severity_of_change(name: &str, old: &str, new: &str, is_declared: bool) -> Severity {
    // No version has other bytes at another time.
    let is_same_version = !is_single_file(Path::new(name)) && version(old) == version(new);
    if is_declared && !is_same_version { Severity::Warn } else { Severity::Tamper }
}

/// A file or an entry point that is loaded by itself, and has no version.
fn is_single_file(path: &Path) -> bool {
    path.file_name().is_some_and(|name| {
        let name = name.to_string_lossy();
        name.ends_with(".py") || name.ends_with(".pth") || name.ends_with(PLUGINS)
    })
}

/// The version in the entry of a package.
fn version(package: &str) -> &str {
    package.split(' ').next().unwrap_or_default()
}

/// A lock file of the tree names a package with the version that is installed now: the earlier one
/// was only out of date.
fn is_locked(tree: &WorkTree, snapshot: &Snapshot, path: &str, package: &str) -> bool {
    let Some((_, name)) = path.rsplit_once("node_modules/").or(path.rsplit_once('/')) else {
        return false;
    };
    let project =
        PYTHON.iter().find(|(package, _)| *package == name).map_or(name, |(_, project)| *project);
    let version = version(package);
    snapshot
        .files()
        .map(File::path)
        .filter(|path| is_version_file(path) && path.to_string_lossy().contains("lock"))
        .any(|lock_file| {
            let text = text(&tree.root().join(lock_file));
            text.match_indices(project).any(|(offset, _)| {
                let entry: String = text[offset..].chars().take(LOCK_ENTRY_CHARACTERS).collect();
                entry.contains(version)
            })
        })
}

/// An installer has recorded the file as part of a project that is installed to be edited, or it is
/// the entry point of one.
fn is_recorded(path: &Path) -> bool {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return false };
    let name = name.to_string_lossy();
    names(folder).into_iter().filter(|record| record.ends_with(".dist-info")).any(|record| {
        let (project, _) = project_and_version(&record);
        let record_folder = folder.join(&record);
        let is_entry_point = name.ends_with(PLUGINS) && name.starts_with(&format!("{project} "));
        let is_part = is_entry_point
            || text(&record_folder.join("RECORD"))
                .lines()
                .any(|line| line.split(',').next() == Some(&*name));
        is_part && text(&record_folder.join("direct_url.json")).contains("\"editable\": true")
    })
}

/// The text of a file; empty if it cannot be read.
fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// A file that says which versions are installed.
fn is_version_file(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    VERSION_FILES.contains(&&*name) || name.starts_with("requirements") && name.ends_with(".txt")
}
