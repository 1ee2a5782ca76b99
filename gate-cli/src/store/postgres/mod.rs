//! The ledgers of a fleet: a PostgreSQL database.
//!
//! A writer holds an advisory lock of the project until its transaction ends, and each of its
//! statements sees what was committed before that statement: so the head that it reads under the
//! lock is the newest. Tables are made if there are none; with them, the right to select and
//! insert is enough. Older tables are changed by an operator alone (`schema.rs`).

mod clear;
mod connection;
mod fault;
mod schema;
mod tls;
mod transaction;
mod upkeep;
mod url;

use std::path::Path;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};

use self::connection::{Session, WaitOutcome};
use self::transaction::Running;
pub use self::url::DatabaseUrl;
use super::error::StoreError;
use super::lookup::{Answers, Lookup, Question};
use super::sql::{Nothing, Sql};
use super::view::View;
use super::{
    Condition, Heads, Leasing, Marked, Migrated, RETRY_INTERVAL, Reading, Store, Transaction,
    migration,
};

pub(super) fn open(
    url: &DatabaseUrl,
    heads: Option<Heads>,
    patience: Duration,
) -> Result<Box<dyn Store>, StoreError> {
    Ok(Box::new(Marked::new(PostgresStore::open(url, patience)?, heads)))
}

pub(super) fn condition(url: &DatabaseUrl, patience: Duration) -> Result<Condition, StoreError> {
    PostgresStore::open(url, patience)?.condition()
}

pub(super) fn migrate(url: &DatabaseUrl, patience: Duration) -> Result<Migrated, StoreError> {
    PostgresStore::open(url, patience)?.migrate()
}

/// A store in a PostgreSQL database. Its calls block, and must not come from
/// inside of an asynchronous runtime.
#[derive(Debug)]
pub struct PostgresStore {
    runtime: Runtime,
    url: DatabaseUrl,
    place: String,
    patience: Duration,
    /// The longest wait for a connection.
    connecting: Duration,
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
    pub fn open(url: &DatabaseUrl, patience: Duration) -> Result<Self, StoreError> {
        let place = url.to_string();
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| StoreError::Unreachable {
            place: place.clone(),
            what: error.to_string(),
        })?;
        Ok(Self {
            runtime,
            url: url.clone(),
            place,
            patience,
            connecting: patience,
            session: None,
            listener: None,
        })
    }

    /// A connection on which something has begun. Nothing was changed yet, so it is tried again
    /// while the database does not answer.
    fn connect<T>(
        &mut self,
        begin: impl Fn(&Running<'_>) -> Result<T, StoreError>,
    ) -> Result<(Session, T), StoreError> {
        let until = Instant::now() + self.connecting;
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
            None => Session::connect(&self.runtime, &self.url, left)?,
        };
        let patience = self.patience + RETRY_INTERVAL;
        let begun = begin(&Running::new(&self.runtime, &session, &self.place, patience))?;
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
        let mut running =
            Running::new(&self.runtime, &session, &self.place, self.patience).in_transaction();
        schema::ensure(&mut running)?;
        let now = running.time()?;
        running.look_for_pooler()?;
        running.commit()?;
        session.set_time(now);
        Ok(session)
    }

    /// Begins a transaction, with the answers that are read ahead.
    fn start(
        &mut self,
        sql: &str,
        ahead: Vec<Question>,
    ) -> Result<(Running<'_>, Option<i64>, Answers), StoreError> {
        let (session, begun) = self.connect(|running| running.begin(sql, &ahead))?;
        let session = self.session.insert(session);
        let running = Running::new(&self.runtime, session, &self.place, self.patience);
        let answers = ahead.into_iter().zip(begun.answers).collect();
        Ok((running.in_transaction(), begun.version, answers))
    }

    /// A transaction that may write, whatever the tables are.
    fn changing(&mut self) -> Result<Running<'_>, StoreError> {
        let (session, ()) = self.connect(|running| running.run(CHANGING))?;
        let session = self.session.insert(session);
        Ok(Running::new(&self.runtime, session, &self.place, self.patience).in_transaction())
    }

    /// A view that may write, on the newest schema.
    fn view<'s>(
        &'s mut self,
        project: &'s str,
        ahead: &[Lookup<'_>],
    ) -> Result<View<'s, Running<'s>>, StoreError> {
        let sql = self.writing(project);
        let (mut running, version, answers) = self.start(&sql, questions(project, ahead))?;
        if version.is_none() {
            running.run("ROLLBACK")?;
            running.run(&sql)?;
        }
        if version != Some(migration::VERSION) {
            schema::ensure(&mut running)?;
        }
        running.must_commit();
        Ok(View::new(running, project)?.knowing(answers))
    }

    fn writing(&self, project: &str) -> String {
        let (patience, lock) = (self.patience.as_millis().max(1), lock(project));
        format!(
            "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL lock_timeout = {patience}; \
             {DURABLE}; SELECT pg_advisory_xact_lock({lock})"
        )
    }
}

const CHANGING: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";

/// Subscribes to notifications of claimable work.
const LISTENING: &str = "LISTEN gate_work";

const READING: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// A database or a role may be set to answer before a commit is on the disk.
const DURABLE: &str = "SELECT set_config('synchronous_commit', 'on', true) \
     WHERE current_setting('synchronous_commit') IN ('off', 'local')";

/// The number of a project's lock. Two projects that share one wait for each
/// other, and nothing worse.
fn lock(project: &str) -> i64 {
    let digest = blake3::hash(format!("gate ledger\0{project}").as_bytes());
    i64::from_le_bytes(std::array::from_fn(|at| digest.as_bytes()[at]))
}

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

fn questions(project: &str, ahead: &[Lookup<'_>]) -> Vec<Question> {
    ahead.iter().filter_map(|lookup| lookup.question(project)).collect()
}

impl Store for PostgresStore {
    fn read_ahead<'s>(
        &'s mut self,
        project: &'s str,
        ahead: &[Lookup<'_>],
    ) -> Result<Box<dyn Reading + 's>, StoreError> {
        let (mut running, version, answers) = self.start(READING, questions(project, ahead))?;
        let version = seen(&mut running, version)?;
        if version == 0 {
            return Ok(Box::new(View::new(Nothing, project)?));
        }
        migration::from(version)?;
        let view = View::new(running.reading(), project)?.at_version(version);
        Ok(Box::new(view.knowing(answers)))
    }

    fn begin_ahead<'s>(
        &'s mut self,
        project: &'s str,
        ahead: &[Lookup<'_>],
    ) -> Result<Transaction<'s>, StoreError> {
        Ok(Transaction::new(self.view(project, ahead)?))
    }

    fn lease<'s>(&'s mut self, project: &'s str) -> Result<Box<dyn Leasing + 's>, StoreError> {
        let session = self.ready()?;
        let session = self.session.insert(session);
        let running = Running::new(&self.runtime, session, &self.place, self.patience);
        running.must_commit();
        Ok(Box::new(View::new(running, project)?.at(session.time())))
    }

    fn await_work(&mut self, project: &str, at_most: Duration) -> Result<bool, StoreError> {
        let Some(listener) = self.listener.as_mut() else {
            self.listener = Some(self.connect(|running| running.run(LISTENING))?.0);
            return Ok(true);
        };
        match listener.await_name(&self.runtime, project, at_most) {
            WaitOutcome::Named => Ok(true),
            WaitOutcome::TimedOut => Ok(false),
            WaitOutcome::Closed => {
                self.listener = None;
                Ok(true)
            }
        }
    }

    fn renew(&mut self, project: &str) -> Result<(), StoreError> {
        let mut view = self.view(project, &[])?;
        view.set_aside()?;
        view.finish()
    }

    fn back_up(&mut self, _to: &Path) -> Result<(), StoreError> {
        Err(StoreError::OtherTools { place: self.place.clone() })
    }

    fn connect_within(&mut self, limit: Duration) {
        self.connecting = limit.min(self.patience);
    }

    /// Does nothing: this store has no marks.
    fn accept(&mut self, _project: &str) {}

    fn place(&self) -> &str {
        &self.place
    }
}
