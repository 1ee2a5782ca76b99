//! `gate ledger accept`: an older ledger stands where a newer one was, and an operator goes on.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::support::shop::Shop;
use crate::support::{DONE, Ran, UNDONE, gate, judge};

fn restore(ran: &Ran) {
    for end in ["-wal", "-shm"] {
        let _ = fs::remove_file(ran.database().with_file_name(format!("gate.db{end}")));
    }
    fs::copy(ran.path("copy.db"), ran.database()).unwrap();
}

/// A work item and a decision, a copy, and two more decisions that the copy lacks.
fn restored() -> Ran {
    let added = gate("work add W-1 --title Parser --file task.md").file("task.md", "Read it.\n");
    let ran = added.file("out.log", UNDONE).file("done.log", DONE).code(0);
    let ran = ran.again("check out.log --run r").code(1);
    let copied = ran.again("ledger backup copy.db").code(0).says(": 2 records of this project\n");
    let ran = copied.again("check out.log --run r").code(1).again("check out.log --run r").code(1);
    restore(&ran);
    ran
}

fn shown(ran: &Ran, words: &str) -> Value {
    let output = ran.beside(words).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn one_command_goes_on_with_an_older_ledger() {
    let ran = restored().again("check done.log --run r").code(3);
    ran.says("gate ledger accept --reason");
    let ran = restored().again("ledger accept --reason restored --json").code(0);
    let accepted = ran.json();
    assert_eq!((&accepted["found"]["seq"], &accepted["missing"]), (&2.into(), &2.into()));
    assert_eq!((&accepted["marked"]["seq"], &accepted["ledger"]["seq"]), (&4.into(), &3.into()));
    let verified = shown(&ran, "ledger verify --json");
    assert_eq!((&verified["ok"], &verified["records"]), (&true.into(), &3.into()));
    assert_eq!(shown(&ran, "work show W-1 --json")["phase"], "DRAFT");
    let log = ran.beside("log").output().unwrap();
    assert!(String::from_utf8_lossy(&log.stdout).contains("loss accepted  restored"), "{log:?}");
    // The run goes on with the number that the ledger knows.
    let ran = ran.again("check out.log --run r --json").code(1);
    assert_eq!((&ran.json()["iteration"], &ran.json()["ledger"]["seq"]), (&2.into(), &4.into()));
    // What was accepted is no loss any more, and a new one is noticed.
    let ran = ran.again("ledger accept --reason again").code(2).tells("nothing is lost");
    restore(&ran);
    ran.again("check done.log --run r").code(3);
}

#[test]
fn records_that_do_not_hold_are_not_accepted() {
    let ran = restored();
    let change = "UPDATE ledger SET body = replace(body, 'W-1', 'W-2') WHERE seq = 1";
    Connection::open(ran.database()).unwrap().execute_batch(change).unwrap();
    let ran = ran.again("ledger accept --reason restored").code(5);
    ran.tells("do not hold").tells("gate breaker reset");
}

#[test]
fn it_is_the_operators_and_has_a_reason() {
    let ran = restored().again("ledger accept").code(2).tells("--reason");
    let ran = ran.again("ledger accept --reason x").env("CLAUDECODE", "1").code(2);
    ran.again("check done.log --run r").code(3);
    judge("ledger accept --reason x", DONE).code(2).tells("nothing is lost");
}

#[test]
fn each_machine_of_a_fleet_accepts_what_it_knows() {
    let Some(shop) = Shop::fleet(2) else { return };
    shop.add("W-1", "DRAFT");
    shop.add("W-2", "DRAFT");
    let known = shop.records().len();
    let on_other = |words: &str| shop.command(1, words).output().unwrap();
    assert!(on_other("work list --json").status.success());
    // The other machine has written the last record, and knows it.
    let added = shop.command(1, "work add W-3 --title T --phase DRAFT").output().unwrap();
    assert!(added.status.success(), "{added:?}");
    shop.run("DELETE FROM work WHERE id = 'W-3'");
    shop.run(&format!("DELETE FROM ledger WHERE seq > {known}"));
    // The first machine never saw that record, and goes on.
    assert!(shop.command(0, "work list").output().unwrap().status.success());
    let refused = on_other("work add W-4 --title T --phase DRAFT");
    assert_eq!(refused.status.code(), Some(5), "{refused:?}");
    let accepted = on_other("ledger accept --reason failover --json");
    let accepted: Value = serde_json::from_slice(&accepted.stdout).unwrap();
    assert_eq!((&accepted["missing"], &accepted["reason"]), (&json!(1), &json!("failover")));
    let added = on_other("work add W-4 --title T --phase DRAFT");
    assert!(added.status.success(), "{added:?}");
    assert_eq!(shop.say("ledger verify --json").is(0).json()["ok"], true);
}

#[test]
fn a_backup_is_private_whole_and_takes_no_files_place() {
    let added = gate("work add W-1 --title Parser").code(0);
    let ran = added.again("ledger backup copy.db").code(0);
    let mode = fs::metadata(ran.path("copy.db")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let copy = Connection::open(ran.path("copy.db")).unwrap();
    let count = copy.query_row("SELECT count(*) FROM ledger", [], |row| row.get::<_, i64>(0));
    assert_eq!(count, Ok(1));
    let ran = ran.again("ledger backup copy.db").code(5).tells("File exists");
    ran.again("ledger backup no/such/folder.db").code(5).tells("No such file");
    let none = gate("ledger backup copy.db").code(5).tells("there is nothing to copy");
    assert!(!none.path("copy.db").exists());
}
