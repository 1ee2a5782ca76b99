//! `gate db copy`: all that a store holds, in another place.

use std::path::{Path, PathBuf};

use gate_cli::store;
use gate_core::ledger::Draft;
use rusqlite::Connection;
use serde_json::json;

use crate::support::DONE;
use crate::support::postgres::Database;
use crate::support::shelf::{PATIENCE, Shelf, append_to, chain, draft, look};
use crate::support::shop::{Said, Shop, rows_of};

/// A project with records, policies, work items and leases, another project, and a ledger that
/// was set aside.
fn filled() -> Shop {
    let shop = Shop::new();
    std::fs::write(shop.machines[0].path("out.log"), DONE).unwrap();
    for (id, phase) in [("W-2", "DRAFT"), ("W-3", "REVIEW")] {
        shop.add(id, phase);
    }
    shop.claim("W-3", "bob");
    shop.say("check out.log --no-checks --run r");
    let place = store::Place::Folder(shop.machines[0].state());
    let mut other = store::open(&place, None, PATIENCE).unwrap();
    for iteration in 1..=450 {
        let note = Draft { kind: "note".to_owned(), ..draft(None, &json!({"number": iteration})) };
        append_to(&mut *other, "other", note).unwrap();
    }
    for table in ["ledger", "work"] {
        shop.run(&format!("CREATE TEMP TABLE aside AS SELECT * FROM {table} WHERE project = 'shop'; \
             UPDATE aside SET project = 'shop (set aside: 1)'; INSERT INTO {table} SELECT * FROM aside"));
    }
    shop.run("UPDATE work SET lease = NULL, actor = NULL, issued_at = NULL, expires_at = 0 WHERE project <> 'shop'");
    shop
}

/// `gate` with a variable that has the database's address.
fn say(shop: &Shop, database: &Database, words: &str) -> Said {
    Said::of(&shop.command(0, words).env("COPY", &database.url).output().unwrap())
}

/// `gate` with its state in the database.
fn say_there(shop: &Shop, database: &Database, words: &str) -> Said {
    Said::of(&shop.command(0, words).env("GATE_DATABASE_URL", &database.url).output().unwrap())
}

fn rows(folder: &Path) -> Vec<String> {
    rows_of(&Connection::open(folder.join("gate.db")).unwrap())
}

fn folder(shop: &Shop, name: &str) -> PathBuf {
    shop.machines[0].path(name)
}

#[test]
fn there_and_back_every_row_is_the_same() {
    let Some(database) = Database::new() else { return };
    let shop = filled();
    let before = shop.rows();
    assert!(before.iter().any(|row| row.contains("(set aside: ")), "{before:#?}");
    let copied = say(&shop, &database, "db copy env:COPY").is(0).out;
    assert!(copied.starts_with("COPIED") && copied.contains("other: 450 records"), "{copied}");
    assert!(copied.contains("GATE_DATABASE_URL") && !copied.contains("open-sesame"), "{copied}");
    assert_eq!(shop.rows(), before, "the old store stays");
    say(&shop, &database, "db copy back --from env:COPY").is(0);
    assert_eq!(rows(&folder(&shop, "back")), before);
    shop.say("db copy again --from back").is(0);
    assert_eq!(rows(&folder(&shop, "again")), before);
}

#[test]
fn gate_goes_on_in_the_copy_and_notices_what_is_lost_there() {
    let Some(database) = Database::new() else { return };
    let shop = filled();
    say(&shop, &database, "db copy env:COPY").is(0);
    let there = |words: &str| say_there(&shop, &database, words);
    let sound = there("db check --json").is(0).json();
    assert_eq!(sound["projects"].as_array().unwrap().len(), 2, "{sound}");
    assert_eq!(there("work show W-3 --json").is(0).json()["lease"]["actor"], "bob");
    there("work add W-4 --title T --phase DRAFT").is(0);
    there("ledger verify").is(0);
    database.session().run("DELETE FROM ledger WHERE project = 'other' AND seq > 440");
    let lost = there("db check --json").is(1).json();
    assert_eq!(lost["projects"][0]["ok"], false, "{lost}");
    assert_eq!(lost["projects"][1]["ok"], true, "{lost}");
}

#[test]
fn a_place_with_one_of_the_projects_is_refused_and_left_as_it_is() {
    let Some(database) = Database::new() else { return };
    let shop = filled();
    say(&shop, &database, "db copy env:COPY --rename other=another").is(0);
    let names =
        "SELECT DISTINCT project FROM ledger WHERE project NOT LIKE '%set aside%' ORDER BY 1";
    assert_eq!(database.session().run(names), ["another", "shop"]);
    let count = || database.session().run("SELECT count(*) FROM ledger");
    let before = count();
    let refused = say(&shop, &database, "db copy env:COPY").is(2).err;
    assert!(refused.contains("`shop") && !refused.contains("`other`"), "{refused}");
    assert_eq!(count(), before);
    let state = shop.machines[0].state();
    assert!(shop.say(&format!("db copy {}", state.display())).is(2).err.contains("`other`"));
}

#[test]
fn a_renamed_project_takes_its_set_aside_ledgers_along() {
    let shop = filled();
    shop.say("db copy new --rename shop=acme/shop").is(0);
    let file = Connection::open(folder(&shop, "new").join("gate.db")).unwrap();
    let count = |like: &str| {
        let count = "SELECT count(DISTINCT project) FROM ledger WHERE project LIKE ?1";
        file.query_row(count, [like], |row| row.get::<_, i64>(0)).unwrap()
    };
    assert_eq!((count("acme/shop (set aside: %)"), count("acme/shop"), count("shop%")), (1, 1, 0));
    let unknown = shop.say("db copy newer --rename nobody=x").is(2).err;
    assert!(unknown.contains("`nobody`"), "{unknown}");
    let twice = shop.say("db copy newer --rename shop=other").is(2).err;
    assert!(twice.contains("two projects the name `other`"), "{twice}");
    assert!(!folder(&shop, "newer").exists());
}

#[test]
fn a_password_is_not_taken_from_the_command_line() {
    let Some(database) = Database::new() else { return };
    let shop = filled();
    let refused = shop.say_with("db copy", &[&database.url]).is(2).err;
    assert!(refused.contains("visible to everybody"), "{refused}");
    assert!(refused.contains("@FILE") && !refused.contains("open-sesame"), "{refused}");
    std::fs::write(folder(&shop, "address"), &database.url).unwrap();
    shop.say("db copy @address").is(0);
    assert!(shop.say("db copy env:UNSET").is(2).err.contains("UNSET is not set"));
    assert!(shop.say("db copy @absent").is(2).err.contains("absent"));
}

#[test]
fn a_ledger_that_lost_its_end_is_not_copied() {
    let shop = filled();
    shop.run("DELETE FROM ledger WHERE project = 'shop' AND seq = (SELECT max(seq) FROM ledger WHERE project = 'shop')");
    let refused = shop.say("db copy new").is(5).err;
    assert!(refused.contains("the project `shop`: the ledger ends at record"), "{refused}");
    assert!(!folder(&shop, "new").exists());
    let agents = shop.command(0, "db copy new").env("CLAUDECODE", "1").output().unwrap();
    assert_eq!(agents.status.code(), Some(2));
}

#[test]
fn a_value_that_its_column_cannot_have_stops_the_copy() {
    let Some(to) = Shelf::postgres() else { return };
    let from = Shelf::sqlite();
    let texts = draft(Some("r"), &json!({"text": "\0 \u{202e} é 木 🦀 \\N \t"}));
    append_to(&mut *from.open(), "shop", texts).unwrap();
    store::copy(&from.place(), &to.place(), &[], PATIENCE).unwrap();
    assert_eq!(chain(&mut *to.open()), chain(&mut *from.open()));
    from.tamper(1, "v", "'one'");
    let renames = [("shop".to_owned(), "odd".to_owned())];
    let stopped = store::copy(&from.place(), &to.place(), &renames, PATIENCE).unwrap_err();
    assert!(stopped.to_string().contains("column `v`"), "{stopped}");
    let head = look(&mut *to.open(), |reading| reading.projects()).unwrap();
    assert_eq!(head, ["shop"]);
}
