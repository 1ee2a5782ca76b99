//! Old tests that the task contradicts: what a person sealed or wrote as a criterion takes their place,
//! so that their failures are a note.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::file_tests::FileTests;
use super::identities::{is_name_of, listed};
use super::overlay::Overlay;
use crate::check::SupersededTest;
use crate::worktree::WorkTree;

/// The old tests of a check that something else takes the place of.
#[derive(Debug, Default)]
pub(super) struct Superseded<'a> {
    /// Old files of tests for which there is a sealed file.
    pub(super) files: Vec<FileTests>,
    /// Tests that criteria name.
    named: &'a [SupersededTest],
}

impl<'a> Superseded<'a> {
    /// From the paths of the sealed files and the criteria of the settings; `cwd` is the folder of the
    /// check, relative to the root.
    pub(super) fn new(
        sealed_paths: Vec<PathBuf>,
        named: &'a [SupersededTest],
        tree: &WorkTree,
        overlay: Option<&Overlay<'_>>,
        cwd: &Path,
    ) -> Self {
        let old_file = |path: PathBuf| {
            let old_text = match overlay {
                Some(overlay) => overlay.baseline.content(tree, &path).ok()??.bytes,
                None => tree.bytes(&path)?,
            };
            // Not the names of the file as it is now: the agent may have written those of other files.
            let tests = FileTests::new(path, [&*old_text], tree, cwd);
            tests.holds_tests().then_some(tests)
        };
        Self { files: sealed_paths.into_iter().filter_map(old_file).collect(), named }
    }

    /// A part of a sentence that names the substitute of a test; `None` if it has none.
    fn substitute(&self, id: &str) -> Option<String> {
        if self.files.iter().any(|file| file.has(id)) {
            return Some("a sealed file".to_owned());
        }
        let named = self.named.iter().find(|named| is_name_of(&named.test, id));
        named.map(|named| format!("the criterion {}", named.criterion))
    }

    pub(super) fn has(&self, id: &str) -> bool {
        self.substitute(id).is_some()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty() && self.named.is_empty()
    }

    /// Failing tests with what takes their places, as they stand in records.
    pub(super) fn detail(&self, tests: &[String]) -> Value {
        let note = |id: &String| json!({ "test": id, "by": self.substitute(id) });
        listed(tests).iter().map(note).collect()
    }
}
