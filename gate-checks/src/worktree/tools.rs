//! Folders that tools fill: virtual environments, installed packages, builds.
//!
//! Their files are no work, and there are thousands of them, so they are not
//! walked. A name or a marker alone is not enough: whoever works in the tree
//! could put either into a folder of code. A folder has to have the whole form
//! that its tool gives it. The caller sees to it that git tracks nothing in it.
//!
//! A program can load files from such a folder, as it can if a `.gitignore` names
//! the folder. So only the files that the tool writes are left out: other files in
//! a virtual environment belong to the tree.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The largest part of a marker that is read, in bytes.
const MAX_MARKER_BYTES: u64 = 64 << 10;

/// The first line of a `CACHEDIR.TAG`, by the Cache Directory Tagging Specification.
const CACHE_SIGNATURE: &str = "Signature: 8a477f597d28d172789f06886806bc55";

/// Entries at the top of an environment of venv, virtualenv, uv, Poetry, tox or pip.
pub(crate) const ENVIRONMENT_NAMES: [&str; 17] = [
    ".gitignore",
    ".lock",
    ".tox-info.json",
    "CACHEDIR.TAG",
    "Include",
    "Lib",
    "Scripts",
    "bin",
    "etc",
    "include",
    "lib",
    "lib64",
    "man",
    "pip-selfcheck.json",
    "pyvenv.cfg",
    "share",
    "src",
];

/// The places of the Python of an environment.
const PYTHONS: [&str; 3] = ["bin/python", "bin/python3", "Scripts/python.exe"];

/// Files that package managers leave in the topmost `node_modules`: npm, pnpm, Yarn 1, Yarn 2
/// and later.
const INSTALLED: [&str; 4] =
    [".package-lock.json", ".modules.yaml", ".yarn-integrity", ".yarn-state.yml"];

/// Lock files of Bun, which leaves no mark in `node_modules`.
const BUN_LOCKS: [&str; 2] = ["bun.lock", "bun.lockb"];

/// Folders of environments and reports that are their tool's as a whole, if they say that they
/// are a cache.
const CACHES: [&str; 4] = [".tox", ".nox", ".pixi", "htmlcov"];

/// The settings of a virtual environment. Its folder has no fixed name.
pub(crate) const ENVIRONMENT_MARKER: &str = "pyvenv.cfg";

/// The file by which a folder says that it is a cache.
const CACHE_MARKER: &str = "CACHEDIR.TAG";

/// A folder that belongs to a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ToolFolder {
    /// A virtual environment of Python.
    Environment,
    /// Everything in it is the tool's.
    Whole,
}

impl ToolFolder {
    /// The folder's name asks for a closer look.
    pub(super) fn has_tool_name(folder: &str) -> bool {
        folder == "node_modules" || CACHES.contains(&folder)
    }

    /// This file in a folder asks for a closer look at the folder.
    pub(super) fn is_marker(file: &[u8]) -> bool {
        [ENVIRONMENT_MARKER, CACHE_MARKER].iter().any(|marker| file.ends_with(marker.as_bytes()))
    }

    /// The tool's folder that this one is. Its name is relative to the root, without a slash at
    /// the end.
    pub(super) fn find(root: &Path, folder: &Path) -> Option<Self> {
        let (path, name) = (root.join(folder), folder.file_name()?.to_str()?);
        if is_environment(&path) {
            return Some(Self::Environment);
        }
        let is_whole = match name {
            "node_modules" => has_installed_packages(root, folder),
            _ if CACHES.contains(&name) => is_tagged(&path) || ignores_itself(&path),
            _ => is_cargo_target(&path, name),
        };
        is_whole.then_some(Self::Whole)
    }

    /// The tool writes an entry of this name at the top of the folder.
    pub(super) fn writes(self, name: &str) -> bool {
        self == Self::Whole || ENVIRONMENT_NAMES.contains(&name)
    }
}

/// An environment has settings that name its Python, the Python, and a folder of packages.
fn is_environment(folder: &Path) -> bool {
    environment_home(folder).is_some()
        && PYTHONS.iter().any(|name| folder.join(name).symlink_metadata().is_ok())
        && has_site_packages(folder)
}

/// The folder of the program that an environment was made with, by the environment's settings.
pub(crate) fn environment_home(folder: &Path) -> Option<PathBuf> {
    let text = read_marker(&folder.join(ENVIRONMENT_MARKER))?;
    let mut settings = text.lines().filter_map(|line| line.split_once('='));
    let (_, home) = settings.find(|(key, home)| key.trim() == "home" && !home.trim().is_empty())?;
    Some(PathBuf::from(home.trim()))
}

fn has_site_packages(folder: &Path) -> bool {
    let entries = fs::read_dir(folder.join("lib")).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .chain([folder.join("Lib")])
        .any(|lib| is_folder(&lib.join("site-packages")))
}

fn is_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir())
}

fn is_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_file())
}

/// Packages stand beside a `package.json`. The mark stands in the same folder, or in that of the
/// workspace above.
fn has_installed_packages(root: &Path, folder: &Path) -> bool {
    let Some(package) = folder.parent() else { return false };
    is_file(&root.join(package).join("package.json"))
        && package.ancestors().map(|ancestor| root.join(ancestor)).any(|workspace| {
            let modules = workspace.join("node_modules");
            INSTALLED.iter().any(|name| is_file(&modules.join(name)))
                || BUN_LOCKS.iter().any(|name| is_file(&workspace.join(name)))
        })
}

/// Cargo's builds.
fn is_cargo_target(folder: &Path, name: &str) -> bool {
    name == "target"
        && (is_file(&folder.join(".rustc_info.json"))
            || is_file(&folder.with_file_name("Cargo.toml")))
        && is_tagged(folder)
}

fn is_tagged(folder: &Path) -> bool {
    read_marker(&folder.join(CACHE_MARKER)).is_some_and(|text| text.starts_with(CACHE_SIGNATURE))
}

/// The folder's own `.gitignore` says `*` and nothing else.
fn ignores_itself(folder: &Path) -> bool {
    read_marker(&folder.join(".gitignore")).is_some_and(|text| {
        let mut patterns = text.lines().map(str::trim).filter(|line| !is_comment(line));
        patterns.next() == Some("*") && patterns.next().is_none()
    })
}

fn is_comment(line: &str) -> bool {
    line.is_empty() || line.starts_with('#')
}

/// The text of a plain file; `None` if it is a link.
fn read_marker(path: &Path) -> Option<String> {
    if !is_file(path) {
        return None;
    }
    let mut text = String::new();
    File::open(path).ok()?.take(MAX_MARKER_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}
