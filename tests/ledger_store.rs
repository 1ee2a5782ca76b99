//! `gate ledger verify`: what it finds in a store, beside the project's own ledger.

use std::fs;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::Path;

use rusqlite::Connection;
use serde_json::Value;

use crate::store_tables::without_additions;
use crate::support::gate;
use crate::support::shelf::{PATIENCE, Shelf, append_to, decision};
use crate::support::shop::Shop;

/// The store in the printed object.
#[track_caller]
fn checked(shop: &Shop, code: i32) -> Value {
    let record = shop.say("ledger verify --json").is(code).json();
    assert_eq!(record["ok"], code == 0, "{record}");
    assert_eq!(record["problem"].is_null(), code == 0, "{record}");
    record["store"].clone()
}

/// Overwrites the page that an index begins with.
fn damage_index(file: &Path, index: &str) {
    let connection = Connection::open(file).unwrap();
    let folded = "PRAGMA wal_checkpoint(TRUNCATE)";
    connection.query_row(folded, [], |_| Ok(())).unwrap();
    let page = "SELECT rootpage FROM sqlite_master WHERE name = ?1";
    let page: i64 = connection.query_row(page, [index], |row| row.get(0)).unwrap();
    drop(connection);
    let file = fs::OpenOptions::new().write(true).open(file).unwrap();
    file.write_all_at(&[0xff; 4096], u64::try_from(page - 1).unwrap() * 4096).unwrap();
}

#[test]
fn a_sound_store_says_what_is_in_it() {
    let shops = [Some(Shop::new()), Shop::fleet(1)];
    for shop in shops.into_iter().flatten() {
        shop.add("W-1", "DRAFT");
        shop.add("W-2", "DRAFT");
        shop.claim("W-1", "ann");
        let record = checked(&shop, 0);
        assert_eq!((&record["version"], &record["missing"]), (&4.into(), &Value::Array(vec![])));
        let project = &record["projects"][0];
        let of = |key: &str| project[key].clone();
        assert_eq!((of("project"), of("records")), ("shop".into(), 2.into()));
        assert_eq!((of("work_items"), of("leases")), (2.into(), 1.into()));
        assert!(record["bytes"].as_u64().unwrap() > 4_096, "{record}");
        let card = shop.say("ledger verify").is(0).out;
        assert!(card.starts_with("HOLDS") && card.contains("2 work items, 1 leased"), "{card}");
    }
}

#[test]
fn a_ledger_that_does_not_hold_is_named() {
    let shops = [Some(Shop::new()), Shop::fleet(1)];
    for shop in shops.into_iter().flatten() {
        shop.add("W-1", "DRAFT");
        shop.run(
            "INSERT INTO ledger SELECT 'other', seq, v, time, type, run, 'eve', body, prev, hash, \
                  task, loop, iteration, decision_id FROM ledger",
        );
        let record = checked(&shop, 1);
        let sound = |at: usize| (&record["projects"][at]["project"], &record["projects"][at]["ok"]);
        assert_eq!(sound(0), (&"other".into(), &false.into()), "{record}");
        assert_eq!(sound(1), (&"shop".into(), &true.into()), "{record}");
        let card = shop.say("ledger verify").is(1).out;
        assert!(card.starts_with("BROKEN  other: record 1"), "{card}");
        assert!(card.contains("holds       1 record\n"), "{card}");
    }
}

#[test]
fn a_damaged_index_is_found_and_by_ledger_verify_too() {
    let shop = Shop::new();
    shop.add("W-1", "DRAFT");
    let file = shop.machines[0].database();
    damage_index(&file, "ledger_task");
    let record = checked(&shop, 1);
    assert!(record["problems"][0].is_string(), "{record}");
    let problem = shop.problem();
    assert!(problem["message"].is_string() && problem["seq"].is_null(), "{problem}");
}

#[test]
fn files_that_others_could_read_are_told_and_closed() {
    let shop = Shop::new();
    shop.add("W-1", "DRAFT");
    let file = shop.machines[0].database();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let record = checked(&shop, 0);
    assert!(record["remarks"][0].as_str().unwrap().contains("gate.db"), "{record}");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(checked(&shop, 0)["remarks"], Value::Array(vec![]));
}

#[test]
fn where_nothing_was_recorded_there_is_no_store() {
    let nothing = gate("ledger verify --json").code(0).json();
    assert_eq!((&nothing["records"], &nothing["store"]), (&0.into(), &Value::Null));
    let Some(shop) = Shop::fleet(1) else { return };
    assert_eq!(checked(&shop, 0), Value::Null);
}

#[test]
fn a_database_tells_rights_indexes_and_settings() {
    let Some(shop) = Shop::fleet(1) else { return };
    shop.add("W-1", "DRAFT");
    let database = shop.database.as_ref().unwrap();
    let session = database.session();
    let name = format!("{}_fleet", session.run("SELECT current_database()")[0]);
    session.run(&format!("CREATE ROLE {name} LOGIN PASSWORD 'limited'"));
    session.run(&format!("GRANT SELECT, INSERT ON ledger, policies TO {name}"));
    let limited = |words: &str| {
        let mut command = shop.command(0, words);
        command.env("GATE_DATABASE_URL", database.url_as(&name, "limited"));
        let output = command.output().unwrap();
        let record = serde_json::from_slice::<Value>(&output.stdout).unwrap();
        (output.status.code(), record["store"].clone())
    };
    let (code, record) = limited("ledger verify --json");
    assert_eq!(code, Some(1), "{record}");
    assert_eq!(record["problems"][0], "this role may not SELECT in the table work");
    session.run(&format!("GRANT SELECT, INSERT, UPDATE ON work TO {name}"));
    session
        .run("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'ledger_task'::regclass");
    let (code, record) = limited("ledger verify --json");
    assert_eq!(code, Some(1), "{record}");
    let problem = record["problems"][0].as_str().unwrap();
    assert!(problem.contains("REINDEX INDEX ledger_task"), "{problem}");
    session.run("UPDATE pg_index SET indisvalid = true WHERE indexrelid = 'ledger_task'::regclass");
    let database = &session.run("SELECT current_database()")[0];
    session.run(&format!("ALTER DATABASE {database} SET synchronous_commit = off"));
    let (code, record) = limited("ledger verify --json");
    assert_eq!(code, Some(0), "{record}");
    let remarks = record["remarks"].to_string();
    for said in ["fsync is off", "synchronous_commit is off"] {
        assert!(remarks.contains(said), "{remarks}");
    }
    assert!(!remarks.contains("may UPDATE in the table ledger"), "{remarks}");
    assert!(checked(&shop, 0)["remarks"].to_string().contains("may UPDATE in the table ledger"));
}

#[test]
fn what_an_older_store_lacks_is_told_and_ledgers_set_aside_are_counted() {
    for shelf in [Some(Shelf::sqlite()), Shelf::postgres()].into_iter().flatten() {
        for project in ["a", "b (set aside: 1)"] {
            append_to(&mut shelf.open(), project, decision("a", 1)).unwrap();
        }
        without_additions(&shelf);
        let condition = gate_cli::store::condition(&shelf.place(), PATIENCE).unwrap();
        let missing: Vec<_> = condition.missing.iter().map(|added| added.number).collect();
        assert_eq!((missing, condition.version), (vec![1, 2], 4));
        assert_eq!(condition.projects, ["a", "b (set aside: 1)"]);
    }
}
