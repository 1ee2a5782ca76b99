//! The ledgers of a fleet: a PostgreSQL database.
//!
//! A writer holds an advisory lock of the project until its transaction ends, and each of its
//! statements sees what was committed before that statement: so the head that it reads under the
//! lock is the newest. Tables are made if there are none; once they exist, the right to select and
//! insert is enough. Older tables are changed by an operator alone (`schema.rs`).

mod clear;
mod connection;
mod fault;
mod outage;
mod schema;
mod server;
mod tls;
mod transaction;
mod upkeep;
mod url;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::{Duration, Instant};

use gate_core::history::kind;
use gate_core::ledger::Head;
use tokio::runtime::Builder;

use self::connection::{Session, WaitOutcome};
use self::server::{Patience, RETRY_INTERVAL, Server};
use self::transaction::{Question, Running};
pub use self::url::DatabaseUrl;
use super::error::StoreError;
use super::sql::{Database, EmptyStore, Sql, SqlValue};
use super::{Condition, Migrated, Upcoming, migration, statements};

pub(super) fn open(url: &DatabaseUrl, patience: Duration) -> Result<Box<dyn Database>, StoreError> {
    Ok(Box::new(PostgresStore::open(url, patience)?))
}

pub(super) fn migrate(url: &DatabaseUrl, patience: Duration) -> Result<Migrated, StoreError> {
    PostgresStore::open(url, patience)?.migrate()
}

/// A store in a PostgreSQL database. Its calls block, and must not come from inside of an
/// asynchronous runtime.
#[derive(Debug)]
struct PostgresStore {
    server: Server,
    session: Option<Session>,
    /// The connection that is notified when work can be claimed.
    listener: Option<Session>,
}

impl PostgresStore {
    /// The store in this database. It is not connected to yet.
    ///
    /// # Errors
    ///
    /// A system that has no means to wait for a connection.
    fn open(url: &DatabaseUrl, patience: Duration) -> Result<Self, StoreError> {
        let place = url.to_string();
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| fault::unreachable(&place, &error))?;
        let outages = Patience::new(patience);
        let server = Server { runtime, url: url.clone(), place, patience, outages };
        Ok(Self { server, session: None, listener: None })
    }

    /// A connection on which `begin` has succeeded, and its result. Nothing was changed yet, so a
    /// failure is followed by another attempt while the database does not answer.
    fn connect<T>(
        &mut self,
        begin: impl Fn(&Running<'_>) -> Result<T, StoreError>,
    ) -> Result<(Session, T), StoreError> {
        let deadline = Instant::now() + self.server.outages.connecting;
        loop {
            match self.try_connect(&begin, deadline) {
                Err(StoreError::Unreachable { .. })
                    if Instant::now() + RETRY_INTERVAL < deadline =>
                {
                    std::thread::sleep(RETRY_INTERVAL);
                }
                outcome => return outcome,
            }
        }
    }

    fn try_connect<T>(
        &mut self,
        begin: &impl Fn(&Running<'_>) -> Result<T, StoreError>,
        deadline: Instant,
    ) -> Result<(Session, T), StoreError> {
        let usable = self.session.take().filter(Session::is_usable);
        let remaining = deadline.saturating_duration_since(Instant::now());
        let session = match usable {
            Some(session) => session,
            None => Session::connect(&self.server, remaining)?,
        };
        let mut running = Running::new(&self.server, &session);
        // The database itself gives up on a lock after the patience, and says so: its answer gets
        // the time to arrive.
        running.patience += RETRY_INTERVAL;
        let result = begin(&running)?;
        drop(running);
        Ok((session, result))
    }

    /// A connection to a database that answers, has tables of the newest schema, and has told its
    /// time.
    fn ready(&mut self) -> Result<Session, StoreError> {
        if let Some(session) = self.session.take_if(|session| {
            session.is_usable() && session.is_prepared.get() && session.time().is_some()
        }) {
            return Ok(session);
        }
        let (mut session, ()) = self.connect(|running| running.run(CHANGING))?;
        let mut running = Running::new(&self.server, &session).in_transaction();
        schema::ensure(&mut running)?;
        let millis = running.time()?;
        running.look_for_pooler()?;
        Box::new(running).commit(None).map_err(|error| match error {
            // None of the caller's changes is in it: the next attempt looks for the tables again.
            StoreError::Uncertain { place, reason } => StoreError::Unreachable { place, reason },
            error => error,
        })?;
        session.set_time(millis);
        Ok(session)
    }

    /// Begins a transaction, in which `questions` are answered already. Also returns the version of
    /// the tables; `None` as of [`Beginning::version`](transaction::Beginning::version).
    fn start<'s>(
        &'s mut self,
        sql: &str,
        questions: Vec<Question<'s>>,
    ) -> Result<(Running<'s>, Option<i64>), StoreError> {
        let (session, beginning) = self.connect(|running| running.begin(sql, &questions))?;
        let session = self.session.insert(session);
        let mut running = Running::new(&self.server, session).in_transaction();
        running.answers = questions.into_iter().zip(beginning.answers).collect();
        Ok((running, beginning.version))
    }

    /// A transaction that may write, whatever the version of the tables is.
    fn begin_migration(&mut self) -> Result<Running<'_>, StoreError> {
        let (session, ()) = self.connect(|running| running.run(CHANGING))?;
        let session = self.session.insert(session);
        Ok(Running::new(&self.server, session).in_transaction())
    }
}

const CHANGING: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";

/// Subscribes to notifications of claimable work.
const LISTENING: &str = "LISTEN gate_work";

const READING: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// The version of the tables in a view that has just begun. Without a version the view begins anew: it
/// failed at the question for it, or saw tables that another gate made at that moment, without their
/// rows.
fn version_in_view(running: &mut Running<'_>, version: Option<i64>) -> Result<i64, StoreError> {
    if let Some(version) = version {
        return Ok(version);
    }
    running.run("ROLLBACK")?;
    running.run(READING)?;
    running.version()
}

/// The questions of every transaction. The answers come with its beginning, in one round trip: to a
/// database that is far away, a round trip for each question would take long.
fn questions<'q>(
    project: &'q str,
    marked: Option<Head>,
    upcoming: Option<&'q Upcoming>,
) -> Vec<Question<'q>> {
    let project = SqlValue::from(project);
    let latest = |kind: &'static str, limit| {
        Question::new(statements::LATEST_OF_TYPE, vec![project, kind.into(), limit])
    };
    let mut questions = vec![
        Question::new(statements::HEAD, vec![project]),
        latest(kind::LOSS_NOTICED, 1.into()),
        latest(kind::LOSS_ACCEPTED, 1.into()),
    ];
    if let Some(head) = marked {
        let values = vec![project, SqlValue::clamped(head.seq)];
        questions.push(Question::new(statements::ENTRY, values));
    }
    let Some(upcoming) = upcoming else { return questions };
    let in_loop = upcoming.in_loop.as_str().into();
    questions.extend([
        latest(kind::TRUST, 1.into()),
        Question::new(statements::LATEST_OF_LOOP, vec![project, in_loop]),
        Question::new(statements::LATEST_STEP_OF_LOOP, vec![project, in_loop]),
        Question::new(statements::LATEST_OF_TASK, vec![project, upcoming.task.as_str().into()]),
        Question::new(statements::HAS_POLICY, vec![upcoming.policy_digest.as_str().into()]),
    ]);
    if let (Some(run), Some(iteration)) = (&upcoming.run, upcoming.iteration) {
        let values = vec![project, run.as_str().into(), SqlValue::clamped(iteration)];
        questions.push(Question::new(statements::DECISION, values));
    }
    questions.retain(|question| question.values.iter().all(SqlValue::can_be_found));
    questions
}

impl Database for PostgresStore {
    fn view<'s>(
        &'s mut self,
        project: &'s str,
        marked: Option<Head>,
        upcoming: Option<&'s Upcoming>,
    ) -> Result<Box<dyn Sql + 's>, StoreError> {
        let mut questions = questions(project, marked, upcoming);
        // The acts of persons that a decision rests on.
        questions.extend([kind::APPROVED, kind::GOAL].map(|kind| {
            let all_of_kind = vec![project.into(), kind.into(), SqlValue::clamped(u64::MAX)];
            Question::new(statements::LATEST_OF_TYPE, all_of_kind)
        }));
        let (mut running, version) = self.start(READING, questions)?;
        let version = version_in_view(&mut running, version)?;
        if version == 0 {
            return Ok(Box::new(EmptyStore));
        }
        migration::steps_from(version)?;
        (running.is_reading, running.version) = (true, version);
        Ok(Box::new(running))
    }

    fn begin<'s>(
        &'s mut self,
        project: &'s str,
        marked: Option<Head>,
        upcoming: Option<&'s Upcoming>,
    ) -> Result<Box<dyn Sql + 's>, StoreError> {
        let sql = self.server.begin_change(project);
        let (mut running, version) = self.start(&sql, questions(project, marked, upcoming))?;
        if version.is_none() {
            // The question for the version has failed the transaction.
            running.run("ROLLBACK")?;
            running.run(&sql)?;
        }
        if version != Some(migration::VERSION) {
            schema::ensure(&mut running)?;
        }
        running.must_commit();
        running.project = project;
        Ok(Box::new(running))
    }

    fn lease<'s>(&'s mut self, project: &'s str) -> Result<Box<dyn Sql + 's>, StoreError> {
        let session = self.ready()?;
        let session = self.session.insert(session);
        let mut running = Running::new(&self.server, session);
        running.must_commit();
        (running.project, running.now) = (project, session.time());
        Ok(Box::new(running))
    }

    fn await_work(&mut self, project: &str, at_most: Duration) -> Result<bool, StoreError> {
        let Some(listener) = self.listener.as_mut() else {
            self.listener = Some(self.connect(|running| running.run(LISTENING))?.0);
            // Work may have become claimable before this connection listened.
            return Ok(true);
        };
        match listener.await_name(&self.server.runtime, project, at_most) {
            WaitOutcome::Named => Ok(true),
            WaitOutcome::TimedOut => Ok(false),
            WaitOutcome::Closed => {
                self.listener = None;
                Ok(true)
            }
        }
    }

    fn back_up(&mut self, _to: &Path) -> Result<(), StoreError> {
        Err(StoreError::OtherTools { place: self.server.place.clone() })
    }

    fn condition(&mut self) -> Result<Condition, StoreError> {
        self.examined()
    }

    fn place(&self) -> &str {
        &self.server.place
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn wait_in_loop(&mut self, limit: Duration, interrupt: &Arc<AtomicUsize>) {
        self.server.outages.wait_in_loop(limit, interrupt);
    }

    fn wait_for(&self, start: Instant, failures: u64, message: &str) -> bool {
        self.server.outages.wait_for(start, failures, message)
    }
}
