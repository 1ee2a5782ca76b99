//! The texts that were approved, each under its digest: where a project's settings are
//! others by now, what was approved decides.
//!
//! A text is believed because it has the digest that was approved, whoever wrote it
//! there.

use std::fs::{DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use gate_core::config::{Layer, Origin};
use serde::{Deserialize, Serialize};
use tempfile::Builder;

use super::approvals::{FOLDER, own_text};
use super::digest;
use crate::failure::Failure;
use crate::settings::{FILE, Places};

/// The folder of the texts, in that of approvals.
const TEXTS: &str = "texts";

/// The longest file that is read, in bytes.
const LONGEST: u64 = 16 << 20;

/// A text, with all that its digest is of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Kept {
    /// What the project was known by.
    pub(super) project: String,
    /// Where the settings stood in it.
    pub(super) place: String,
    /// What the file said.
    pub(super) text: String,
}

/// All texts that an operator approved.
#[derive(Clone, Debug)]
pub(super) struct Texts {
    folder: PathBuf,
}

impl Texts {
    /// Those of these places; none where there is no place for them.
    pub(super) fn of(places: &Places) -> Option<Self> {
        places.data.as_ref().map(|data| Self { folder: data.join(FOLDER).join(TEXTS) })
    }

    /// Keeps a text, where it is not kept yet.
    ///
    /// # Errors
    ///
    /// A folder that cannot be written.
    pub(super) fn keep(&self, digest: &str, kept: &Kept) -> Result<(), Failure> {
        let Some(file) = self.file(digest).filter(|_| self.read(digest).is_none()) else {
            return Ok(());
        };
        self.write(&file, kept).map_err(|error| {
            Failure::file("trust-unwritable", "keep the approved text in", &self.folder, &error)
        })
    }

    /// Whether something is kept under a digest, whatever it is.
    pub(super) fn has(&self, digest: &str) -> bool {
        self.file(digest).is_some_and(|file| file.exists())
    }

    fn write(&self, file: &Path, kept: &Kept) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let mut temporary =
            Builder::new().prefix(".gate-").suffix(".tmp").tempfile_in(&self.folder)?;
        temporary.write_all(&serde_json::to_vec(kept)?)?;
        temporary.as_file().sync_all()?;
        temporary.persist(file)?;
        File::open(&self.folder)?.sync_all()
    }

    /// The text of a digest, as settings of this file; none where it is not kept whole.
    pub(super) fn layer(&self, digest: &str, file: &Path) -> Option<Layer> {
        let kept = self.read(digest)?;
        Layer::parse(Origin::Project(file.to_owned()), &kept.text).ok()
    }

    /// What is kept under a digest.
    pub(super) fn read(&self, digest: &str) -> Option<Kept> {
        let kept = own_text(&self.file(digest)?, LONGEST).ok()?;
        let kept: Kept = serde_json::from_str(&kept).ok()?;
        let layer = Layer::parse(Origin::Project(FILE.into()), &kept.text).ok()?;
        let of = digest::of(&kept.project, &kept.place, &layer.spelled()?);
        (of == digest).then_some(kept)
    }

    fn file(&self, digest: &str) -> Option<PathBuf> {
        let name = digest.strip_prefix("blake3:").filter(|_| digest::is_one(digest))?;
        Some(self.folder.join(format!("{name}.json")))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_text_is_believed_for_its_digest_alone() {
        let folder = tempfile::tempdir().unwrap();
        let places = Places { data: Some(folder.path().to_owned()), ..Places::default() };
        let texts = Texts::of(&places).unwrap();
        let text = "# why\nbreaker.no_exit = 7\n".to_owned();
        let kept = Kept { project: "p".to_owned(), place: FILE.to_owned(), text };
        let file = Path::new("/w/gate.toml");
        let spelled = Layer::parse(Origin::Project(file.into()), &kept.text).unwrap().spelled();
        let digest = digest::of("p", FILE, &spelled.unwrap());
        assert_eq!(texts.read(&digest), None);
        texts.keep(&digest, &kept).unwrap();
        texts.keep(&digest, &kept).unwrap();
        assert_eq!(texts.read(&digest), Some(kept.clone()));
        assert_eq!(texts.layer(&digest, file).unwrap().origin(), &Origin::Project(file.into()));
        // What is written in its place afterwards is none.
        for other in ["breaker.no_exit = 0\n", "[[[", ""] {
            let other = Kept { text: other.to_owned(), ..kept.clone() };
            let other = serde_json::to_vec(&other).unwrap();
            fs::write(texts.file(&digest).unwrap(), other).unwrap();
            assert_eq!(texts.read(&digest), None);
        }
        texts.keep(&digest, &kept).unwrap();
        assert_eq!(texts.read(&digest), Some(kept));
        for name in ["", "../../etc/passwd", "blake3:../x"] {
            assert_eq!(texts.read(name), None, "{name}");
        }
    }
}
