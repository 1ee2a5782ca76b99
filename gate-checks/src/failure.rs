//! Errors of evidence as failures of the program.

use gate_core::Failure;

use crate::baseline::BaselineError;
use crate::gather::GatherError;
use crate::seal::SealError;
use crate::settings::BadSetting;
use crate::worktree::WorktreeError;

impl From<BadSetting> for Failure {
    fn from(error: BadSetting) -> Self {
        let failure = Self::usage("config-invalid", error.to_string());
        Self { key: Some(error.key), ..failure }
    }
}

impl From<GatherError> for Failure {
    fn from(error: GatherError) -> Self {
        match error {
            GatherError::Check(bad) => bad.into(),
            error => Self::internal("checks-unavailable", error.to_string()),
        }
    }
}

impl From<BaselineError> for Failure {
    fn from(error: BaselineError) -> Self {
        let failure = Self::internal("baseline-unreadable", error.to_string());
        failure.hint("`gate baseline` takes a new one, if nothing has to be compared any more")
    }
}

impl From<WorktreeError> for Failure {
    fn from(error: WorktreeError) -> Self {
        Self::internal("tree-unreadable", format!("the work tree cannot be read: {error}"))
    }
}

impl From<SealError> for Failure {
    fn from(error: SealError) -> Self {
        Self::usage("seal-refused", error.to_string())
    }
}
