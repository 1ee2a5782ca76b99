//! State that is missing or was changed after the first record: the breaker is
//! open, nothing passes, and an operator begins a new ledger.
#![cfg(unix)]

use std::fs;

use rusqlite::Connection;
use serde_json::Value;

use crate::support::{DONE, Ran, UNDONE, each, gate, judge};

/// A way in which state is lost, and what is said about it.
type Loss = (&'static str, fn(&Ran), &'static str);

const CUT: &str = "it was removed, cut or replaced";

const LOSSES: [Loss; 12] = [
    ("database removed", |ran| fs::remove_file(ran.database()).unwrap(), CUT),
    ("log removed", |ran| fs::remove_file(log(ran)).unwrap(), CUT),
    ("database empty", |ran| fs::write(ran.database(), "").unwrap(), CUT),
    ("database and log noise", noise, "file is not a database"),
    ("folder removed", |ran| fs::remove_dir_all(ran.state()).unwrap(), CUT),
    ("folder empty", emptied, CUT),
    ("all rows removed", |ran| sql(ran, "DELETE FROM ledger"), "ends at record 0, and record 3 is"),
    ("last row removed", |ran| sql(ran, "DELETE FROM ledger WHERE seq = 3"), "ends at record 2"),
    ("last body changed", one_byte, "record 3, column `hash`: it is not the hash of the record"),
    ("last type changed", |ran| sql(ran, PASSED), "record 3, column `hash`"),
    ("a key changed", |ran| sql(ran, OTHER_LOOP), "column `loop`: it is not what the body says"),
    ("table removed", |ran| sql(ran, "DROP TABLE ledger"), "no such table"),
];

const PASSED: &str = "UPDATE ledger SET type = 'exit_gate_passed' WHERE seq = 3";
const OTHER_LOOP: &str = "UPDATE ledger SET loop = 's' WHERE seq = 3";

/// As a gate of the future would leave it.
const NEWER: &str = "INSERT INTO gate_schema VALUES (99)";

fn log(ran: &Ran) -> std::path::PathBuf {
    ran.state().join("gate.db-wal")
}

/// What gate does not recognise; the log would bring the ledger back.
fn noise(ran: &Ran) {
    let bytes: Vec<u8> =
        (0..20_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    fs::write(ran.database(), &bytes).unwrap();
    fs::write(log(ran), &bytes).unwrap();
}

fn emptied(ran: &Ran) {
    fs::remove_dir_all(ran.state()).unwrap();
    fs::create_dir(ran.state()).unwrap();
}

fn one_byte(ran: &Ran) {
    sql(ran, "UPDATE ledger SET body = replace(body, 'continue', 'continuf') WHERE seq = 3");
}

#[track_caller]
fn sql(ran: &Ran, statement: &str) {
    Connection::open(ran.database()).unwrap().execute_batch(statement).unwrap();
}

/// Three decisions of a run, and a file that would pass.
fn recorded() -> Ran {
    let mut ran = judge("check out.log --run r", UNDONE).file("done.log", DONE).code(1);
    for _ in 0..2 {
        ran = ran.again("check out.log --run r").code(1);
    }
    ran
}

/// For each way: what is left of three decisions.
fn lost(each: impl Fn(Ran, &str, &str)) {
    for (name, lose, why) in LOSSES {
        let ran = recorded();
        lose(&ran);
        each(ran, name, why);
    }
}

/// A decision that nothing was known for.
#[track_caller]
fn tripped(ran: &Ran, name: &str, why: &str) {
    let decision = ran.json();
    assert_eq!(decision["verdict"], "tripped", "{name}");
    assert_eq!(each(&decision, "reasons", "code"), ["breaker-open"], "{name}");
    let message = decision["reasons"][0]["message"].as_str().unwrap();
    assert!(message.contains(why), "{name}: {message}");
    assert_eq!(decision["breaker"]["state"], "open", "{name}");
    assert_eq!(decision["breaker"]["trip"], "state", "{name}");
    assert_eq!((&decision["ledger"], &decision["run"]), (&Value::Null, &Value::Null), "{name}");
}

#[test]
fn what_would_pass_is_tripped() {
    lost(|mut ran, name, why| {
        let known = "check done.log --run r --iteration 2 --json";
        let other = "check done.log --run s --task 7 --json";
        let looked = "check done.log --run r --dry-run --json";
        for words in ["check done.log --run r --json", known, other, looked] {
            ran = ran.again(words).code(3).stops();
            tripped(&ran, &format!("{name}: {words}"), why);
        }
    });
}

#[test]
fn the_breaker_is_open() {
    lost(|ran, name, why| {
        let ran = ran.again("breaker status --json").code(3);
        let status = ran.json();
        assert_eq!(
            (&status["state"], &status["trip"]),
            (&"open".into(), &"state".into()),
            "{name}"
        );
        assert!(status["message"].as_str().unwrap().contains(why), "{name}: {status}");
        ran.again("breaker status").code(3).says("STOPPED").says(why);
    });
}

#[test]
fn nothing_is_told_of_what_cannot_be_trusted() {
    lost(|mut ran, name, why| {
        for words in ["last", "log", "ledger export", "ledger head", "explain"] {
            ran = ran.again(words).code(5).tells(why).tells("gate breaker reset");
            assert_eq!(ran.stdout, "", "{name}: {words}");
        }
        ran = ran.again("last --json").code(5);
        let code = ran.json()["code"].as_str().unwrap().to_owned();
        assert!(["state-lost", "state-corrupt"].contains(&code.as_str()), "{name}: {code}");
        ran.again("ledger verify").code(1).says("BROKEN");
    });
}

#[test]
fn nothing_is_forced_that_cannot_be_recorded() {
    lost(|ran, name, why| {
        let words = "check done.log --run r --force-complete --reason because";
        let ran = ran.again(words).code(5).stops().tells(why);
        assert_eq!(ran.stdout, "", "{name}");
        let ran = ran.again("breaker trip --reason lunch").code(5).tells(why);
        ran.again("breaker isolate --reason lunch").code(5).tells(why);
    });
}

#[test]
fn a_reset_begins_a_ledger_that_names_what_was_lost() {
    lost(|ran, name, why| {
        let ran = ran.again("breaker reset --reason looked-at-it").code(0).says("READY");
        let ran = ran.again("ledger export").code(0);
        let records = ran.json_lines();
        assert_eq!(records.len(), 2, "{name}");
        assert_eq!(records[1]["type"], "loss_accepted", "for other machines");
        assert_eq!((&records[0]["seq"], &records[0]["type"]), (&1.into(), &"operator_act".into()));
        let said = &records[0]["body"];
        assert_eq!(
            (&said["act"], &said["reason"]),
            (&"breaker_reset".into(), &"looked-at-it".into())
        );
        assert!(said["lost"].as_str().unwrap().contains(why), "{name}: {said}");
        let ran = ran.again("check out.log --run r --json").code(1);
        let decision = ran.json();
        assert_eq!((&decision["iteration"], &decision["ledger"]["seq"]), (&1.into(), &3.into()));
        let ran = ran.again("check done.log --run r").code(0);
        let ran = ran.again("ledger verify").code(0).says("HOLDS  4 records");
        ran.again("last").code(0);
    });
}

#[test]
fn what_was_lost_is_kept_aside() {
    let kept = |ran: &Ran| {
        let count = "SELECT count(*) FROM ledger WHERE project LIKE '%(set aside: %'";
        let connection = Connection::open(ran.database()).unwrap();
        connection.query_row(count, [], |row| row.get::<_, i64>(0)).unwrap()
    };
    let ran = recorded();
    one_byte(&ran);
    let ran = ran.again("breaker reset --reason looked-at-it").code(0);
    assert_eq!(kept(&ran), 3);
    noise(&ran);
    let before = fs::read(ran.database()).unwrap();
    let ran = ran.again("breaker reset --reason again").code(0);
    let aside = fs::read_dir(ran.state()).unwrap().map(|entry| entry.unwrap().path());
    let aside: Vec<_> =
        aside.filter(|aside| aside.to_string_lossy().contains("gate.db.lost-")).collect();
    assert!(aside.iter().any(|path| fs::read(path).unwrap() == before), "{aside:?}");
    assert_eq!(kept(&ran), 0, "another file");
}

#[test]
fn a_ledger_of_a_newer_gate_is_left_to_that_gate() {
    let ran = recorded();
    sql(&ran, NEWER);
    let why = "the store has version 99, and this gate knows version 4: use a newer gate";
    let ran = ran.again("check done.log --run r --json").code(3).stops();
    tripped(&ran, "newer", why);
    let ran = ran.again("breaker status").code(3).says("STOPPED").says(why);
    let mut ran = ran.again("last --json").code(5);
    assert_eq!(ran.json()["code"], "state-newer");
    let force = "check done.log --force-complete --reason because";
    for words in ["log", "ledger verify", "breaker reset --reason because", force] {
        ran = ran.again(words).code(5).tells(why);
    }
    sql(&ran, "DELETE FROM gate_schema WHERE version = 99");
    ran.again("check done.log --run r").code(0).again("ledger verify").code(0).says("4 records");
}

#[test]
fn on_a_fresh_machine_nothing_is_lost() {
    let ran = gate("breaker status").file("out.log", DONE).code(0).says("READY");
    let ran = ran.again("last").code(5).tells("gate has decided nothing here yet");
    let ran = ran.again("log").code(0).stdout("");
    let ran = ran.again("check out.log --json").code(0);
    assert_eq!(ran.json()["ledger"]["seq"], 1);
    let ran = ran.again("breaker reset --reason because --json").code(0);
    assert_eq!(ran.json()["ledger"]["seq"], 2);
    let ran = ran.again("ledger export").code(0);
    assert_eq!(ran.json_lines()[1]["body"].get("lost"), None);
}

#[test]
fn another_project_does_not_suffer() {
    let ran = recorded();
    let elsewhere = ran.again("-C other check ../done.log --run r").folder("other").code(0);
    sql(&elsewhere, "DELETE FROM ledger WHERE seq = 3");
    let ran = elsewhere.again("-C other check ../done.log --run s").code(0);
    // The store is verified whole, and says whose ledger does not hold.
    let ran = ran.again("-C other ledger verify").code(1).says("holds       2 records");
    ran.again("check done.log --run r").code(3);
}
