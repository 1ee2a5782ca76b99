//! Files that the tests of the baseline, or their settings, name as what they load.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use gate_core::integrity::{Guarded, Language, loaded_by_itself, named_by_tests, names_files};

use super::Overlay;
use crate::baseline::{BaselineError, Change};
use crate::worktree::WorkTree;

impl Overlay<'_> {
    /// The changed files that settings or files of the baseline's tests name as what they load.
    pub(super) fn named_by_tests(
        &self,
        tree: &WorkTree,
    ) -> Result<BTreeSet<PathBuf>, BaselineError> {
        let mut named = BTreeSet::new();
        let may_be_product = |change: &&Change| {
            matches!(change.guarded, None | Some(Guarded::Manifest | Guarded::Ci))
        };
        let candidates: Vec<&Path> = self
            .changes
            .iter()
            .filter(may_be_product)
            .map(|change| change.path.as_path())
            .collect();
        let has_data = candidates.iter().any(|path| is_data(path));
        if candidates.is_empty() {
            return Ok(named);
        }
        for file in self.baseline.files_of_tests(tree)? {
            let is_source = file.extension().is_some_and(|ending| ending == "rs");
            if !names_files(&file.to_string_lossy()) || is_source && !has_data {
                continue;
            }
            let Some(stored) = self.baseline.content(tree, &file)? else { continue };
            let text = String::from_utf8_lossy(&stored.bytes);
            for name in named_by_tests(&file.to_string_lossy(), &text) {
                let folder = file.parent().unwrap_or(Path::new(""));
                let places = [normal(&folder.join(&name)), PathBuf::from(&name)];
                named.extend(places.into_iter().filter(|place| candidates.contains(&&**place)));
            }
        }
        Ok(named)
    }
}

/// Data is in no language that gate knows, and no runner loads it by itself.
pub(in crate::checks::verified_tests) fn is_data(path: &Path) -> bool {
    let name = path.to_string_lossy();
    Language::from_path(&name).is_none() && !loaded_by_itself(&name)
}

/// A path without `..` and `.` in it.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(normal.pop()),
            Component::CurDir => {}
            part => normal.push(part),
        }
    }
    normal
}
