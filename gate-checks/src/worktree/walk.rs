//! Finds the files that belong to the tree.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, DirEntry};
use std::io;
use std::mem;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::caches::{Cache, cache_folder, is_cache_file};
use super::error::WorktreeError;
use super::excludes::Patterns;
use super::file::Stat;
use super::ignored::IgnoreRules;
use super::names;
use super::parallel::{on_all, workers};
use super::root::is_repository;
use super::tools::ToolFolder;
use super::tracked::{Part, Tracked};
use crate::cancellation::Cancellation;
use crate::worktree::error::stop_if_cancelled;

/// A file that belongs to the tree, or a folder that could not be read.
#[derive(Debug)]
pub(super) struct WalkedFile {
    pub(super) path: Box<[u8]>,
    pub(super) stat: Stat,
}

/// The inputs of a walk.
#[derive(Debug)]
pub(super) struct Walk<'w> {
    pub(super) root: &'w Path,
    pub(super) ignored: &'w IgnoreRules,
    /// The files that git tracks. None outside of git: every `.gitignore` counts then.
    pub(super) tracked: Option<&'w Tracked<'w>>,
    /// Folders of the caller that are left out.
    pub(super) logs: Vec<Vec<u8>>,
    /// The repositories' folders, as prefixes; the root's is empty.
    pub(super) starts: Vec<Vec<u8>>,
    /// The user's own patterns.
    pub(super) users: Option<&'w Path>,
}

/// A folder that waits to be listed.
struct Folder {
    /// Its name relative to the root: empty, or with a slash at the end.
    prefix: Vec<u8>,
    patterns: Patterns,
    /// The cache that it belongs to.
    cache: Option<&'static Cache>,
}

/// The ignore rules of one folder.
struct Rules<'w> {
    patterns: Patterns,
    /// The tracked files of the folder.
    tracked: Option<Part<'w>>,
}

/// The folders that wait, and how many are being listed.
#[derive(Default)]
struct Waiting {
    folders: Vec<Folder>,
    busy: usize,
}

#[derive(Default)]
struct Queue {
    waiting: Mutex<Waiting>,
    more: Condvar,
}

impl Walk<'_> {
    /// All files of the tree, sorted by name.
    pub(super) fn files(&self, cancel: &Cancellation) -> Result<Vec<WalkedFile>, WorktreeError> {
        let queue = Queue::default();
        for prefix in &self.starts {
            let none = Patterns::default();
            let patterns = self.users.map_or(none.clone(), |file| none.and(file, prefix.len()));
            queue.lock().folders.push(Folder { prefix: prefix.clone(), patterns, cache: None });
        }
        let mut found = on_all(workers(), || self.work(&queue, cancel));
        stop_if_cancelled(cancel)?;
        // Each worker's files are nearly in order, which a stable sort makes use of.
        found.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(self.with_tracked(found))
    }

    /// Lists folders until none is left; the files that were found.
    fn work(&self, queue: &Queue, cancel: &Cancellation) -> Vec<WalkedFile> {
        let mut found = Vec::new();
        while let Some(mut turn) = queue.next() {
            let start = found.len();
            if !cancel.is_cancelled() {
                self.list(&turn.folder, &mut found, &mut turn.inner);
            }
            found[start..].sort_unstable_by(|one, other| one.path.cmp(&other.path));
        }
        found
    }

    /// Lists a folder. What cannot be listed is itself part of the tree, so
    /// that nothing in it is taken for absent.
    fn list(&self, folder: &Folder, found: &mut Vec<WalkedFile>, inner: &mut Vec<Folder>) {
        let path = self.root.join(names::path(&folder.prefix));
        let tracked = self.tracked.map(|tracked| tracked.inside(&folder.prefix));
        let rules = Rules { patterns: self.patterns(folder, tracked, &path), tracked };
        let start = found.len();
        let listed = fs::read_dir(&path).and_then(|entries| {
            for entry in entries {
                self.take(&entry?, folder, &rules, found, inner)?;
            }
            Ok(())
        });
        match listed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                found.extend(Self::closed(folder, &path));
            }
            Err(_) => {}
            Ok(()) => self.leave_out_tools(folder, start, found, inner),
        }
    }

    /// Takes back what a tool wrote, if the folder that was just listed is a tool's.
    fn leave_out_tools(
        &self,
        folder: &Folder,
        start: usize,
        found: &mut Vec<WalkedFile>,
        inner: &mut Vec<Folder>,
    ) {
        let Some(name) = folder.prefix.strip_suffix(b"/") else { return };
        let own = names::path(name).file_name().and_then(OsStr::to_str).unwrap_or_default();
        if !ToolFolder::may_be_named(own)
            && !found[start..].iter().any(|file| ToolFolder::may_hold(&file.path))
        {
            return;
        }
        let is_work = self.tracked.is_some_and(|tracked| tracked.any_in(name))
            || self.starts.iter().any(|start| start.starts_with(&folder.prefix))
            || self.ignored.holds_project(&folder.prefix);
        let tools = if is_work { None } else { ToolFolder::find(self.root, names::path(name)) };
        let Some(tools) = tools else { return };
        let is_tools = |path: &[u8]| {
            let own = path.strip_prefix(folder.prefix.as_slice()).unwrap_or(path);
            let own = own.strip_suffix(b"/").unwrap_or(own);
            std::str::from_utf8(own).is_ok_and(|own| tools.writes(own))
        };
        let listed = found.split_off(start);
        found.extend(listed.into_iter().filter(|file| !is_tools(&file.path)));
        inner.retain(|folder| !is_tools(&folder.prefix));
    }

    /// An entry for a folder that could not be listed.
    fn closed(folder: &Folder, path: &Path) -> Option<WalkedFile> {
        let name = folder.prefix.strip_suffix(b"/").unwrap_or(&folder.prefix);
        let stat = Stat::new(&path.symlink_metadata().ok()?);
        Some(WalkedFile { path: name.into(), stat })
    }

    /// The patterns that hold in a folder: its own file counts where git
    /// tracks it.
    fn patterns(&self, folder: &Folder, tracked: Option<Part<'_>>, path: &Path) -> Patterns {
        let name = [folder.prefix.as_slice(), b".gitignore"].concat();
        if tracked.is_none_or(|tracked| tracked.contains(&name)) {
            folder.patterns.and(&path.join(".gitignore"), folder.prefix.len())
        } else {
            folder.patterns.clone()
        }
    }

    fn take(
        &self,
        entry: &DirEntry,
        folder: &Folder,
        rules: &Rules<'_>,
        found: &mut Vec<WalkedFile>,
        inner: &mut Vec<Folder>,
    ) -> io::Result<()> {
        let name = entry.file_name();
        let path = [folder.prefix.as_slice(), name.as_bytes()].concat();
        let file_type = entry.file_type()?;
        let is_folder = file_type.is_dir();
        let is_cache = file_type.is_file() && is_cache(folder, name.as_bytes());
        if is_cache || self.skips(folder, &path, is_folder) || rules.ignore(&path, is_folder) {
            return Ok(());
        }
        if is_folder {
            let prefix = [path.as_slice(), b"/"].concat();
            if !self.starts.contains(&prefix) {
                let cache = cache_folder(name.as_bytes()).or(folder.cache);
                inner.push(Folder { prefix, patterns: rules.patterns.clone(), cache });
            }
            return Ok(());
        }
        match entry.metadata() {
            Ok(metadata) => {
                found.push(WalkedFile { path: path.into(), stat: Stat::new(&metadata) });
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// True if a file is left out because of its owner: gate's state or the caller. Those that git
    /// tracks are added back later.
    fn skips(&self, folder: &Folder, path: &[u8], is_folder: bool) -> bool {
        let is_gits = path.strip_prefix(&*folder.prefix) == Some(b".git")
            && is_repository(&self.root.join(names::path(&folder.prefix)));
        let is_callers = if is_folder {
            self.logs.iter().any(|logs| logs == path)
        } else {
            self.ignored.is_callers_file(path)
        };
        is_gits || is_callers || self.ignored.always(path)
    }

    /// Adds what git tracks and the walk passed over.
    fn with_tracked(&self, found: Vec<WalkedFile>) -> Vec<WalkedFile> {
        let Some(tracked) = self.tracked else { return found };
        let mut folders = Folders::new(self.root);
        let mut missing = Vec::new();
        let mut seen = found.iter().peekable();
        for path in tracked.iter() {
            while seen.next_if(|file| file.path.as_ref() < path).is_some() {}
            if seen.peek().is_none_or(|file| file.path.as_ref() != path)
                && !self.ignored.always(path)
            {
                missing.extend(folders.look(path));
            }
        }
        let mut all = found;
        if !missing.is_empty() {
            all.extend(missing);
            all.sort_by(|one, other| one.path.cmp(&other.path));
        }
        all
    }
}

/// True if a tool wrote this file to read it again.
fn is_cache(folder: &Folder, name: &[u8]) -> bool {
    is_cache_file(name) || folder.cache.is_some_and(|cache| cache.writes(name))
}

/// A worker's turn with one folder. When it is over, however it ends, the folders in the folder
/// wait in the queue, and no other worker waits for this one.
struct Turn<'q> {
    queue: &'q Queue,
    folder: Folder,
    inner: Vec<Folder>,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.queue.done(mem::take(&mut self.inner));
    }
}

impl Rules<'_> {
    fn ignore(&self, path: &[u8], is_folder: bool) -> bool {
        // Most files are tracked, and a name is found sooner than a pattern.
        if !is_folder && self.tracked.is_some_and(|tracked| tracked.contains(path)) {
            return false;
        }
        self.patterns.ignore(path, is_folder)
    }
}

impl Queue {
    /// The waiting folders. A worker's panic goes on where it is joined, so
    /// that the lock's poison says nothing new.
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next folder; none once no folder waits and none is being listed.
    fn next(&self) -> Option<Turn<'_>> {
        let mut waiting = self.lock();
        loop {
            if let Some(folder) = waiting.folders.pop() {
                waiting.busy += 1;
                return Some(Turn { queue: self, folder, inner: Vec::new() });
            }
            if waiting.busy == 0 {
                return None;
            }
            waiting = self.more.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Adds what stood in a folder, so that the first name is listed next.
    fn done(&self, mut inner: Vec<Folder>) {
        inner.sort_unstable_by(|one, other| other.prefix.cmp(&one.prefix));
        let mut waiting = self.lock();
        waiting.busy -= 1;
        waiting.folders.extend(inner);
        self.more.notify_all();
    }
}

/// Looks at single files, and remembers which folders are real: what stands
/// behind a link is not in the tree.
pub(super) struct Folders<'f> {
    root: &'f Path,
    real: HashMap<Vec<u8>, bool>,
}

impl<'f> Folders<'f> {
    pub(super) fn new(root: &'f Path) -> Self {
        Self { root, real: HashMap::new() }
    }

    /// The file of this name, if it is there and no folder.
    pub(super) fn look(&mut self, path: &[u8]) -> Option<WalkedFile> {
        let folder =
            path.iter().rposition(|byte| *byte == b'/').map_or(&b""[..], |end| &path[..end]);
        // An index can be written by hand, with names that lead out of the tree.
        if !names::is_plain(path) || !self.is_real(folder) {
            return None;
        }
        let metadata = self.root.join(names::path(path)).symlink_metadata().ok()?;
        (!metadata.is_dir()).then(|| WalkedFile { path: path.into(), stat: Stat::new(&metadata) })
    }

    fn is_real(&mut self, folder: &[u8]) -> bool {
        if folder.is_empty() {
            return true;
        }
        if let Some(known) = self.real.get(folder) {
            return *known;
        }
        let outer = Path::new(OsStr::from_bytes(folder)).parent().map(|folder| folder.as_os_str());
        let real = self.is_real(outer.map_or(b"", OsStrExt::as_bytes))
            && self
                .root
                .join(names::path(folder))
                .symlink_metadata()
                .is_ok_and(|metadata| metadata.is_dir());
        self.real.insert(folder.to_vec(), real);
        real
    }
}

#[cfg(test)]
mod tests;
