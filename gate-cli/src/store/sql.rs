//! The few statements that a database has to answer.

use super::error::StoreError;
use super::statements::{self, Dialect};

/// A value that is given to a statement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum SqlValue<'a> {
    Integer(i64),
    /// An integer, or NULL.
    MaybeInteger(Option<i64>),
    Text(&'a str),
    /// A text, or NULL.
    MaybeText(Option<&'a str>),
}

/// A value that came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Cell {
    Null,
    Integer(i64),
    Text(String),
    /// A value that no column of gate holds: a float, bytes, text that is not UTF-8.
    Other(&'static str),
}

/// A transaction in one of the databases. The statements are those of
/// `statements.rs`, where `$1` and so on stand for the values. SQLite takes them
/// for names, in the order in which they first appear: so that is their order.
pub(super) trait Sql {
    /// The statements that differ between databases.
    const DIALECT: &'static Dialect;

    /// The rows that a statement returns.
    fn rows(
        &mut self,
        statement: &'static str,
        given: &[SqlValue<'_>],
    ) -> Result<Vec<Vec<Cell>>, StoreError>;

    /// Runs a statement that changes rows. False if a unique index forbids it.
    fn change(
        &mut self,
        statement: &'static str,
        given: &[SqlValue<'_>],
    ) -> Result<bool, StoreError>;

    /// Keeps the changes, and the connection for the next transaction. Without this call,
    /// the changes are undone and the connection is closed.
    ///
    /// # Errors
    ///
    /// A database that refuses or does not answer. If it does not answer, the outcome is
    /// unknown.
    fn commit(self) -> Result<(), StoreError>;
}

/// The texts in rows of one column.
pub(super) fn texts(rows: Vec<Vec<Cell>>) -> Vec<String> {
    let text = |cell| if let Cell::Text(text) = cell { Some(text) } else { None };
    rows.into_iter().flatten().filter_map(text).collect()
}

/// A store that holds nothing yet, and takes nothing.
pub(super) struct Nothing;

impl Sql for Nothing {
    const DIALECT: &'static Dialect = &statements::SQLITE;

    fn rows(&mut self, _: &'static str, _: &[SqlValue<'_>]) -> Result<Vec<Vec<Cell>>, StoreError> {
        Ok(Vec::new())
    }

    fn change(&mut self, _: &'static str, _: &[SqlValue<'_>]) -> Result<bool, StoreError> {
        Err(StoreError::corrupt("there are no tables"))
    }

    fn commit(self) -> Result<(), StoreError> {
        Ok(())
    }
}
