//! Approvals, in a folder of the operator's: `$XDG_DATA_HOME/gate/trust/`, one file for
//! the settings of one folder, this user's alone, whole or not at all.
//!
//! A folder has one approval: a later one takes the place of an earlier one, so that
//! nobody gets back to what was approved once. An approval that cannot be read, that
//! others could write, or that is a link, is none.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use tempfile::Builder;

use crate::failure::Failure;
use crate::settings::Places;

/// The folder, in gate's own for what has to last.
pub(super) const FOLDER: &str = "trust";

/// The longest file that is read, in bytes.
const LONGEST: u64 = 64 << 10;

/// What is approved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Approval {
    /// The form of this file.
    pub(super) v: u32,
    /// The digest of what is approved.
    pub(crate) digest: String,
    /// What the project is known by.
    pub(crate) project: String,
    /// Where the settings stand in it.
    pub(crate) place: String,
    /// The folder of the settings.
    pub(crate) folder: String,
    /// The project's name in its settings.
    pub(crate) id: Option<String>,
    /// When it was approved (RFC 3339, UTC).
    pub(crate) time: String,
    /// By which act.
    pub(crate) by: String,
}

/// All approvals of an operator.
#[derive(Clone, Debug)]
pub(super) struct Approvals {
    folder: PathBuf,
}

impl Approvals {
    /// Those of these places; none where there is no place for them.
    pub(super) fn of(places: &Places) -> Option<Self> {
        places.data.as_ref().map(|data| Self { folder: data.join(FOLDER) })
    }

    /// The approval of the settings in a folder, whatever the project is known by
    /// now: that may have been changed to get away from it.
    pub(super) fn in_folder(&self, folder: &Path) -> Option<Approval> {
        let end = key(&folder.display().to_string());
        let found = self.read(&|name| name.ends_with(&end));
        found.into_iter().find(|it| Path::new(&it.folder) == folder)
    }

    /// The approvals of a project, wherever its work trees stand, the newest first.
    pub(super) fn of_project(&self, project: &str) -> Vec<Approval> {
        let begin = key(project);
        let mut found = self.read(&|name| name.starts_with(&begin));
        found.retain(|it| it.project == project);
        found.sort_by(|one, other| other.time.cmp(&one.time));
        found
    }

    /// Keeps an approval, in the place of what was approved in that folder before.
    ///
    /// # Errors
    ///
    /// A folder that cannot be written.
    pub(super) fn keep(&self, approval: &Approval) -> Result<(), Failure> {
        let write = || {
            DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
            let mut file =
                Builder::new().prefix(".gate-").suffix(".tmp").tempfile_in(&self.folder)?;
            file.write_all(&serde_json::to_vec_pretty(approval)?)?;
            file.as_file().sync_all()?;
            file.persist(self.folder.join(name_of(approval)))?;
            File::open(&self.folder)?.sync_all()
        };
        self.forget(Path::new(&approval.folder), Some(&name_of(approval)))?;
        write().map_err(|error| self.unwritable("keep the approval in", &error))
    }

    /// Takes back what was approved in a folder, and says whether anything was.
    ///
    /// # Errors
    ///
    /// A folder that cannot be written.
    pub(super) fn withdraw(&self, folder: &Path) -> Result<bool, Failure> {
        self.forget(folder, None)
    }

    fn forget(&self, folder: &Path, but: Option<&str>) -> Result<bool, Failure> {
        let end = key(&folder.display().to_string());
        let mut any = false;
        let gone = |name: &&String| name.ends_with(&end) && but != Some(name.as_str());
        for name in self.names().iter().filter(gone) {
            match fs::remove_file(self.folder.join(name)) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(self.unwritable("take back the approval in", &error));
                }
                _ => any = true,
            }
        }
        Ok(any)
    }

    fn read(&self, wanted: &dyn Fn(&str) -> bool) -> Vec<Approval> {
        let names = self.names();
        let read = |name: &String| {
            let text = own_text(&self.folder.join(name), LONGEST).ok()?;
            let approval: Approval = serde_json::from_str(&text).ok()?;
            (approval.v == 1 && name_of(&approval) == *name).then_some(approval)
        };
        names.iter().filter(|name| wanted(name)).filter_map(read).collect()
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut names: Vec<_> =
            entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    fn unwritable(&self, doing: &str, error: &io::Error) -> Failure {
        Failure::file("trust-unwritable", doing, &self.folder, error)
    }
}

/// The name of an approval's file: by its project and by its folder.
fn name_of(approval: &Approval) -> String {
    format!("{}-{}", key(&approval.project), key(&approval.folder))
}

fn key(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..32].to_owned()
}

/// The text of a file that this user alone can write, and that is no longer than this.
/// A link is not followed.
pub(super) fn own_text(path: &Path, longest: u64) -> io::Result<String> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let meta = file.metadata()?;
    let own = meta.uid() == rustix::process::getuid().as_raw() && meta.mode() & 0o022 == 0;
    if !meta.is_file() || !own || meta.len() > longest {
        return Err(ErrorKind::InvalidData.into());
    }
    let mut text = String::new();
    file.take(longest).read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn approval(project: &str, folder: &str, digest: &str) -> Approval {
        Approval {
            v: 1,
            digest: digest.to_owned(),
            project: project.to_owned(),
            place: "gate.toml".to_owned(),
            folder: folder.to_owned(),
            id: None,
            time: "2026-11-02T10:00:00Z".to_owned(),
            by: "gate trust".to_owned(),
        }
    }

    fn approvals() -> (tempfile::TempDir, Approvals) {
        let folder = tempfile::tempdir().unwrap();
        let data = Some(folder.path().join("gate"));
        let all = Approvals::of(&Places { data, ..Places::default() }).unwrap();
        (folder, all)
    }

    #[test]
    fn a_folder_has_one_approval_and_a_project_one_a_folder() {
        let (_folder, all) = approvals();
        assert_eq!(all.in_folder(Path::new("/a")), None);
        for (project, folder, digest) in [("p", "/a", "1"), ("p", "/b", "2"), ("q", "/a", "3")] {
            all.keep(&approval(project, folder, digest)).unwrap();
        }
        assert_eq!(all.in_folder(Path::new("/a")).unwrap().digest, "3");
        let of_p: Vec<_> = all.of_project("p").into_iter().map(|it| it.digest).collect();
        assert_eq!(of_p, ["2"]);
        assert!(all.withdraw(Path::new("/b")).unwrap());
        assert!(all.of_project("p").is_empty() && !all.withdraw(Path::new("/b")).unwrap());
    }

    #[test]
    fn an_approval_is_this_users_alone_and_no_link() {
        let (folder, all) = approvals();
        let kept = approval("p", "/a", "1");
        all.keep(&kept).unwrap();
        let file = all.folder.join(name_of(&kept));
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&file), mode(&all.folder)), (0o600, 0o700));
        fs::set_permissions(&file, fs::Permissions::from_mode(0o622)).unwrap();
        assert_eq!(all.in_folder(Path::new("/a")), None);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(all.in_folder(Path::new("/a")), Some(kept.clone()));
        let elsewhere = folder.path().join("elsewhere");
        fs::rename(&file, &elsewhere).unwrap();
        symlink(&elsewhere, &file).unwrap();
        assert_eq!(all.in_folder(Path::new("/a")), None);
        // What is written replaces a link, and leaves alone what it led to.
        fs::write(&elsewhere, "mine").unwrap();
        all.keep(&kept).unwrap();
        assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "mine");
        assert_eq!(all.in_folder(Path::new("/a")), Some(kept.clone()));
        fs::write(&file, "{").unwrap();
        assert_eq!(all.in_folder(Path::new("/a")), None);
        let other = serde_json::to_string(&approval("q", "/a", "1")).unwrap();
        fs::write(&file, other).unwrap();
        assert_eq!(all.in_folder(Path::new("/a")), None, "under another's name");
    }
}
