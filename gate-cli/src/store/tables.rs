//! The tables as they are, row by row: for a copy from one database to another.

use super::error::StoreError;
use super::sql::{Cell, SqlValue};
use super::upkeep::Upkeep;

/// The kind of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Integer,
}

/// A table that is copied.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) name: &'static str,
    pub(super) columns: &'static [(&'static str, Kind)],
    /// The rows of a project after a number, in pages; without a number all at once.
    pub(super) select: &'static str,
    /// The column of that number.
    pub(super) position: Option<usize>,
}

/// The tables of a store inside of a transaction.
pub(super) trait Tables {
    /// The rows that a statement returns.
    fn read(
        &mut self,
        statement: &'static str,
        given: &[SqlValue<'_>],
    ) -> Result<Vec<Vec<Cell>>, StoreError>;

    /// Inserts rows.
    fn insert(&mut self, table: &'static Table, rows: &[Vec<Cell>]) -> Result<(), StoreError>;

    /// Keeps the rows. Without this call they are gone.
    fn commit(self: Box<Self>) -> Result<(), StoreError>;
}

/// A store that is copied from, or to.
pub(super) trait Copying: Upkeep {
    /// The tables at one moment.
    ///
    /// # Errors
    ///
    /// A store without tables, or with those of another version.
    fn snapshot(&mut self) -> Result<Box<dyn Tables + '_>, StoreError>;

    /// The tables, to be filled with these projects. Nobody else begins one of them meanwhile.
    ///
    /// # Errors
    ///
    /// A store that cannot be written.
    fn fill(&mut self, projects: &[&str]) -> Result<Box<dyn Tables + '_>, StoreError>;
}

pub(super) const LEDGER: Table = Table {
    name: "ledger",
    columns: &[
        ("project", Kind::Text),
        ("seq", Kind::Integer),
        ("v", Kind::Integer),
        ("time", Kind::Text),
        ("type", Kind::Text),
        ("run", Kind::Text),
        ("actor", Kind::Text),
        ("body", Kind::Text),
        ("prev", Kind::Text),
        ("hash", Kind::Text),
        ("task", Kind::Text),
        ("loop", Kind::Text),
        ("iteration", Kind::Integer),
        ("decision_id", Kind::Text),
    ],
    select: "SELECT project, seq, v, time, type, run, actor, body, prev, hash, task, loop, \
             iteration, decision_id FROM ledger WHERE project = $1 AND seq > $2 \
             ORDER BY seq LIMIT $3",
    position: Some(1),
};

pub(super) const WORK: Table = Table {
    name: "work",
    columns: &[
        ("project", Kind::Text),
        ("id", Kind::Text),
        ("title", Kind::Text),
        ("description", Kind::Text),
        ("phase", Kind::Text),
        ("blocked_in", Kind::Text),
        ("transitions", Kind::Integer),
        ("added", Kind::Integer),
        ("seq", Kind::Integer),
        ("lease", Kind::Text),
        ("actor", Kind::Text),
        ("issued_at", Kind::Integer),
        ("expires_at", Kind::Integer),
        ("released", Kind::Integer),
        ("renewals", Kind::Integer),
    ],
    select: "SELECT project, id, title, description, phase, blocked_in, transitions, added, seq, \
             lease, actor, issued_at, expires_at, released, renewals FROM work \
             WHERE project = $1 AND added > $2 ORDER BY added LIMIT $3",
    position: Some(7),
};

/// The policies after a digest, in pages.
pub(super) const POLICIES: &str =
    "SELECT digest, text FROM policies WHERE digest > $1 ORDER BY digest LIMIT $2";

pub(super) const POLICIES_TABLE: Table = Table {
    name: "policies",
    columns: &[("digest", Kind::Text), ("text", Kind::Text)],
    select: POLICIES,
    position: None,
};

/// The number of records, and of work items.
pub(super) const COUNTS: &str = "SELECT (SELECT count(*) FROM ledger WHERE project = $1), \
     (SELECT count(*) FROM work WHERE project = $1)";

impl Table {
    /// The names of the columns, between commas.
    pub(super) fn names(&self) -> String {
        let names: Vec<_> = self.columns.iter().map(|(name, _)| *name).collect();
        names.join(", ")
    }

    /// A value for a column.
    ///
    /// # Errors
    ///
    /// A value of another kind than the column's.
    pub(super) fn value<'c>(&self, at: usize, cell: &'c Cell) -> Result<SqlValue<'c>, StoreError> {
        let (column, kind) = self.columns[at];
        match (kind, cell) {
            (Kind::Text, Cell::Null) => Ok(SqlValue::MaybeText(None)),
            (Kind::Text, Cell::Text(text)) => Ok(SqlValue::Text(text)),
            (Kind::Integer, Cell::Null) => Ok(SqlValue::MaybeInteger(None)),
            (Kind::Integer, Cell::Integer(number)) => Ok(SqlValue::Integer(*number)),
            _ => Err(StoreError::corrupt(format!(
                "table {}, column `{column}`: a value of another kind than the column's",
                self.name
            ))),
        }
    }
}
