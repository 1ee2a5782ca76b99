//! A copy of the work tree, in a folder of its own that is removed with it.
//!
//! Checks run in one where the real tree must not be touched (a self-test), or
//! may change meanwhile (a check that outlives a hook's deadline).

mod dependencies;
mod environment;
mod mapping;
mod modules;
mod repository;

use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use crate::id::CheckId;
use crate::logs::Logs;
use crate::site::CheckSite;
use crate::store;
use crate::temporary::Temporary;
use crate::worktree::{File, Kind, Snapshot};

pub(crate) use dependencies::{Dependencies, LinkedItem, dependencies, installed};
pub(crate) use mapping::Mapping;
pub(crate) use repository::{commit, commit_all, init};

/// The folder of a tree's state with build output of self-tests, a folder for each week.
pub(crate) const SELF_TEST_BUILDS: &str = "self-test";

/// Bytes of a file that are copied at once.
const BLOCK_BYTES: usize = 256 << 10;

/// A copy of the work tree.
#[derive(Debug)]
pub(crate) struct Copy {
    folder: Temporary,
    /// Its topmost folder.
    pub(crate) root: PathBuf,
    /// The project's folder in it.
    pub(crate) project: PathBuf,
    /// Its files, relative to the root.
    pub(crate) files: Vec<PathBuf>,
    /// The copied tree.
    pub(crate) real: PathBuf,
}

impl Copy {
    /// Copies the files of a snapshot into a temporary folder, with the purpose in its name. If the
    /// tree is a repository the copy is one too, with all that is in it committed.
    ///
    /// # Errors
    ///
    /// A file that cannot be copied, a repository that cannot be made.
    pub(crate) fn new(
        kind: &str,
        tree: &Snapshot,
        real: &Path,
        site: &CheckSite,
    ) -> io::Result<Self> {
        let folder = Temporary::new(kind)?;
        let top = folder.path().canonicalize()?;
        let root = top.join(real.file_name().unwrap_or("tree".as_ref()));
        let project = site.project.canonicalize()?;
        let inside = project.strip_prefix(real).unwrap_or(Path::new(""));
        // Without a slash at the end.
        let project: PathBuf = root.join(inside).components().collect();
        fs::create_dir_all(&project)?;
        for file in tree.files() {
            copy(file, real, &root)?;
        }
        let files = tree.files().map(|file| file.path().to_owned()).collect();
        let copy = Self { folder, root, project, files, real: real.to_owned() };
        if tree.index.is_some() {
            commit_all(&copy.root, site, real)?;
        }
        Ok(copy)
    }

    /// Links to the dependencies that are not part of the tree.
    ///
    /// # Errors
    ///
    /// A link or a file that cannot be made.
    pub(crate) fn link_dependencies(&self) -> io::Result<()> {
        let files = self.files.iter().map(PathBuf::as_path);
        let dependencies = dependencies(&self.mapping(), files, |path| {
            self.root.join(path).symlink_metadata().is_ok()
        });
        for entry in dependencies.entries {
            let at = self.root.join(entry.path);
            if let Some(folder) = at.parent() {
                fs::create_dir_all(folder)?;
            }
            match entry.item {
                LinkedItem::Link(target) => symlink(target, at)?,
                LinkedItem::Text(bytes) => fs::write(at, bytes)?,
                LinkedItem::Executable(bytes) => {
                    fs::write(&at, bytes)?;
                    fs::set_permissions(at, fs::Permissions::from_mode(0o755))?;
                }
            }
        }
        Ok(())
    }

    /// The site whose project is the copy's. Its state is the copy's own: logs
    /// go there, and nothing of the real state is read.
    pub(crate) fn site(&self, site: &CheckSite) -> CheckSite {
        let target = ("CARGO_TARGET_DIR".to_owned(), self.target(site).display().to_string());
        let mapping = self.mapping();
        let others = site.environment.iter().filter(|(name, _)| *name != target.0);
        let others = others.map(|(name, value)| (name.clone(), mapping.variable(name, value)));
        CheckSite {
            project: self.project.clone(),
            state: Some(self.folder.path().join("state")),
            environment: others.chain([target.clone()]).collect(),
            callers_files: Vec::new(),
            ..site.clone()
        }
    }

    /// The paths of the original and the copy.
    pub(crate) fn mapping(&self) -> Mapping {
        Mapping { real: self.real.clone(), copy: self.root.clone() }
    }

    /// A log of this copy, kept in the real state: its own logs go with it.
    pub(crate) fn keep_log(&self, state: &Path, check: &str, log: &str) -> Option<String> {
        let text = fs::read_to_string(log).ok()?;
        let logs = Logs::new(Some(&store::tree_folder(state, &self.real)));
        let kept = logs.keep(&CheckId::new(check), &text)?;
        Some(kept.display().to_string())
    }

    /// Keeps the folder of cargo's builds from being removed as long as the result lives. Several
    /// self-tests may share it. `None` without state: the folder goes with the copy.
    pub(crate) fn lock_builds(&self, site: &CheckSite) -> Option<fs::File> {
        let folder = fs::File::open(self.target(site)).ok()?;
        folder.lock_shared().ok()?;
        Some(folder)
    }

    /// Folder of cargo's builds: never among the real tree's builds, and with state in a
    /// folder that the next copy finds again.
    fn target(&self, site: &CheckSite) -> PathBuf {
        let Some(state) = &site.state else { return self.folder.path().join("target") };
        let all = store::tree_folder(state, &self.real).join(SELF_TEST_BUILDS);
        let folder = all.join(format!("{:08}", week()));
        // Every copy leaves builds of its own behind: they go after a week.
        let _ = store::make_folder(&folder);
        store::keep_newest(&all, 1, std::time::Duration::ZERO);
        folder
    }
}

/// The hash of a file's bytes.
pub(crate) fn hash(path: &Path) -> io::Result<[u8; 32]> {
    let (mut file, mut piece) = (fs::File::open(path)?, vec![0; BLOCK_BYTES]);
    let mut hasher = blake3::Hasher::new();
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(hasher.finalize().into()),
            read => hasher.update(&piece[..read]),
        };
    }
}

fn week() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |time| time.as_secs() / (7 * 24 * 60 * 60))
}

/// Copies one file with its mode; a link stays a link, and one into the real
/// tree leads into the copy.
fn copy(file: &File, real: &Path, root: &Path) -> io::Result<()> {
    let (from, to) = (real.join(file.path()), root.join(file.path()));
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    match file.kind() {
        Kind::Plain | Kind::Executable => fs::copy(from, to).map(drop),
        Kind::Link => {
            let target = fs::read_link(from)?;
            let inside = target.strip_prefix(real).map(|inside| root.join(inside));
            symlink(inside.unwrap_or(target), to)
        }
        Kind::Special | Kind::Unreadable => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worktree::WorkTree;

    #[test]
    fn a_copy_has_the_files_with_modes_and_links_and_none_of_the_dependencies() {
        let real = tempfile::tempdir().unwrap();
        let real = real.path().canonicalize().unwrap();
        fs::create_dir_all(real.join("app/node_modules/x")).unwrap();
        for file in ["app/run.sh", "app/a.txt", "app/node_modules/x/index.js"] {
            fs::write(real.join(file), file).unwrap();
        }
        fs::write(real.join(".gitignore"), "node_modules/\n").unwrap();
        fs::set_permissions(real.join("app/run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        symlink(real.join("app/a.txt"), real.join("whole")).unwrap();
        symlink("app/a.txt", real.join("short")).unwrap();
        let site = CheckSite::new(real.join("app"));
        // Outside of git the settings' folder is the tree.
        let tree = WorkTree::open(&CheckSite::new(&real)).unwrap();
        let snapshot = tree.snapshot().unwrap();
        let copy = Copy::new("copy", &snapshot, &real, &site).unwrap();
        assert_eq!(fs::read_to_string(copy.root.join("app/a.txt")).unwrap(), "app/a.txt");
        let mode = fs::metadata(copy.root.join("app/run.sh")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o755);
        let link = |name: &str| fs::read_link(copy.root.join(name)).unwrap();
        assert_eq!(link("whole"), copy.root.join("app/a.txt"));
        assert_eq!(link("short"), Path::new("app/a.txt"));
        assert_eq!(copy.project, copy.root.join("app"));
        assert!(!copy.root.join("app/node_modules").exists());
        copy.link_dependencies().unwrap();
        assert_eq!(link("app/node_modules"), real.join("app/node_modules"));
        let folder = copy.folder.path().to_owned();
        drop(copy);
        assert!(!folder.exists());
    }
}
