//! Files that the site's settings keep out of the tree.

use std::path::{Path, PathBuf};

use gate_platform::{RealPath, git_name};

use super::error::WorktreeError;
use super::globs::Globs;
use super::names::prefix_of;
use super::tracked::TrackedFiles;
use crate::site::CheckSite;

/// The site's rules, in names relative to the root.
#[derive(Clone, Debug)]
pub(super) struct IgnoreRules {
    /// The project's folder: empty, or with a slash at the end.
    project: Vec<u8>,
    globs: Globs,
    state: Option<Vec<u8>>,
    callers_files: Vec<Vec<u8>>,
}

impl IgnoreRules {
    pub(super) fn new(site: &CheckSite, root: &Path) -> Result<Self, WorktreeError> {
        let mut callers_files = Vec::new();
        for file in &site.callers_files {
            callers_files.extend(relative_path(&site.project.join(file), root));
        }
        let state = site.state.as_deref();
        Ok(Self {
            project: prefix_of(&site.project, root)?,
            globs: Globs::new(&site.ignore)?,
            state: state.and_then(|state| relative_path(&site.project.join(state), root)),
            callers_files,
        })
    }

    /// A name relative to the project; `None` if it does not lie inside.
    pub(super) fn path_in_project<'p>(&self, path: &'p [u8]) -> Option<&'p [u8]> {
        path.strip_prefix(&*self.project)
    }

    /// A file or folder is no part of the tree, tracked or not.
    pub(super) fn is_excluded(&self, path: &[u8]) -> bool {
        let is_state = self.state.as_deref().is_some_and(|state| is_in(path, state));
        is_state || self.path_in_project(path).is_some_and(|path| self.globs.matches(path))
    }

    /// A file that git does not track belongs to the caller, such as a runner's log: logs of a loop
    /// differ in their numbers.
    pub(super) fn is_callers_file(&self, path: &[u8]) -> bool {
        self.callers_files.iter().any(|file| file == path || with_zeros(file).eq(with_zeros(path)))
    }

    /// The project stands in this folder, whose name ends with a slash.
    pub(super) fn holds_project(&self, folder: &[u8]) -> bool {
        self.project.starts_with(folder)
    }

    /// The folders that hold the caller's files and no file that git tracks: a runner's logs. A
    /// folder that the project stands in does not count.
    pub(super) fn callers_folders(&self, tracked: &TrackedFiles<'_>) -> Vec<Vec<u8>> {
        let folders = self.callers_files.iter().filter_map(|file| {
            let end = file.iter().rposition(|byte| *byte == b'/')?;
            Some(file[..end].to_vec())
        });
        let logs = folders.filter(|folder| {
            !self.holds_project(&[folder, &b"/"[..]].concat()) && !tracked.has_files_in(folder)
        });
        logs.collect()
    }
}

/// The path is this folder, or below it.
fn is_in(path: &[u8], folder: &[u8]) -> bool {
    path.strip_prefix(folder).is_some_and(|behind| behind.is_empty() || behind[0] == b'/')
}

/// A name in which each number is one zero.
fn with_zeros(path: &[u8]) -> impl Iterator<Item = u8> {
    let runs = path.chunk_by(|left, right| left.is_ascii_digit() && right.is_ascii_digit());
    runs.map(|run| if run[0].is_ascii_digit() { b'0' } else { run[0] })
}

/// A path relative to the root; `None` if it does not lie inside, or is the root itself.
fn relative_path(path: &Path, root: &Path) -> Option<Vec<u8>> {
    let real = real_path(path);
    let relative = git_name(real.strip_prefix(root).ok()?);
    (!relative.is_empty()).then(|| relative.into_owned())
}

/// A path without links on the way to it; it need not be there yet. A link at
/// its end is itself.
fn real_path(path: &Path) -> PathBuf {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return path.real_path().unwrap_or_else(|_| path.to_path_buf());
    };
    folder.real_path().unwrap_or_else(|_| real_path(folder)).join(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ignored(site: impl FnOnce(&mut CheckSite, &Path)) -> (tempfile::TempDir, IgnoreRules) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("app")).unwrap();
        let mut settings = CheckSite::new(root.join("app"));
        site(&mut settings, &root);
        let ignored = IgnoreRules::new(&settings, &root).unwrap();
        (folder, ignored)
    }

    #[test]
    fn globs_are_relative_to_the_project() {
        let (_folder, ignored) = ignored(|site, _| site.ignore = vec!["*.log".to_owned()]);
        assert!(ignored.is_excluded(b"app/run.log"));
        assert!(!ignored.is_excluded(b"run.log"));
    }

    #[test]
    fn a_state_folder_that_is_not_there_yet_is_left_out() {
        let (_folder, ignored) = ignored(|site, root| {
            site.state = Some(root.join("app/.state/gate"));
        });
        assert!(ignored.is_excluded(b"app/.state/gate/trees"));
        assert!(!ignored.is_excluded(b"app/.state/gatekeeper"));
    }

    #[test]
    fn the_project_is_no_folder_of_logs() {
        let (_folder, ignored) = ignored(|site, root| {
            site.callers_files = vec!["run.log".into(), "logs/1.log".into(), root.join("top.log")];
        });
        assert_eq!(ignored.callers_folders(&TrackedFiles::default()), [b"app/logs".to_vec()]);
        assert!(ignored.is_callers_file(b"app/run.log"));
        assert!(ignored.is_callers_file(b"top.log"));
    }

    #[test]
    fn numbered_logs_are_the_callers() {
        let (_folder, ignored) = ignored(|site, root| {
            site.callers_files = vec![root.join("out-9.log"), root.join("v2.log")];
        });
        for name in ["out-9.log", "out-10.log", "v3.log"] {
            assert!(ignored.is_callers_file(name.as_bytes()), "{name}");
        }
        for name in ["out-.log", "out-1.txt", "out.log", "out-1.2.log", "v.log", "app/out-1.log"] {
            assert!(!ignored.is_callers_file(name.as_bytes()), "{name}");
        }
    }
}
