//! Finds the files that belong to the tree.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, DirEntry};
use std::io;
use std::mem;
use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use gate_platform::OsStrExt;

use super::caches::{Cache, cache_folder, is_cache_file};
use super::error::WorktreeError;
use super::excludes::Patterns;
use super::file::Stat;
use super::ignored::IgnoreRules;
use super::names;
use super::parallel::{on_all, workers};
use super::root::is_repository;
use super::tools::ToolFolder;
use super::tracked::{FolderFiles, TrackedFiles};
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
    pub(super) ignore_rules: &'w IgnoreRules,
    /// The files that git tracks. `None` outside of git: every `.gitignore` counts then.
    pub(super) tracked: Option<&'w TrackedFiles<'w>>,
    /// Folders of the caller that are left out.
    pub(super) log_folders: Vec<Vec<u8>>,
    /// The repositories' folders, as prefixes; the root's is empty.
    pub(super) repositories: Vec<Vec<u8>>,
    /// The file of the user's own patterns.
    pub(super) user_patterns: Option<&'w Path>,
}

/// A folder that waits to be listed.
struct Folder {
    /// Its name relative to the root: empty, or with a slash at the end.
    prefix: Vec<u8>,
    patterns: Patterns,
    /// The cache that the folder belongs to.
    cache: Option<&'static Cache>,
}

/// The ignore rules of one folder.
struct Rules<'w> {
    patterns: Patterns,
    /// The tracked files of the folder.
    tracked: Option<FolderFiles<'w>>,
}

/// The folders that wait, and how many are being listed.
#[derive(Default)]
struct Waiting {
    folders: Vec<Folder>,
    being_listed: usize,
}

#[derive(Default)]
struct Queue {
    waiting: Mutex<Waiting>,
    /// A folder was listed: others may wait now, or the walk is over.
    folder_listed: Condvar,
}

impl Walk<'_> {
    /// All files of the tree, sorted by name.
    pub(super) fn files(&self, cancel: &Cancellation) -> Result<Vec<WalkedFile>, WorktreeError> {
        let queue = Queue::default();
        for prefix in &self.repositories {
            let mut patterns = Patterns::default();
            if let Some(file) = self.user_patterns {
                patterns = patterns.with_file(file, prefix.len());
            }
            queue.lock().folders.push(Folder { prefix: prefix.clone(), patterns, cache: None });
        }
        let mut files = on_all(workers(), || self.list_waiting(&queue, cancel));
        stop_if_cancelled(cancel)?;
        // Each worker's files are nearly in order, which a stable sort makes use of.
        files.sort_by(|left, right| left.path.cmp(&right.path));
        Ok(self.with_tracked(files))
    }

    /// Lists folders until no folder waits. Returns the files in them.
    fn list_waiting(&self, queue: &Queue, cancel: &Cancellation) -> Vec<WalkedFile> {
        let mut files = Vec::new();
        while let Some(mut turn) = queue.next() {
            let start = files.len();
            if !cancel.is_cancelled() {
                self.list(&turn.folder, &mut files, &mut turn.subfolders);
            }
            files[start..].sort_unstable_by(|left, right| left.path.cmp(&right.path));
        }
        files
    }

    /// Lists a folder. What cannot be listed is itself part of the tree, so
    /// that nothing in it is taken for absent.
    fn list(&self, folder: &Folder, files: &mut Vec<WalkedFile>, subfolders: &mut Vec<Folder>) {
        let path = self.root.join(names::path(&folder.prefix));
        let tracked = self.tracked.map(|tracked| tracked.below(&folder.prefix));
        let rules = Rules { patterns: self.patterns(folder, tracked, &path), tracked };
        let start = files.len();
        let outcome = fs::read_dir(&path).and_then(|entries| {
            for entry in entries {
                self.take_entry(&entry?, folder, &rules, files, subfolders)?;
            }
            Ok(())
        });
        match outcome {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                files.extend(Self::unlisted(folder, &path));
            }
            Err(_) => {}
            Ok(()) => self.leave_out_tools(folder, start, files, subfolders),
        }
    }

    /// Takes back what a tool wrote, if the folder that was just listed is a tool's.
    fn leave_out_tools(
        &self,
        folder: &Folder,
        start: usize,
        files: &mut Vec<WalkedFile>,
        subfolders: &mut Vec<Folder>,
    ) {
        let Some(name) = folder.prefix.strip_suffix(b"/") else { return };
        let folder_name = names::path(name).file_name().and_then(OsStr::to_str).unwrap_or_default();
        // Few folders pass this cheap look; the closer one reads files.
        if !ToolFolder::has_tool_name(folder_name)
            && !files[start..].iter().any(|file| ToolFolder::is_marker(&file.path))
        {
            return;
        }
        let is_work = self.tracked.is_some_and(|tracked| tracked.has_files_in(name))
            || self.repositories.iter().any(|prefix| prefix.starts_with(&folder.prefix))
            || self.ignore_rules.holds_project(&folder.prefix);
        let tool_folder =
            if is_work { None } else { ToolFolder::find(self.root, names::path(name)) };
        let Some(tool_folder) = tool_folder else { return };
        let is_written_by_tool = |path: &[u8]| {
            let relative = path.strip_prefix(folder.prefix.as_slice()).unwrap_or(path);
            let entry = relative.strip_suffix(b"/").unwrap_or(relative);
            std::str::from_utf8(entry).is_ok_and(|entry| tool_folder.writes(entry))
        };
        let listed = files.split_off(start);
        files.extend(listed.into_iter().filter(|file| !is_written_by_tool(&file.path)));
        subfolders.retain(|folder| !is_written_by_tool(&folder.prefix));
    }

    /// An entry for a folder that could not be listed.
    fn unlisted(folder: &Folder, path: &Path) -> Option<WalkedFile> {
        let name = folder.prefix.strip_suffix(b"/").unwrap_or(&folder.prefix);
        let stat = Stat::new(&path.symlink_metadata().ok()?);
        Some(WalkedFile { path: name.into(), stat })
    }

    /// The patterns that hold in a folder: its own file counts where git
    /// tracks it.
    fn patterns(&self, folder: &Folder, tracked: Option<FolderFiles<'_>>, path: &Path) -> Patterns {
        let name = [folder.prefix.as_slice(), b".gitignore"].concat();
        if tracked.is_none_or(|tracked| tracked.contains(&name)) {
            folder.patterns.with_file(&path.join(".gitignore"), folder.prefix.len())
        } else {
            folder.patterns.clone()
        }
    }

    fn take_entry(
        &self,
        entry: &DirEntry,
        folder: &Folder,
        rules: &Rules<'_>,
        files: &mut Vec<WalkedFile>,
        subfolders: &mut Vec<Folder>,
    ) -> io::Result<()> {
        let name = entry.file_name();
        let path = [folder.prefix.as_slice(), name.as_bytes()].concat();
        let file_type = entry.file_type()?;
        let is_folder = file_type.is_dir();
        let is_cache = file_type.is_file() && is_cache(folder, name.as_bytes());
        if is_cache || self.leaves_out(folder, &path, is_folder) || rules.ignore(&path, is_folder) {
            return Ok(());
        }
        if is_folder {
            let prefix = [path.as_slice(), b"/"].concat();
            // A submodule is walked from its own start, by its own rules.
            if !self.repositories.contains(&prefix) {
                let cache = cache_folder(name.as_bytes()).or(folder.cache);
                subfolders.push(Folder { prefix, patterns: rules.patterns.clone(), cache });
            }
            return Ok(());
        }
        match entry.metadata() {
            Ok(metadata) => {
                files.push(WalkedFile { path: path.into(), stat: Stat::new(&metadata) });
            }
            // It was removed since the folder was listed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// A file or folder is left out because it is git's, the caller's or gate's state, or because the
    /// settings say so. Files that git tracks are added back later, but for the last two.
    fn leaves_out(&self, folder: &Folder, path: &[u8], is_folder: bool) -> bool {
        let is_git_folder = path.strip_prefix(&*folder.prefix) == Some(b".git")
            && is_repository(&self.root.join(names::path(&folder.prefix)));
        let is_callers = if is_folder {
            self.log_folders.iter().any(|folder| folder == path)
        } else {
            self.ignore_rules.is_callers_file(path)
        };
        is_git_folder || is_callers || self.ignore_rules.is_excluded(path)
    }

    /// Adds what git tracks and the walk passed over.
    fn with_tracked(&self, mut files: Vec<WalkedFile>) -> Vec<WalkedFile> {
        let Some(tracked) = self.tracked else { return files };
        let mut folders = RealFolders::new(self.root);
        let mut missing = Vec::new();
        let mut walked = files.iter().peekable();
        for path in tracked.iter() {
            // Both lists are sorted by name.
            while walked.next_if(|file| file.path.as_ref() < path).is_some() {}
            if walked.peek().is_none_or(|file| file.path.as_ref() != path)
                && !self.ignore_rules.is_excluded(path)
            {
                missing.extend(folders.find_file(path));
            }
        }
        if !missing.is_empty() {
            files.extend(missing);
            files.sort_by(|left, right| left.path.cmp(&right.path));
        }
        files
    }
}

/// A tool wrote the file to read it again.
fn is_cache(folder: &Folder, name: &[u8]) -> bool {
    is_cache_file(name) || folder.cache.is_some_and(|cache| cache.writes(name))
}

/// A worker's turn with one folder. When it is over, however it ends, the folders in the folder
/// wait in the queue, and no other worker waits for this one.
struct Turn<'q> {
    queue: &'q Queue,
    folder: Folder,
    subfolders: Vec<Folder>,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.queue.add_subfolders(mem::take(&mut self.subfolders));
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

    /// The next folder; `None` once no folder waits and no worker can find another.
    fn next(&self) -> Option<Turn<'_>> {
        let mut waiting = self.lock();
        loop {
            if let Some(folder) = waiting.folders.pop() {
                waiting.being_listed += 1;
                return Some(Turn { queue: self, folder, subfolders: Vec::new() });
            }
            if waiting.being_listed == 0 {
                return None;
            }
            waiting = self.folder_listed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Adds the folders in a folder that was listed, so that the first name is listed next.
    fn add_subfolders(&self, mut subfolders: Vec<Folder>) {
        // The queue takes the last one: the names stand backwards.
        subfolders.sort_unstable_by(|left, right| right.prefix.cmp(&left.prefix));
        let mut waiting = self.lock();
        waiting.being_listed -= 1;
        waiting.folders.extend(subfolders);
        self.folder_listed.notify_all();
    }
}

/// Finds single files, and remembers which folders are real: a file behind a link is not in the
/// tree.
pub(super) struct RealFolders<'f> {
    root: &'f Path,
    is_real: HashMap<Vec<u8>, bool>,
}

impl<'f> RealFolders<'f> {
    pub(super) fn new(root: &'f Path) -> Self {
        Self { root, is_real: HashMap::new() }
    }

    /// The file of this name, if it exists and is no folder.
    pub(super) fn find_file(&mut self, path: &[u8]) -> Option<WalkedFile> {
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
        if let Some(is_real) = self.is_real.get(folder) {
            return *is_real;
        }
        let parent = Path::new(OsStr::from_bytes(folder)).parent().map(|folder| folder.as_os_str());
        let is_real = self.is_real(parent.map_or(b"", OsStrExt::as_bytes))
            && self
                .root
                .join(names::path(folder))
                .symlink_metadata()
                .is_ok_and(|metadata| metadata.is_dir());
        self.is_real.insert(folder.to_vec(), is_real);
        is_real
    }
}

#[cfg(test)]
mod tests;
