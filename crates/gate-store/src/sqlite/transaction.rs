//! A transaction in SQLite.

use gate_core::ledger::Head;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Statement, ToSql, Transaction};

use super::super::addition::{self, Numbered};
use super::super::error::StoreError;
use super::super::migration;
use super::super::sql::{Cell, Rows, Sql, SqlValue};
use super::fault;

/// A transaction that is running. Dropped, it is rolled back.
#[derive(Debug)]
pub(super) struct Running<'a> {
    pub(super) transaction: Transaction<'a>,
    pub(super) path: &'a str,
    /// The connection may be used again.
    pub(super) is_sound: &'a std::cell::Cell<bool>,
    /// The version of the tables; 0 if there are none.
    pub(super) version: i64,
}

impl Running<'_> {
    /// Runs several statements.
    ///
    /// # Errors
    ///
    /// The database's error.
    pub(super) fn run(&self, statements: &str) -> Result<(), StoreError> {
        self.checked(self.transaction.execute_batch(statements))
    }

    /// The numbers of the additions that the store has.
    ///
    /// # Errors
    ///
    /// The database's error.
    pub(super) fn additions(&self) -> Result<Vec<i64>, StoreError> {
        let numbers = || {
            let mut statement = self.transaction.prepare(addition::PRESENT)?;
            let rows = statement.query_map([], |row| row.get(0))?;
            rows.collect::<rusqlite::Result<Vec<_>>>()
        };
        match numbers() {
            Err(error) if fault::is_missing(&error) => Ok(Vec::new()),
            numbers => self.checked(numbers),
        }
    }

    /// Makes an addition, whole or not at all: it is left out if rows contradict it.
    ///
    /// # Errors
    ///
    /// The database's error.
    pub(super) fn add(&self, numbered: Numbered) -> Result<(), StoreError> {
        self.run("SAVEPOINT addition")?;
        let statements = numbered.statements(numbered.addition.sqlite);
        match self.transaction.execute_batch(&statements) {
            Err(error) if fault::is_taken(&error) => {
                self.run("ROLLBACK TO addition; RELEASE addition")
            }
            outcome => {
                self.checked(outcome)?;
                self.run("RELEASE addition")
            }
        }
    }

    /// The result. After an error the connection is not used again.
    fn checked<T>(&self, result: rusqlite::Result<T>) -> Result<T, StoreError> {
        result.map_err(|error| {
            self.is_sound.set(false);
            fault::store_error(self.path, &error)
        })
    }

    fn prepare(&self, sql: &str, values: &[SqlValue<'_>]) -> rusqlite::Result<Statement<'_>> {
        let mut statement = self.transaction.prepare(sql)?;
        for (number, value) in (1..).zip(values) {
            statement.raw_bind_parameter(number, value)?;
        }
        Ok(statement)
    }

    fn select(&self, sql: &str, values: &[SqlValue<'_>]) -> rusqlite::Result<Rows> {
        let mut statement = self.prepare(sql, values)?;
        let column_count = statement.column_count();
        let mut cursor = statement.raw_query();
        let mut rows = Vec::new();
        while let Some(row) = cursor.next()? {
            let cells = (0..column_count).map(|column| row.get_ref(column).map(cell));
            rows.push(cells.collect::<rusqlite::Result<Vec<_>>>()?);
        }
        Ok(rows)
    }
}

impl Sql for Running<'_> {
    fn rows(
        &mut self,
        statement: &'static str,
        values: &[SqlValue<'_>],
    ) -> Result<Rows, StoreError> {
        self.checked(self.select(statement, values))
    }

    fn change(
        &mut self,
        statement: &'static str,
        values: &[SqlValue<'_>],
    ) -> Result<bool, StoreError> {
        let outcome = self.prepare(statement, values).and_then(|mut bound| bound.raw_execute());
        match outcome {
            Err(error) if fault::is_taken(&error) => Ok(false),
            outcome => self.checked(outcome.map(|_| true)),
        }
    }

    /// After an error the record is not looked for: if the disk did not take it, it may be lost even
    /// though it can be read.
    fn commit(self: Box<Self>, _: Option<Head>) -> Result<(), StoreError> {
        self.transaction.commit().map_err(|error| fault::commit_error(self.path, &error))?;
        self.is_sound.set(true);
        Ok(())
    }

    fn has_items(&self) -> bool {
        self.version >= migration::WITH_ITEMS
    }
}

impl ToSql for SqlValue<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match *self {
            SqlValue::Integer(number) => number.map_or(ValueRef::Null, ValueRef::Integer),
            SqlValue::Text(text) => text.into(),
        }))
    }
}

fn cell(value: ValueRef<'_>) -> Cell {
    match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(number) => Cell::Integer(number),
        ValueRef::Real(_) => Cell::Other("a fraction"),
        ValueRef::Blob(_) => Cell::Other("bytes"),
        ValueRef::Text(bytes) => match str::from_utf8(bytes) {
            Ok(text) => Cell::Text(text.to_owned()),
            Err(_) => Cell::Other("text that is not UTF-8"),
        },
    }
}
