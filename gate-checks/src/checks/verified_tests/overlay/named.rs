//! Files that the tests of the baseline, or their settings, name as what they load.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use gate_core::integrity::{
    Guarded, Language, files_named_by_tests, loaded_by_itself, may_name_files,
};

use super::Overlay;
use crate::baseline::{BaselineError, Change};
use crate::worktree::WorkTree;

impl Overlay<'_> {
    /// The changed files that settings or files of the baseline's tests name as what they load.
    pub(super) fn files_named_by_tests(
        &self,
        tree: &WorkTree,
    ) -> Result<BTreeSet<PathBuf>, BaselineError> {
        let mut named_files = BTreeSet::new();
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
            return Ok(named_files);
        }
        for file in self.baseline.files_of_tests(tree)? {
            // Tests in Rust name only what they include, and that is data.
            let is_rust = file.extension().is_some_and(|extension| extension == "rs");
            if !may_name_files(&file.to_string_lossy()) || is_rust && !has_data {
                continue;
            }
            let Some(stored_file) = self.baseline.content(tree, &file)? else { continue };
            let text = String::from_utf8_lossy(&stored_file.bytes);
            for name in files_named_by_tests(&file.to_string_lossy(), &text) {
                // A name is relative to the file's folder, or to the root.
                let folder = file.parent().unwrap_or(Path::new(""));
                let paths = [normal_path(&folder.join(&name)), PathBuf::from(&name)];
                named_files.extend(paths.into_iter().filter(|path| candidates.contains(&&**path)));
            }
        }
        Ok(named_files)
    }
}

/// A file in no language that gate knows, which no runner loads by itself.
pub(in crate::checks::verified_tests) fn is_data(path: &Path) -> bool {
    let name = path.to_string_lossy();
    Language::from_path(&name).is_none() && !loaded_by_itself(&name)
}

/// A path without `..` and `.` in it.
fn normal_path(path: &Path) -> PathBuf {
    let mut normal_path = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => drop(normal_path.pop()),
            Component::CurDir => {}
            component => normal_path.push(component),
        }
    }
    normal_path
}
