//! Stands in for PostgreSQL in a build without the feature `postgres`: no text can be read as an
//! address, so [`DatabaseUrl`] has no values.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::tables::Copying;
use super::{Heads, Store, StoreError, Upkeep};

/// The address of a PostgreSQL database, which this build cannot use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseUrl(Infallible);

impl DatabaseUrl {
    /// True if the address holds a password.
    pub fn has_password(&self) -> bool {
        match self.0 {}
    }
}

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

pub(super) fn open(
    url: &DatabaseUrl,
    _: Option<Heads>,
    _: Duration,
) -> Result<Box<dyn Store>, StoreError> {
    match url.0 {}
}

pub(super) fn upkeep(url: &DatabaseUrl, _: Duration) -> Result<Box<dyn Upkeep>, StoreError> {
    match url.0 {}
}

pub(super) fn copying(url: &DatabaseUrl, _: Duration) -> Result<Box<dyn Copying>, StoreError> {
    match url.0 {}
}
