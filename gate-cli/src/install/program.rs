//! The program that hooks call: one that is still there after an upgrade, and after a cache
//! is cleared.
//!
//! A program in one of the usual folders stays where it is. Any other may lie in a cache of
//! npx or uvx, in a folder with a version in its name, or below a build. It is copied into
//! gate's own data folder, and the hooks call the copy.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use gate_checks::process::program_link;
use gate_platform::{GATE, RealPath, set_file_mode, sync_folder};
use tempfile::Builder;

use super::command::is_gate;
use super::roots::{MANAGED_DATA, Roots};
use crate::failure::Failure;
use crate::settings::is_protected;

/// Folders in which an upgrade leaves a program, or a link to one, at the same path.
const LASTING_FOLDERS: [&str; 9] = [
    "/bin",
    "/sbin",
    "/usr/bin",
    "/usr/local/bin",
    "/opt/homebrew/bin",
    "/home/linuxbrew/.linuxbrew/bin",
    "/snap/bin",
    "/run/current-system/sw/bin",
    "/nix/var/nix/profiles/default/bin",
];

/// Such folders below the home folder.
const LASTING_AT_HOME: [&str; 4] = [".local/bin", ".cargo/bin", "bin", ".nix-profile/bin"];

/// A variable that names such a folder.
const LASTING_VARIABLE: &str = "XDG_BIN_HOME";

/// Variables that name a folder whose `bin` is such a folder.
const LASTING_ROOT_VARIABLES: [&str; 2] = ["CARGO_HOME", "CARGO_INSTALL_ROOT"];

/// Names of folders that a clean-up may empty at any time.
const CACHE_NAMES: [&str; 5] = [".cache", "Caches", "_npx", "_cacache", "archive-v0"];

/// Names of folders that a package manager replaces at an upgrade.
const PACKAGE_NAMES: [&str; 5] = ["node_modules", "Cellar", "venvs", ".venv", "venv"];

/// The permissions of the copy, whatever the original's are.
const COPY_MODE: u32 = 0o755;

/// Bytes that are compared at once.
const CHUNK_BYTES: usize = 1 << 16;

/// The program that hooks call.
#[derive(Clone, Debug)]
pub(crate) struct HookProgram {
    pub(crate) path: PathBuf,
    /// The path of a copy, whether it exists or not.
    copy: PathBuf,
    /// The running program, if `path` is to be a copy of it.
    original: Option<PathBuf>,
}

impl HookProgram {
    /// The running program if its path lasts, else a copy of it.
    ///
    /// # Errors
    ///
    /// The program's file does not exist any more.
    pub(crate) fn new(roots: &Roots) -> Result<Self, Failure> {
        let running = running_program()?;
        let copy = copy_of_gate(roots);
        let folders = lasting_folders(roots);
        // A program that all users call must be one that no user can replace.
        let is_safe = |path: &Path| !roots.is_managed || is_protected(path);
        let in_folders = folders.iter().map(|folder| folder.join(GATE));
        let mut candidates =
            roots.in_path(GATE).into_iter().chain(in_folders).chain([running.clone()]);
        let lasting = candidates.find(|path| {
            let target = path.real_path().unwrap_or_default();
            is_same_file(path, &running) && is_lasting(path, &target, &folders) && is_safe(path)
        });
        Ok(match lasting {
            Some(path) => Self { path, copy, original: None },
            None => Self {
                path: copy.clone(),
                original: (!is_same_file(&copy, &running)).then_some(running),
                copy,
            },
        })
    }

    /// Hooks need a copy that does not exist, or that is of another build.
    pub(crate) fn is_copy_due(&self) -> bool {
        let original = self.original.as_deref();
        original.is_some_and(|original| !has_same_bytes(original, &self.path).unwrap_or(false))
    }

    /// The path is the copy's: this user's or the machine's.
    pub(super) fn is_copy(&self, path: &Path) -> bool {
        path == self.copy || path == copy_in(Path::new(MANAGED_DATA))
    }

    /// It is this program, or an exact copy of it.
    pub(super) fn is_this(&self, path: &Path, running: &Path) -> bool {
        is_same_file(path, running)
            || (self.is_copy(path) && has_same_bytes(running, path).unwrap_or(false))
    }

    /// Writes the copy if it is due: whole or not at all, so that a hook that starts
    /// meanwhile finds the old one or the new one.
    ///
    /// # Errors
    ///
    /// The copy cannot be written; the old one then stays.
    pub(super) fn write_copy(&self) -> Result<(), Failure> {
        match &self.original {
            Some(original) if self.is_copy_due() => write_program(original, &self.path)
                .map_err(|error| Failure::file("file-unwritable", "write", &self.path, &error)),
            _ => Ok(()),
        }
    }

    /// Renews a copy of another build: a plug-in, or settings that other people share, may find it in
    /// PATH. Returns its path if it was renewed.
    ///
    /// # Errors
    ///
    /// As of [`Self::write_copy`].
    pub(crate) fn renew_copy(&self) -> Result<Option<&Path>, Failure> {
        if !self.path.is_file() || !self.is_copy_due() {
            return Ok(None);
        }
        self.write_copy()?;
        Ok(Some(&self.path))
    }

    #[cfg(test)]
    pub(super) fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), copy: PathBuf::new(), original: None }
    }
}

/// The whole path of the running program.
///
/// # Errors
///
/// The program's file does not exist any more.
pub(super) fn running_program() -> Result<PathBuf, Failure> {
    let running = std::env::current_exe().ok().filter(|program| program.is_file());
    running.ok_or_else(|| {
        Failure::internal("program-unknown", "the path of the running program cannot be found out")
    })
}

/// A person finds gate in PATH. npx and uvx put their caches there for their own children alone, so
/// these do not count.
pub(crate) fn is_in_path(roots: &Roots) -> bool {
    roots
        .all_in_path(GATE)
        .any(|path| !has_name(&path, &CACHE_NAMES) && !has_name(&path, &["node_modules"]))
}

/// The path of the copy.
pub(super) fn copy_of_gate(roots: &Roots) -> PathBuf {
    let path = copy_in(&roots.data);
    std::path::absolute(&path).unwrap_or(path)
}

fn copy_in(data: &Path) -> PathBuf {
    data.join("bin").join(GATE)
}

/// Both paths lead to the same file.
pub(super) fn is_same_file(path: &Path, other_path: &Path) -> bool {
    match (path.real_path(), other_path.real_path()) {
        (Ok(target), Ok(other_target)) => target == other_target,
        _ => false,
    }
}

/// A program at this path may be gone after a clean-up or an upgrade.
pub(super) fn is_fleeting(path: &Path) -> bool {
    has_name(path, &CACHE_NAMES) || has_name(path, &PACKAGE_NAMES)
}

/// The folders in which programs stay.
fn lasting_folders(roots: &Roots) -> Vec<PathBuf> {
    if roots.is_managed {
        return LASTING_FOLDERS.map(PathBuf::from).to_vec();
    }
    let at_home = LASTING_AT_HOME.iter().map(|folder| roots.home.join(folder));
    let roots_with_bin = LASTING_ROOT_VARIABLES.iter().filter_map(|name| roots.variable(name));
    let named = roots.variable(LASTING_VARIABLE).into_iter();
    at_home
        .chain(LASTING_FOLDERS.iter().map(PathBuf::from))
        .chain(named)
        .chain(roots_with_bin.map(|root| root.join("bin")))
        .collect()
}

/// A program at this path, which leads to `target`, stays there. A link stays if an upgrade changes its
/// target, but nobody renews a link that leads into a cache.
fn is_lasting(path: &Path, target: &Path, folders: &[PathBuf]) -> bool {
    let is_known = path.to_str().is_some_and(is_gate);
    let folder = path.parent().unwrap_or(Path::new(""));
    is_known && folders.iter().any(|lasting| lasting == folder) && !has_name(target, &CACHE_NAMES)
}

fn has_name(path: &Path, names: &[&str]) -> bool {
    path.iter().any(|component| names.iter().any(|name| component == *name))
}

fn write_program(original: &Path, copy: &Path) -> io::Result<()> {
    let folder = copy.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    // The running program's own bytes, even if an upgrade has replaced its file.
    let link = program_link(std::process::id() as i32);
    let mut source = File::open(link).or_else(|_| File::open(original))?;
    let mut new_file = Builder::new().prefix(".gate-").tempfile_in(folder)?;
    io::copy(&mut source, new_file.as_file_mut())?;
    set_file_mode(new_file.as_file(), COPY_MODE)?;
    new_file.as_file().sync_all()?;
    new_file.persist(copy).map_err(|error| error.error)?;
    sync_folder(folder)
}

fn has_same_bytes(path: &Path, other_path: &Path) -> io::Result<bool> {
    let (mut file, mut other_file) = (File::open(path)?, File::open(other_path)?);
    if file.metadata()?.len() != other_file.metadata()?.len() {
        return Ok(false);
    }
    let mut chunk = Vec::with_capacity(CHUNK_BYTES);
    let mut other_chunk = Vec::with_capacity(CHUNK_BYTES);
    loop {
        chunk.clear();
        other_chunk.clear();
        file.by_ref().take(CHUNK_BYTES as u64).read_to_end(&mut chunk)?;
        other_file.by_ref().take(CHUNK_BYTES as u64).read_to_end(&mut other_chunk)?;
        if chunk != other_chunk || chunk.is_empty() {
            return Ok(chunk == other_chunk);
        }
    }
}

#[cfg(test)]
mod tests;
