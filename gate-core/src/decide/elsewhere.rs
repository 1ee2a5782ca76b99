//! Work of a loop that does not stand in the tree that is judged.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Work in another work tree, on a branch or in the stash of the repository, or in another
/// repository.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct WorkElsewhere {
    /// The place in words: `../shop-tax (branch tax)`, `branch tax`, `the stash`.
    pub place: String,
    /// Its amount: `2 commits, 1 file not committed`.
    pub work: String,
    /// The result of the required checks there; absent if they did not run there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checked: Option<CheckedElsewhere>,
}

/// The result of the required checks in another tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CheckedElsewhere {
    /// All of them passed.
    pub passed: bool,
    /// Their results in words.
    pub summary: String,
}

impl WorkElsewhere {
    /// The checks passed there.
    pub fn is_checked(&self) -> bool {
        self.checked.as_ref().is_some_and(|checked| checked.passed)
    }

    /// The place, the work and the results of the checks in words.
    pub fn words(&self) -> String {
        let Self { place, work, checked } = self;
        match checked {
            None => format!("{place}: {work}"),
            Some(CheckedElsewhere { summary, .. }) => format!("{place}: {work}; {summary}"),
        }
    }
}
