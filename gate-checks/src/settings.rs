//! Settings of checks that only this crate can judge: globs.

use gate_core::decide::policy::Policy;

use crate::worktree::{Globs, WorktreeError};

/// A setting that no check can work with.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {problem}")]
pub struct BadSetting {
    /// The key of the setting, such as `checks.tests.paths`.
    pub key: String,
    /// Description of the error.
    pub problem: String,
}

/// Checks that every glob of a policy can be parsed.
///
/// # Errors
///
/// The first glob that cannot be parsed.
pub fn validate(policy: &Policy) -> Result<(), BadSetting> {
    validate_globs("tree.ignore".to_owned(), &policy.tree.ignore)?;
    for (name, check) in &policy.checks {
        validate_globs(format!("checks.{name}.paths"), &check.paths)?;
        validate_globs(format!("checks.{name}.ignore"), &check.ignore)?;
    }
    Ok(())
}

/// Checks that a glob of files of the project can be parsed.
///
/// # Errors
///
/// A glob that cannot be parsed, or that leads out of the project.
pub fn validate_glob(glob: &str) -> Result<(), WorktreeError> {
    Globs::new(&[glob.to_owned()]).map(drop)
}

fn validate_globs(key: String, globs: &[String]) -> Result<(), BadSetting> {
    match Globs::new(globs) {
        Ok(_) => Ok(()),
        Err(error) => Err(BadSetting { key, problem: error.to_string() }),
    }
}
