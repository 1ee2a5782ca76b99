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
    let ran = restored().again("ledger verify").code(1).says("gate ledger accept --reason");
    let ran = ran.again("ledger accept --reason restored --json").code(0);
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

/// Three machines, of which the first knows fewer records than the others, and a ledger that has lost
/// the records that the others know.
fn failed_over() -> Option<Shop> {
    let shop = Shop::fleet(3)?;
    let add = |machine: usize, id: &str| {
        let words = format!("work add {id} --title T --phase DRAFT");
        let added = shop.command(machine, &words).output().unwrap();
        assert!(added.status.success(), "{added:?}");
    };
    add(0, "W-1");
    let known = shop.records().len();
    add(2, "W-2");
    add(1, "W-3");
    shop.run("DELETE FROM work WHERE id <> 'W-1'");
    shop.run(&format!("DELETE FROM ledger WHERE seq > {known}"));
    Some(shop)
}

#[test]
fn a_machine_that_knows_of_a_loss_stops_all_others() {
    let Some(shop) = failed_over() else { return };
    let add = |machine: usize, id: &str| {
        let words = format!("work add {id} --title T --phase DRAFT");
        shop.command(machine, &words).output().unwrap()
    };
    // The first machine never saw the lost records, and goes on until another one tells.
    assert!(add(0, "W-4").status.success());
    for machine in [1, 1, 0, 2] {
        let refused = add(machine, "W-5");
        assert_eq!(refused.status.code(), Some(5), "{machine}: {refused:?}");
        assert!(String::from_utf8_lossy(&refused.stderr).contains("gate ledger accept"));
    }
    let verified = shop.say("ledger verify --json").is(1).json();
    let problem = verified["problem"]["message"].as_str().unwrap();
    assert_eq!(problem, "record 3 is not the one that is known");
}

#[test]
fn one_acceptance_serves_all_machines_of_a_fleet() {
    let Some(shop) = failed_over() else { return };
    let on = |machine: usize, words: &str| shop.command(machine, words).output().unwrap();
    let add =
        |machine: usize, id: &str| on(machine, &format!("work add {id} --title T --phase DRAFT"));
    assert_eq!([1, 2].map(|machine| add(machine, "W-4").status.code()), [Some(5), Some(5)]);
    // An operator of a machine that knows of no loss by itself.
    let accepted = on(0, "ledger accept --reason failover --json");
    let accepted: Value = serde_json::from_slice(&accepted.stdout).unwrap();
    assert_eq!((&accepted["missing"], &accepted["reason"]), (&json!(2), &json!("failover")));
    for (machine, id) in [(0, "W-5"), (1, "W-6"), (2, "W-7"), (2, "W-8")] {
        let added = add(machine, id);
        assert!(added.status.success(), "{machine}: {added:?}");
    }
    assert_eq!(shop.say("ledger verify --json").is(0).json()["ok"], true);
    // A new loss is none of those that were accepted.
    let records = shop.records();
    let told = records.iter().filter(|record| record["type"] == "loss_noticed").count();
    assert_eq!(told, 1, "one machine tells, once");
    let records = records.len();
    shop.run("DELETE FROM work WHERE id = 'W-8'");
    shop.run(&format!("DELETE FROM ledger WHERE seq >= {records}"));
    assert_eq!(add(2, "W-9").status.code(), Some(5));
}

#[test]
fn a_machine_that_knew_more_than_was_accepted_goes_on_too() {
    let Some(shop) = failed_over() else { return };
    let on = |machine: usize, words: &str| shop.command(machine, words).output().unwrap();
    let add = |machine: usize, id: &str| {
        on(machine, &format!("work add {id} --title T --phase DRAFT")).status.code()
    };
    // The second machine notices less than the first one knows.
    assert_eq!(add(2, "W-4"), Some(5));
    assert!(on(2, "ledger accept --reason failover").status.success());
    for (machine, id) in [(1, "W-5"), (0, "W-6"), (2, "W-7"), (1, "W-8")] {
        assert_eq!(add(machine, id), Some(0), "{machine}");
    }
}

#[test]
fn a_reset_on_one_machine_serves_all_machines() {
    let Some(shop) = failed_over() else { return };
    let on = |machine: usize, words: &str| shop.command(machine, words).output().unwrap();
    let add = |machine: usize, id: &str| {
        on(machine, &format!("work add {id} --title T --phase DRAFT")).status.code()
    };
    assert_eq!(add(1, "W-4"), Some(5));
    assert!(on(0, "breaker reset --reason lost").status.success());
    for (machine, id) in [(0, "W-5"), (1, "W-6"), (2, "W-7")] {
        assert_eq!(add(machine, id), Some(0), "{machine}");
    }
}

#[test]
fn an_older_backup_with_an_older_acceptance_is_a_loss() {
    let check = |ran: Ran| ran.again("check out.log --run r").code(1);
    let ran = restored().again("ledger accept --reason first").code(0);
    let ran = check(ran).again("ledger backup older.db").code(0);
    let older = |ran: &Ran| {
        for end in ["-wal", "-shm"] {
            let _ = fs::remove_file(ran.database().with_file_name(format!("gate.db{end}")));
        }
        fs::copy(ran.path("older.db"), ran.database()).unwrap();
    };
    let ran = check(check(ran));
    older(&ran);
    let ran = check(ran.again("ledger accept --reason second").code(0));
    older(&ran);
    ran.again("check done.log --run r").code(3).again("ledger verify").code(1);
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
    let ran = ran.again("ledger backup copy.db").code(2);
    let ran = ran.tells("copy.db exists already; it was not touched");
    ran.again("ledger backup no/such/folder.db").code(5).tells("No such file");
    let none = gate("ledger backup copy.db").code(5).tells("there is nothing to copy");
    assert!(!none.path("copy.db").exists());
}
