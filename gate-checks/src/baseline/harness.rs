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
use crate::worktree::{Snapshot, WorkTree};

/// Packages of Python that run tests, with the project that installs each.
const PYTHON: [(&str, &str); 4] =
    [("_pytest", "pytest"), ("coverage", "coverage"), ("pluggy", "pluggy"), ("pytest", "pytest")];

/// Modules that Python loads at every start.
const ALWAYS_LOADED: [&str; 2] = ["sitecustomize.py", "usercustomize.py"];

/// Packages of node that run tests or compile them, and what the names of others begin with.
const NODE: [&str; 7] = ["chai", "expect", "mocha", "ts-node", "tsx", "vite-node", "vitest"];
const NODE_FAMILIES: [&str; 3] = ["jest", "@jest/", "@vitest/"];

/// Ends of files that a runner executes.
const CODE: [&str; 7] = [".py", ".so", ".js", ".cjs", ".mjs", ".node", ".json"];

/// Files that say which versions are installed.
const DECLARING: [&str; 17] = [
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

/// The most files of a package, and the deepest folder, that are looked at.
const MAX_FILES: usize = 4000;
const MAX_DEPTH: usize = 12;

/// In a lock file the version stands so many characters after the package's name, at most.
const LOCK_ENTRY_CHARACTERS: usize = 200;

/// The section of an entry point with which a package makes pytest load it.
const PLUGINS: &str = "[pytest11]";

/// By package or file: its version, a space, and a hash.
pub(super) fn harness(tree: &WorkTree, now: &Snapshot) -> BTreeMap<String, String> {
    let files: BTreeSet<&Path> = now.files().map(crate::worktree::File::path).collect();
    let has_file =
        |folder: &Path| files.range(folder..).next().is_some_and(|file| file.starts_with(folder));
    let mut found = Found { root: tree.root(), known: BTreeMap::new() };
    for folder in copy::installed(tree.root(), files.iter().copied(), &has_file) {
        if !has_file(&folder) {
            found.node(&folder);
            found.python(&folder);
        }
    }
    found.known
}

struct Found<'a> {
    root: &'a Path,
    known: BTreeMap<String, String>,
}

impl Found<'_> {
    fn node(&mut self, inside: &Path) {
        for name in names(&self.root.join(inside)) {
            match name.as_str() {
                ".pnpm" => {
                    // Each folder holds one package, beside links to what it needs.
                    for version in names(&self.root.join(inside).join(&name)) {
                        self.node(&inside.join(&name).join(version).join("node_modules"));
                    }
                }
                _ if name.starts_with('@') => {
                    for own in names(&self.root.join(inside).join(&name)) {
                        self.node_package(inside, &format!("{name}/{own}"));
                    }
                }
                _ => self.node_package(inside, &name),
            }
        }
    }

    fn node_package(&mut self, inside: &Path, name: &str) {
        let is_runner =
            NODE.contains(&name) || NODE_FAMILIES.iter().any(|family| name.starts_with(family));
        let folder = self.root.join(inside).join(name);
        if !is_runner || !folder.symlink_metadata().is_ok_and(|about| about.is_dir()) {
            return;
        }
        let manifest = fs::read(folder.join("package.json")).unwrap_or_default();
        let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap_or_default();
        let version = manifest["version"].as_str().unwrap_or("?").to_owned();
        self.insert(&inside.join(name), &version, hash(&folder));
    }

    fn python(&mut self, inside: &Path) {
        let lib = inside.join("lib");
        for version in names(&self.root.join(&lib)) {
            self.packages(&lib.join(version).join("site-packages"));
        }
    }

    fn packages(&mut self, inside: &Path) {
        let names = names(&self.root.join(inside));
        for name in &names {
            let path = inside.join(name);
            let at = self.root.join(&path);
            if let Some((_, project)) = PYTHON.iter().find(|(package, _)| package == name) {
                self.insert(&path, version_of(project, &names), hash(&at));
            } else if ALWAYS_LOADED.contains(&name.as_str()) || name.ends_with(".pth") {
                let text = fs::read_to_string(&at).unwrap_or_default();
                // A place alone hides nothing that is installed.
                if !name.ends_with(".pth") || text.lines().any(|line| line.starts_with("import")) {
                    self.insert(&path, "-", blake3::hash(text.as_bytes()));
                }
            } else if name.ends_with(".dist-info") {
                let text = fs::read_to_string(at.join("entry_points.txt")).unwrap_or_default();
                if let Some((_, section)) = text.split_once(PLUGINS) {
                    let section = section.split("\n[").next().unwrap_or_default().trim();
                    let (project, version) = project_and_version(name);
                    let path = inside.join(format!("{project} {PLUGINS}"));
                    self.insert(&path, version, blake3::hash(section.as_bytes()));
                }
            }
        }
    }

    fn insert(&mut self, path: &Path, version: &str, hash: blake3::Hash) {
        self.known.insert(path.display().to_string(), format!("{version} {}", hash.to_hex()));
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
    let records = names.iter().filter(|name| name.ends_with(".dist-info"));
    let mut versions = records.map(|name| project_and_version(name));
    versions.find(|(name, _)| *name == project).map_or("?", |(_, version)| version)
}

/// The hash of the names and bytes of a package's code.
fn hash(folder: &Path) -> blake3::Hash {
    let mut files = Vec::new();
    list(folder, MAX_DEPTH, &mut files);
    files.sort();
    let mut hasher = blake3::Hasher::new();
    for file in files {
        let name = file.strip_prefix(folder).unwrap_or(&file);
        hasher.update(name.as_os_str().as_encoded_bytes());
        hasher.update(&copy::hash(&file).unwrap_or_default());
    }
    hasher.finalize()
}

fn list(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_other = name == "__pycache__" || name == "node_modules";
        if kind.is_dir() && depth > 0 && !is_other {
            list(&entry.path(), depth - 1, files);
        } else if !kind.is_dir()
            && files.len() < MAX_FILES
            && CODE.iter().any(|end| name.ends_with(end))
        {
            files.push(entry.path());
        }
    }
}

impl Baseline {
    /// The files of test runners that changed. A baseline from history knows none.
    pub(crate) fn harness(
        &self,
        tree: &WorkTree,
        now: &Snapshot,
        changes: &[Change],
    ) -> Vec<Finding> {
        if self.is_from_history() || self.body.harness.is_empty() {
            return Vec::new();
        }
        let (was, is) = (&self.body.harness, harness(tree, now));
        let is_edited = changes.iter().any(|change| declares(&change.path));
        let changed = is.iter().filter(|(name, known)| was.get(*name) != Some(known));
        let findings = changed.filter_map(|(name, known)| {
            let before = was.get(name).map(String::as_str);
            let is_declared = is_edited || is_locked(tree, now, name, known);
            let is_explained = || self.declares(tree, now, name);
            let effect = effect(tree, name, (before, known), was, is_declared, &is_explained)?;
            let how = if before.is_some() { "was changed" } else { "is new" };
            let finding = HARNESS.finding(name);
            let message = format!("{}: it {how}", finding.message);
            Some(Finding { message, severity: effect, ..finding })
        });
        findings.collect()
    }

    /// True if a manifest of the baseline names the project that a plug-in belongs to.
    fn declares(&self, tree: &WorkTree, now: &Snapshot, name: &str) -> bool {
        let last = name.rsplit('/').next().unwrap_or(name);
        let project = last.split(' ').next().unwrap_or(last).to_ascii_lowercase().replace('-', "_");
        let paths = now.files().map(crate::worktree::File::path);
        let manifests = paths.filter(|path| {
            path.file_name().is_some_and(|name| {
                let name = name.to_string_lossy();
                name == "pyproject.toml" || name.starts_with("requirements")
            })
        });
        let texts = manifests.filter_map(|path| Some((path, self.content(tree, path).ok()??)));
        let mut names = texts.flat_map(|(path, stored)| {
            let text = String::from_utf8_lossy(&stored.bytes).into_owned();
            python_dependencies(&path.to_string_lossy(), &text)
        });
        names.any(|name| name == project)
    }
}

/// The effect of a package or a file that is another one, or new.
fn effect(
    tree: &WorkTree,
    name: &str,
    (before, now): (Option<&str>, &str),
    was: &BTreeMap<String, String>,
    is_declared: bool,
    is_explained: &dyn Fn() -> bool,
) -> Option<Severity> {
    let path = Path::new(name);
    let is_alone = path.file_name().is_some_and(|name| {
        let name = name.to_string_lossy();
        name.ends_with(".py") || name.ends_with(".pth") || name.ends_with(PLUGINS)
    });
    match before {
        // No version has other bytes at another time.
        Some(before) if !is_alone && version(before) == version(now) => Some(Severity::Tamper),
        Some(_) if is_declared => Some(Severity::Warn),
        Some(_) => Some(Severity::Tamper),
        None if !is_alone => None,
        // Who had no environment before has installed all of it.
        None if !was.keys().any(|known| Path::new(known).parent() == path.parent()) => None,
        None if is_recorded(&tree.root().join(path)) || is_explained() => Some(Severity::Warn),
        // Its manifest is the agent's own: a person has to say if the plug-in is meant.
        None if is_declared => Some(Severity::Block),
        None => Some(Severity::Tamper),
    }
}

/// The version in what is known of a package.
fn version(known: &str) -> &str {
    known.split(' ').next().unwrap_or_default()
}

/// True if a lock file of the tree names a package with the version that is installed now. The
/// earlier one was only out of date.
fn is_locked(tree: &WorkTree, now: &Snapshot, name: &str, known: &str) -> bool {
    let Some((_, package)) = name.rsplit_once("node_modules/").or(name.rsplit_once('/')) else {
        return false;
    };
    let project = PYTHON.iter().find(|(own, _)| *own == package).map_or(package, |(_, of)| *of);
    let version = version(known);
    let paths = now.files().map(crate::worktree::File::path);
    let locks = paths.filter(|path| declares(path) && path.to_string_lossy().contains("lock"));
    let mut texts = locks.filter_map(|path| fs::read_to_string(tree.root().join(path)).ok());
    texts.any(|text| {
        text.match_indices(project).any(|(at, _)| {
            let rest: String = text[at..].chars().take(LOCK_ENTRY_CHARACTERS).collect();
            rest.contains(version)
        })
    })
}

/// True if an installer has recorded a file as part of a project that is installed to be edited,
/// or if it is the entry point of one.
fn is_recorded(path: &Path) -> bool {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return false };
    let name = name.to_string_lossy();
    let records = names(folder).into_iter().filter(|record| record.ends_with(".dist-info"));
    records.into_iter().any(|record| {
        let is_entry_point = name.ends_with(PLUGINS)
            && name.starts_with(&format!("{} ", project_and_version(&record).0));
        let record = folder.join(record);
        let is_part = is_entry_point
            || text(&record.join("RECORD"))
                .lines()
                .any(|line| line.split(',').next() == Some(&*name));
        is_part && text(&record.join("direct_url.json")).contains("\"editable\": true")
    })
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// True if a file says which versions are installed.
fn declares(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    DECLARING.contains(&&*name) || name.starts_with("requirements") && name.ends_with(".txt")
}
