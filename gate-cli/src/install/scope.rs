//! The people for whom gate is installed.

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// For whom gate is installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// For this user, in every project.
    User,
    /// For this user, in this project.
    Project,
    /// For everybody who works on this project.
    Shared,
    /// For all users of this machine.
    Managed,
}

impl Scope {
    pub(crate) const ALL: [Self; 4] = [Self::User, Self::Project, Self::Shared, Self::Managed];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Shared => "shared",
            Self::Managed => "managed",
        }
    }
}
