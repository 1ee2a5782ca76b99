//! The files that a workspace shall have: those of the tree, some of them replaced.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use gate_core::integrity::Language;

use crate::baseline::StoredFile;
use crate::copy::{Dependencies, LinkedItem, Mapping, dependencies};
use crate::worktree::{File, Kind, Snapshot};

/// A file that git often ignores, and without which the tool looks for other versions
/// of what the project needs.
const LOCKS: [&str; 1] = ["Cargo.lock"];

/// The date of files that are as in the baseline, after 1970: older than all build output.
const OLD: Duration = Duration::from_secs(1_000_000_000);

/// The files that a workspace is to hold, by the bytes of their names.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(super) items: BTreeMap<Vec<u8>, Item>,
    mapping: Mapping,
    /// Files and folders of the tree to which dependencies lead.
    leads: BTreeSet<PathBuf>,
    /// The folders of build output that stay; none: each that is known to be one.
    pub(super) caches: Option<Vec<PathBuf>>,
}

/// One of them.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) kind: Kind,
    pub(super) hash: [u8; 32],
    pub(super) source: Source,
    /// The date that it gets; none: that of its writing.
    pub(super) modified: Option<SystemTime>,
}

/// The source of a file's bytes.
#[derive(Clone, Debug)]
pub(super) enum Source {
    /// In this file, of whose bytes the hash is known.
    File(PathBuf),
    Bytes(Vec<u8>),
    /// Written by an installer, with the copy's places. It is no file of the work.
    Installed(Vec<u8>),
    /// A link that leads there.
    Link(PathBuf),
}

impl Layout {
    /// The files of a snapshot, links to the folders of dependencies that are no part
    /// of it, and lock files that are none.
    ///
    /// # Errors
    ///
    /// A link that is another one by now.
    pub(super) fn new(tree: &Snapshot, mapping: &Mapping) -> io::Result<Self> {
        let mut layout = Self {
            items: BTreeMap::new(),
            mapping: mapping.clone(),
            leads: BTreeSet::new(),
            caches: None,
        };
        for file in tree.files() {
            layout.take(file)?;
        }
        layout.copy_locks();
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
        self.items.remove(path.as_os_str().as_bytes());
    }

    /// Dates these files now, and all others before any build output: they are as in the baseline.
    /// Of what tools have built only these folders stay.
    pub(super) fn date(&mut self, changed: &BTreeSet<&Path>, caches: Vec<PathBuf>) {
        let now = SystemTime::now();
        for (name, item) in &mut self.items {
            let is_changed = changed.contains(path(name));
            item.modified = Some(if is_changed { now } else { SystemTime::UNIX_EPOCH + OLD });
        }
        self.caches = Some(caches);
    }

    /// The files, relative to the root.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        for (name, item) in &self.items {
            if !matches!(item.source, Source::Link(_) | Source::Installed(_)) {
                files.push(path(name).to_owned());
            }
        }
        files
    }

    /// The names of all, each with a zero behind.
    pub(super) fn names(&self) -> Vec<u8> {
        self.items.keys().flat_map(|name| name.iter().copied().chain([0])).collect()
    }

    pub(super) fn has_folder(&self, folder: &[u8]) -> bool {
        let prefix = [folder, b"/"].concat();
        let mut from = self.items.range(prefix.clone()..);
        from.next().is_some_and(|(name, _)| name.starts_with(&prefix))
    }

    fn take(&mut self, file: &File) -> io::Result<()> {
        let real = self.mapping.real.join(file.path());
        let item = match file.kind() {
            Kind::Plain | Kind::Executable => Item {
                kind: file.kind(),
                hash: *file.hash(),
                source: Source::File(real),
                modified: None,
            },
            Kind::Link => {
                let target = fs::read_link(&real).map_err(|error| unread(&real, &error))?;
                if blake3::hash(target.as_os_str().as_bytes()) != *file.hash() {
                    return Err(changed(&real));
                }
                link(self.mapping.folder(&target).unwrap_or(target))
            }
            Kind::Special | Kind::Unreadable => return Ok(()),
        };
        self.items.insert(name(file.path()), item);
        Ok(())
    }

    fn link_dependencies(&mut self) {
        let names: Vec<_> = self.items.keys().map(|name| path(name).to_owned()).collect();
        let files = names.iter().map(PathBuf::as_path);
        let Dependencies { entries, leads } = dependencies(&self.mapping, files, |path| {
            self.items.contains_key(&name(path)) || self.has_folder(&name(path))
        });
        self.leads = leads;
        for entry in entries {
            let item = match entry.item {
                LinkedItem::Link(target) => link(target),
                LinkedItem::Text(bytes) => installed(Kind::Plain, bytes),
                LinkedItem::Executable(bytes) => installed(Kind::Executable, bytes),
            };
            self.items.insert(name(&entry.path), item);
        }
    }

    /// The sources, relative to the root, to which dependencies lead.
    pub(crate) fn led_to(&self) -> Vec<PathBuf> {
        if self.leads.is_empty() {
            return Vec::new();
        }
        let mut files = self.files();
        files.retain(|file| {
            file.to_str().is_some_and(|name| Language::from_path(name).is_some())
                && self.leads.iter().any(|lead| file.starts_with(lead))
        });
        files
    }

    fn copy_locks(&mut self) {
        let names: Vec<_> = self.items.keys().map(|name| path(name).to_owned()).collect();
        let folders: BTreeSet<_> = names.iter().flat_map(|name| name.ancestors().skip(1)).collect();
        for folder in folders.into_iter().chain([Path::new("")]) {
            for lock in LOCKS {
                let inside = folder.join(lock);
                let there = self.mapping.real.join(&inside);
                if let (None, Ok(bytes)) = (self.items.get(&name(&inside)), fs::read(&there)) {
                    self.lay(&inside, &StoredFile { bytes, kind: Kind::Plain });
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
    path.as_os_str().as_bytes().to_vec()
}

fn link(target: PathBuf) -> Item {
    let hash = blake3::hash(target.as_os_str().as_bytes()).into();
    Item { kind: Kind::Link, hash, source: Source::Link(target), modified: None }
}

fn installed(kind: Kind, bytes: Vec<u8>) -> Item {
    let hash = blake3::hash(&bytes).into();
    Item { kind, hash, source: Source::Installed(bytes), modified: None }
}
