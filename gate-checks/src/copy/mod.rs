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
use std::path::{Path, PathBuf};

use gate_platform::{RealPath, set_mode, symlink};

use crate::id::CheckId;
use crate::logs::Logs;
use crate::site::CheckSite;
use crate::store;
use crate::temporary::Temporary;
use crate::worktree::{File, Kind, Snapshot};

pub(crate) use dependencies::{Dependencies, StandInContent, dependencies, installed};
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
    /// The copy's topmost folder.
    pub(crate) root: PathBuf,
    /// The project's folder in the copy.
    pub(crate) project: PathBuf,
    /// The copied files, relative to the root.
    pub(crate) files: Vec<PathBuf>,
    /// The topmost folder of the copied tree.
    pub(crate) tree_root: PathBuf,
}

impl Copy {
    /// Copies the files of a snapshot into a temporary folder, with the purpose in its name. If the
    /// tree is a repository the copy is one too, with all that is in it committed.
    ///
    /// # Errors
    ///
    /// A file that cannot be copied, a repository that cannot be made.
    pub(crate) fn new(
        purpose: &str,
        snapshot: &Snapshot,
        tree_root: &Path,
        site: &CheckSite,
    ) -> io::Result<Self> {
        let folder = Temporary::new(purpose)?;
        let root =
            folder.path().real_path()?.join(tree_root.file_name().unwrap_or("tree".as_ref()));
        let real_project = site.project.real_path()?;
        let project_path = real_project.strip_prefix(tree_root).unwrap_or(Path::new(""));
        // An empty path would leave a slash at the end.
        let project: PathBuf = root.join(project_path).components().collect();
        fs::create_dir_all(&project)?;
        for file in snapshot.files() {
            copy_file(file, tree_root, &root)?;
        }
        let files = snapshot.files().map(|file| file.path().to_owned()).collect();
        let copy = Self { folder, root, project, files, tree_root: tree_root.to_owned() };
        if snapshot.index.is_some() {
            commit_all(&copy.root, site, tree_root)?;
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
        for stand_in in dependencies.stand_ins {
            let path = self.root.join(stand_in.path);
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            match stand_in.content {
                StandInContent::Link(target) => symlink(target, path)?,
                StandInContent::Text(bytes) => fs::write(path, bytes)?,
                StandInContent::Executable(bytes) => {
                    fs::write(&path, bytes)?;
                    set_mode(&path, 0o755)?;
                }
            }
        }
        Ok(())
    }

    /// The site whose project is the copy's. Its state is the copy's own: logs go there, and nothing
    /// of the real state is read.
    pub(crate) fn site(&self, site: &CheckSite) -> CheckSite {
        const TARGET: &str = "CARGO_TARGET_DIR";
        let mapping = self.mapping();
        let mut environment: Vec<_> = site
            .environment
            .iter()
            .filter(|(name, _)| name != TARGET)
            .map(|(name, value)| (name.clone(), mapping.variable(name, value)))
            .collect();
        let target_folder = self.target_folder(site).display().to_string();
        environment.push((TARGET.to_owned(), target_folder));
        CheckSite {
            project: self.project.clone(),
            state: Some(self.folder.path().join("state")),
            environment,
            callers_files: Vec::new(),
            ..site.clone()
        }
    }

    /// The paths of the original and the copy.
    pub(crate) fn mapping(&self) -> Mapping {
        Mapping { tree_root: self.tree_root.clone(), copy: self.root.clone() }
    }

    /// Keeps a log of this copy in the real state: the copy's own logs go with it.
    pub(crate) fn keep_log(&self, state: &Path, check: &str, log: &str) -> Option<String> {
        let text = fs::read_to_string(log).ok()?;
        let logs = Logs::new(Some(&store::tree_folder(state, &self.tree_root)));
        let path = logs.keep(&CheckId::new(check), &text)?;
        Some(path.display().to_string())
    }

    /// Keeps the folder of cargo's builds from being removed as long as the result lives. Several
    /// self-tests may share it. `None` without state: the folder goes with the copy.
    pub(crate) fn lock_builds(&self, site: &CheckSite) -> Option<fs::File> {
        let folder = fs::File::open(self.target_folder(site)).ok()?;
        folder.lock_shared().ok()?;
        Some(folder)
    }

    /// The folder of cargo's builds: never among the real tree's builds, and with state in a folder
    /// that the next copy finds again.
    fn target_folder(&self, site: &CheckSite) -> PathBuf {
        let Some(state) = &site.state else { return self.folder.path().join("target") };
        let builds = store::tree_folder(state, &self.tree_root).join(SELF_TEST_BUILDS);
        let folder = builds.join(format!("{:08}", week_number()));
        // Every copy leaves builds of its own behind: they go after a week.
        let _ = store::make_folder(&folder);
        store::keep_newest(&builds, 1, std::time::Duration::ZERO);
        folder
    }
}

/// The hash of a file's bytes.
pub(crate) fn hash(path: &Path) -> io::Result<[u8; 32]> {
    let (mut file, mut block) = (fs::File::open(path)?, vec![0; BLOCK_BYTES]);
    let mut hasher = blake3::Hasher::new();
    loop {
        match file.read(&mut block)? {
            0 => return Ok(hasher.finalize().into()),
            length => hasher.update(&block[..length]),
        };
    }
}

/// The number of weeks since 1970.
fn week_number() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |time| time.as_secs() / (7 * 24 * 60 * 60))
}

/// Copies a file with its mode. A link stays a link, and a link into the real tree leads into the copy.
fn copy_file(file: &File, tree_root: &Path, root: &Path) -> io::Result<()> {
    let (real_path, copied_path) = (tree_root.join(file.path()), root.join(file.path()));
    if let Some(folder) = copied_path.parent() {
        fs::create_dir_all(folder)?;
    }
    match file.kind() {
        Kind::Plain | Kind::Executable => fs::copy(real_path, copied_path).map(drop),
        Kind::Link => {
            let target = fs::read_link(real_path)?;
            let copied_target = target.strip_prefix(tree_root).map(|path| root.join(path));
            symlink(copied_target.unwrap_or(target), copied_path)
        }
        Kind::Special | Kind::Unreadable => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use gate_platform::PermissionsExt;

    use super::*;
    use crate::worktree::WorkTree;

    #[test]
    fn a_copy_has_the_files_with_modes_and_links_and_none_of_the_dependencies() {
        let tree_root = tempfile::tempdir().unwrap();
        let tree_root = tree_root.path().canonicalize().unwrap();
        fs::create_dir_all(tree_root.join("app/node_modules/x")).unwrap();
        for file in ["app/run.sh", "app/a.txt", "app/node_modules/x/index.js"] {
            fs::write(tree_root.join(file), file).unwrap();
        }
        fs::write(tree_root.join(".gitignore"), "node_modules/\n").unwrap();
        set_mode(&tree_root.join("app/run.sh"), 0o755).unwrap();
        symlink(tree_root.join("app/a.txt"), tree_root.join("whole")).unwrap();
        symlink("app/a.txt", tree_root.join("short")).unwrap();
        let site = CheckSite::new(tree_root.join("app"));
        // Outside of git the settings' folder is the tree.
        let tree = WorkTree::open(&CheckSite::new(&tree_root)).unwrap();
        let snapshot = tree.snapshot().unwrap();
        let copy = Copy::new("copy", &snapshot, &tree_root, &site).unwrap();
        assert_eq!(fs::read_to_string(copy.root.join("app/a.txt")).unwrap(), "app/a.txt");
        let mode = fs::metadata(copy.root.join("app/run.sh")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o755);
        let link = |name: &str| fs::read_link(copy.root.join(name)).unwrap();
        assert_eq!(link("whole"), copy.root.join("app/a.txt"));
        assert_eq!(link("short"), Path::new("app/a.txt"));
        assert_eq!(copy.project, copy.root.join("app"));
        assert!(!copy.root.join("app/node_modules").exists());
        copy.link_dependencies().unwrap();
        assert_eq!(link("app/node_modules"), tree_root.join("app/node_modules"));
        let folder = copy.folder.path().to_owned();
        drop(copy);
        assert!(!folder.exists());
    }
}
