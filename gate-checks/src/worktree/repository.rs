//! The repositories of a work tree: its own, and those of its submodules.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::error::WorktreeError;
use super::git::{Git, Place};
use super::index::Entries;
use super::names;
use super::names::is_plain;
use crate::cancellation::Cancellation;

/// The deepest nesting of submodules.
const MAX_SUBMODULE_DEPTH: usize = 32;

/// A repository with its work tree.
#[derive(Clone, Debug)]
pub(crate) struct Repository {
    /// The work tree relative to the root: empty, or with a slash at the end.
    pub(crate) prefix: Vec<u8>,
    /// The work tree's folder.
    pub(crate) folder: PathBuf,
    /// The folder that git keeps its things in.
    pub(crate) git_dir: PathBuf,
    pub(crate) index: Entries,
}

impl Repository {
    /// The repository of the root and those of all submodules that are there.
    pub(super) fn all(
        git: &Git,
        root: &Path,
        cancel: &Cancellation,
    ) -> Result<Vec<Self>, WorktreeError> {
        let mut all = vec![Self::open(git, root, Vec::new(), cancel)?];
        let mut next = 0;
        while let Some(outer) = all.get(next) {
            let inner = outer.submodules();
            for prefix in inner {
                all.push(Self::open(git, root, prefix, cancel)?);
            }
            next += 1;
        }
        Ok(all)
    }

    /// The repository whose work tree stands at a prefix, before its index was
    /// read.
    pub(super) fn find(root: &Path, prefix: Vec<u8>) -> Result<Self, WorktreeError> {
        let folder = root.join(names::path(&prefix));
        let git_dir = super::git::git_dir(&folder.join(".git"))?;
        Ok(Self { prefix, folder, git_dir, index: Entries::default() })
    }

    fn open(
        git: &Git,
        root: &Path,
        prefix: Vec<u8>,
        cancel: &Cancellation,
    ) -> Result<Self, WorktreeError> {
        let found = Self::find(root, prefix)?;
        let text = git.read(found.place(), &["ls-files", "--stage", "-t", "-z"], cancel)?;
        let index = Entries::parse_index(text).ok_or_else(|| unread(&found.folder, "ls-files"))?;
        Ok(Self { index, ..found })
    }

    /// The submodules whose work tree is there, as prefixes.
    fn submodules(&self) -> Vec<Vec<u8>> {
        let depth = self.prefix.iter().filter(|byte| **byte == b'/').count();
        let modules =
            self.index.iter().filter(|entry| entry.is_submodule() && depth < MAX_SUBMODULE_DEPTH);
        let there = modules.filter(|module| is_open(&self.folder, module.path));
        there.map(|module| [self.prefix.as_slice(), module.path, b"/"].concat()).collect()
    }

    pub(crate) fn place(&self) -> Place<'_> {
        Place { git_dir: &self.git_dir, work_tree: &self.folder, variables: &[] }
    }

    /// The commit that is checked out; none before the first commit.
    pub(crate) fn head(
        &self,
        git: &Git,
        cancel: &Cancellation,
    ) -> Result<Option<String>, WorktreeError> {
        let args = ["rev-parse", "--quiet", "--verify", "HEAD^{commit}"];
        let answer = git.output(self.place(), &args, &[], cancel)?;
        match answer.code {
            Some(0) => Ok(Some(String::from_utf8_lossy(answer.out.trim_ascii()).into_owned())),
            Some(1) => Ok(None),
            _ => Err(answer.wrong(self.place(), &args)),
        }
    }

    /// The files of a commit.
    pub(crate) fn tree(
        &self,
        git: &Git,
        commit: &str,
        cancel: &Cancellation,
    ) -> Result<Entries, WorktreeError> {
        let args = ["ls-tree", "-r", "-z", "--full-tree", commit];
        let text = git.read(self.place(), &args, cancel)?;
        Entries::parse_tree(text).ok_or_else(|| unread(&self.folder, "ls-tree"))
    }

    /// True if the index has a file below this folder.
    pub(super) fn lists_in(
        &self,
        git: &Git,
        name: &Path,
        cancel: &Cancellation,
    ) -> Result<bool, WorktreeError> {
        // The path is one, and not a pattern.
        let literally = [("GIT_LITERAL_PATHSPECS", Path::new("1"))];
        let place = Place { variables: &literally, ..self.place() };
        let args = ["ls-files", "-z"];
        let answer = git.output(place, &args, &[name], cancel)?;
        if answer.code != Some(0) {
            return Err(answer.wrong(place, &args));
        }
        // A submodule is listed by the very name of its folder.
        let mut files = answer.out.split(|byte| *byte == 0).filter(|part| !part.is_empty());
        Ok(files.any(|file| file != name.as_os_str().as_bytes()))
    }

    /// True if the commit has a file below this folder.
    pub(super) fn has_folder(
        &self,
        git: &Git,
        name: &Path,
        cancel: &Cancellation,
    ) -> Result<bool, WorktreeError> {
        let Some(commit) = self.head(git, cancel)? else { return Ok(false) };
        let args = ["ls-tree", "-z", "--full-tree", commit.as_str()];
        let answer = git.output(self.place(), &args, &[name], cancel)?;
        match answer.code {
            Some(0) => Ok(answer.out.starts_with(b"040000 tree ")),
            _ => Err(answer.wrong(self.place(), &args)),
        }
    }

    /// The folder of the objects; linked work trees share one.
    pub(crate) fn objects(&self) -> PathBuf {
        objects(&self.git_dir)
    }
}

/// The folder of a git folder's objects.
pub(super) fn objects(git_dir: &Path) -> PathBuf {
    common(git_dir).join("objects")
}

/// The folder that linked work trees share; of any other the git folder itself.
pub(super) fn common(git_dir: &Path) -> PathBuf {
    let common = std::fs::read(git_dir.join("commondir"));
    let shared = common.map(|text| git_dir.join(names::path(text.trim_ascii())));
    shared.unwrap_or_else(|_| git_dir.into())
}

/// True if a submodule is checked out.
fn is_open(folder: &Path, module: &[u8]) -> bool {
    let dot_git = folder.join(names::path(module)).join(".git");
    is_folder(folder, module) && dot_git.symlink_metadata().is_ok()
}

/// True if the name is a real folder below this one: a link on the way to it leads elsewhere.
pub(super) fn is_folder(folder: &Path, name: &[u8]) -> bool {
    let mut at = folder.to_path_buf();
    is_plain(name)
        && names::path(name).iter().all(|part| {
            at.push(part);
            at.symlink_metadata().is_ok_and(|metadata| metadata.is_dir())
        })
}

fn unread(folder: &Path, command: &str) -> WorktreeError {
    let problem = "printed what cannot be read".to_owned();
    WorktreeError::Git { command: command.to_owned(), folder: folder.into(), problem }
}
