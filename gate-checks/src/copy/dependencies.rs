//! Folders with what a project needs of others. They are large and no part of the tree, so a copy
//! has links to them.
//!
//! Some of what is installed leads back into the tree: the packages of a workspace, and Python
//! projects that were installed to be edited. A link to the whole folder would have the copy test
//! the tree. So the copy gets a folder of links in its place, in which those lead into the copy.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

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
    pub(crate) entries: Vec<Linked>,
    /// Files and folders of the tree, relative to its root, to which something installed leads.
    pub(crate) leads: BTreeSet<PathBuf>,
}

/// One place of a copy that stands for something installed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Linked {
    /// Relative to the copy's root.
    pub(crate) path: PathBuf,
    pub(crate) item: LinkedItem,
}

/// Its content.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LinkedItem {
    Link(PathBuf),
    Text(Vec<u8>),
    Executable(Vec<u8>),
}

/// The places of a copy that stand for dependencies of the tree. `files` are the files of the copy,
/// relative to its root; `holds` returns true if the copy has a file or a folder of this name.
pub(crate) fn dependencies<'f>(
    mapping: &Mapping,
    files: impl IntoIterator<Item = &'f Path>,
    holds: impl Fn(&Path) -> bool,
) -> Dependencies {
    let real = mapping.real.as_path();
    let lookup = Lookup { mapping, holds: &holds, leads: RefCell::default() };
    let mut found = BTreeSet::new();
    for inside in installed(real, files, &holds) {
        if !holds(&inside) && real.join(&inside).is_dir() {
            found.extend(lookup.expanded(&inside).unwrap_or(vec![lookup.link(&inside)]));
        } else if is_environment(real, &inside) && !holds(&inside.join(ENVIRONMENT_MARKER)) {
            let parts = ENVIRONMENT_NAMES.iter().map(|name| inside.join(name));
            let parts = parts.filter(|part| !holds(part) && real.join(part).exists());
            let parts: Vec<_> = parts.collect();
            let expanded = environment::expanded(&lookup, &inside);
            let expanded =
                expanded.unwrap_or_else(|| parts.iter().map(|part| lookup.link(part)).collect());
            found.extend(
                expanded
                    .into_iter()
                    .filter(|entry| parts.iter().any(|part| entry.path.starts_with(part))),
            );
        }
    }
    Dependencies { entries: found.into_iter().collect(), leads: lookup.leads.into_inner() }
}

/// Folders of a tree in which dependencies may stand, relative to its root.
pub(crate) fn installed<'f>(
    real: &Path,
    files: impl IntoIterator<Item = &'f Path>,
    holds: &impl Fn(&Path) -> bool,
) -> BTreeSet<PathBuf> {
    let folders = files.into_iter().flat_map(|file| file.ancestors().skip(1));
    let folders: BTreeSet<_> = folders.chain([Path::new("")]).collect();
    let inside = folders.into_iter().flat_map(|folder| {
        let named = NAMES.iter().map(|name| folder.join(name));
        named.chain(environments(real, folder, holds)).collect::<Vec<_>>()
    });
    inside.collect()
}

fn environments(real: &Path, folder: &Path, holds: &impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let is_python = PYTHON_PROJECTS.iter().any(|file| holds(&folder.join(file)));
    if !is_python && folder != Path::new("") {
        return Vec::new();
    }
    let entries = fs::read_dir(real.join(folder)).into_iter().flatten().flatten();
    let inside = entries.map(|entry| folder.join(entry.file_name()));
    inside.filter(|inside| is_environment(real, inside)).collect()
}

fn is_environment(real: &Path, inside: &Path) -> bool {
    real.join(inside).join(ENVIRONMENT_MARKER).is_file()
}

/// Looks up the targets of what is installed.
pub(super) struct Lookup<'a> {
    pub(super) mapping: &'a Mapping,
    holds: &'a dyn Fn(&Path) -> bool,
    leads: RefCell<BTreeSet<PathBuf>>,
}

/// An entry of a folder.
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) kind: fs::FileType,
}

impl Lookup<'_> {
    /// A folder of links in the place of a folder; none if one link does.
    fn expanded(&self, inside: &Path) -> Option<Vec<Linked>> {
        if is_environment(&self.mapping.real, inside) {
            return environment::expanded(self, inside);
        }
        modules::expanded(self, inside)
    }

    /// A link to the tree's own.
    pub(super) fn link(&self, inside: &Path) -> Linked {
        linked(inside, LinkedItem::Link(self.mapping.real.join(inside)))
    }

    pub(super) fn has(&self, inside: &Path) -> bool {
        self.mapping.real.join(inside).is_dir()
    }

    /// The entries of a folder of the tree, by name. Names that are no text are left out.
    pub(super) fn entries(&self, inside: &Path) -> Vec<Entry> {
        let entries = fs::read_dir(self.mapping.real.join(inside)).into_iter().flatten().flatten();
        let entries = entries.filter_map(|entry| {
            Some(Entry {
                name: entry.file_name().into_string().ok()?,
                kind: entry.file_type().ok()?,
            })
        });
        let mut entries: Vec<_> = entries.collect();
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        entries
    }

    /// The place in the copy of something in the tree that a link leads to. None if it is no part
    /// of the copy.
    pub(super) fn led(&self, inside: &Path) -> Option<PathBuf> {
        let target = self.mapping.real.join(inside).canonicalize().ok()?;
        self.place(&target)
    }

    /// The copy's name of a file or folder that is part of it.
    pub(super) fn place(&self, target: &Path) -> Option<PathBuf> {
        let inside = target.strip_prefix(&self.mapping.real).ok()?;
        if !inside.as_os_str().is_empty() && !(self.holds)(inside) {
            return None;
        }
        self.leads.borrow_mut().insert(inside.to_owned());
        self.mapping.folder(target)
    }
}

pub(super) fn linked(path: &Path, item: LinkedItem) -> Linked {
    Linked { path: path.to_owned(), item }
}

#[cfg(test)]
mod tests;
