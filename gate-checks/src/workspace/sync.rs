//! Brings a folder up to a layout. A file that is as it has to be is not touched.
//!
//! After a run nothing in the folder is believed. By the rules of every snapshot, a file whose metadata
//! is unchanged is unchanged; all others are read, and written anew if their bytes differ. A file is
//! always written beside its place and then put there: it may have become a second name of some other
//! file.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use gate_platform::{MetadataExt, OsStrExt, set_mode, symlink};

use super::layout::{Item, Layout, Source, changed, path, unread};
use crate::copy::hash;
use crate::remove::remove_all;
use crate::worktree::{Kind, WrittenFiles};

/// Folders that tools fill with their output, and that cost the most if they are empty. In the copy
/// that decides only the baseline's caches stay. Python's bytecode is not among them: no check writes
/// it, and a file that is there could stand for another source.
const WARM: [&str; 14] = [
    "target",
    "node_modules",
    ".venv",
    "venv",
    ".gradle",
    ".tox",
    ".nox",
    ".mypy_cache",
    ".ruff_cache",
    ".pytest_cache",
    ".hypothesis",
    ".turbo",
    ".zig-cache",
    "_build",
];

/// Gradle's output, which is warm beside one of the files below.
const GRADLE_OUTPUT: &str = "build";

/// The files of a project that Gradle builds.
const GRADLE_FILES: [&str; 2] = ["build.gradle", "build.gradle.kts"];

/// A folder that is brought up to a layout.
pub(super) struct Sync<'a> {
    root: &'a Path,
    layout: &'a Layout,
    written_files: WrittenFiles,
    /// The names of all files that were written or removed, each followed by a zero.
    touched_names: Vec<u8>,
}

/// A folder that is as its layout.
pub(super) struct Synced {
    /// The names of all files that were written or removed, each followed by a zero.
    pub(super) touched_names: Vec<u8>,
    /// The text of the list of written files, if it has changed.
    pub(super) renewed_list: Option<Vec<u8>>,
}

impl<'a> Sync<'a> {
    /// `list` is the text of the list of written files from the last time.
    pub(super) fn new(root: &'a Path, layout: &'a Layout, list: Option<Vec<u8>>) -> Self {
        let written_files = WrittenFiles::read(list);
        Self { root, layout, written_files, touched_names: Vec::new() }
    }

    /// Brings the folder up to the layout.
    ///
    /// # Errors
    ///
    /// A file that cannot be written, removed or read, or that changes meanwhile.
    pub(super) fn run(mut self) -> io::Result<Synced> {
        fs::create_dir_all(self.root)?;
        self.sweep(&[])?;
        for (name, item) in &self.layout.items {
            self.sync_item(name, item)?;
        }
        let renewed_list = self.written_files.renewed();
        Ok(Synced { touched_names: self.touched_names, renewed_list })
    }

    /// Removes from a folder all that is not in the layout, but for caches.
    fn sweep(&mut self, folder: &[u8]) -> io::Result<()> {
        for entry in fs::read_dir(self.root.join(path(folder)))? {
            let entry = entry?;
            let file_name = entry.file_name();
            let name = joined(folder, file_name.as_bytes());
            let is_folder = entry.file_type()?.is_dir();
            if is_folder && self.layout.has_folder(&name) {
                self.sweep(&name)?;
            } else if is_folder && self.is_cache(folder, &name, &file_name.to_string_lossy()) {
                continue;
            } else if is_folder || !self.layout.items.contains_key(&name) {
                self.remove(&name, is_folder)?;
            }
        }
        Ok(())
    }

    /// A folder outside of the layout that stays: it costs the most to make again.
    fn is_cache(&self, parent: &[u8], name: &[u8], file_name: &str) -> bool {
        if name == b".git" {
            return true;
        }
        if let Some(caches) = &self.layout.caches {
            return caches.iter().any(|cache| cache == path(name));
        }
        let items = &self.layout.items;
        let is_of_gradle = || {
            file_name == GRADLE_OUTPUT
                && GRADLE_FILES
                    .iter()
                    .any(|file| items.contains_key(&joined(parent, file.as_bytes())))
        };
        (WARM.contains(&file_name) || is_of_gradle()) && !items.contains_key(name)
    }

    fn remove(&mut self, name: &[u8], is_folder: bool) -> io::Result<()> {
        let file = self.root.join(path(name));
        if is_folder {
            self.touch_all(name)?;
            return remove_all(&file);
        }
        self.touch(name);
        fs::remove_file(file)
    }

    fn touch_all(&mut self, folder: &[u8]) -> io::Result<()> {
        let Ok(entries) = fs::read_dir(self.root.join(path(folder))) else { return Ok(()) };
        for entry in entries.flatten() {
            let name = joined(folder, entry.file_name().as_bytes());
            if entry.file_type()?.is_dir() { self.touch_all(&name)? } else { self.touch(&name) }
        }
        Ok(())
    }

    fn touch(&mut self, name: &[u8]) {
        self.touched_names.extend_from_slice(name);
        self.touched_names.push(0);
    }

    fn sync_item(&mut self, name: &[u8], item: &Item) -> io::Result<()> {
        let file = self.root.join(path(name));
        if let Ok(metadata) = file.symlink_metadata()
            && self.written_files.content(name, &file, &metadata) == (item.kind, item.hash)
            && has_no_other_name(&metadata)
        {
            // A run may have changed the date alone, by which tools tell if something is built.
            if let Some(date) = item.modified
                && !metadata.is_symlink()
                && metadata.modified()? != date
            {
                File::open(&file)?.set_modified(date)?;
            }
            self.written_files.remember(name, item.hash, &file.symlink_metadata()?);
            return Ok(());
        }
        write(&file, item)?;
        self.touch(name);
        self.written_files.remember(name, item.hash, &file.symlink_metadata()?);
        Ok(())
    }
}

/// A file that no other hard link leads to.
fn has_no_other_name(metadata: &Metadata) -> bool {
    metadata.is_symlink() || metadata.nlink() == 1
}

fn joined(folder: &[u8], file_name: &[u8]) -> Vec<u8> {
    if folder.is_empty() { file_name.into() } else { [folder, b"/", file_name].concat() }
}

fn write(file: &Path, item: &Item) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(folder)?;
    let unfinished_file = unfinished_file(file);
    match fs::remove_file(&unfinished_file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let result = write_item(&unfinished_file, item);
    if result.is_err() {
        let _ = fs::remove_file(&unfinished_file);
    }
    result.and_then(|()| fs::rename(unfinished_file, file))
}

fn write_item(file: &Path, item: &Item) -> io::Result<()> {
    match &item.source {
        Source::Link(target) => return symlink(target, file),
        // The blocks are shared where the file system can.
        Source::File(real_file) => {
            fs::copy(real_file, file).map_err(|error| unread(real_file, &error))?;
            if hash(file)? != item.hash {
                return Err(changed(real_file));
            }
        }
        Source::Bytes(bytes) | Source::Installed(bytes) => fs::write(file, bytes)?,
    }
    let mode = if item.kind == Kind::Executable { 0o755 } else { 0o644 };
    set_mode(file, mode)?;
    item.modified.map_or(Ok(()), |date| File::open(file)?.set_modified(date))
}

/// The path of a file that is being written, with a name that no file of a tree has.
fn unfinished_file(file: &Path) -> PathBuf {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    file.with_file_name(format!(".gate-laying-{}", &blake3::hash(name.as_bytes()).to_hex()[..16]))
}
