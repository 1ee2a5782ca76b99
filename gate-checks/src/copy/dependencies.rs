//! Folders of a project's dependencies. They are large and no part of the tree, so a copy has links to
//! them.
//!
//! Some installed packages lead back into the tree: those of a workspace, and Python projects that were
//! installed to be edited. A link to the whole folder would have the copy test the tree. So the copy
//! gets a folder of links in its place, in which those packages lead into the copy.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use gate_platform::RealPath;

use super::mapping::Mapping;
use super::{environment, modules};
use crate::worktree::{ENVIRONMENT_MARKER, ENVIRONMENT_NAMES};

/// Folders of dependencies.
const NAMES: [&str; 4] = ["node_modules", ".venv", "venv", "vendor"];

/// Virtual environments of any other name are looked for beside these files, and at the top.
const PYTHON_PROJECTS: [&str; 3] = ["pyproject.toml", "setup.py", "requirements.txt"];

/// The dependencies of a copy.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Dependencies {
    /// The places of the copy that stand for them, by name.
    pub(crate) stand_ins: Vec<StandIn>,
    /// Files and folders of the tree, relative to its root, to which an installed package leads.
    pub(crate) targets_in_tree: BTreeSet<PathBuf>,
}

/// A place of a copy that stands for something installed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct StandIn {
    /// Relative to the copy's root.
    pub(crate) path: PathBuf,
    pub(crate) content: StandInContent,
}

/// The content of a stand-in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum StandInContent {
    Link(PathBuf),
    Text(Vec<u8>),
    Executable(Vec<u8>),
}

/// The places of a copy that stand for dependencies of the tree. `files` are the files of the copy,
/// relative to its root; `is_in_copy` returns `true` if the copy has a file or a folder of this name.
pub(crate) fn dependencies<'f>(
    mapping: &Mapping,
    files: impl IntoIterator<Item = &'f Path>,
    is_in_copy: impl Fn(&Path) -> bool,
) -> Dependencies {
    let tree_root = mapping.tree_root.as_path();
    let lookup = Lookup { mapping, is_in_copy: &is_in_copy, targets_in_tree: RefCell::default() };
    let mut stand_ins = BTreeSet::new();
    for folder in installed(tree_root, files, &is_in_copy) {
        if !is_in_copy(&folder) && tree_root.join(&folder).is_dir() {
            stand_ins.extend(lookup.expanded(&folder).unwrap_or(vec![lookup.link(&folder)]));
        } else if is_environment(tree_root, &folder)
            && !is_in_copy(&folder.join(ENVIRONMENT_MARKER))
        {
            // A file of the tree stands in the environment, so that one link cannot stand for it.
            let missing_parts: Vec<_> = ENVIRONMENT_NAMES
                .iter()
                .map(|name| folder.join(name))
                .filter(|part| !is_in_copy(part) && tree_root.join(part).exists())
                .collect();
            let expanded = environment::expanded(&lookup, &folder)
                .unwrap_or_else(|| missing_parts.iter().map(|part| lookup.link(part)).collect());
            stand_ins.extend(expanded.into_iter().filter(|stand_in| {
                missing_parts.iter().any(|part| stand_in.path.starts_with(part))
            }));
        }
    }
    Dependencies {
        stand_ins: stand_ins.into_iter().collect(),
        targets_in_tree: lookup.targets_in_tree.into_inner(),
    }
}

/// Folders of a tree in which dependencies may stand, relative to its root.
pub(crate) fn installed<'f>(
    tree_root: &Path,
    files: impl IntoIterator<Item = &'f Path>,
    is_in_copy: &impl Fn(&Path) -> bool,
) -> BTreeSet<PathBuf> {
    let parents = files.into_iter().flat_map(|file| file.ancestors().skip(1));
    let folders: BTreeSet<_> = parents.chain([Path::new("")]).collect();
    let mut installed = BTreeSet::new();
    for folder in folders {
        installed.extend(NAMES.iter().map(|name| folder.join(name)));
        installed.extend(environments(tree_root, folder, is_in_copy));
    }
    installed
}

/// The virtual environments in a folder of the tree.
fn environments(
    tree_root: &Path,
    folder: &Path,
    is_in_copy: &impl Fn(&Path) -> bool,
) -> Vec<PathBuf> {
    let is_python = PYTHON_PROJECTS.iter().any(|file| is_in_copy(&folder.join(file)));
    if !is_python && folder != Path::new("") {
        return Vec::new();
    }
    let entries = fs::read_dir(tree_root.join(folder)).into_iter().flatten().flatten();
    let paths = entries.map(|entry| folder.join(entry.file_name()));
    paths.filter(|path| is_environment(tree_root, path)).collect()
}

fn is_environment(tree_root: &Path, folder: &Path) -> bool {
    tree_root.join(folder).join(ENVIRONMENT_MARKER).is_file()
}

/// Looks up the targets of installed packages. Paths are relative to the tree's root.
pub(super) struct Lookup<'a> {
    pub(super) mapping: &'a Mapping,
    is_in_copy: &'a dyn Fn(&Path) -> bool,
    targets_in_tree: RefCell<BTreeSet<PathBuf>>,
}

/// An entry of a folder.
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) kind: fs::FileType,
}

impl Lookup<'_> {
    /// A folder of links in the place of a folder. `None` if one link can stand for it.
    fn expanded(&self, folder: &Path) -> Option<Vec<StandIn>> {
        if is_environment(&self.mapping.tree_root, folder) {
            return environment::expanded(self, folder);
        }
        modules::expanded(self, folder)
    }

    /// A link to the same path of the tree.
    pub(super) fn link(&self, path: &Path) -> StandIn {
        StandIn::new(path, StandInContent::Link(self.mapping.tree_root.join(path)))
    }

    pub(super) fn has_folder(&self, folder: &Path) -> bool {
        self.mapping.tree_root.join(folder).is_dir()
    }

    /// The entries of a folder of the tree, by name. ControlNames that are no text are left out.
    pub(super) fn entries(&self, folder: &Path) -> Vec<Entry> {
        let mut entries: Vec<_> = fs::read_dir(self.mapping.tree_root.join(folder))
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| {
                Some(Entry {
                    name: entry.file_name().into_string().ok()?,
                    kind: entry.file_type().ok()?,
                })
            })
            .collect();
        entries.sort_by(|left, right| left.name.cmp(&right.name));
        entries
    }

    /// The place in the copy that a link of the tree leads to. `None` if its target is no part of the
    /// copy.
    pub(super) fn target_in_copy(&self, link: &Path) -> Option<PathBuf> {
        let target = self.mapping.tree_root.join(link).real_path().ok()?;
        self.place_in_copy(&target)
    }

    /// The place in the copy of a file or folder of the tree. `None` if it is no part of the copy.
    pub(super) fn place_in_copy(&self, target: &Path) -> Option<PathBuf> {
        let path = target.strip_prefix(&self.mapping.tree_root).ok()?;
        if !path.as_os_str().is_empty() && !(self.is_in_copy)(path) {
            return None;
        }
        self.targets_in_tree.borrow_mut().insert(path.to_owned());
        self.mapping.folder(target)
    }
}

impl StandIn {
    pub(super) fn new(path: &Path, content: StandInContent) -> Self {
        Self { path: path.to_owned(), content }
    }
}

#[cfg(test)]
mod tests;
