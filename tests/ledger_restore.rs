//! `gate ledger restore`: a backup takes the place of the store.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, SystemTime};

use gate_cli::store::{self, Place, Store, StoreError};
use gate_core::ledger::Draft;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::support::shelf::{PATIENCE, append_to, draft};
use crate::support::shop::Shop;
use crate::support::{DONE, UNDONE};

/// A project with two records, a backup, and two more records that the backup lacks.
fn backed_up() -> Shop {
    let shop = Shop::new();
    shop.add("W-1", "DRAFT");
    fs::write(shop.machines[0].path("out.log"), UNDONE).unwrap();
    fs::write(shop.machines[0].path("done.log"), DONE).unwrap();
    check(&shop);
    shop.say("ledger backup copy.db").is(0);
    check(&shop);
    check(&shop);
    shop
}

fn check(shop: &Shop) {
    shop.say("check out.log --run r").is(1);
}

fn note(text: &str) -> Draft {
    Draft { kind: "note".to_owned(), ..draft(None, &json!({ "text": text })) }
}

/// The store of the project, as a gate that runs on has it open.
fn opened(shop: &Shop) -> Box<dyn Store> {
    let machine = &shop.machines[0];
    store::open(&Place::Folder(machine.state()), Some(machine.heads()), PATIENCE).unwrap()
}

/// The files that have what was there before.
fn kept(shop: &Shop) -> Vec<PathBuf> {
    let files = fs::read_dir(shop.machines[0].state()).unwrap().map(|entry| entry.unwrap().path());
    let is_kept = |file: &PathBuf| {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        name.starts_with("gate.db.lost-") && !name.ends_with("-wal") && !name.ends_with("-shm")
    };
    files.filter(is_kept).collect()
}

fn number(file: &PathBuf, sql: &str) -> i64 {
    Connection::open(file).unwrap().query_row(sql, [], |row| row.get(0)).unwrap()
}

const RECORDS: &str = "SELECT count(*) FROM ledger WHERE project = 'shop'";

#[test]
fn an_older_backup_is_restored_and_its_loss_is_accepted() {
    let shop = backed_up();
    let restored = shop.say("ledger restore copy.db --reason the-disk-failed").is(0).out;
    assert!(restored.starts_with("RESTORED"), "{restored}");
    assert!(restored.contains("2 records are missing, up to record 4"), "{restored}");
    let [aside] = &kept(&shop)[..] else { panic!("{restored}") };
    assert!(restored.contains(&aside.display().to_string()), "{restored}");
    assert_eq!(number(aside, RECORDS), 4);
    let records = shop.records();
    assert_eq!((records.len(), &records[2]["type"]), (3, &"loss_accepted".into()));
    assert_eq!(records[2]["body"]["reason"], "the-disk-failed");
    let verified: Value = shop.say("ledger verify --json").is(0).json();
    assert_eq!(verified["records"], 3);
    assert_eq!(shop.show("W-1")["phase"], "DRAFT");
    check(&shop);
    let names: Vec<_> = fs::read_dir(shop.machines[0].state())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    assert!(!names.iter().any(|name| name.starts_with("restore-")), "{names:?}");
}

#[test]
fn a_gate_that_has_the_store_open_goes_on_in_the_restored_one() {
    let shop = backed_up();
    let mut open = opened(&shop);
    append_to(&mut *open, "shop", note("before")).unwrap();
    shop.say("ledger restore copy.db --reason x").is(0);
    assert_eq!(open.read("shop").unwrap().head().unwrap().seq, 3);
    assert_eq!(append_to(&mut *open, "shop", note("after")).unwrap().record.seq, 4);
    shop.say("ledger verify").is(0);
    assert_eq!(shop.records().len(), 4);
}

#[test]
fn what_is_written_meanwhile_is_in_one_of_the_two() {
    let shop = backed_up();
    let written = thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut open = opened(&shop);
            let mut written = Vec::new();
            for number in 0..400 {
                let text = format!("note {number}");
                match append_to(&mut *open, "shop", note(&text)) {
                    Ok(_) => written.push(text),
                    Err(StoreError::Lost { .. }) => {}
                    Err(other) => panic!("{other}"),
                }
            }
            written
        });
        shop.say("ledger restore copy.db --reason x").is(0);
        writer.join().unwrap()
    });
    shop.say("ledger verify").is(0);
    let [aside] = &kept(&shop)[..] else { panic!("one store is kept") };
    let now = shop.machines[0].database();
    for text in &written {
        let of = format!("SELECT count(*) FROM ledger WHERE body LIKE '%\"{text}\"%'");
        assert!(number(aside, &of) + number(&now, &of) >= 1, "{text} is lost");
    }
    assert!(written.len() > 1, "{}", written.len());
}

#[test]
fn a_damaged_store_is_replaced_and_kept() {
    let shop = backed_up();
    for end in ["-wal", "-shm"] {
        let _ = fs::remove_file(shop.machines[0].state().join(format!("gate.db{end}")));
    }
    let noise = "no database, but long enough for one\n".repeat(500);
    fs::write(shop.machines[0].database(), &noise).unwrap();
    let restored = shop.say("ledger restore copy.db --reason x").is(0).out;
    assert!(restored.contains("2 records are missing"), "{restored}");
    let [aside] = &kept(&shop)[..] else { panic!("{restored}") };
    assert_eq!(fs::read_to_string(aside).unwrap(), noise);
    shop.say("ledger verify").is(0);
    check(&shop);
    assert_eq!(shop.records().len(), 4);
}

#[test]
fn what_a_killed_restore_left_behind_goes_with_the_next() {
    let shop = backed_up();
    let (old, new) =
        (shop.machines[0].state().join("restore-a"), shop.machines[0].state().join("restore-b"));
    for folder in [&old, &new] {
        fs::create_dir(folder).unwrap();
        fs::write(folder.join("gate.db"), "").unwrap();
    }
    let two_days_ago = SystemTime::now() - Duration::from_secs(2 * 24 * 60 * 60);
    fs::File::open(&old).unwrap().set_modified(two_days_ago).unwrap();
    shop.say("ledger restore copy.db --reason x").is(0);
    assert!(!old.exists() && new.exists(), "another gate may be at work in the new one");
}

#[test]
fn without_a_store_nothing_is_lost() {
    let shop = backed_up();
    let (state, heads) = (shop.machines[0].state(), shop.machines[0].heads());
    fs::remove_dir_all(state).unwrap();
    fs::remove_dir_all(heads).unwrap();
    let restored = shop.say("ledger restore copy.db --reason x").is(0).out;
    assert!(restored.contains("nothing of this project"), "{restored}");
    assert!(!restored.contains("kept"), "{restored}");
    assert_eq!((shop.records().len(), kept(&shop).len()), (2, 0));
}

#[test]
fn other_projects_that_lose_records_are_named() {
    let shop = backed_up();
    for project in ["other", "none"] {
        append_to(&mut *opened(&shop), project, note("one")).unwrap();
    }
    shop.say("ledger backup newer.db").is(0);
    append_to(&mut *opened(&shop), "other", note("two")).unwrap();
    let restored = shop.say("ledger restore newer.db --reason x").is(0).out;
    assert!(restored.contains("other: the end of its ledger is lost too"), "{restored}");
    assert!(restored.contains("gate ledger accept --reason"), "{restored}");
    assert!(!restored.contains("none: "), "{restored}");
    assert!(restored.contains("nothing of this project"), "{restored}");
}

#[test]
fn a_file_that_does_not_hold_changes_nothing() {
    let shop = backed_up();
    let before = shop.rows();
    let file = |name: &str| shop.machines[0].path(name);
    let changed = |name: &str, sql: &str| {
        fs::copy(file("copy.db"), file(name)).unwrap();
        Connection::open(file(name)).unwrap().execute_batch(sql).unwrap();
    };
    changed("edited.db", "UPDATE ledger SET body = replace(body, 'W-1', 'W-2') WHERE seq = 1");
    changed("newer.db", "INSERT INTO gate_schema VALUES (99)");
    changed("foreign.db", "UPDATE ledger SET project = 'other'; UPDATE work SET project = 'other'");
    fs::write(file("noise.db"), "no database, but long enough for one\n".repeat(500)).unwrap();
    Connection::open(file("birds.db")).unwrap().execute_batch("CREATE TABLE birds (x)").unwrap();
    for (name, code, says) in [
        ("edited.db", 5, "edited.db: shop: record 1"),
        ("newer.db", 5, "the store has version 99"),
        ("foreign.db", 2, "has no record of this project, shop"),
        ("noise.db", 5, "not a database"),
        ("birds.db", 5, "it is no store of gate"),
        ("absent.db", 2, "absent.db"),
    ] {
        let refused = shop.say(&format!("ledger restore {name} --reason x")).is(code).err;
        assert!(refused.contains(says), "{name}: {refused}");
    }
    shop.say("ledger restore copy.db").is(2);
    assert_eq!((shop.rows(), kept(&shop).len()), (before, 0));
}

#[test]
fn a_database_is_restored_by_its_own_tools() {
    let Some(shop) = Shop::fleet(1) else { return };
    shop.add("W-1", "DRAFT");
    let refused = shop.say("ledger restore copy.db --reason x").is(2).err;
    assert!(refused.contains("pg_restore") && refused.contains("ledger accept"), "{refused}");
}
