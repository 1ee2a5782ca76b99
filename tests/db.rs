//! `gate db`, and what a store keeps to when its schema changes.

use gate_cli::store::{self, Ask, Claimable, Migrated, StoreError};

use crate::store::laws;
use crate::store_items::{at, drafts, hand};
use crate::support::shelf::{PATIENCE, Shelf, append, chain, decision, head};
use crate::support::shop::Shop;

laws! {
    a_new_store_has_all_additions,
    an_addition_that_nobody_here_knows_stops_nobody,
    a_migration_makes_what_is_missing_once,
    no_request_gets_two_items,
}

/// The numbers of the additions.
fn additions(shelf: &Shelf) -> Vec<String> {
    shelf.run("SELECT number FROM gate_additions ORDER BY number")
}

pub(crate) fn migrate(shelf: &Shelf) -> Migrated {
    store::upkeep(&shelf.place(), PATIENCE).unwrap().migrate().unwrap()
}

/// Takes away what older gates do not know.
pub(crate) fn without_additions(shelf: &Shelf) {
    shelf.run("DROP VIEW gate_decisions; DROP INDEX work_lease");
    shelf.run("DROP TABLE gate_additions");
}

/// Takes a step back as well.
fn older(shelf: &Shelf) {
    without_additions(shelf);
    shelf.run("DROP INDEX ledger_loop_step; DROP INDEX ledger_task_hold");
    shelf.run("DELETE FROM gate_schema WHERE version = 4");
}

fn names(migrated: &Migrated) -> Vec<(i64, &str)> {
    migrated.additions.iter().map(|added| (added.number, added.name)).collect()
}

fn a_new_store_has_all_additions(shelf: &Shelf) {
    append(&mut *shelf.open(), decision("a", 1)).unwrap();
    assert_eq!(additions(shelf), ["1", "2"]);
    assert_eq!(shelf.run("SELECT count(*) FROM gate_decisions"), ["1"]);
    assert_eq!(shelf.run("SELECT max(version) FROM gate_schema"), ["4"]);
}

fn an_addition_that_nobody_here_knows_stops_nobody(shelf: &Shelf) {
    append(&mut *shelf.open(), decision("a", 1)).unwrap();
    shelf.run("INSERT INTO gate_additions VALUES (99)");
    append(&mut *shelf.open(), decision("a", 2)).unwrap();
    assert_eq!(chain(&mut *shelf.open()).len(), 2);
    assert_eq!(names(&migrate(shelf)), []);
    assert_eq!(additions(shelf), ["1", "2", "99"]);
}

fn a_migration_makes_what_is_missing_once(shelf: &Shelf) {
    append(&mut *shelf.open(), decision("a", 1)).unwrap();
    older(shelf);
    let migrated = migrate(shelf);
    assert_eq!((migrated.before, migrated.version), (3, 4));
    assert_eq!(names(&migrated), [(1, "work_lease"), (2, "decisions")]);
    let again = migrate(shelf);
    assert_eq!((again.before, again.version, names(&again)), (4, 4, vec![]));
    append(&mut *shelf.open(), decision("a", 2)).unwrap();
    assert_eq!(chain(&mut *shelf.open()).len(), 2);
    shelf.run("DROP VIEW gate_decisions; DELETE FROM gate_additions WHERE number = 2");
    assert_eq!(names(&migrate(shelf)), [(2, "decisions")]);
}

fn no_request_gets_two_items(shelf: &Shelf) {
    let mut store = shelf.open();
    drafts(&mut *store, &["a", "b"]);
    let ask = Ask { lease: "request", actor: "a", now: at(1), until: at(9) };
    let mut claim = || hand(&mut *store, |leases| leases.claim(Claimable::default(), ask));
    assert_eq!(claim().unwrap().map(|item| item.work.id).as_deref(), Some("a"));
    assert!(claim().is_err());
    assert_eq!(shelf.run("SELECT id FROM work WHERE lease IS NOT NULL"), ["a"]);
}

#[test]
fn a_store_of_one_machine_takes_additions_with_its_next_record() {
    let shelf = Shelf::sqlite();
    append(&mut *shelf.open(), decision("a", 1)).unwrap();
    older(&shelf);
    assert_eq!(head(&mut *shelf.open()).unwrap().seq, 1);
    assert_eq!(shelf.run("SELECT max(version) FROM gate_schema"), ["3"], "a look changes nothing");
    append(&mut *shelf.open(), decision("a", 2)).unwrap();
    assert_eq!(shelf.run("SELECT max(version) FROM gate_schema"), ["4"]);
    assert_eq!(additions(&shelf), ["1", "2"]);
}

#[test]
fn rows_that_contradict_an_addition_stop_nobody() {
    let shelf = Shelf::sqlite();
    drafts(&mut *shelf.open(), &["a", "b"]);
    without_additions(&shelf);
    shelf.run("UPDATE work SET lease = 'request', actor = 'a', issued_at = 1");
    append(&mut *shelf.open(), decision("a", 2)).unwrap();
    assert_eq!(additions(&shelf), ["2"], "the others are there");
    let migrated = migrate(&shelf);
    assert_eq!((names(&migrated), migrated.contradicted.len()), (vec![], 1));
}

#[test]
fn a_check_changes_no_database() {
    let Some(shelf) = Shelf::postgres() else { return };
    append(&mut *shelf.open(), decision("a", 1)).unwrap();
    without_additions(&shelf);
    append(&mut *shelf.open(), decision("a", 2)).unwrap();
    assert_eq!(shelf.run("SELECT count(*) FROM pg_class WHERE relname = 'gate_additions'"), ["0"]);
    migrate(&shelf);
    older(&shelf);
    assert_eq!(head(&mut *shelf.open()).unwrap().seq, 2, "whoever looks may go on");
    let refused = append(&mut *shelf.open(), decision("a", 3)).unwrap_err();
    assert!(matches!(refused, StoreError::Older { found: 3, known: 4, .. }), "{refused}");
    assert_eq!(shelf.run("SELECT max(version) FROM gate_schema"), ["3"]);
}

#[test]
fn the_operator_migrates_a_database() {
    let Some(shop) = Shop::fleet(1) else { return };
    shop.add("W-1", "DRAFT");
    shop.run("DROP VIEW gate_decisions; DROP INDEX work_lease");
    shop.run("DROP TABLE gate_additions");
    shop.run("DROP INDEX ledger_loop_step; DROP INDEX ledger_task_hold");
    shop.run("DELETE FROM gate_schema WHERE version = 4");
    let refused = shop.say("work add W-2 --title T --phase DRAFT").is(5);
    assert!(refused.err.contains("gate db migrate"), "{}", refused.err);
    let under_an_agent = shop.command(0, "db migrate").env("CLAUDECODE", "1").output().unwrap();
    assert_eq!(under_an_agent.status.code(), Some(2));
    let migrated = shop.say("db migrate").is(0).out;
    assert!(
        migrated.contains("3 → 4") && migrated.contains("1 work_lease, 2 decisions"),
        "{migrated}"
    );
    let current = shop.say("db migrate").is(0).out;
    assert!(current.starts_with("CURRENT") && current.contains("4, as before"), "{current}");
    shop.say("work add W-2 --title T --phase DRAFT").is(0);
}
