//! Brings a folder up to a layout: what is as it has to be is not touched.
//!
//! After a run nothing in it is believed. By the rules of every snapshot, a file whose metadata is
//! unchanged is unchanged; all others are read, and written anew if their bytes differ. A file is
//! always written beside and put into its place: it may have become a second name of some other
//! file.

use std::fs::{self, File, Metadata, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use super::layout::{Item, Layout, Source, changed, path, unread};
use crate::copy::hash;
use crate::remove::remove_all;
use crate::worktree::{Kind, WrittenFiles};

/// Folders that tools fill with what they make of the work, and that cost the most if they are
/// empty. In the copy that decides none stays but those of the baseline's caches. Compiled Python is none of them: no check writes it, and what is found there could stand
/// for another source.
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

/// A folder that is warm beside one of these files.
const BUILD: (&str, [&str; 2]) = ("build", ["build.gradle", "build.gradle.kts"]);

/// A folder that is brought up to a layout.
pub(super) struct Sync<'a> {
    root: &'a Path,
    layout: &'a Layout,
    written: WrittenFiles,
    /// The names of all files that were written or removed, each with a zero behind.
    touched: Vec<u8>,
}

impl<'a> Sync<'a> {
    /// With what is known of the folder from an earlier time.
    pub(super) fn new(root: &'a Path, layout: &'a Layout, known: Option<Vec<u8>>) -> Self {
        Self { root, layout, written: WrittenFiles::read(known), touched: Vec::new() }
    }

    /// Brings it up to the layout: the names of what was touched, and what is known of it by now,
    /// if that is new.
    ///
    /// # Errors
    ///
    /// A file that cannot be written, removed or read, or that changes meanwhile.
    pub(super) fn run(mut self) -> io::Result<(Vec<u8>, Option<Vec<u8>>)> {
        fs::create_dir_all(self.root)?;
        self.sweep(&[])?;
        for (name, item) in &self.layout.items {
            self.sync(name, item)?;
        }
        let renewed = self.written.renewed();
        Ok((self.touched, renewed))
    }

    /// Removes what has no place in a folder.
    fn sweep(&mut self, folder: &[u8]) -> io::Result<()> {
        for entry in fs::read_dir(self.root.join(path(folder)))? {
            let entry = entry?;
            let own = entry.file_name();
            let name = match folder {
                [] => own.as_bytes().to_vec(),
                _ => [folder, b"/", own.as_bytes()].concat(),
            };
            let is_folder = entry.file_type()?.is_dir();
            if is_folder && self.layout.has_folder(&name) {
                self.sweep(&name)?;
            } else if is_folder && self.stays(folder, &name, &own.to_string_lossy()) {
                continue;
            } else if is_folder || !self.layout.items.contains_key(&name) {
                self.remove(&name, is_folder)?;
            }
        }
        Ok(())
    }

    /// True if a folder outside of the layout stays: caches of builds, which cost the most to make
    /// again.
    fn stays(&self, folder: &[u8], name: &[u8], own: &str) -> bool {
        if name == b".git" {
            return true;
        }
        if let Some(caches) = &self.layout.caches {
            return caches.iter().any(|cache| cache == path(name));
        }
        let items = &self.layout.items;
        let is_warm = WARM.contains(&own)
            || own == BUILD.0
                && BUILD.1.iter().any(|file| items.contains_key(&joined(folder, file)));
        is_warm && !items.contains_key(name)
    }

    fn remove(&mut self, name: &[u8], is_folder: bool) -> io::Result<()> {
        let at = self.root.join(path(name));
        if is_folder {
            self.touch_all(name)?;
            return remove_all(&at);
        }
        self.touch(name);
        fs::remove_file(at)
    }

    fn touch_all(&mut self, folder: &[u8]) -> io::Result<()> {
        let Ok(entries) = fs::read_dir(self.root.join(path(folder))) else { return Ok(()) };
        for entry in entries.flatten() {
            let name = [folder, b"/", entry.file_name().as_bytes()].concat();
            if entry.file_type()?.is_dir() { self.touch_all(&name)? } else { self.touch(&name) }
        }
        Ok(())
    }

    fn touch(&mut self, name: &[u8]) {
        self.touched.extend_from_slice(name);
        self.touched.push(0);
    }

    fn sync(&mut self, name: &[u8], item: &Item) -> io::Result<()> {
        let at = self.root.join(path(name));
        if let Ok(about) = at.symlink_metadata()
            && self.written.look(name, &at, &about) == (item.kind, item.hash)
            && is_alone(&about)
        {
            // A run may have changed the date alone, by which tools tell if something is built.
            if let Some(date) = item.modified
                && !about.is_symlink()
                && about.modified()? != date
            {
                File::open(&at)?.set_modified(date)?;
            }
            self.written.remember(name, item.hash, &at.symlink_metadata()?);
            return Ok(());
        }
        write(&at, item)?;
        self.touch(name);
        self.written.remember(name, item.hash, &at.symlink_metadata()?);
        Ok(())
    }
}

/// True if a file has no other hard link.
fn is_alone(about: &Metadata) -> bool {
    about.is_symlink() || about.nlink() == 1
}

fn joined(folder: &[u8], name: &str) -> Vec<u8> {
    if folder.is_empty() { name.into() } else { [folder, b"/", name.as_bytes()].concat() }
}

fn write(at: &Path, item: &Item) -> io::Result<()> {
    let folder = at.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(folder)?;
    let beside = beside(at);
    match fs::remove_file(&beside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let written = write_beside(&beside, item);
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written.and_then(|()| fs::rename(beside, at))
}

fn write_beside(beside: &Path, item: &Item) -> io::Result<()> {
    match &item.source {
        Source::Link(target) => return symlink(target, beside),
        // The blocks are shared where the file system can.
        Source::File(real) => {
            fs::copy(real, beside).map_err(|error| unread(real, &error))?;
            if hash(beside)? != item.hash {
                return Err(changed(real));
            }
        }
        Source::Bytes(bytes) | Source::Installed(bytes) => fs::write(beside, bytes)?,
    }
    let mode = if item.kind == Kind::Executable { 0o755 } else { 0o644 };
    fs::set_permissions(beside, Permissions::from_mode(mode))?;
    item.modified.map_or(Ok(()), |time| File::open(beside)?.set_modified(time))
}

/// A name that no file of a tree has.
fn beside(at: &Path) -> PathBuf {
    let name = at.file_name().unwrap_or_default().to_string_lossy();
    at.with_file_name(format!(".gate-laying-{}", &blake3::hash(name.as_bytes()).to_hex()[..16]))
}
