//! The upkeep of a whole store, with all projects in it: the acts of an operator.

use serde::Serialize;

use super::addition::{self, Numbered};
use super::migration;

/// The condition of a database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Condition {
    /// The state folder, or the database's host, port and name.
    pub place: String,
    /// The database and its version.
    pub database: String,
    /// The version of the tables; 0 if there are no tables, or they cannot be read.
    pub version: i64,
    /// The numbers of the additions that the store has.
    pub additions: Vec<i64>,
    /// The additions that are missing.
    pub missing: Vec<Added>,
    /// The store's size in bytes.
    pub bytes: u64,
    /// The free space of the disk in bytes, if it is known.
    pub free_bytes: Option<u64>,
    /// Defects, which make the store unsound.
    pub problems: Vec<String>,
    /// Facts that an operator should know.
    pub remarks: Vec<String>,
    /// The names of all projects, also of those that were set aside.
    #[serde(skip)]
    pub projects: Vec<String>,
}

impl Condition {
    /// The tables lack what this gate knows, or there are no tables.
    pub fn is_outdated(&self) -> bool {
        self.version < migration::VERSION || !self.missing.is_empty()
    }
}

/// An addition to the schema.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Added {
    /// Its number.
    pub number: i64,
    /// Its name.
    pub name: &'static str,
}

impl From<Numbered> for Added {
    fn from(numbered: Numbered) -> Self {
        Self { number: numbered.number, name: numbered.addition.name }
    }
}

/// The change of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Migrated {
    /// The database's host, port and name.
    pub place: String,
    /// The version before the change; 0 if there were no tables.
    pub old_version: i64,
    /// The version after the change.
    pub version: i64,
    /// The additions that were made.
    pub additions: Vec<Added>,
}

/// The additions that a store lacks, by the numbers that are present.
pub(super) fn missing(present: &[i64]) -> Vec<Added> {
    addition::missing(present).map(Added::from).collect()
}
