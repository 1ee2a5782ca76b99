//! The upkeep of a whole store, with all projects in it: the acts of an operator.

use std::fmt::Debug;

use schemars::JsonSchema;
use serde::Serialize;

use super::addition::{self, Numbered};
use super::error::StoreError;
use super::migration;

/// A store as a whole.
pub trait Upkeep: Debug {
    /// Name of this store, as [`Store::place`](super::Store::place).
    fn place(&self) -> &str;

    /// Brings the schema to this gate's version, and makes the additions that are missing.
    ///
    /// # Errors
    ///
    /// A store that cannot be written, a role that does not own the tables, a newer store.
    fn migrate(&mut self) -> Result<Migrated, StoreError>;

    /// The condition of the database, apart from the records in it.
    ///
    /// # Errors
    ///
    /// A store that cannot be reached, tables that have no version.
    fn condition(&mut self) -> Result<Condition, StoreError>;
}

/// The condition of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The database and its version.
    pub database: String,
    /// The version of the schema; 0 if there are no tables, or they cannot be read.
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
    pub projects: Vec<String>,
}

/// An addition to the schema.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
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
    /// The version before; 0 if there were no tables.
    pub before: i64,
    /// The version now.
    pub version: i64,
    /// The additions that were made.
    pub additions: Vec<Added>,
    /// The additions that rows contradict. The store goes on without them.
    pub contradicted: Vec<Added>,
}

/// Fails unless the tables of a place have the version that this gate writes.
pub(super) fn is_current(version: i64, place: &str) -> Result<(), StoreError> {
    let place = place.to_owned();
    if version == 0 {
        let what = "there is nothing to copy: no record was written".to_owned();
        return Err(StoreError::Unwritable { path: place, what });
    }
    match migration::from(version)? {
        None => Ok(()),
        Some(_) => Err(StoreError::Older { place, found: version, known: migration::VERSION }),
    }
}

/// The additions that a store with these is without.
pub(super) fn missing(present: &[i64]) -> Vec<Added> {
    addition::missing(present).map(Added::from).collect()
}
