//! Stands in for a PostgreSQL server where gate is built without the feature `postgres`: every
//! test that needs one is skipped.

use std::convert::Infallible;

use crate::needs::skip;

/// Stands for a database, and has no values.
pub(crate) struct Database {
    pub(crate) url: String,
    never: Infallible,
}

/// Stands for a connection to a database, and has no values.
pub(crate) struct Session {
    never: Infallible,
}

/// Always false: gate is built without PostgreSQL. The test is skipped.
pub(crate) fn is_built() -> bool {
    skip("postgres", "gate is built without it: add --features full");
    false
}

impl Database {
    pub(crate) fn new() -> Option<Self> {
        is_built().then(|| unreachable!("it is not"))
    }

    pub(crate) fn url_as(&self, _: &str, _: &str) -> String {
        match self.never {}
    }

    pub(crate) fn session(&self) -> Session {
        match self.never {}
    }
}

impl Session {
    pub(crate) fn new(_: &str) -> Self {
        unreachable!("there is no database to connect to")
    }

    pub(crate) fn run(&self, _: &str) -> Vec<String> {
        match self.never {}
    }

    pub(crate) fn refuses(&self, _: &str) -> String {
        match self.never {}
    }
}
