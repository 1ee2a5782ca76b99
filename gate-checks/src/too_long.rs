//! Checks that did not fit the budget of a hook. A later stop does not start them again: it would
//! wait for nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::Policy;
use serde_json::json;

use crate::store;

/// The time after which a check is tried again: the machine may have been busy.
const LIFETIME: Duration = Duration::from_secs(24 * 60 * 60);

/// The marks of one work tree.
#[derive(Debug)]
pub(crate) struct TooLong<'p> {
    folder: Option<PathBuf>,
    policy: &'p Policy,
}

impl<'p> TooLong<'p> {
    /// The marks inside a work tree's folder of the state; without it no check is marked.
    pub(crate) fn new(tree_folder: Option<&Path>, policy: &'p Policy) -> Self {
        Self { folder: tree_folder.map(|folder| folder.join("too-long")), policy }
    }

    /// This check, with these settings, did not fit this budget.
    pub(crate) fn has(&self, check: &str) -> bool {
        self.mark_file(check)
            .and_then(|file| fs::metadata(file).ok()?.modified().ok())
            .is_some_and(|marked_at| marked_at.elapsed().is_ok_and(|age| age < LIFETIME))
    }

    /// Marks the checks that were ended for the budget, and takes the mark from those that fit.
    /// `time_limit` is that of the call.
    pub(crate) fn note(
        &self,
        evidence: &[Evidence],
        time_limit: Option<Duration>,
        is_ended: impl Fn(&Evidence) -> bool,
    ) {
        let budget_ms = self.policy.hook.budget_ms;
        let limit_ms = time_limit.map_or(budget_ms, |limit| {
            budget_ms.min(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX))
        });
        for record in evidence.iter().filter(|record| !record.cached) {
            let Some(file) = self.mark_file(&record.check) else { continue };
            // A check that began late may fit another time.
            if is_ended(record) && record.duration_ms >= limit_ms / 2 {
                let _ = store::write_file(&file, &[]);
            } else if matches!(record.outcome, Outcome::Pass | Outcome::Fail)
                && record.duration_ms < budget_ms
            {
                let _ = fs::remove_file(file);
            }
        }
    }

    fn mark_file(&self, check: &str) -> Option<PathBuf> {
        let settings = self.policy.checks.get(check)?;
        let key = json!([check, settings.command, settings.shell, self.policy.hook.budget_ms]);
        let name = blake3::hash(key.to_string().as_bytes()).to_hex();
        Some(self.folder.as_ref()?.join(&name[..32]))
    }
}
