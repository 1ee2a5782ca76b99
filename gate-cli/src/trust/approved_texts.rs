//! The approved texts, each under its digest. If a project's settings change, the approved
//! text decides.
//!
//! A text is trusted because it has the approved digest. It does not matter who wrote it.

use std::path::{Path, PathBuf};

use gate_core::config::{Layer, Origin};
use serde::{Deserialize, Serialize};

use super::approvals::{FOLDER, read_own_file};
use super::digest::{digest_of_settings, is_digest};
use crate::durable;
use crate::failure::Failure;
use crate::settings::{FILE, Places};

/// The folder's name in that of the approvals.
const TEXTS_FOLDER: &str = "texts";

const MAX_FILE_BYTES: u64 = 16 << 20;

/// Everything that the digest of an approved text covers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ApprovedText {
    /// The project's identity at that time.
    pub(super) project: String,
    /// The settings' path within the project.
    pub(super) place: String,
    pub(super) text: String,
}

#[derive(Clone, Debug)]
pub(super) struct ApprovedTexts {
    folder: PathBuf,
}

impl ApprovedTexts {
    /// None without a data folder.
    pub(super) fn new(places: &Places) -> Option<Self> {
        places.data.as_ref().map(|data| Self { folder: data.join(FOLDER).join(TEXTS_FOLDER) })
    }

    /// Writes a text, unless there is a valid one under the digest.
    pub(super) fn store(&self, digest: &str, approved: &ApprovedText) -> Result<(), Failure> {
        let Some(name) = file_name(digest) else { return Ok(()) };
        if self.read(digest).is_some() {
            return Ok(());
        }
        let json = serde_json::to_vec(approved).map_err(Into::into);
        json.and_then(|json| durable::write(&self.folder, &name, &json)).map_err(|error| {
            Failure::file("trust-unwritable", "keep the approved text in", &self.folder, &error)
        })
    }

    /// True if there is a file for a digest, valid or not.
    pub(super) fn has(&self, digest: &str) -> bool {
        self.file(digest).is_some_and(|file| file.exists())
    }

    /// The text with this digest, as settings of this file.
    pub(super) fn layer(&self, digest: &str, file: &Path) -> Option<Layer> {
        let approved = self.read(digest)?;
        Layer::parse(Origin::Project(file.to_owned()), &approved.text).ok()
    }

    /// None if the file is missing, or its contents do not have this digest.
    pub(super) fn read(&self, digest: &str) -> Option<ApprovedText> {
        let json = read_own_file(&self.file(digest)?, MAX_FILE_BYTES).ok()?;
        let approved: ApprovedText = serde_json::from_str(&json).ok()?;
        let layer = Layer::parse(Origin::Project(FILE.into()), &approved.text).ok()?;
        let actual = digest_of_settings(&approved.project, &approved.place, &layer.spelled()?);
        (actual == digest).then_some(approved)
    }

    fn file(&self, digest: &str) -> Option<PathBuf> {
        Some(self.folder.join(file_name(digest)?))
    }
}

/// None for a text that is no digest: it could name a file elsewhere.
fn file_name(digest: &str) -> Option<String> {
    if !is_digest(digest) {
        return None;
    }
    Some(format!("{}.json", digest.strip_prefix("blake3:")?))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_text_is_trusted_for_its_digest_alone() {
        let folder = tempfile::tempdir().unwrap();
        let places = Places { data: Some(folder.path().to_owned()), ..Places::default() };
        let texts = ApprovedTexts::new(&places).unwrap();
        let text = "# why\nbreaker.no_exit = 7\n".to_owned();
        let kept = ApprovedText { project: "p".to_owned(), place: FILE.to_owned(), text };
        let file = Path::new("/w/gate.toml");
        let spelled = Layer::parse(Origin::Project(file.into()), &kept.text).unwrap().spelled();
        let digest = digest_of_settings("p", FILE, &spelled.unwrap());
        assert_eq!(texts.read(&digest), None);
        texts.store(&digest, &kept).unwrap();
        texts.store(&digest, &kept).unwrap();
        assert_eq!(texts.read(&digest), Some(kept.clone()));
        assert_eq!(texts.layer(&digest, file).unwrap().origin(), &Origin::Project(file.into()));
        // What is written in its place afterwards is none.
        for other in ["breaker.no_exit = 0\n", "[[[", ""] {
            let other = ApprovedText { text: other.to_owned(), ..kept.clone() };
            let other = serde_json::to_vec(&other).unwrap();
            fs::write(texts.file(&digest).unwrap(), other).unwrap();
            assert_eq!(texts.read(&digest), None);
        }
        texts.store(&digest, &kept).unwrap();
        assert_eq!(texts.read(&digest), Some(kept));
        for name in ["", "../../etc/passwd", "blake3:../x"] {
            assert_eq!(texts.read(name), None, "{name}");
        }
    }
}
