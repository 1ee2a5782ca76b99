//! The tests of a baseline: their identities and results.

use std::fs;
use std::path::PathBuf;

use gate_core::decide::evidence::Evidence;

use super::error::BaselineError;
use super::{Baseline, folder};
use crate::report::Test;
use crate::site::CheckSite;
use crate::store;
use crate::worktree::WorkTree;

impl Baseline {
    /// The tests of a check, where they were found out before; `key` names the
    /// command. None where they were not.
    pub fn tests(
        &self,
        site: &CheckSite,
        tree: &WorkTree,
        (check, key): (&str, &str),
    ) -> Option<Vec<Test>> {
        let text = fs::read(self.tests_file(site, tree, check, key)?).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Keeps the tests of a check. Without a state folder nothing is kept.
    ///
    /// # Errors
    ///
    /// A folder that cannot be written.
    pub fn keep_tests(
        &self,
        site: &CheckSite,
        tree: &WorkTree,
        (check, key): (&str, &str),
        tests: &[Test],
    ) -> Result<(), BaselineError> {
        let Some(path) = self.tests_file(site, tree, check, key) else { return Ok(()) };
        let text = serde_json::to_vec(tests).unwrap_or_default();
        store::write_file(&path, &text).map_err(|source| BaselineError::Io { path, source })
    }

    /// The result of a check on the baseline, if it ran there before.
    pub(crate) fn outcome(&self, site: &CheckSite, tree: &WorkTree, key: &str) -> Option<Evidence> {
        let text = fs::read(self.tests_file(site, tree, "", key)?).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Keeps what a check came to on the baseline.
    ///
    /// # Errors
    ///
    /// A folder that cannot be written.
    pub(crate) fn keep_outcome(
        &self,
        site: &CheckSite,
        tree: &WorkTree,
        key: &str,
        evidence: &Evidence,
    ) -> Result<(), BaselineError> {
        let Some(path) = self.tests_file(site, tree, "", key) else { return Ok(()) };
        let text = serde_json::to_vec(evidence).unwrap_or_default();
        store::write_file(&path, &text).map_err(|source| BaselineError::Io { path, source })
    }

    fn tests_file(
        &self,
        site: &CheckSite,
        tree: &WorkTree,
        check: &str,
        key: &str,
    ) -> Option<PathBuf> {
        let name = blake3::hash(format!("{}\0{check}\0{key}", self.digest()).as_bytes()).to_hex();
        Some(folder(site, tree)?.join("tests").join(format!("{}.json", &name[..32])))
    }
}
