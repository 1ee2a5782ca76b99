//! A store for a test, of either kind, and statements that change it behind gate's back.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use gate_cli::store::{Place, Store, StoreError, Transaction, View};
use gate_core::ledger::{Body, Draft, Head, Sealed};
use rusqlite::Connection;
use rusqlite::types::Value as Cell;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::postgres::Database;

/// The project of most tests.
pub(crate) const PROJECT: &str = "shop";

/// The longest that a test waits for a store.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A place for a store that nobody has used.
pub(crate) struct Shelf {
    folder: TempDir,
    database: Option<Database>,
}

impl Shelf {
    /// A state folder that does not exist yet.
    pub(crate) fn sqlite() -> Self {
        Self { folder: TempDir::new().unwrap(), database: None }
    }

    /// An empty database; `None` on a machine without a server.
    pub(crate) fn postgres() -> Option<Self> {
        Some(Self { folder: TempDir::new().unwrap(), database: Some(Database::new()?) })
    }

    pub(crate) fn place(&self) -> Place {
        match &self.database {
            Some(database) => Place::Database(database.url.parse().unwrap()),
            None => Place::Folder(self.state()),
        }
    }

    /// The state folder.
    pub(crate) fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    /// The database in the state folder.
    pub(crate) fn file(&self) -> PathBuf {
        self.state().join("gate.db")
    }

    /// The folder of the marks.
    pub(crate) fn heads(&self) -> PathBuf {
        self.folder.path().join("data/heads")
    }

    pub(crate) fn database(&self) -> &Database {
        self.database.as_ref().unwrap()
    }

    /// The store, without marks.
    pub(crate) fn open(&self) -> Store {
        Store::open(&self.place(), None, PATIENCE).unwrap()
    }

    /// The store, whose heads are marked.
    pub(crate) fn open_marked(&self) -> Store {
        Store::open(&self.place(), Some(self.heads()), PATIENCE).unwrap()
    }

    /// Changes the store by a statement that gate does not make, and returns the first column of the
    /// rows.
    #[track_caller]
    pub(crate) fn run(&self, sql: &str) -> Vec<String> {
        match &self.database {
            Some(database) => database.session().run(sql),
            None => run_in_file(&self.file(), sql),
        }
    }

    /// Sets one column of one row to an SQL expression.
    #[track_caller]
    pub(crate) fn tamper(&self, seq: u64, column: &str, expression: &str) {
        self.run(&format!("UPDATE ledger SET {column} = {expression} WHERE seq = {seq}"));
    }
}

fn run_in_file(file: &std::path::Path, sql: &str) -> Vec<String> {
    let connection = Connection::open(file).unwrap();
    let Some(select) = sql.strip_prefix("SELECT ") else {
        connection.execute_batch(sql).expect(sql);
        return Vec::new();
    };
    let mut statement = connection.prepare(&format!("SELECT {select}")).unwrap();
    let first_cell = |row: &rusqlite::Row<'_>| {
        Ok(match row.get(0)? {
            Cell::Integer(number) => number.to_string(),
            Cell::Text(text) => text,
            other => panic!("{other:?}"),
        })
    };
    statement.query_map([], first_cell).unwrap().map(Result::unwrap).collect()
}

/// A decision of an iteration of a run, of a loop that has the run's name.
pub(crate) fn decision(run: &str, iteration: u64) -> Draft {
    let id = format!("{run}-{iteration}");
    let state = json!({"task": "42", "loop": run, "iteration": iteration});
    draft(
        Some(run),
        &json!({"decision": {"decision_id": id, "verdict": "continue"}, "state": state}),
    )
}

/// A record with this body.
pub(crate) fn draft(run: Option<&str>, body: &Value) -> Draft {
    Draft {
        time: "2026-11-22T10:00:00Z".to_owned(),
        kind: "exit_gate_blocked".to_owned(),
        run: run.map(str::to_owned),
        actor: "agent".to_owned(),
        body: Body::new(body).unwrap(),
    }
}

/// Reads a ledger.
pub(crate) fn look<T>(
    store: &mut Store,
    look: impl FnOnce(&mut View<'_>) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    look(&mut store.view(PROJECT)?)
}

/// Changes a ledger, and commits.
pub(crate) fn work<T>(
    store: &mut Store,
    work: impl FnOnce(&mut Transaction<'_>) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let mut transaction = store.begin(PROJECT)?;
    let result = work(&mut transaction)?;
    transaction.commit()?;
    Ok(result)
}

/// Appends one record.
pub(crate) fn append(store: &mut Store, draft: Draft) -> Result<Sealed, StoreError> {
    append_to(store, PROJECT, draft)
}

/// Appends one record to a project's ledger.
pub(crate) fn append_to(
    store: &mut Store,
    project: &str,
    draft: Draft,
) -> Result<Sealed, StoreError> {
    let mut transaction = store.begin(project)?;
    let sealed = transaction.append(draft)?;
    transaction.commit()?;
    Ok(sealed)
}

pub(crate) fn head(store: &mut Store) -> Result<Head, StoreError> {
    look(store, |reading| reading.head())
}

/// All records, which follow each other without a gap, each with its own hash.
#[track_caller]
pub(crate) fn chain(store: &mut Store) -> Vec<Sealed> {
    let records = look(store, |reading| reading.entries(0, usize::MAX)).unwrap();
    let mut last = Head::EMPTY;
    for sealed in &records {
        assert_eq!((sealed.record.seq, sealed.record.prev), (last.seq + 1, last.hash));
        assert_eq!(sealed.record.hash(), sealed.hash);
        last = sealed.head();
    }
    assert_eq!(head(store).unwrap(), last);
    records
}

/// The files under a folder of a store, for a test that counts them.
pub(crate) fn names(folder: &std::path::Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
