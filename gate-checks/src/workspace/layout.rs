//! The files that a workspace shall have: those of the tree, some of them replaced.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use gate_core::integrity::Language;
use gate_platform::{OsStrExt, git_name};

use crate::baseline::StoredFile;
use crate::copy::{Dependencies, Mapping, StandInContent, dependencies};
use crate::worktree::{File, Kind, Snapshot};

/// A file that git often ignores, and without which the tool looks for other versions
/// of what the project needs.
const LOCKS: [&str; 1] = ["Cargo.lock"];

/// The date of files that are as in the baseline, after 1970: older than all build output.
const BASELINE_DATE: Duration = Duration::from_secs(1_000_000_000);

/// The files that a workspace is to hold, by the bytes of their paths relative to the root.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(super) items: BTreeMap<Vec<u8>, Item>,
    mapping: Mapping,
    /// Files and folders of the tree to which dependencies lead.
    targets_in_tree: BTreeSet<PathBuf>,
    /// The folders of build output that stay. `None`: all folders that tools are known to fill.
    pub(super) caches: Option<Vec<PathBuf>>,
}

/// A file or a link of a layout.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) kind: Kind,
    pub(super) hash: [u8; 32],
    pub(super) source: Source,
    /// The date that the file gets; `None`: that of its writing.
    pub(super) modified: Option<SystemTime>,
}

/// The source of a file's bytes.
#[derive(Clone, Debug)]
pub(super) enum Source {
    /// A file of the tree, whose bytes must have the item's hash.
    File(PathBuf),
    Bytes(Vec<u8>),
    /// The text of an installer, with the copy's places. It is no file of the work.
    Installed(Vec<u8>),
    /// The target of a link.
    Link(PathBuf),
}

impl Layout {
    /// The files of a snapshot, links to the folders of dependencies that are no part of it, and lock
    /// files that git ignores.
    ///
    /// # Errors
    ///
    /// A link that has changed since the snapshot.
    pub(super) fn new(snapshot: &Snapshot, mapping: &Mapping) -> io::Result<Self> {
        let mut layout = Self {
            items: BTreeMap::new(),
            mapping: mapping.clone(),
            targets_in_tree: BTreeSet::new(),
            caches: None,
        };
        for file in snapshot.files() {
            layout.add_file(file)?;
        }
        layout.add_locks();
        layout.link_dependencies();
        Ok(layout)
    }

    /// Puts a stored file at a path. A link in place of a folder above it is removed: through the
    /// link the file would be written to the real tree.
    pub(crate) fn lay(&mut self, path: &Path, file: &StoredFile) {
        for folder in path.ancestors().skip(1) {
            self.leave_out(folder);
        }
        let bytes = file.bytes.clone();
        let hash = blake3::hash(&bytes).into();
        let source = match file.kind {
            Kind::Link => Source::Link(Path::new(std::ffi::OsStr::from_bytes(&bytes)).to_owned()),
            _ => Source::Bytes(bytes),
        };
        self.items.insert(name(path), Item { kind: file.kind, hash, source, modified: None });
    }

    /// Leaves a file out.
    pub(crate) fn leave_out(&mut self, path: &Path) {
        self.items.remove(git_name(path).as_ref());
    }

    /// Dates these files now, and all others, which are as in the baseline, before any build output.
    /// Of the folders that tools fill, only these caches stay.
    pub(super) fn date(&mut self, unlike_baseline: &BTreeSet<&Path>, caches: Vec<PathBuf>) {
        let now = SystemTime::now();
        let baseline_date = SystemTime::UNIX_EPOCH + BASELINE_DATE;
        for (name, item) in &mut self.items {
            let is_as_in_baseline = !unlike_baseline.contains(path(name));
            item.modified = Some(if is_as_in_baseline { baseline_date } else { now });
        }
        self.caches = Some(caches);
    }

    /// The files of the work, relative to the root.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        for (name, item) in &self.items {
            if !matches!(item.source, Source::Link(_) | Source::Installed(_)) {
                files.push(path(name).to_owned());
            }
        }
        files
    }

    /// The names of all items, each followed by a zero.
    pub(super) fn names(&self) -> Vec<u8> {
        self.items.keys().flat_map(|name| name.iter().copied().chain([0])).collect()
    }

    pub(super) fn has_folder(&self, folder: &[u8]) -> bool {
        let prefix = [folder, b"/"].concat();
        let mut names_from_prefix = self.items.range(prefix.clone()..);
        names_from_prefix.next().is_some_and(|(name, _)| name.starts_with(&prefix))
    }

    fn add_file(&mut self, file: &File) -> io::Result<()> {
        let real_path = self.mapping.tree_root.join(file.path());
        let item = match file.kind() {
            Kind::Plain | Kind::Executable => Item {
                kind: file.kind(),
                hash: *file.hash(),
                source: Source::File(real_path),
                modified: None,
            },
            Kind::Link => {
                let target =
                    fs::read_link(&real_path).map_err(|error| unread(&real_path, &error))?;
                if blake3::hash(target.as_os_str().as_bytes()) != *file.hash() {
                    return Err(changed(&real_path));
                }
                link_item(self.mapping.folder(&target).unwrap_or(target))
            }
            Kind::Special | Kind::Unreadable => return Ok(()),
        };
        self.items.insert(name(file.path()), item);
        Ok(())
    }

    fn link_dependencies(&mut self) {
        let paths: Vec<_> = self.items.keys().map(|name| path(name).to_owned()).collect();
        let files = paths.iter().map(PathBuf::as_path);
        let Dependencies { stand_ins, targets_in_tree } =
            dependencies(&self.mapping, files, |path| {
                self.items.contains_key(&name(path)) || self.has_folder(&name(path))
            });
        self.targets_in_tree = targets_in_tree;
        for stand_in in stand_ins {
            let item = match stand_in.content {
                StandInContent::Link(target) => link_item(target),
                StandInContent::Text(bytes) => installed_item(Kind::Plain, bytes),
                StandInContent::Executable(bytes) => installed_item(Kind::Executable, bytes),
            };
            self.items.insert(name(&stand_in.path), item);
        }
    }

    /// The sources, relative to the root, to which links in the dependencies lead.
    pub(crate) fn link_targets(&self) -> Vec<PathBuf> {
        if self.targets_in_tree.is_empty() {
            return Vec::new();
        }
        let mut files = self.files();
        files.retain(|file| {
            file.to_str().is_some_and(|name| Language::from_path(name).is_some())
                && self.targets_in_tree.iter().any(|target| file.starts_with(target))
        });
        files
    }

    fn add_locks(&mut self) {
        let paths: Vec<_> = self.items.keys().map(|name| path(name).to_owned()).collect();
        let folders: BTreeSet<_> = paths.iter().flat_map(|path| path.ancestors().skip(1)).collect();
        for folder in folders.into_iter().chain([Path::new("")]) {
            for lock in LOCKS.map(|lock| folder.join(lock)) {
                if !self.items.contains_key(&name(&lock))
                    && let Ok(bytes) = fs::read(self.mapping.tree_root.join(&lock))
                {
                    self.lay(&lock, &StoredFile { bytes, kind: Kind::Plain });
                }
            }
        }
    }
}

/// The error of a file that has changed since the snapshot.
pub(super) fn changed(file: &Path) -> io::Error {
    io::Error::other(format!("{} changed while it was copied", file.display()))
}

/// An error that names the file.
pub(super) fn unread(file: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", file.display()))
}

/// Bytes as a path.
pub(super) fn path(name: &[u8]) -> &Path {
    Path::new(std::ffi::OsStr::from_bytes(name))
}

fn name(path: &Path) -> Vec<u8> {
    git_name(path).into_owned()
}

fn link_item(target: PathBuf) -> Item {
    let hash = blake3::hash(target.as_os_str().as_bytes()).into();
    Item { kind: Kind::Link, hash, source: Source::Link(target), modified: None }
}

fn installed_item(kind: Kind, bytes: Vec<u8>) -> Item {
    let hash = blake3::hash(&bytes).into();
    Item { kind, hash, source: Source::Installed(bytes), modified: None }
}
