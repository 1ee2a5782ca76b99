//! The tables of a store: what it keeps to when they change.

use gate_cli::store::{self, Claimable, LeaseRequest, Migrated, Place, StoreError};

use crate::store::laws;
use crate::store_items::{at, drafts, hand};
use crate::support::shelf::{PATIENCE, Shelf, append, chain, decision, head};
use crate::support::shop::{Said, Shop};

laws! {
    a_new_store_has_all_additions,
    an_addition_that_nobody_here_knows_stops_nobody,
    no_request_gets_two_items,
}

/// The numbers of the additions.
fn additions(shelf: &Shelf) -> Vec<String> {
    shelf.run("SELECT number FROM gate_additions ORDER BY number")
}

/// Brings the tables of a database up to date.
pub(crate) fn migrate(shelf: &Shelf) -> Migrated {
    let Place::Database(url) = shelf.place() else { panic!("no database") };
    store::migrate(&url, PATIENCE).unwrap()
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
    append(&mut shelf.open(), decision("a", 1)).unwrap();
    assert_eq!(additions(shelf), ["1", "2"]);
    assert_eq!(shelf.run("SELECT count(*) FROM gate_decisions"), ["1"]);
    assert_eq!(shelf.run("SELECT max(version) FROM gate_schema"), ["4"]);
}

fn an_addition_that_nobody_here_knows_stops_nobody(shelf: &Shelf) {
    append(&mut shelf.open(), decision("a", 1)).unwrap();
    shelf.run("INSERT INTO gate_additions VALUES (99)");
    append(&mut shelf.open(), decision("a", 2)).unwrap();
    assert_eq!(chain(&mut shelf.open()).len(), 2);
    assert!(!store::condition(&shelf.place(), PATIENCE).unwrap().is_outdated());
    assert_eq!(additions(shelf), ["1", "2", "99"]);
}

fn no_request_gets_two_items(shelf: &Shelf) {
    let mut store = shelf.open();
    drafts(&mut store, &["a", "b"]);
    let request = LeaseRequest { lease: "request", actor: "a", now: at(1), until: at(9) };
    let mut claim = || hand(&mut store, |leases| leases.claim(Claimable::default(), request));
    assert_eq!(claim().unwrap().map(|item| item.work.id).as_deref(), Some("a"));
    assert!(claim().is_err());
    assert_eq!(shelf.run("SELECT id FROM work WHERE lease IS NOT NULL"), ["a"]);
}

#[test]
fn a_store_of_one_machine_takes_additions_with_its_next_record() {
    let shelf = Shelf::sqlite();
    append(&mut shelf.open(), decision("a", 1)).unwrap();
    older(&shelf);
    assert_eq!(head(&mut shelf.open()).unwrap().seq, 1);
    assert_eq!(shelf.run("SELECT max(version) FROM gate_schema"), ["3"], "a look changes nothing");
    append(&mut shelf.open(), decision("a", 2)).unwrap();
    assert_eq!(shelf.run("SELECT max(version) FROM gate_schema"), ["4"]);
    assert_eq!(additions(&shelf), ["1", "2"]);
}

#[test]
fn rows_that_contradict_an_addition_stop_nobody() {
    let shelf = Shelf::sqlite();
    drafts(&mut shelf.open(), &["a", "b"]);
    without_additions(&shelf);
    shelf.run("UPDATE work SET lease = 'request', actor = 'a', issued_at = 1");
    append(&mut shelf.open(), decision("a", 2)).unwrap();
    assert_eq!(additions(&shelf), ["2"], "the others are there");
    assert_eq!(store::condition(&shelf.place(), PATIENCE).unwrap().missing[0].name, "work_lease");
}

#[test]
fn a_check_changes_no_database() {
    let Some(shelf) = Shelf::postgres() else { return };
    append(&mut shelf.open(), decision("a", 1)).unwrap();
    without_additions(&shelf);
    append(&mut shelf.open(), decision("a", 2)).unwrap();
    assert_eq!(shelf.run("SELECT count(*) FROM pg_class WHERE relname = 'gate_additions'"), ["0"]);
    migrate(&shelf);
    older(&shelf);
    assert_eq!(head(&mut shelf.open()).unwrap().seq, 2, "whoever looks may go on");
    let refused = append(&mut shelf.open(), decision("a", 3)).unwrap_err();
    assert!(matches!(refused, StoreError::Older { version: 3, written: 4, .. }), "{refused}");
    assert_eq!(shelf.run("SELECT max(version) FROM gate_schema"), ["3"]);
}

#[test]
fn a_migration_makes_what_is_missing_once() {
    let Some(shelf) = Shelf::postgres() else { return };
    let shelf = &shelf;
    assert!(store::condition(&shelf.place(), PATIENCE).unwrap().is_outdated());
    append(&mut shelf.open(), decision("a", 1)).unwrap();
    older(shelf);
    let migrated = migrate(shelf);
    assert_eq!((migrated.old_version, migrated.version), (3, 4));
    assert_eq!(names(&migrated), [(1, "work_lease"), (2, "decisions")]);
    let again = migrate(shelf);
    assert_eq!((again.old_version, again.version, names(&again)), (4, 4, vec![]));
    append(&mut shelf.open(), decision("a", 2)).unwrap();
    assert_eq!(chain(&mut shelf.open()).len(), 2);
    shelf.run("DROP VIEW gate_decisions; DELETE FROM gate_additions WHERE number = 2");
    assert_eq!(names(&migrate(shelf)), [(2, "decisions")]);
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
    assert!(refused.err.contains("gate doctor --fix"), "{}", refused.err);
    let fix = |agent: &str| {
        let mut command = shop.command(0, "doctor --fix");
        if !agent.is_empty() {
            command.env(agent, "1");
        }
        Said::of(&command.output().unwrap())
    };
    assert!(fix("CLAUDECODE").is(2).err.contains("is for the person in charge"));
    let version =
        || shop.database.as_ref().unwrap().session().run("SELECT max(version) FROM gate_schema");
    assert_eq!(version(), ["3"]);
    let fixed = fix("").out;
    assert!(
        fixed.contains("version 3 → 4") && fixed.contains("added 1 work_lease, 2 decisions"),
        "{fixed}"
    );
    assert!(!fix("").out.contains("tables of"), "once");
    assert!(!fix("CLAUDECODE").err.contains("is for the person in charge"), "nothing to change");
    shop.say("work add W-2 --title T --phase DRAFT").is(0);
}
