//! Approvals of settings, in the operator's folder `$XDG_DATA_HOME/gate/trust/`: one file
//! for each folder with settings, readable by this user alone, written whole or not at
//! all.
//!
//! A folder has one approval. A new one replaces the old one, so that nobody can go back
//! to settings that were approved once. An approval does not count if it cannot be read,
//! if others could write it, or if it is a link.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use gate_platform::{MetadataExt, NO_FOLLOW, NON_BLOCKING, OpenOptionsExt, user};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::settings::Places;
use gate_fleet::durable;

/// The folder's name in gate's data folder.
pub(super) const FOLDER: &str = "trust";

const MAX_FILE_BYTES: u64 = 64 << 10;

/// An approval as its file has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Approval {
    /// The version of this file's form.
    pub(super) v: u32,
    /// The digest of the approved settings.
    pub(crate) digest: String,
    /// The project's identity.
    pub(crate) project: String,
    /// The settings' path within the project.
    pub(crate) place: String,
    /// The folder of the settings.
    pub(crate) folder: String,
    /// The project's name in its settings.
    pub(crate) id: Option<String>,
    /// The time of the approval (RFC 3339, UTC).
    pub(crate) time: String,
    /// The command that approved.
    pub(crate) by: String,
}

/// All approvals of an operator.
#[derive(Clone, Debug)]
pub(super) struct Approvals {
    folder: PathBuf,
}

impl Approvals {
    /// The approvals in the data folder; `None` without one.
    pub(super) fn new(places: &Places) -> Option<Self> {
        places.data.as_ref().map(|data| Self { folder: data.join(FOLDER) })
    }

    // Found by the folder alone: the project's identity may have been changed to get rid
    // of the approval.
    pub(super) fn in_folder(&self, folder: &Path) -> Option<Approval> {
        let suffix = key(&folder.display().to_string());
        let approvals = self.read(&|name| name.ends_with(&suffix));
        approvals.into_iter().find(|approval| Path::new(&approval.folder) == folder)
    }

    /// The approvals for all work trees of a project, the newest first.
    pub(super) fn in_project(&self, project: &str) -> Vec<Approval> {
        let prefix = key(project);
        let mut approvals = self.read(&|name| name.starts_with(&prefix));
        approvals.retain(|approval| approval.project == project);
        approvals.sort_by(|first, second| second.time.cmp(&first.time));
        approvals
    }

    /// Writes an approval, and removes the earlier ones of its folder.
    pub(super) fn store(&self, approval: &Approval) -> Result<(), Failure> {
        self.remove(Path::new(&approval.folder), Some(&file_name(approval)))?;
        self.write(approval).map_err(|error| self.unwritable("keep the approval in", &error))
    }

    fn write(&self, approval: &Approval) -> io::Result<()> {
        let json = serde_json::to_vec_pretty(approval)?;
        durable::write(&self.folder, &file_name(approval), &json)
    }

    /// Removes the approvals of a folder. Returns `false` if it had none.
    pub(super) fn withdraw(&self, folder: &Path) -> Result<bool, Failure> {
        self.remove(folder, None)
    }

    fn remove(&self, folder: &Path, except: Option<&str>) -> Result<bool, Failure> {
        let suffix = key(&folder.display().to_string());
        let failure = |error: &io::Error| self.unwritable("take back the approval in", error);
        let mut has_removed = false;
        for name in self.file_names() {
            if !name.ends_with(&suffix) || except == Some(name.as_str()) {
                continue;
            }
            match fs::remove_file(self.folder.join(name)) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(failure(&error)),
                _ => has_removed = true,
            }
        }
        if has_removed {
            durable::sync_folder(&self.folder).map_err(|error| failure(&error))?;
        }
        Ok(has_removed)
    }

    fn read(&self, is_selected: &dyn Fn(&str) -> bool) -> Vec<Approval> {
        let names = self.file_names().into_iter().filter(|name| is_selected(name));
        names.filter_map(|name| self.read_file(&name)).collect()
    }

    fn read_file(&self, name: &str) -> Option<Approval> {
        let text = read_own_file(&self.folder.join(name), MAX_FILE_BYTES).ok()?;
        let approval: Approval = serde_json::from_str(&text).ok()?;
        // Under another name it would count for a folder that nobody approved.
        (approval.v == 1 && file_name(&approval) == name).then_some(approval)
    }

    fn file_names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut names: Vec<_> =
            entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    fn unwritable(&self, action: &str, error: &io::Error) -> Failure {
        Failure::file("trust-unwritable", action, &self.folder, error)
    }
}

fn file_name(approval: &Approval) -> String {
    format!("{}-{}", key(&approval.project), key(&approval.folder))
}

/// A part of a file's name that stands for a text of any length.
pub(super) fn key(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..32].to_owned()
}

/// Reads a file that only this user can write. Does not follow links.
pub(super) fn read_own_file(path: &Path, max_bytes: u64) -> io::Result<String> {
    let file = OpenOptions::new().read(true).custom_flags(NO_FOLLOW | NON_BLOCKING).open(path)?;
    let metadata = file.metadata()?;
    let is_own = metadata.uid() == user() && metadata.mode() & 0o022 == 0;
    if !metadata.is_file() || !is_own || metadata.len() > max_bytes {
        return Err(ErrorKind::InvalidData.into());
    }
    let mut text = String::new();
    file.take(max_bytes).read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use gate_platform::{PermissionsExt, symlink};

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
        let approvals = Approvals::new(&Places { data, ..Places::default() }).unwrap();
        (folder, approvals)
    }

    #[test]
    fn a_folder_has_one_approval_and_a_project_one_a_folder() {
        let (_folder, approvals) = approvals();
        assert_eq!(approvals.in_folder(Path::new("/a")), None);
        for (project, folder, digest) in [("p", "/a", "1"), ("p", "/b", "2"), ("q", "/a", "3")] {
            approvals.store(&approval(project, folder, digest)).unwrap();
        }
        assert_eq!(approvals.in_folder(Path::new("/a")).unwrap().digest, "3");
        let digests: Vec<_> =
            approvals.in_project("p").into_iter().map(|approval| approval.digest).collect();
        assert_eq!(digests, ["2"]);
        assert!(approvals.withdraw(Path::new("/b")).unwrap());
        assert!(
            approvals.in_project("p").is_empty() && !approvals.withdraw(Path::new("/b")).unwrap()
        );
    }

    #[test]
    fn an_approval_is_this_users_alone_and_no_link() {
        let (folder, approvals) = approvals();
        let stored = approval("p", "/a", "1");
        approvals.store(&stored).unwrap();
        let file = approvals.folder.join(file_name(&stored));
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&file), mode(&approvals.folder)), (0o600, 0o700));
        fs::set_permissions(&file, fs::Permissions::from_mode(0o622)).unwrap();
        assert_eq!(approvals.in_folder(Path::new("/a")), None);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(approvals.in_folder(Path::new("/a")), Some(stored.clone()));
        let target = folder.path().join("target");
        fs::rename(&file, &target).unwrap();
        symlink(&target, &file).unwrap();
        assert_eq!(approvals.in_folder(Path::new("/a")), None);
        // What is written replaces a link, and leaves alone what it led to.
        fs::write(&target, "mine").unwrap();
        approvals.store(&stored).unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "mine");
        assert_eq!(approvals.in_folder(Path::new("/a")), Some(stored.clone()));
        fs::write(&file, "{").unwrap();
        assert_eq!(approvals.in_folder(Path::new("/a")), None);
        let foreign = serde_json::to_string(&approval("q", "/a", "1")).unwrap();
        fs::write(&file, foreign).unwrap();
        assert_eq!(approvals.in_folder(Path::new("/a")), None, "under another's name");
    }
}
