//! Work items that somebody else changed, that an older gate never knew, and that claimers wait for.

use std::thread;
use std::time::{Duration, Instant};

use gate_cli::store::{Claimable, LeaseRequest, Place, Store, StoreError};
use gate_core::exit::WorkPhase;
use gate_fleet::work::{ItemState, Lease};
use serde_json::json;

use crate::store::laws;
use crate::store_items::{add, at, claim, claimed, drafts, hand, kept};
use crate::store_tables::{migrate, without_additions};
use crate::support::shelf::{PROJECT, Shelf, append, chain, decision, draft, look, work};

laws! {
    the_next_claim_is_known_before,
    names_of_leases_are_kept_or_refused,
    a_row_that_contradicts_itself_is_refused,
    a_store_from_before_items_has_none_and_takes_them,
    a_ledger_that_is_set_aside_takes_its_items_along,
}

/// Longer than anything here takes.
const LONG: Duration = Duration::from_secs(30);

fn a_row_that_contradicts_itself_is_refused(shelf: &Shelf) {
    let mut store = shelf.open();
    add(&mut store, "a", WorkPhase::Draft);
    let claimed = claim(&mut store, Claimable::default(), (100, 200)).unwrap();
    shelf.run("CREATE TABLE untouched AS SELECT * FROM work");
    for edit in [
        "phase = 'DOING'",
        "phase = 'draft'",
        "blocked_in = ''",
        "transitions = -1",
        "added = -1",
        "seq = -1",
        "lease = NULL",
        "lease = NULL, actor = NULL",
        "lease = NULL, actor = NULL, issued_at = NULL",
        "actor = NULL",
        "issued_at = NULL",
        "issued_at = 9000000000000000000",
        "expires_at = 9000000000000000000",
        "renewals = -1",
    ] {
        shelf.run(&format!("UPDATE work SET {edit}"));
        let column = edit.split(' ').next().unwrap();
        let mut results = vec![look(&mut store, |view| view.item("a").map(drop))];
        // A list begins after the record 0, so an item with a lower number is in no list.
        if column != "added" {
            results.push(look(&mut store, |view| view.items(0, 9).map(drop)));
        }
        for result in results {
            let Err(StoreError::Corrupt { column: named, .. }) = &result else {
                panic!("{edit}: {result:?}")
            };
            assert_eq!(named.as_deref(), Some(column), "{edit}");
        }
        shelf.run("DELETE FROM work");
        shelf.run("INSERT INTO work SELECT * FROM untouched");
    }
    assert_eq!(kept(&mut store, "a"), claimed);
}

fn a_store_from_before_items_has_none_and_takes_them(shelf: &Shelf) {
    append(&mut shelf.open(), decision("a", 1)).unwrap();
    without_additions(shelf);
    shelf.run("DROP TABLE work; DROP INDEX ledger_loop_step; DROP INDEX ledger_task_hold");
    shelf.run("DELETE FROM gate_schema WHERE version > 2");
    let mut store = shelf.open();
    let any = Claimable::default();
    let read = look(&mut store, |view| {
        Ok((view.head()?.seq, view.item("a")?, view.items(0, 9)?, view.claimable_at(any)?))
    });
    assert_eq!(read, Ok((1, None, vec![], None)));
    assert_eq!(shelf.run("SELECT max(version) FROM gate_schema"), ["2"], "a look changes nothing");
    if matches!(shelf.place(), Place::Database(_)) {
        migrate(shelf);
    }
    assert_eq!(claim(&mut store, any, (1, 2)), None);
    assert_eq!(shelf.run("SELECT max(version) FROM gate_schema"), ["4"]);
    assert_eq!(add(&mut store, "a", WorkPhase::Draft).seq, 2);
    assert!(claim(&mut shelf.open(), any, (1, 2)).is_some());
    assert_eq!(chain(&mut store).len(), 2, "and keeps its records");
}

fn a_ledger_that_is_set_aside_takes_its_items_along(shelf: &Shelf) {
    let mut store = shelf.open();
    add(&mut store, "a", WorkPhase::Draft);
    store.renew(PROJECT).unwrap();
    assert_eq!(look(&mut store, |view| view.item("a")), Ok(None));
    assert_eq!(add(&mut store, "a", WorkPhase::Draft).seq, 1);
    assert_eq!(shelf.run("SELECT count(*) FROM work"), ["2"]);
}

fn the_next_claim_is_known_before(shelf: &Shelf) {
    let mut store = shelf.open();
    let store = &mut store;
    let next = |store: &mut Store, filter| look(store, |view| view.claimable_at(filter)).unwrap();
    let any = Claimable::default();
    assert_eq!(next(store, any), None);
    add(store, "a", WorkPhase::Blocked);
    assert_eq!(next(store, any), None);
    drafts(store, &["b", "c"]);
    assert_eq!(next(store, any), Some(at(0)), "now");
    for (now, until) in [(10, 300), (11, 200)] {
        claimed(store, now, until);
    }
    assert_eq!(next(store, any), Some(at(200)));
    assert_eq!(next(store, Claimable { id: Some("b"), ..any }), Some(at(300)));
    assert_eq!(next(store, Claimable { phase: Some(WorkPhase::Review), ..any }), None);
}

fn names_of_leases_are_kept_or_refused(shelf: &Shelf) {
    let mut store = shelf.open();
    let item = add(&mut store, "a", WorkPhase::Draft);
    for (lease, actor, column) in [("l\0", "a", "lease"), ("l", "a\nb", "actor")] {
        let request = LeaseRequest { lease, actor, now: at(1), until: at(9) };
        let refused = hand(&mut store, |leases| leases.claim(Claimable::default(), request));
        let Err(StoreError::Unfit { column: named, .. }) = refused else { panic!("{refused:?}") };
        assert_eq!(named, column);
    }
    assert_eq!(kept(&mut store, "a"), item);
}

/// A waiting store is notified of an act on another connection.
fn is_notified(waiting: &mut Store, at_most: Duration, act: impl FnOnce() + Send) -> bool {
    thread::scope(|scope| {
        scope.spawn(move || {
            thread::sleep(Duration::from_millis(100));
            act();
        });
        waiting.await_work(PROJECT, at_most).unwrap()
    })
}

#[test]
fn who_waits_is_told_at_once_by_the_database() {
    let Some(shelf) = Shelf::postgres() else { return };
    let (mut waiting, mut other_project, mut store) = (shelf.open(), shelf.open(), shelf.open());
    add(&mut store, "a", WorkPhase::Review);
    assert!(waiting.await_work(PROJECT, LONG).unwrap(), "the first call begins to listen");
    assert!(other_project.await_work("other", LONG).unwrap());
    let start = Instant::now();
    assert!(is_notified(&mut waiting, LONG, || drop(add(
        &mut shelf.open(),
        "b",
        WorkPhase::Draft
    ))));
    let any = Claimable::default();
    let claimed = claim(&mut store, Claimable { id: Some("a"), ..any }, (100, 200)).unwrap();
    let lease = Lease { expires_at: None, ..claimed.lease.clone().unwrap() };
    assert!(is_notified(&mut waiting, LONG, || {
        hand(&mut shelf.open(), |leases| leases.put_lease(&claimed, &lease, at(150))).unwrap();
    }));
    let moves = |id: &'static str, phase| {
        let shelf = &shelf;
        move || {
            let mut store = shelf.open();
            let item = kept(&mut store, id);
            let transition_count = item.work.state.transition_count + 1;
            let new_state = ItemState { phase, blocked_in: None, transition_count };
            let seq = append(&mut store, draft(None, &json!({}))).unwrap().record.seq;
            work(&mut store, |transaction| transaction.move_item(&item, &new_state, seq)).unwrap();
        }
    };
    assert!(is_notified(&mut waiting, LONG, moves("a", WorkPhase::ReadyForMerge)));
    assert!(start.elapsed() < LONG, "nobody waited to the end");
    let short = Duration::from_millis(700);
    for phase in [WorkPhase::CiPending, WorkPhase::Completed] {
        assert!(!is_notified(&mut waiting, short, moves("b", phase)), "nobody claims that");
    }
    let renewed = Lease { expires_at: Some(at(900)), ..lease };
    let claimed = claim(&mut store, Claimable { id: Some("a"), ..any }, (300, 400)).unwrap();
    let renewed = Lease { lease_id: claimed.lease.clone().unwrap().lease_id, ..renewed };
    assert!(!is_notified(&mut waiting, short, || {
        hand(&mut shelf.open(), |leases| leases.put_lease(&claimed, &renewed, at(350))).unwrap();
    }));
    assert!(!other_project.await_work("other", short).unwrap(), "another project hears nothing");
}

#[test]
fn a_fleets_role_needs_to_update_work_alone() {
    let Some(shelf) = Shelf::postgres() else { return };
    add(&mut shelf.open(), "a", WorkPhase::Draft);
    let session = shelf.database().session();
    let name = format!("{}_fleet", session.run("SELECT current_database()")[0]);
    session.run(&format!("CREATE ROLE {name} LOGIN PASSWORD 'limited'"));
    session.run(&format!("GRANT SELECT, INSERT ON ledger, policies TO {name}"));
    session.run(&format!("GRANT SELECT, INSERT, UPDATE ON work TO {name}"));
    let url = shelf.database().url_as(&name, "limited").parse().unwrap();
    let place = Place::Database(url);
    let mut limited = Store::open(&place, None, LONG).unwrap();
    add(&mut limited, "b", WorkPhase::Draft);
    for (id, now) in [("a", 100), ("b", 101)] {
        let filter = Claimable { id: Some(id), phase: None };
        let item = claim(&mut limited, filter, (now, 200)).unwrap();
        let new_state =
            ItemState { phase: WorkPhase::Implementation, transition_count: 1, ..item.work.state };
        work(&mut limited, |transaction| {
            let seq = transaction.append(draft(None, &json!({})))?.record.seq;
            transaction.move_item(&item, &new_state, seq)
        })
        .unwrap();
    }
    assert!(limited.await_work(PROJECT, LONG).unwrap(), "and it may listen");
    let session =
        crate::support::postgres::Session::new(&shelf.database().url_as(&name, "limited"));
    let refused = session.refuses("DELETE FROM work");
    assert!(refused.contains("permission denied"), "{refused}");
}
