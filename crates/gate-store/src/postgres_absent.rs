//! Stands in for PostgreSQL in a build without the feature `postgres`: no text can be read as an
//! address, so [`DatabaseUrl`] has no values.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::sql::Database;
use super::{Migrated, StoreError};

/// The address of a PostgreSQL database, which this build cannot use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseUrl(Infallible);

impl FromStr for DatabaseUrl {
    type Err = StoreError;

    fn from_str(_: &str) -> Result<Self, StoreError> {
        Err(StoreError::NoPostgres)
    }
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {}
    }
}

pub(super) fn open(url: &DatabaseUrl, _: Duration) -> Result<Box<dyn Database>, StoreError> {
    match url.0 {}
}

pub(super) fn migrate(url: &DatabaseUrl, _: Duration) -> Result<Migrated, StoreError> {
    match url.0 {}
}
