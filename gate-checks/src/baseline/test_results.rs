//! Results of checks on a baseline, found out once.

use std::fs;
use std::path::PathBuf;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::BaselineError;
use super::{Baseline, folder};
use crate::site::CheckSite;
use crate::store;
use crate::worktree::WorkTree;

impl Baseline {
    /// The result of a check on the baseline, if it ran there before; `key` names the check, its
    /// command, and the kind of result.
    pub(crate) fn result<T: DeserializeOwned>(
        &self,
        site: &CheckSite,
        tree: &WorkTree,
        key: &str,
    ) -> Option<T> {
        let text = fs::read(self.result_file(site, tree, key)?).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Keeps the result of a check on the baseline. Without a state folder nothing is kept.
    ///
    /// # Errors
    ///
    /// A folder that cannot be written.
    pub(crate) fn keep_result(
        &self,
        site: &CheckSite,
        tree: &WorkTree,
        key: &str,
        result: &impl Serialize,
    ) -> Result<(), BaselineError> {
        let Some(path) = self.result_file(site, tree, key) else { return Ok(()) };
        let text = serde_json::to_vec(result).unwrap_or_default();
        store::write_file(&path, &text).map_err(|source| BaselineError::Io { path, source })
    }

    fn result_file(&self, site: &CheckSite, tree: &WorkTree, key: &str) -> Option<PathBuf> {
        let name = blake3::hash(format!("{}\0{key}", self.digest()).as_bytes()).to_hex();
        Some(folder(site, tree)?.join("tests").join(format!("{}.json", &name[..32])))
    }
}
