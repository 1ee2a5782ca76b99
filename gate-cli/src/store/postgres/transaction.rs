//! A transaction in PostgreSQL.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use futures_util::future::{join, join_all};
use tokio::runtime::Runtime;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Error, Row, SimpleQueryMessage};

use super::super::addition;
use super::super::error::StoreError;
use super::super::lookup::{Question, Rows};
use super::super::sql::{Cell, Sql, SqlValue};
use super::super::statements::{self, Dialect, POSTGRES};
use super::connection::Session;
use super::fault;

/// Statements on a session: each for itself, or in a transaction, which is rolled back when
/// it is dropped.
#[derive(Debug)]
pub(super) struct Running<'a> {
    runtime: &'a Runtime,
    session: &'a Session,
    place: &'a str,
    /// Longest time for one statement.
    patience: Duration,
    in_transaction: bool,
    /// True if nothing is changed in the transaction.
    is_reading: bool,
}

/// The first answers of a transaction.
pub(super) struct Beginning {
    /// The version of the tables. None if there are none, and then the transaction has failed, or
    /// if its snapshot is older than they are: the name of a table is looked up by a newer one.
    pub(super) version: Option<i64>,
    /// The rows of each question that was sent ahead.
    pub(super) answers: Vec<Rows>,
}

/// The tables that exist. Not by `to_regclass`: a session caches that a name was absent, and
/// does not notice that somebody else made the table while the session waited for a lock.
const TABLES: &str = "SELECT max(CAST(relname AS TEXT)) FILTER (WHERE relname = 'gate_schema'), \
     max(CAST(relname AS TEXT)) FILTER (WHERE relname <> 'gate_schema') \
     FROM pg_catalog.pg_class \
     WHERE relname IN ('gate_schema', 'ledger', 'work') AND pg_catalog.pg_table_is_visible(oid)";

/// A row if the table of additions exists.
const HAS_ADDITIONS: &str = "SELECT CAST(relname AS TEXT) FROM pg_catalog.pg_class \
     WHERE relname = 'gate_additions' AND pg_catalog.pg_table_is_visible(oid)";

impl<'a> Running<'a> {
    pub(super) fn new(
        runtime: &'a Runtime,
        session: &'a Session,
        place: &'a str,
        patience: Duration,
    ) -> Self {
        Self { runtime, session, place, patience, in_transaction: false, is_reading: false }
    }

    /// The same, in the transaction that has begun on the session.
    pub(super) fn in_transaction(mut self) -> Self {
        self.in_transaction = true;
        self
    }

    /// The same, if nothing is changed in it.
    pub(super) fn reading(mut self) -> Self {
        self.is_reading = true;
        self
    }

    /// Begins a transaction, and reads the version of the tables and all rows that it needs, in
    /// one round trip.
    ///
    /// # Errors
    ///
    /// The database's error, or its silence.
    pub(super) fn begin(&self, sql: &str, ahead: &[Question]) -> Result<Beginning, StoreError> {
        let begin = format!("{sql}; {}", statements::VERSION);
        let given: Vec<_> = ahead.iter().map(Question::given).collect();
        let values: Vec<Vec<_>> =
            given.iter().map(|given| given.iter().map(typed).collect()).collect();
        let given: Vec<Vec<_>> = values.iter().map(|values| borrowed(values)).collect();
        let queries = ahead.iter().zip(&given);
        let queries = queries.map(|(question, given)| self.session.rows(question.statement, given));
        // The requests leave in this order.
        let answers = join(self.session.client().simple_query(&begin), join_all(queries));
        let (begun, answers) = self.wait(answers).ok_or_else(|| fault::silent(self.place))?;
        let version = match begun {
            Err(error) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => None,
            begun => version_in(&begun.map_err(|error| self.failed(&error))?),
        };
        if version.is_none() {
            return Ok(Beginning { version, answers: Vec::new() });
        }
        let answers = answers.into_iter().map(|answer| {
            let rows = answer.map_err(|error| self.failed(&error))?;
            let rows = rows.iter().map(cells).collect::<Result<Rows, Error>>();
            rows.map_err(|error| fault::store_error(self.place, &error))
        });
        Ok(Beginning { version, answers: answers.collect::<Result<_, _>>()? })
    }

    /// Closes the session after this, unless a commit succeeds.
    pub(super) fn must_commit(&self) {
        self.session.is_sound.set(false);
    }

    /// Runs several statements.
    ///
    /// # Errors
    ///
    /// The database's error, or its silence.
    pub(super) fn run(&self, statements: &str) -> Result<(), StoreError> {
        self.answer(self.session.client().batch_execute(statements))
    }

    /// The milliseconds since 1970, by the database's clock.
    ///
    /// # Errors
    ///
    /// The database's error, or its silence.
    pub(super) fn time(&mut self) -> Result<i64, StoreError> {
        let rows = POSTGRES.now.map(|now| self.rows(now, &[])).transpose()?;
        match rows.and_then(|mut rows| rows.pop()).as_deref() {
            Some([Cell::Integer(now)]) => Ok(*now),
            _ => Err(StoreError::corrupt("the database has no time")),
        }
    }

    /// Finds out if a pooler is between.
    ///
    /// # Errors
    ///
    /// The database's error, or its silence.
    pub(super) fn look_for_pooler(&self) -> Result<(), StoreError> {
        self.answer(self.session.look_for_pooler())
    }

    /// The version of the tables; 0 if there are none.
    ///
    /// # Errors
    ///
    /// A database that does not answer, tables that have no version.
    pub(super) fn version(&mut self) -> Result<i64, StoreError> {
        match self.rows(TABLES, &[])?.pop().as_deref() {
            Some([Cell::Null, Cell::Null]) => return Ok(0),
            Some([Cell::Null, _]) => {
                return Err(StoreError::corrupt("the table gate_schema is missing"));
            }
            _ => {}
        }
        match self.rows(statements::VERSION, &[])?.pop().as_deref() {
            Some([Cell::Integer(version)]) => Ok(*version),
            _ => Err(StoreError::corrupt("the table gate_schema holds no version")),
        }
    }

    /// The numbers of the additions that the store has.
    ///
    /// # Errors
    ///
    /// The database's error, or its silence.
    pub(super) fn additions(&mut self) -> Result<Vec<i64>, StoreError> {
        if self.rows(HAS_ADDITIONS, &[])?.is_empty() {
            return Ok(Vec::new());
        }
        let rows = self.rows(addition::PRESENT, &[])?;
        let number = |cell| if let Cell::Integer(number) = cell { Some(number) } else { None };
        Ok(rows.into_iter().flatten().filter_map(number).collect())
    }

    /// The database's host, port and name.
    pub(super) fn place(&self) -> &str {
        self.place
    }

    fn answer<T>(&self, request: impl Future<Output = Result<T, Error>>) -> Result<T, StoreError> {
        let answer = self.wait(request).ok_or_else(|| fault::silent(self.place))?;
        answer.map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &Error) -> StoreError {
        self.session.is_sound.set(false);
        fault::store_error(self.place, error)
    }

    /// The answer, unless it takes too long.
    fn wait<T>(&self, request: impl Future<Output = T>) -> Option<T> {
        let answer = async { tokio::time::timeout(self.patience, request).await };
        let answer = self.runtime.block_on(answer).ok();
        if answer.is_none() {
            self.session.is_silent.set(true);
        }
        answer
    }
}

impl Sql for Running<'_> {
    const DIALECT: &'static Dialect = &POSTGRES;

    fn rows(
        &mut self,
        statement: &'static str,
        given: &[SqlValue<'_>],
    ) -> Result<Vec<Vec<Cell>>, StoreError> {
        let values: Vec<_> = given.iter().map(typed).collect();
        let given = borrowed(&values);
        let rows = self.answer(self.session.rows(statement, &given))?;
        let read = rows.iter().map(cells).collect::<Result<_, Error>>();
        read.map_err(|error| fault::store_error(self.place, &error))
    }

    fn change(
        &mut self,
        statement: &'static str,
        given: &[SqlValue<'_>],
    ) -> Result<bool, StoreError> {
        let values: Vec<_> = given.iter().map(typed).collect();
        let given = borrowed(&values);
        let request = self.session.client().execute_typed(statement, &given);
        let done = self.wait(request).ok_or_else(|| fault::silent(self.place))?;
        match done {
            Err(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => Ok(false),
            done => done.map(|_| true).map_err(|error| self.failed(&error)),
        }
    }

    fn commit(mut self) -> Result<(), StoreError> {
        if self.in_transaction {
            self.in_transaction = false;
            let done = self.wait(self.session.client().batch_execute("COMMIT"));
            done.ok_or_else(|| fault::uncertain(self.place, fault::SILENT.to_owned()))?
                .map_err(|error| fault::commit_error(self.place, &error))?;
        }
        self.session.is_prepared.set(true);
        self.session.is_sound.set(true);
        Ok(())
    }
}

// The runtime carries the connection only while somebody waits for an answer. Without an explicit
// end, the project's lock would stay taken until the next statement, maybe for hours.
impl Drop for Running<'_> {
    fn drop(&mut self) {
        if !self.in_transaction || self.session.is_silent.get() {
            return;
        }
        let end = self.session.client().batch_execute("ROLLBACK");
        if self.is_reading {
            // Nobody waits for the answer.
            self.runtime.block_on(sent(end));
        } else {
            // An error closes the session, which has the same effect.
            let _ = self.answer(end);
        }
    }
}

/// Sends a request: its first poll hands it over to the connection, which then has its turn.
async fn sent(request: impl Future) {
    let mut request = pin!(request);
    poll_fn(|context| {
        let _ = request.as_mut().poll(context);
        Poll::Ready(())
    })
    .await;
    tokio::task::yield_now().await;
}

/// The version in the last row.
fn version_in(messages: &[SimpleQueryMessage]) -> Option<i64> {
    messages.iter().rev().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0)?.parse().ok(),
        _ => None,
    })
}

type Value<'v> = Box<dyn ToSql + Sync + 'v>;

fn typed<'v>(given: &'v SqlValue<'_>) -> (Value<'v>, Type) {
    match given {
        SqlValue::Integer(number) => (Box::new(number), Type::INT8),
        SqlValue::MaybeInteger(number) => (Box::new(number), Type::INT8),
        SqlValue::Text(text) => (Box::new(text), Type::TEXT),
        SqlValue::MaybeText(text) => (Box::new(text), Type::TEXT),
    }
}

fn borrowed<'v>(values: &'v [(Value<'_>, Type)]) -> Vec<(&'v (dyn ToSql + Sync), Type)> {
    values.iter().map(|(value, kind)| (&**value as _, kind.clone())).collect()
}

fn cells(row: &Row) -> Result<Vec<Cell>, Error> {
    let columns = row.columns().iter().enumerate();
    columns.map(|(at, column)| cell(row, at, column.type_())).collect()
}

fn cell(row: &Row, at: usize, kind: &Type) -> Result<Cell, Error> {
    Ok(match *kind {
        Type::INT8 => row.try_get::<_, Option<i64>>(at)?.map_or(Cell::Null, Cell::Integer),
        Type::TEXT => row.try_get::<_, Option<String>>(at)?.map_or(Cell::Null, Cell::Text),
        _ => Cell::Other("another type"),
    })
}
