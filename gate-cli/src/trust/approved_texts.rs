//! The approved texts, each under its digest and its path within the project. If a project's
//! settings change, the approved text decides.
//!
//! A text is trusted because it has the approved digest. It does not matter who wrote it. Several
//! projects can share one, and nothing in it says which project it is of.

use std::path::{Path, PathBuf};

use gate_core::config::{Layer, Origin};

use super::approvals::{FOLDER, key, read_own_file};
use super::digest::{digest_of_settings, is_digest};
use crate::failure::Failure;
use crate::settings::{FILE, Places};
use gate_fleet::durable;

/// The folder's name in that of the approvals.
const TEXTS_FOLDER: &str = "texts";

const MAX_FILE_BYTES: u64 = 16 << 20;

/// The texts for one path within a project: by the path gate knows where `GATE_TRUST` let a text
/// decide.
#[derive(Clone, Debug)]
pub(super) struct ApprovedTexts {
    folder: PathBuf,
    place: String,
}

impl ApprovedTexts {
    /// The texts in the data folder; `None` without one.
    pub(super) fn new(places: &Places, place: &str) -> Option<Self> {
        let folder = places.data.as_ref()?.join(FOLDER).join(TEXTS_FOLDER);
        Some(Self { folder, place: place.to_owned() })
    }

    /// Writes a text, unless there is a valid one under the digest.
    pub(super) fn store(&self, digest: &str, text: &str) -> Result<(), Failure> {
        let Some(name) = self.file_name(digest) else { return Ok(()) };
        if self.layer(digest, FILE.as_ref()).is_some() {
            return Ok(());
        }
        durable::write(&self.folder, &name, text.as_bytes()).map_err(|error| {
            Failure::file("trust-unwritable", "keep the approved text in", &self.folder, &error)
        })
    }

    /// A file for a digest exists, valid or not.
    pub(super) fn has(&self, digest: &str) -> bool {
        self.file(digest).is_some_and(|file| file.exists())
    }

    /// The text with this digest, as settings of this file. `None` if it is missing, or if its file
    /// holds a text with another digest.
    pub(super) fn layer(&self, digest: &str, file: &Path) -> Option<Layer> {
        let text = read_own_file(&self.file(digest)?, MAX_FILE_BYTES).ok()?;
        let layer = Layer::parse(Origin::Project(file.to_owned()), &text).ok()?;
        (digest_of_settings(&layer.spelled()?) == digest).then_some(layer)
    }

    fn file(&self, digest: &str) -> Option<PathBuf> {
        Some(self.folder.join(self.file_name(digest)?))
    }

    /// The name of a digest's file. `None` for a text that is no digest: it could name a file elsewhere.
    fn file_name(&self, digest: &str) -> Option<String> {
        if !is_digest(digest) {
            return None;
        }
        Some(format!("{}-{}.toml", digest.strip_prefix("blake3:")?, key(&self.place)))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_text_is_trusted_for_its_digest_alone() {
        let folder = tempfile::tempdir().unwrap();
        let places = Places { data: Some(folder.path().to_owned()), ..Places::default() };
        let texts = ApprovedTexts::new(&places, FILE).unwrap();
        let text = "# why\nbreaker.no_exit = 7\n";
        let file = Path::new("/w/gate.toml");
        let spelled = Layer::parse(Origin::Project(file.into()), text).unwrap().spelled();
        let digest = digest_of_settings(&spelled.unwrap());
        let stored = || texts.layer(&digest, file);
        assert!(stored().is_none());
        texts.store(&digest, text).unwrap();
        texts.store(&digest, text).unwrap();
        let layer = stored().unwrap();
        assert_eq!((layer.text(), layer.origin()), (Some(text), &Origin::Project(file.into())));
        let inner_texts = ApprovedTexts::new(&places, "a/gate.toml").unwrap();
        assert!(inner_texts.layer(&digest, file).is_none() && !inner_texts.has(&digest));
        // A text that is written in its place afterwards does not count.
        for foreign_text in ["breaker.no_exit = 0\n", "[[[", ""] {
            fs::write(texts.file(&digest).unwrap(), foreign_text).unwrap();
            assert!(stored().is_none(), "{foreign_text}");
        }
        texts.store(&digest, text).unwrap();
        assert!(stored().is_some());
        for name in ["", "../../etc/passwd", "blake3:../x"] {
            assert!(texts.layer(name, file).is_none(), "{name}");
        }
    }
}
