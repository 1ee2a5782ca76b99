//! Settings that were approved, and what became of them since.

mod changes;
mod clones;
mod words;

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use super::{Approved, Trust, TrustState, settings_as_written};
use crate::settings::{Places, Selection};

const TESTS: &str = "[checks.tests]\ncommand = [\"cargo\", \"test\"]\n";

/// A project without a repository, and an operator's folder.
struct Project {
    folder: TempDir,
    places: Places,
}

impl Project {
    fn new(settings: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (project, data) = (folder.path().join("w"), folder.path().join("data"));
        fs::create_dir(&project).unwrap();
        let places = Places { folder: project, data: Some(data), ..Places::default() };
        let project = Self { folder, places };
        project.write(settings);
        project
    }

    fn file(&self) -> PathBuf {
        self.places.folder.join("gate.toml")
    }

    fn write(&self, settings: &str) {
        fs::write(self.file(), settings).unwrap();
    }

    /// Approves the settings as they are, and returns their digest.
    fn approve(&self) -> String {
        let approved = Approved::read(&self.places).unwrap();
        approved.store(&self.places, "gate trust").unwrap();
        approved.digest
    }

    /// The same project, with digests in the environment.
    fn with_digests(&self, digests: &str) -> Places {
        with_digests(&self.places, digests)
    }

    fn trust(&self) -> Trust {
        trust(&self.places)
    }
}

fn with_digests(places: &Places, digests: &str) -> Places {
    let environment = vec![("GATE_TRUST".to_owned(), digests.to_owned())];
    Places { environment, ..places.clone() }
}

fn trust(places: &Places) -> Trust {
    settings_as_written(places, &Selection::default()).unwrap().1
}

fn state(places: &Places) -> TrustState {
    trust(places).report().unwrap().state
}
