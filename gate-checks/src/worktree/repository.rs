//! The repositories of a work tree: its own, and those of its submodules.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use gate_platform::git_name;

use super::error::WorktreeError;
use super::git::{Git, GitPlace};
use super::index::GitEntries;
use super::names;
use super::names::is_plain;
use crate::cancellation::Cancellation;

/// The deepest nesting of submodules.
const MAX_SUBMODULE_DEPTH: usize = 32;

/// The longest list of a commit's files that stays in memory, in bytes.
const MAX_TREE_BYTES: usize = 8 << 20;

/// A git folder and the name of a commit.
type CommitKey = (PathBuf, String);

/// The commit whose files were read last, and its files.
static LATEST_TREE: Mutex<Option<(CommitKey, Arc<GitEntries>)>> = Mutex::new(None);

/// A repository with its work tree.
#[derive(Clone, Debug)]
pub(crate) struct Repository {
    /// The work tree relative to the root: empty, or with a slash at the end.
    pub(crate) prefix: Vec<u8>,
    /// The work tree's folder.
    pub(crate) folder: PathBuf,
    /// The folder that git keeps its things in.
    pub(crate) git_dir: PathBuf,
    pub(crate) index: GitEntries,
}

impl Repository {
    /// The repository of the root and those of all submodules that are there.
    pub(super) fn find_all(
        git: &Git,
        root: &Path,
        cancel: &Cancellation,
    ) -> Result<Vec<Self>, WorktreeError> {
        let mut repositories = vec![Self::open(git, root, Vec::new(), cancel)?];
        let mut next = 0;
        while let Some(outer) = repositories.get(next) {
            for prefix in outer.open_submodules() {
                repositories.push(Self::open(git, root, prefix, cancel)?);
            }
            next += 1;
        }
        Ok(repositories)
    }

    /// The repository whose work tree stands at a prefix, before its index was
    /// read.
    pub(super) fn find(root: &Path, prefix: Vec<u8>) -> Result<Self, WorktreeError> {
        let folder = root.join(names::path(&prefix));
        let git_dir = super::git::git_dir(&folder.join(".git"))?;
        Ok(Self { prefix, folder, git_dir, index: GitEntries::default() })
    }

    fn open(
        git: &Git,
        root: &Path,
        prefix: Vec<u8>,
        cancel: &Cancellation,
    ) -> Result<Self, WorktreeError> {
        let repository = Self::find(root, prefix)?;
        let text = git.read(repository.place(), &["ls-files", "--stage", "-t", "-z"], cancel)?;
        let index = GitEntries::parse_index(text)
            .ok_or_else(|| unreadable_output(&repository.folder, "ls-files"))?;
        Ok(Self { index, ..repository })
    }

    /// The submodules whose work tree is there, as prefixes.
    fn open_submodules(&self) -> Vec<Vec<u8>> {
        let depth = self.prefix.iter().filter(|byte| **byte == b'/').count();
        let modules =
            self.index.iter().filter(|entry| entry.is_submodule() && depth < MAX_SUBMODULE_DEPTH);
        let open_modules = modules.filter(|module| is_open(&self.folder, module.path));
        open_modules.map(|module| [self.prefix.as_slice(), module.path, b"/"].concat()).collect()
    }

    pub(crate) fn place(&self) -> GitPlace<'_> {
        GitPlace { git_dir: &self.git_dir, work_tree: &self.folder, variables: &[] }
    }

    /// The commit that is checked out; `None` before the first commit.
    pub(crate) fn head(
        &self,
        git: &Git,
        cancel: &Cancellation,
    ) -> Result<Option<String>, WorktreeError> {
        let args = ["rev-parse", "--quiet", "--verify", "HEAD^{commit}"];
        let output = git.output(self.place(), &args, &[], cancel)?;
        match output.code {
            Some(0) => Ok(Some(String::from_utf8_lossy(output.stdout.trim_ascii()).into_owned())),
            Some(1) => Ok(None),
            _ => Err(output.to_error(self.place(), &args)),
        }
    }

    /// The files of a commit. A decision asks several times for those of one commit, and they never
    /// change.
    pub(crate) fn tree(
        &self,
        git: &Git,
        commit: &str,
        cancel: &Cancellation,
    ) -> Result<Arc<GitEntries>, WorktreeError> {
        let key = (self.git_dir.clone(), commit.to_owned());
        let latest_tree = LATEST_TREE.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((_, entries)) = latest_tree.filter(|(latest_key, _)| *latest_key == key) {
            return Ok(entries);
        }
        let args = ["ls-tree", "-r", "-z", "--full-tree", commit];
        let text = git.read(self.place(), &args, cancel)?;
        let is_small = text.len() <= MAX_TREE_BYTES;
        let entries = GitEntries::parse_tree(text)
            .ok_or_else(|| unreadable_output(&self.folder, "ls-tree"))?;
        let entries = Arc::new(entries);
        if is_small && is_object_name(commit) {
            let latest_tree = Some((key, entries.clone()));
            *LATEST_TREE.lock().unwrap_or_else(PoisonError::into_inner) = latest_tree;
        }
        Ok(entries)
    }

    /// The index has a file below this folder.
    pub(super) fn has_indexed_files(
        &self,
        git: &Git,
        name: &Path,
        cancel: &Cancellation,
    ) -> Result<bool, WorktreeError> {
        // The name is a path, whatever signs of a pattern are in it.
        let literally = [("GIT_LITERAL_PATHSPECS", Path::new("1"))];
        let place = GitPlace { variables: &literally, ..self.place() };
        let args = ["ls-files", "-z"];
        let output = git.output(place, &args, &[name], cancel)?;
        if output.code != Some(0) {
            return Err(output.to_error(place, &args));
        }
        // A submodule is listed by the very name of its folder.
        let mut files = output.stdout.split(|byte| *byte == 0).filter(|file| !file.is_empty());
        let name = git_name(name);
        Ok(files.any(|file| file != name.as_ref()))
    }

    /// The commit has a file below this folder.
    pub(super) fn has_committed_files(
        &self,
        git: &Git,
        name: &Path,
        cancel: &Cancellation,
    ) -> Result<bool, WorktreeError> {
        let Some(commit) = self.head(git, cancel)? else { return Ok(false) };
        let args = ["ls-tree", "-z", "--full-tree", commit.as_str()];
        let output = git.output(self.place(), &args, &[name], cancel)?;
        match output.code {
            Some(0) => Ok(output.stdout.starts_with(b"040000 tree ")),
            _ => Err(output.to_error(self.place(), &args)),
        }
    }

    /// The folder of the objects; linked work trees share one.
    pub(crate) fn objects_folder(&self) -> PathBuf {
        objects_folder(&self.git_dir)
    }
}

/// The folder of a git folder's objects.
pub(super) fn objects_folder(git_dir: &Path) -> PathBuf {
    common_folder(git_dir).join("objects")
}

/// The folder that linked work trees share; for any other tree, the git folder itself.
pub(super) fn common_folder(git_dir: &Path) -> PathBuf {
    let link = std::fs::read(git_dir.join("commondir"));
    let shared = link.map(|text| git_dir.join(names::path(text.trim_ascii())));
    shared.unwrap_or_else(|_| git_dir.into())
}

/// The full name of an object, which stands for the same bytes for ever.
fn is_object_name(name: &str) -> bool {
    matches!(name.len(), 40 | 64) && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A submodule is checked out.
fn is_open(folder: &Path, module: &[u8]) -> bool {
    let dot_git = folder.join(names::path(module)).join(".git");
    is_folder(folder, module) && dot_git.symlink_metadata().is_ok()
}

/// The name is a real folder below this one: a link on the way to it leads elsewhere.
pub(super) fn is_folder(folder: &Path, name: &[u8]) -> bool {
    let mut path = folder.to_path_buf();
    is_plain(name)
        && names::path(name).iter().all(|part| {
            path.push(part);
            path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir())
        })
}

fn unreadable_output(folder: &Path, command: &str) -> WorktreeError {
    let problem = "printed what cannot be read".to_owned();
    WorktreeError::Git { command: command.to_owned(), folder: folder.into(), problem }
}
