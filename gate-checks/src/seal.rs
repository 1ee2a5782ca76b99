//! Sealed tests: tests outside of the work tree that the agent does not see.
//!
//! A check's seal names their folder and has its digest, so that a changed test is noticed. It
//! stands in the tree's folder of the state. A folder that only settings name is sealed when a
//! check first runs it.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use gate_core::decide::policy::Policy;
use gate_platform::{MetadataExt, RealPath};
use ignore::WalkBuilder;
use serde::{Deserialize, Serialize};

use crate::site::CheckSite;
use crate::store;
use crate::worktree::{WorkTree, WorktreeError};

/// The file of a tree's state with its seals, by check.
const FILE: &str = "seals.json";

/// Sealed tests of one check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Seal {
    /// The folder of the tests, outside of the work tree.
    #[serde(with = "crate::path_text")]
    pub folder: PathBuf,
    /// BLAKE3 of the paths and texts of the folder's files, in hexadecimal.
    pub digest: String,
    /// The number of the folder's files.
    pub files: u64,
    /// The command has run them on a tree without the work.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tried: bool,
    /// The digests of the names of the tests that ran there, as far as the report has them: no agent
    /// reads the names here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ran: Vec<String>,
}

/// A seal, or the reason why it cannot be used.
pub type SealResult = Result<Seal, SealError>;

/// An error that keeps sealed tests from being used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SealError {
    /// The folder, or something in it, cannot be read.
    #[error("the sealed folder {folder} cannot be read: {error}")]
    Unreadable {
        /// The folder.
        folder: PathBuf,
        /// The cause.
        error: io::Error,
    },
    /// The folder has no file.
    #[error("the sealed folder {0} is empty")]
    Empty(PathBuf),
    /// The agent works in the folder.
    #[error("the sealed folder {0} is in the work tree, where the agent sees it; move it out")]
    InTree(PathBuf),
    /// The folder has something that is no file.
    #[error("in the sealed folder {0} there is a link or a device; only files can be sealed")]
    NoFile(PathBuf),
    /// The tests are not those that were sealed.
    #[error(
        "the tests in {folder} changed since they were sealed; if that is right: \
         `gate seal add {check} {folder}`"
    )]
    Changed {
        /// The folder.
        folder: PathBuf,
        /// The check.
        check: String,
    },
    /// The state has no folder.
    #[error("there is no folder for gate's state, so nothing can be sealed")]
    NoState,
    /// The file with the seals cannot be written.
    #[error("the seals in {file} cannot be written: {error}; nothing was sealed")]
    Unwritable {
        /// The file.
        file: PathBuf,
        /// The cause.
        error: io::Error,
    },
    /// The file with the seals is damaged.
    #[error("the seals in {file} cannot be read: {error}; remove the file and seal again")]
    Damaged {
        /// The file.
        file: PathBuf,
        /// The cause.
        error: io::Error,
    },
    /// The work tree cannot be read.
    #[error(transparent)]
    Tree(#[from] WorktreeError),
}

/// The seals of a work tree, by check.
///
/// # Errors
///
/// A file that cannot be read, or that gate did not write.
pub fn seals(site: &CheckSite) -> Result<BTreeMap<String, Seal>, SealError> {
    let tree = WorkTree::open(site)?;
    match seals_file(site, &tree) {
        Some(file) => read(&file),
        None => Ok(BTreeMap::new()),
    }
}

/// Seals a folder for a check, in the place of an earlier one.
///
/// # Errors
///
/// A folder that cannot be sealed, a state that cannot be written.
pub fn add_seal(site: &CheckSite, check: &str, folder: &Path) -> Result<Seal, SealError> {
    let tree = WorkTree::open(site)?;
    let seal = Seal::new(&tree, folder)?;
    replace_seal(site, &tree, check, Some(&seal))?;
    Ok(seal)
}

/// Notes that the command of a check has run these sealed tests on a tree without the work.
///
/// # Errors
///
/// A state that cannot be read or written.
pub fn note_tried(site: &CheckSite, check: &str, ran: &[String]) -> Result<(), SealError> {
    let tree = WorkTree::open(site)?;
    let Some(seal) = seals(site)?.remove(check) else { return Ok(()) };
    replace_seal(
        site,
        &tree,
        check,
        Some(&Seal {
            tried: true,
            ran: ran.iter().map(|name| gate_core::digest(name.as_bytes())).collect(),
            ..seal
        }),
    )
    .map(drop)
}

/// The checks with sealed tests, each with its seal or the reason why that cannot be used. A folder
/// that only settings name is sealed.
///
/// # Errors
///
/// A work tree that cannot be read.
pub fn sealed_checks(
    policy: &Policy,
    site: &CheckSite,
) -> Result<Vec<(String, SealResult)>, SealError> {
    let tree = WorkTree::open(site)?;
    let sealed = policy.checks.iter().filter_map(|(name, check)| {
        let seal = Seal::find(site, &tree, name, check.sealed.as_deref()).transpose()?;
        Some((name.clone(), seal))
    });
    Ok(sealed.collect())
}

/// Removes a check's seal, and returns it.
///
/// # Errors
///
/// A state that cannot be read or written.
pub fn remove_seal(site: &CheckSite, check: &str) -> Result<Option<Seal>, SealError> {
    let tree = WorkTree::open(site)?;
    replace_seal(site, &tree, check, None)
}

impl Seal {
    fn new(tree: &WorkTree, folder: &Path) -> Result<Self, SealError> {
        let unreadable = |error| SealError::Unreadable { folder: folder.to_owned(), error };
        let real_folder = folder.real_path().map_err(unreadable)?;
        if real_folder.starts_with(tree.root()) || tree.root().starts_with(&real_folder) {
            return Err(SealError::InTree(real_folder));
        }
        let files = files(&real_folder)?;
        if files.is_empty() {
            return Err(SealError::Empty(real_folder));
        }
        let mut hasher = blake3::Hasher::new();
        for file in &files {
            let text = fs::read(real_folder.join(file)).map_err(unreadable)?;
            // With the lengths, no other split into paths and texts has the same digest.
            for part in [file.as_os_str().as_encoded_bytes(), text.as_slice()] {
                hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
            }
        }
        let digest = hasher.finalize().to_hex().to_string();
        Ok(Self {
            folder: real_folder,
            digest,
            files: files.len() as u64,
            tried: false,
            ran: Vec::new(),
        })
    }

    /// The seal of a check: the operator's, else one of the folder that the settings name, relative to
    /// the project. `None` if there is neither.
    ///
    /// # Errors
    ///
    /// Tests that are missing, or that are not those that were sealed.
    pub(crate) fn find(
        site: &CheckSite,
        tree: &WorkTree,
        check: &str,
        configured: Option<&str>,
    ) -> Result<Option<Self>, SealError> {
        let configured_folder = configured.map(|folder| site.project.join(folder));
        let stored_seal = match seals_file(site, tree) {
            Some(file) => read(&file)?.remove(check),
            None => None,
        };
        // Settings that name another folder than before make a new seal.
        let stored_seal = stored_seal.filter(|seal| match &configured_folder {
            Some(folder) => folder.real_path().map_or(true, |folder| folder == seal.folder),
            None => true,
        });
        let stored_folder = stored_seal.as_ref().map(|seal| seal.folder.clone());
        let Some(folder) = stored_folder.or(configured_folder) else { return Ok(None) };
        let seal = Self::new(tree, &folder)?;
        match stored_seal {
            Some(stored_seal) if stored_seal.digest != seal.digest => {
                Err(SealError::Changed { folder: seal.folder, check: check.to_owned() })
            }
            Some(Self { tried, ran, .. }) => Ok(Some(Self { tried, ran, ..seal })),
            None => {
                if site.state.is_some() {
                    replace_seal(site, tree, check, Some(&seal))?;
                }
                Ok(Some(seal))
            }
        }
    }

    /// The sealed files, relative to the folder.
    pub(crate) fn files(&self) -> Result<Vec<PathBuf>, SealError> {
        files(&self.folder)
    }

    /// The user of the work tree can read the folder. Without its metadata that is assumed.
    pub(crate) fn is_readable_in(&self, tree: &WorkTree) -> bool {
        /// Permission of others to enter and list a folder.
        const OTHERS: u32 = 0o005;
        let (Ok(sealed), Ok(root)) = (self.folder.metadata(), tree.root().metadata()) else {
            return true;
        };
        sealed.uid() == root.uid() || root.uid() == 0 || sealed.mode() & OTHERS == OTHERS
    }
}

fn seals_file(site: &CheckSite, tree: &WorkTree) -> Option<PathBuf> {
    site.state.as_ref().map(|state| store::tree_folder(state, tree.root()).join(FILE))
}

fn read(file: &Path) -> Result<BTreeMap<String, Seal>, SealError> {
    let damaged = |error| SealError::Damaged { file: file.to_owned(), error };
    match fs::read(file) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| damaged(error.into())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(BTreeMap::new()),
        Err(error) => Err(damaged(error)),
    }
}

/// Writes a check's seal, or removes it. Returns the earlier seal.
fn replace_seal(
    site: &CheckSite,
    tree: &WorkTree,
    check: &str,
    seal: Option<&Seal>,
) -> Result<Option<Seal>, SealError> {
    let file = seals_file(site, tree).ok_or(SealError::NoState)?;
    let mut seals = read(&file)?;
    let earlier_seal = match seal {
        Some(seal) => seals.insert(check.to_owned(), seal.clone()),
        None => seals.remove(check),
    };
    serde_json::to_vec_pretty(&seals)
        .map_err(io::Error::from)
        .and_then(|bytes| store::write_durable_file(&file, &bytes))
        .map_err(|error| SealError::Unwritable { file, error })?;
    Ok(earlier_seal)
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, SealError> {
    let walk = WalkBuilder::new(folder)
        .standard_filters(false)
        .sort_by_file_path(|left, right| left.cmp(right))
        .build();
    let mut files = Vec::new();
    for entry in walk {
        let unreadable = |error: ignore::Error| {
            let error = error.into_io_error().unwrap_or_else(|| io::ErrorKind::Other.into());
            SealError::Unreadable { folder: folder.to_owned(), error }
        };
        let entry = entry.map_err(unreadable)?;
        let file_type = entry.file_type();
        if file_type.is_some_and(|file_type| file_type.is_dir()) {
            continue;
        }
        if !file_type.is_some_and(|file_type| file_type.is_file()) {
            return Err(SealError::NoFile(folder.to_owned()));
        }
        files.extend(entry.path().strip_prefix(folder).ok().map(Path::to_owned));
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use gate_platform::symlink;

    use super::*;

    #[test]
    fn the_digest_tells_paths_texts_and_links() {
        let outer = tempfile::tempdir().unwrap();
        let (project, folder) = (outer.path().join("project"), outer.path().join("sealed"));
        fs::create_dir_all(&project).unwrap();
        fs::create_dir_all(folder.join("a")).unwrap();
        let site = CheckSite::new(&project);
        let tree = WorkTree::open(&site).unwrap();
        let seal = || Seal::new(&tree, &folder);
        assert!(matches!(seal(), Err(SealError::Empty(_))));
        fs::write(folder.join("a/b"), "1").unwrap();
        let first = seal().unwrap();
        assert_eq!((first.files, seal().unwrap().digest), (1, first.digest.clone()));
        fs::write(folder.join("a/b"), "2").unwrap();
        assert_ne!(seal().unwrap().digest, first.digest);
        symlink("b", folder.join("a/c")).unwrap();
        assert!(matches!(seal(), Err(SealError::NoFile(_))));
        let inside = Seal::new(&tree, &project);
        assert!(matches!(inside, Err(SealError::InTree(_))));
        let above = Seal::new(&tree, outer.path());
        assert!(matches!(above, Err(SealError::InTree(_))));
        let gone = Seal::new(&tree, &outer.path().join("gone"));
        assert!(gone.unwrap_err().to_string().contains("cannot be read"));
    }
}
