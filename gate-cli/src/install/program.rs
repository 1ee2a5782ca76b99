//! The program that hooks call: one that is still there after an upgrade, and after a cache
//! is cleared.
//!
//! A program in one of the usual folders stays where it is. Any other may lie in a cache of
//! npx or uvx, in a folder with a version in its name, or below a build. It is copied into
//! gate's own data folder, and the hooks call the copy.

use std::fs::{self, File, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use gate_checks::process::program_link;
use tempfile::Builder;

use super::command::is_gate;
use super::roots::{MANAGED_DATA, Roots};
use crate::failure::Failure;
use crate::settings::is_protected;

/// Folders in which an upgrade leaves a program, or a link to one, at the same path.
const LASTING: [&str; 9] = [
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

/// Variables that name such a folder: itself, or the one above `bin`.
const LASTING_NAMED: [(&str, &str); 3] =
    [("XDG_BIN_HOME", ""), ("CARGO_HOME", "bin"), ("CARGO_INSTALL_ROOT", "bin")];

/// Names of folders that a clean-up may empty at any time.
const CACHES: [&str; 5] = [".cache", "Caches", "_npx", "_cacache", "archive-v0"];

/// Names of folders that a package manager replaces at an upgrade.
const PACKAGES: [&str; 5] = ["node_modules", "Cellar", "venvs", ".venv", "venv"];

/// The permissions of the copy: those of any program, whatever the original's are.
const PERMISSIONS: u32 = 0o755;

/// Bytes that are compared at once.
const CHUNK: usize = 1 << 16;

/// The program that hooks call.
#[derive(Clone, Debug)]
pub(crate) struct HookProgram {
    pub(crate) path: PathBuf,
    /// The path of a copy, even if there is none.
    copy: PathBuf,
    /// The running program, if `path` is to be a copy of it.
    original: Option<PathBuf>,
}

impl HookProgram {
    /// The running program if its path lasts, else a copy of it.
    ///
    /// # Errors
    ///
    /// The program's file is not there any more.
    pub(crate) fn new(roots: &Roots) -> Result<Self, Failure> {
        let running = running_program()?;
        let copy = copy_of_gate(roots);
        let folders = lasting_folders(roots);
        // What all users call, no user may replace.
        let is_safe = |path: &Path| !roots.is_managed || is_protected(path);
        let in_folders = folders.iter().map(|folder| folder.join("gate"));
        let mut all = roots.in_path("gate").into_iter().chain(in_folders).chain([running.clone()]);
        let lasting = all.find(|path| {
            let real = path.canonicalize().unwrap_or_default();
            is_same(path, &running) && is_lasting(path, &real, &folders) && is_safe(path)
        });
        Ok(match lasting {
            Some(path) => Self { path, copy, original: None },
            None => Self {
                path: copy.clone(),
                original: (!is_same(&copy, &running)).then_some(running),
                copy,
            },
        })
    }

    /// True if hooks need a copy that is not there, or that is of another build.
    pub(crate) fn is_copy_due(&self) -> bool {
        let original = self.original.as_deref();
        original.is_some_and(|original| !has_same_bytes(original, &self.path).unwrap_or(false))
    }

    /// True if the path is that of the copy, this user's or the machine's.
    pub(super) fn is_copy(&self, path: &Path) -> bool {
        path == self.copy || path == copy_in(Path::new(MANAGED_DATA))
    }

    /// True if it is this program, or an exact copy of it.
    pub(super) fn is_this(&self, path: &Path, running: &Path) -> bool {
        is_same(path, running)
            || (self.is_copy(path) && has_same_bytes(running, path).unwrap_or(false))
    }

    /// Writes the copy if it is due: whole or not at all, so that a hook that starts
    /// meanwhile finds the old one or the new one.
    ///
    /// # Errors
    ///
    /// The copy cannot be written; the old one is then still there.
    pub(super) fn write_copy(&self) -> Result<(), Failure> {
        match &self.original {
            Some(original) if self.is_copy_due() => copied(original, &self.path)
                .map_err(|error| Failure::file("file-unwritable", "write", &self.path, &error)),
            _ => Ok(()),
        }
    }

    /// Renews the copy, if there is one of another build: a plug-in, or settings that others
    /// share, may find it in PATH. Returns its path if it was renewed.
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
/// The program's file is not there any more.
pub(super) fn running_program() -> Result<PathBuf, Failure> {
    let running = std::env::current_exe().ok().filter(|program| program.is_file());
    running.ok_or_else(|| {
        Failure::internal("program-unknown", "the path of the running program cannot be found out")
    })
}

/// True if a person finds gate in PATH: npx and uvx put their caches there, for their own
/// children alone.
pub(crate) fn is_in_path(roots: &Roots) -> bool {
    roots
        .all_in_path("gate")
        .any(|path| !has_name(&path, &CACHES) && !has_name(&path, &["node_modules"]))
}

/// The path of the copy.
pub(super) fn copy_of_gate(roots: &Roots) -> PathBuf {
    let path = copy_in(&roots.data);
    std::path::absolute(&path).unwrap_or(path)
}

fn copy_in(data: &Path) -> PathBuf {
    data.join("bin").join("gate")
}

pub(super) fn is_same(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

/// True if a program at this path may be gone after a clean-up or an upgrade.
pub(super) fn is_fleeting(path: &Path) -> bool {
    has_name(path, &CACHES) || has_name(path, &PACKAGES)
}

/// The folders in which programs stay.
fn lasting_folders(roots: &Roots) -> Vec<PathBuf> {
    if roots.is_managed {
        return LASTING.map(PathBuf::from).to_vec();
    }
    let at_home = LASTING_AT_HOME.iter().map(|folder| roots.home.join(folder));
    let named = LASTING_NAMED.iter().filter_map(|(name, below)| {
        roots
            .variable(name)
            .map(|folder| if below.is_empty() { folder } else { folder.join(below) })
    });
    at_home.chain(LASTING.iter().map(PathBuf::from)).chain(named).collect()
}

/// True if a program at this path, which leads to `real`, stays there. A link stays if an
/// upgrade changes its target; nobody renews one that leads into a cache.
fn is_lasting(path: &Path, real: &Path, folders: &[PathBuf]) -> bool {
    let is_known = path.to_str().is_some_and(is_gate);
    let folder = path.parent().unwrap_or(Path::new(""));
    is_known && folders.iter().any(|lasting| lasting == folder) && !has_name(real, &CACHES)
}

fn has_name(path: &Path, names: &[&str]) -> bool {
    path.iter().any(|part| names.iter().any(|name| part == *name))
}

fn copied(original: &Path, copy: &Path) -> io::Result<()> {
    let folder = copy.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    // The running program's own bytes, even if an upgrade has replaced its file.
    let link = program_link(std::process::id() as i32);
    let mut from = File::open(link).or_else(|_| File::open(original))?;
    let mut beside = Builder::new().prefix(".gate-").tempfile_in(folder)?;
    io::copy(&mut from, beside.as_file_mut())?;
    beside.as_file().set_permissions(Permissions::from_mode(PERMISSIONS))?;
    beside.as_file().sync_all()?;
    beside.persist(copy).map_err(|error| error.error)?;
    File::open(folder)?.sync_all()
}

fn has_same_bytes(one: &Path, other: &Path) -> io::Result<bool> {
    let (mut one, mut other) = (File::open(one)?, File::open(other)?);
    if one.metadata()?.len() != other.metadata()?.len() {
        return Ok(false);
    }
    let (mut left, mut right) = (Vec::with_capacity(CHUNK), Vec::with_capacity(CHUNK));
    loop {
        left.clear();
        right.clear();
        one.by_ref().take(CHUNK as u64).read_to_end(&mut left)?;
        other.by_ref().take(CHUNK as u64).read_to_end(&mut right)?;
        if left != right || left.is_empty() {
            return Ok(left == right);
        }
    }
}

#[cfg(test)]
mod tests;
