//! A transaction in PostgreSQL.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use futures_util::future::{join, join_all};
use gate_core::ledger::Head;
use jiff::Timestamp;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Error, Row, SimpleQueryMessage};

use super::super::addition;
use super::super::error::StoreError;
use super::super::sql::{Cell, Rows, Sql, SqlValue};
use super::super::{migration, statements};
use super::connection::Session;
use super::fault;
use super::server::Server;

/// Statements on a session: each for itself, or in a transaction, which is rolled back when it is
/// dropped.
#[derive(Debug)]
pub(super) struct Running<'a> {
    server: &'a Server,
    session: &'a Session,
    /// Longest time for one statement.
    pub(super) patience: Duration,
    in_transaction: bool,
    /// Nothing is changed in the transaction.
    pub(super) is_reading: bool,
    /// The project that is changed.
    pub(super) project: &'a str,
    /// The version of the tables.
    pub(super) version: i64,
    /// The time of the beginning, in milliseconds since 1970 by the database's clock. Set for a change
    /// of leases alone: another transaction may have waited for a lock since.
    pub(super) now: Option<i64>,
    /// Questions that were answered when the transaction began. A change drops them: its rows may be
    /// other ones.
    pub(super) answers: Vec<(Question<'a>, Rows)>,
}

/// A statement with its parameters.
#[derive(Debug)]
pub(super) struct Question<'q> {
    statement: &'static str,
    pub(super) values: Vec<SqlValue<'q>>,
}

impl<'q> Question<'q> {
    pub(super) fn new(statement: &'static str, values: Vec<SqlValue<'q>>) -> Self {
        Self { statement, values }
    }
}

/// The first answers of a transaction.
pub(super) struct Beginning {
    /// The version of the tables. `None` if there are no tables, and then the transaction has failed;
    /// or if the tables are newer than its snapshot: the name of a table is looked up in a newer
    /// snapshot than its rows.
    pub(super) version: Option<i64>,
    /// The rows of each question that was sent ahead.
    pub(super) answers: Vec<Rows>,
}

/// The tables that exist: first `gate_schema`, then one of the others. Not by `to_regclass`: a session
/// caches that a name was absent, and does not notice that somebody else made the table while the
/// session waited for a lock.
const TABLES: &str = "SELECT max(CAST(relname AS TEXT)) FILTER (WHERE relname = 'gate_schema'), \
     max(CAST(relname AS TEXT)) FILTER (WHERE relname <> 'gate_schema') \
     FROM pg_catalog.pg_class \
     WHERE relname IN ('gate_schema', 'ledger', 'work') AND pg_catalog.pg_table_is_visible(oid)";

/// A row if the table of additions exists.
const HAS_ADDITIONS: &str = "SELECT CAST(relname AS TEXT) FROM pg_catalog.pg_class \
     WHERE relname = 'gate_additions' AND pg_catalog.pg_table_is_visible(oid)";

impl<'a> Running<'a> {
    pub(super) fn new(server: &'a Server, session: &'a Session) -> Self {
        Self {
            server,
            session,
            patience: server.patience,
            in_transaction: false,
            is_reading: false,
            project: "",
            version: migration::VERSION,
            now: None,
            answers: Vec::new(),
        }
    }

    /// The same statements, in the transaction that has begun on the session.
    pub(super) fn in_transaction(mut self) -> Self {
        self.in_transaction = true;
        self
    }

    /// Begins a transaction, and reads the version of the tables and all rows that it needs, in
    /// one round trip.
    ///
    /// # Errors
    ///
    /// The database's error, or its silence.
    pub(super) fn begin(
        &self,
        sql: &str,
        questions: &[Question<'_>],
    ) -> Result<Beginning, StoreError> {
        let first_request = format!("{sql}; {}", statements::VERSION);
        let parameters: Vec<_> = questions.iter().map(|question| typed(&question.values)).collect();
        let queries = questions
            .iter()
            .zip(&parameters)
            .map(|(question, values)| self.session.rows(question.statement, values));
        // `join` polls in this order, so the requests leave in it.
        let requests = join(self.session.client().simple_query(&first_request), join_all(queries));
        let (first_answer, answers) =
            self.wait(requests).ok_or_else(|| fault::silent(&self.server.place))?;
        let version = match first_answer {
            Err(error) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => None,
            answer => version_in(&answer.map_err(|error| self.failed(&error))?),
        };
        if version.is_none() {
            return Ok(Beginning { version, answers: Vec::new() });
        }
        let answers = answers.into_iter().map(|answer| {
            let rows = answer.map_err(|error| self.failed(&error))?;
            let rows = rows.iter().map(cells).collect::<Result<Rows, Error>>();
            rows.map_err(|error| fault::store_error(&self.server.place, &error))
        });
        Ok(Beginning { version, answers: answers.collect::<Result<_, _>>()? })
    }

    /// Closes the session at the end, unless a commit succeeds.
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
        match self.rows(NOW, &[])?.pop().as_deref() {
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
        &self.server.place
    }

    fn answer<T>(&self, request: impl Future<Output = Result<T, Error>>) -> Result<T, StoreError> {
        let answer = self.wait(request).ok_or_else(|| fault::silent(&self.server.place))?;
        answer.map_err(|error| self.failed(&error))
    }

    /// The error of a statement, after which the session is not used again.
    fn failed(&self, error: &Error) -> StoreError {
        self.session.is_sound.set(false);
        fault::store_error(&self.server.place, error)
    }

    /// The answer, unless it takes too long.
    fn wait<T>(&self, request: impl Future<Output = T>) -> Option<T> {
        let timed_request = async { tokio::time::timeout(self.patience, request).await };
        let answer = self.server.runtime.block_on(timed_request).ok();
        if answer.is_none() {
            self.session.is_silent.set(true);
        }
        answer
    }
}

impl Sql for Running<'_> {
    fn rows(
        &mut self,
        statement: &'static str,
        values: &[SqlValue<'_>],
    ) -> Result<Rows, StoreError> {
        let is_asked =
            |question: &Question<'_>| question.statement == statement && question.values == values;
        if let Some(index) = self.answers.iter().position(|(question, _)| is_asked(question)) {
            return Ok(self.answers.swap_remove(index).1);
        }
        let answer = self.answer(self.session.rows(statement, &typed(values)))?;
        let rows = answer.iter().map(cells).collect::<Result<_, Error>>();
        rows.map_err(|error| fault::store_error(&self.server.place, &error))
    }

    fn change(
        &mut self,
        statement: &'static str,
        values: &[SqlValue<'_>],
    ) -> Result<bool, StoreError> {
        self.answers.clear();
        let parameters = typed(values);
        let request = self.session.client().execute_typed(statement, &parameters);
        let answer = self.wait(request).ok_or_else(|| fault::silent(&self.server.place))?;
        match answer {
            Err(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => Ok(false),
            answer => answer.map(|_| true).map_err(|error| self.failed(&error)),
        }
    }

    fn commit(mut self: Box<Self>, head: Option<Head>) -> Result<(), StoreError> {
        if self.in_transaction {
            self.in_transaction = false;
            let place = &self.server.place;
            let outcome = match self.wait(self.session.client().batch_execute("COMMIT")) {
                None => Err(fault::uncertain(place, fault::SILENT.to_owned())),
                Some(answer) => answer.map_err(|error| fault::commit_error(place, &error)),
            };
            match (outcome, head) {
                (Err(uncertain @ StoreError::Uncertain { .. }), Some(head)) => {
                    return self.server.settle(self.project, head, uncertain);
                }
                (outcome, _) => outcome?,
            }
        }
        self.session.is_prepared.set(true);
        self.session.is_sound.set(true);
        Ok(())
    }

    fn claim(&self) -> &'static str {
        statements::CLAIM_UNLOCKED
    }

    fn has_items(&self) -> bool {
        self.version >= migration::WITH_ITEMS
    }

    fn now(&mut self) -> Result<Timestamp, StoreError> {
        let millis = match self.now {
            Some(millis) => millis,
            None => self.time()?,
        };
        Timestamp::from_millisecond(millis)
            .map_err(|_| StoreError::corrupt("the database has no time"))
    }

    fn announce(&mut self) -> Result<(), StoreError> {
        let project = [self.project.into()];
        self.rows("SELECT CAST(pg_notify('gate_work', $1) AS TEXT)", &project).map(drop)
    }
}

/// The milliseconds since 1970.
const NOW: &str = "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)";

// The runtime carries the connection only while somebody waits for an answer. Without an explicit
// end, the project's lock would stay taken until the next statement, maybe for hours.
impl Drop for Running<'_> {
    fn drop(&mut self) {
        if !self.in_transaction || self.session.is_silent.get() {
            return;
        }
        let end = self.session.client().batch_execute("ROLLBACK");
        if self.is_reading {
            // Nobody waits for the answer: the rollback of a view cannot matter.
            self.server.runtime.block_on(send(end));
        } else {
            // An error closes the session, which has the same effect.
            let _ = self.answer(end);
        }
    }
}

/// Sends a request: its first poll hands it over to the connection, which then has its turn.
async fn send(request: impl Future) {
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

/// Parameters with their types.
fn typed<'v>(values: &'v [SqlValue<'v>]) -> Vec<(&'v (dyn ToSql + Sync), Type)> {
    let parameters = values.iter().map(|value| match value {
        SqlValue::Integer(number) => (number as &(dyn ToSql + Sync), Type::INT8),
        SqlValue::Text(text) => (text as _, Type::TEXT),
    });
    parameters.collect()
}

fn cells(row: &Row) -> Result<Vec<Cell>, Error> {
    let columns = row.columns().iter().enumerate();
    columns.map(|(index, column)| cell(row, index, column.type_())).collect()
}

fn cell(row: &Row, index: usize, column_type: &Type) -> Result<Cell, Error> {
    Ok(match *column_type {
        Type::INT8 => row.try_get::<_, Option<i64>>(index)?.map_or(Cell::Null, Cell::Integer),
        Type::TEXT => row.try_get::<_, Option<String>>(index)?.map_or(Cell::Null, Cell::Text),
        _ => Cell::Other("another type"),
    })
}
