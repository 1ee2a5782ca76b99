//! A project with work items, and commands of `gate` there.

use std::io::Write;
use std::process::{Child, Command, Output, Stdio};

use rusqlite::Connection;
use rusqlite::types::Value as Cell;
use serde_json::Value;

use super::postgres::Database;
use super::{Ran, gate};
use crate::exit::{FLAG, signal};

/// A project with work items: one machine, or more than one.
pub(crate) struct Shop {
    pub(crate) machines: Vec<Ran>,
    pub(crate) database: Option<Database>,
}

/// The outcome of a command.
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// The settings that every project here begins with.
const NAMED: &str = "[project]\nid = \"shop\"\n";

fn machine(settings: &str) -> Ran {
    gate("prompt").settings(&format!("{NAMED}{settings}")).code(0)
}

impl Shop {
    /// On one machine.
    pub(crate) fn new() -> Self {
        Self::with("")
    }

    /// On one machine, with these settings.
    pub(crate) fn with(settings: &str) -> Self {
        Self { machines: vec![machine(settings)], database: None }
    }

    /// On machines that have nothing in common but a database; `None` on a machine without a server.
    pub(crate) fn fleet(machines: usize) -> Option<Self> {
        Self::fleet_with(machines, "")
    }

    /// The same with these settings on each of them.
    pub(crate) fn fleet_with(machines: usize, settings: &str) -> Option<Self> {
        let database = Some(Database::new()?);
        Some(Self { machines: (0..machines).map(|_| machine(settings)).collect(), database })
    }

    /// Runs `gate` on one of the machines.
    pub(crate) fn say_on(&self, machine: usize, words: &str, arguments: &[&str]) -> Said {
        Said::of(&self.command(machine, words).args(arguments).output().unwrap())
    }

    /// `gate` on a machine, with the exit protocol switched on.
    pub(crate) fn command(&self, machine: usize, words: &str) -> Command {
        let machine = &self.machines[machine % self.machines.len()];
        let mut command = machine.beside(words);
        command.env(FLAG, "true").stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(database) = &self.database {
            command.env("GATE_DATABASE_URL", &database.url);
        }
        command
    }

    /// Runs `gate` on the first machine.
    pub(crate) fn say(&self, words: &str) -> Said {
        Said::of(&self.command(0, words).output().unwrap())
    }

    /// As [`Shop::say`], with arguments that may hold spaces.
    pub(crate) fn say_with(&self, words: &str, arguments: &[&str]) -> Said {
        Said::of(&self.command(0, words).args(arguments).output().unwrap())
    }

    /// Starts `gate`, and does not wait for its end.
    pub(crate) fn begin(&self, words: &str) -> Child {
        self.command(0, words).spawn().unwrap()
    }

    #[track_caller]
    pub(crate) fn add(&self, id: &str, phase: &str) {
        self.say(&format!("work add {id} --phase {phase}")).is(0);
    }

    /// Claims an item for an actor, and returns the lease.
    #[track_caller]
    pub(crate) fn claim(&self, id: &str, actor: &str) -> String {
        let lease = self.say(&format!("work claim {id} --actor {actor} --json")).is(0).json();
        lease["lease"].as_str().unwrap().to_owned()
    }

    /// Submits a signal, on the standard input.
    pub(crate) fn submit(&self, words: &str, signal: &str) -> Said {
        let mut command = self.command(0, &format!("exit submit - {words}"));
        given(&mut command, signal)
    }

    /// An actor claims an item and ends its phase for a reason.
    #[track_caller]
    pub(crate) fn ends(&self, id: &str, reason: &str) {
        let phase = self.show(id)["phase"].as_str().unwrap().to_owned();
        self.claim(id, "a");
        let signal = signal(&phase, reason, &[]).to_string();
        self.submit(&format!("--work {id} --actor a"), &signal).is(0);
    }

    #[track_caller]
    pub(crate) fn show(&self, id: &str) -> Value {
        self.say(&format!("work show {id} --json")).is(0).json()
    }

    /// The records of the ledger.
    #[track_caller]
    pub(crate) fn records(&self) -> Vec<Value> {
        let lines = self.say("ledger export").is(0).out;
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The first problem that `gate ledger verify` finds.
    #[track_caller]
    pub(crate) fn problem(&self) -> Value {
        self.say("ledger verify --json").is(1).json()["problem"].clone()
    }

    /// Changes the store behind gate's back.
    pub(crate) fn run(&self, sql: &str) {
        match &self.database {
            Some(database) => drop(database.session().run(sql)),
            None => self.file().execute_batch(sql).expect(sql),
        }
    }

    fn file(&self) -> Connection {
        Connection::open(self.machines[0].database()).unwrap()
    }

    /// All rows of the store.
    pub(crate) fn rows(&self) -> Vec<String> {
        match &self.database {
            Some(database) => {
                let session = database.session();
                let rows = TABLES.map(|table| {
                    session.run(&format!("SELECT CAST(t AS TEXT) FROM {table} t ORDER BY 1"))
                });
                rows.concat()
            }
            None => rows_of(&self.file()),
        }
    }
}

/// Runs a command with a text on its standard input.
pub(crate) fn given(command: &mut Command, text: &str) -> Said {
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    // A command that refuses may not read to the end.
    let _ = child.stdin.take().unwrap().write_all(text.as_bytes());
    Said::of(&child.wait_with_output().unwrap())
}

/// The tables of a store.
const TABLES: [&str; 4] = ["gate_schema", "ledger", "policies", "work"];

/// All rows of a database file.
pub(crate) fn rows_of(file: &Connection) -> Vec<String> {
    TABLES.iter().flat_map(|table| dump(file, table)).collect()
}

fn dump(database: &Connection, table: &str) -> Vec<String> {
    let mut statement = database.prepare(&format!("SELECT * FROM {table}")).unwrap();
    let columns = statement.column_count();
    let row = |row: &rusqlite::Row<'_>| {
        let cells: Result<Vec<Cell>, _> = (0..columns).map(|column| row.get(column)).collect();
        Ok(format!("{table} {:?}", cells?))
    };
    let mut rows: Vec<_> = statement.query_map([], row).unwrap().map(Result::unwrap).collect();
    rows.sort();
    rows
}

impl Said {
    pub(crate) fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let Output { status, stdout, stderr } = output;
        Self { code: status.code(), out: text(stdout), err: text(stderr) }
    }

    /// The command ended with this code.
    #[track_caller]
    pub(crate) fn is(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "\nstdout: {}\nstderr: {}", self.out, self.err);
        self
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).expect(&self.out)
    }

    /// Stderr begins with this message.
    #[track_caller]
    pub(crate) fn tells(self, message: &str) {
        let line = format!("gate: {message}\n");
        assert!(self.err.starts_with(&line), "{line}is not in:\n{}", self.err);
    }
}
