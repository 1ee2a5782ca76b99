//! What remembering a decision costs: `gate check --no-checks` with state, beside
//! an empty Rust program and one bare SQLite open, insert and commit, as whole
//! processes in turns. `cargo bench --bench state` prints the table.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench that cannot go on fails")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rusqlite::Connection;

const GATE: &str = env!("CARGO_BIN_EXE_gate");

/// The argument by which this program is the bare SQLite one.
const BARE: &str = "bare-sqlite";

const TIMES: usize = 200;

fn main() {
    let args: Vec<_> = std::env::args().collect();
    if let [_, bare, file] = &args[..]
        && bare == BARE
    {
        return insert(Path::new(file));
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("out.log"), transcript()).unwrap();
    let empty = &empty_program(folder);
    let bare = &std::env::current_exe().unwrap();
    let database = folder.join("bare.db").display().to_string();
    let rows: [(&str, &Path, Vec<&str>); 3] = [
        ("an empty Rust program", empty, vec![]),
        ("SQLite: open, insert, commit (WAL, FULL)", bare, vec![BARE, &database]),
        ("gate check --no-checks", Path::new(GATE), vec!["check", "-q", "--no-checks", "out.log"]),
    ];
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..TIMES {
        for (times, (_, program, args)) in times.iter_mut().zip(&rows) {
            times.push(run(folder, program, args));
        }
    }
    let medians = times.map(median);
    for ((name, ..), median) in rows.iter().zip(medians) {
        println!("{name:<44}{:>10.2} ms", median * 1e3);
    }
    println!("{:<44}{:>10.2}", "gate / (empty + SQLite)", medians[2] / (medians[0] + medians[1]));
}

/// One row, on the disk.
fn insert(file: &Path) {
    let connection = Connection::open(file).unwrap();
    connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;").unwrap();
    connection
        .execute_batch("CREATE TABLE IF NOT EXISTS ledger (seq INTEGER PRIMARY KEY, body TEXT)")
        .unwrap();
    connection.execute("INSERT INTO ledger (body) VALUES (?1)", ["x".repeat(4_000)]).unwrap();
}

/// A program that does nothing.
fn empty_program(folder: &Path) -> PathBuf {
    let (source, program) = (folder.join("empty.rs"), folder.join("empty"));
    fs::write(&source, "fn main() {}\n").unwrap();
    let built = Command::new("rustc").arg("-O").arg(&source).arg("-o").arg(&program).status();
    assert!(built.unwrap().success());
    program
}

/// An agent's output of some 10 KB that says that work remains.
fn transcript() -> String {
    let work = "Read the importer, moved the header into its own function, and ran the tests.\n";
    format!("{}\nEXIT_STATUS: CONTINUE\nREMAINING_WORK: the old layout\n", work.repeat(120))
}

fn run(folder: &Path, program: &Path, args: &[&str]) -> f64 {
    let mut command = Command::new(program);
    command.args(args).current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null());
    command.env("GATE_STATE_DIR", folder.join("state")).env("XDG_DATA_HOME", folder.join("data"));
    let began = Instant::now();
    let status = command.status().unwrap();
    let passed: Duration = began.elapsed();
    assert!(matches!(status.code(), Some(0 | 1 | 3)), "{} {status}", program.display());
    passed.as_secs_f64()
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
