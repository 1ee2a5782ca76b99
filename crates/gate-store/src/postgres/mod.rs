//! The ledgers of a fleet: a PostgreSQL database.
//!
//! A writer holds an advisory lock of the project until its transaction ends, and each of its
//! statements sees what was committed before that statement: so the head that it reads under the
//! lock is the newest. Tables are made if there are none; with them, the right to select and
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
use super::sql::{Database, Nothing, Sql, SqlValue};
use super::{Condition, Migrated, Upcoming, migration, statements};

pub(super) fn open(url: &DatabaseUrl, patience: Duration) -> Result<Box<dyn Database>, StoreError> {
    Ok(Box::new(PostgresStore::open(url, patience)?))
}

pub(super) fn migrate(url: &DatabaseUrl, patience: Duration) -> Result<Migrated, StoreError> {
    PostgresStore::open(url, patience)?.migrate()
}

/// A store in a PostgreSQL database. Its calls block, and must not come from
/// inside of an asynchronous runtime.
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
    /// A system that gives no means to wait for a connection.
    fn open(url: &DatabaseUrl, patience: Duration) -> Result<Self, StoreError> {
        let place = url.to_string();
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| StoreError::Unreachable {
            place: place.clone(),
            what: error.to_string(),
        })?;
        let outages = Patience::new(patience);
        let server = Server { runtime, url: url.clone(), place, patience, outages };
        Ok(Self { server, session: None, listener: None })
    }

    /// A connection on which something has begun. Nothing was changed yet, so it is tried again
    /// while the database does not answer.
    fn connect<T>(
        &mut self,
        begin: impl Fn(&Running<'_>) -> Result<T, StoreError>,
    ) -> Result<(Session, T), StoreError> {
        let until = Instant::now() + self.server.outages.connecting;
        loop {
            match self.try_connect(&begin, until) {
                Err(StoreError::Unreachable { .. }) if Instant::now() + RETRY_INTERVAL < until => {
                    std::thread::sleep(RETRY_INTERVAL);
                }
                done => return done,
            }
        }
    }

    fn try_connect<T>(
        &mut self,
        begin: &impl Fn(&Running<'_>) -> Result<T, StoreError>,
        until: Instant,
    ) -> Result<(Session, T), StoreError> {
        let kept = self.session.take().filter(Session::is_usable);
        let left = until.saturating_duration_since(Instant::now());
        let session = match kept {
            Some(session) => session,
            None => Session::connect(&self.server, left)?,
        };
        let mut running = Running::new(&self.server, &session);
        running.patience += RETRY_INTERVAL;
        let begun = begin(&running)?;
        drop(running);
        Ok((session, begun))
    }

    /// A connection that answers, to tables of the newest schema, and whose clock is
    /// known.
    fn ready(&mut self) -> Result<Session, StoreError> {
        if let Some(session) = self.session.take_if(|session| {
            session.is_usable() && session.is_prepared.get() && session.time().is_some()
        }) {
            return Ok(session);
        }
        let (mut session, ()) = self.connect(|running| running.run(CHANGING))?;
        let mut running = Running::new(&self.server, &session).in_transaction();
        schema::ensure(&mut running)?;
        let now = running.time()?;
        running.look_for_pooler()?;
        Box::new(running).commit(None).map_err(|error| match error {
            // Nothing of the caller's is in it: the next try looks for the tables again.
            StoreError::Uncertain { place, what } => StoreError::Unreachable { place, what },
            error => error,
        })?;
        session.set_time(now);
        Ok(session)
    }

    /// Begins a transaction, in which some questions are answered already. Without a version there
    /// were no tables.
    fn start<'s>(
        &'s mut self,
        sql: &str,
        asked: Vec<Question<'s>>,
    ) -> Result<(Running<'s>, Option<i64>), StoreError> {
        let (session, begun) = self.connect(|running| running.begin(sql, &asked))?;
        let session = self.session.insert(session);
        let mut running = Running::new(&self.server, session).in_transaction();
        running.answers = asked.into_iter().zip(begun.answers).collect();
        Ok((running, begun.version))
    }

    /// A transaction that may write, whatever the tables are.
    fn changing(&mut self) -> Result<Running<'_>, StoreError> {
        let (session, ()) = self.connect(|running| running.run(CHANGING))?;
        let session = self.session.insert(session);
        Ok(Running::new(&self.server, session).in_transaction())
    }
}

const CHANGING: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";

/// Subscribes to notifications of claimable work.
const LISTENING: &str = "LISTEN gate_work";

const READING: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// The version of the tables in a view that has just begun. If there were none, the view begins
/// anew: it failed at the question, or saw tables that somebody made at that moment without their
/// rows.
fn seen(running: &mut Running<'_>, version: Option<i64>) -> Result<i64, StoreError> {
    if let Some(version) = version {
        return Ok(version);
    }
    running.run("ROLLBACK")?;
    running.run(READING)?;
    running.version()
}

/// The questions of every transaction. The answers come with its beginning, in one round trip:
/// a database that is far away is not waited for eight times.
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
    let marked = marked.map(|head| vec![project, SqlValue::sought(head.seq)]);
    questions.extend(marked.map(|values| Question::new(statements::ENTRY, values)));
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
        let values = vec![project, run.as_str().into(), SqlValue::sought(iteration)];
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
        let approvals = vec![project.into(), kind::APPROVED.into(), SqlValue::sought(u64::MAX)];
        questions.push(Question::new(statements::LATEST_OF_TYPE, approvals));
        let (mut running, version) = self.start(READING, questions)?;
        let version = seen(&mut running, version)?;
        if version == 0 {
            return Ok(Box::new(Nothing));
        }
        migration::from(version)?;
        (running.is_reading, running.version) = (true, version);
        Ok(Box::new(running))
    }

    fn begin<'s>(
        &'s mut self,
        project: &'s str,
        marked: Option<Head>,
        upcoming: Option<&'s Upcoming>,
    ) -> Result<Box<dyn Sql + 's>, StoreError> {
        let sql = self.server.writing(project);
        let (mut running, version) = self.start(&sql, questions(project, marked, upcoming))?;
        if version.is_none() {
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

    fn wait_for(&self, began: Instant, failed: u64, message: &str) -> bool {
        self.server.outages.wait_for(began, failed, message)
    }
}
