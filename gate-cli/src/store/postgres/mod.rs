//! The ledgers of a fleet: a PostgreSQL database.
//!
//! A writer holds an advisory lock of the project until its transaction ends,
//! and each of its statements sees what was committed before that statement:
//! so the head that it reads under the lock is the newest. Tables are made
//! where they are missing; with them, the right to select and insert is enough.

mod clear;
mod connection;
mod fault;
mod tls;
mod transaction;
mod url;

use std::path::Path;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};

use self::connection::{Session, WaitOutcome};
use self::transaction::Running;
pub use self::url::DatabaseUrl;
use super::error::StoreError;
use super::sql::Nothing;
use super::sql::Sql;
use super::view::View;
use super::{Heads, Leasing, Marked, RETRY_INTERVAL, Reading, Store, Transaction, migration};

pub(super) fn open(
    url: &DatabaseUrl,
    heads: Option<Heads>,
    patience: Duration,
) -> Result<Box<dyn Store>, StoreError> {
    Ok(Box::new(Marked::new(PostgresStore::open(url, patience)?, heads)))
}

/// A store in a PostgreSQL database. Its calls block, and must not come from
/// inside of an asynchronous runtime.
#[derive(Debug)]
pub struct PostgresStore {
    runtime: Runtime,
    url: DatabaseUrl,
    place: String,
    patience: Duration,
    session: Option<Session>,
    /// The connection that is told when work can be claimed.
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
        Ok(Self { runtime, url: url.clone(), place, patience, session: None, listener: None })
    }

    /// A connection on which this was run. Nothing was changed yet, so it is tried again
    /// while the database does not answer.
    fn connect(&mut self, sql: &str) -> Result<Session, StoreError> {
        let until = Instant::now() + self.patience;
        loop {
            match self.try_connect(sql, until) {
                Err(StoreError::Unreachable { .. }) if Instant::now() + RETRY_INTERVAL < until => {
                    std::thread::sleep(RETRY_INTERVAL);
                }
                done => return done,
            }
        }
    }

    fn try_connect(&mut self, sql: &str, until: Instant) -> Result<Session, StoreError> {
        let kept = self.session.take().filter(Session::is_usable);
        let left = until.saturating_duration_since(Instant::now());
        let session = match kept {
            Some(session) => session,
            None => Session::connect(&self.runtime, &self.url, left)?,
        };
        let patience = self.patience + RETRY_INTERVAL;
        Running::new(&self.runtime, &session, &self.place, patience).run(sql)?;
        Ok(session)
    }

    /// A connection that answers, to tables of the newest schema, and whose clock is
    /// known.
    fn ready(&mut self) -> Result<Session, StoreError> {
        if let Some(session) = self.session.take_if(|session| {
            session.is_usable() && session.is_prepared.get() && session.time().is_some()
        }) {
            return Ok(session);
        }
        let mut session = self.connect(CHANGING)?;
        let mut running =
            Running::new(&self.runtime, &session, &self.place, self.patience).in_transaction();
        migrate(&mut running)?;
        let now = running.time()?;
        running.look_for_pooler()?;
        running.commit()?;
        session.is_now(now);
        Ok(session)
    }

    /// Begins a transaction.
    fn start(&mut self, sql: &str) -> Result<Running<'_>, StoreError> {
        let session = self.connect(sql)?;
        let session = self.session.insert(session);
        Ok(Running::new(&self.runtime, session, &self.place, self.patience).in_transaction())
    }

    /// A view that may write, on the newest schema.
    fn view<'s>(&'s mut self, project: &'s str) -> Result<View<'s, Running<'s>>, StoreError> {
        let sql = self.writing(project);
        let mut running = self.start(&sql)?;
        if !running.is_prepared() {
            migrate(&mut running)?;
        }
        running.must_commit();
        View::new(running, project)
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

/// The version of the tables in a view that has just begun. A table that was
/// made a moment after is seen without its rows: the next view has both.
fn seen(running: &mut Running<'_>) -> Result<i64, StoreError> {
    running.version().or_else(|_| {
        running.run("ROLLBACK")?;
        running.run(READING)?;
        running.version()
    })
}

/// Brings the tables to the newest schema, where they are missing or older.
/// One at a time does it: the lock has no project's name.
fn migrate(running: &mut Running<'_>) -> Result<(), StoreError> {
    if migration::from(running.version()?)?.is_none() {
        return Ok(());
    }
    running.run(&format!("SELECT pg_advisory_xact_lock({})", lock("")))?;
    let Some(steps) = migration::from(running.version()?)? else { return Ok(()) };
    // Everybody who may use the tables has to know what they are.
    let steps = format!("{steps}; GRANT SELECT ON gate_schema TO PUBLIC");
    running.run(&steps).map_err(|error| match error {
        StoreError::Refused { place, what } => {
            let what = format!(
                "{what}; let the owner of the database use gate once, which makes its tables"
            );
            StoreError::Refused { place, what }
        }
        error => error,
    })
}

impl Store for PostgresStore {
    fn read<'s>(&'s mut self, project: &'s str) -> Result<Box<dyn Reading + 's>, StoreError> {
        let mut running = self.start(READING)?;
        let version = seen(&mut running)?;
        if version == 0 {
            return Ok(Box::new(View::new(Nothing, project)?));
        }
        migration::from(version)?;
        Ok(Box::new(View::new(running, project)?.at_version(version)))
    }

    fn begin<'s>(&'s mut self, project: &'s str) -> Result<Transaction<'s>, StoreError> {
        Ok(Transaction::new(self.view(project)?))
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
            self.listener = Some(self.connect(LISTENING)?);
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
        let mut view = self.view(project)?;
        view.set_aside()?;
        view.finish()
    }

    fn back_up(&mut self, _to: &Path) -> Result<(), StoreError> {
        Err(StoreError::OtherTools { place: self.place.clone() })
    }

    /// It has no marks.
    fn accept(&mut self, _project: &str) {}

    fn place(&self) -> &str {
        &self.place
    }
}
