//! The laws of work items and their leases, which hold for every store: each law is a test of both
//! databases.

use std::sync::atomic::{AtomicU32, Ordering};

use gate_cli::store::{Claimable, Item, LeaseRequest, Leases, Store, StoreError, Transaction};
use gate_core::exit::WorkPhase;
use gate_fleet::work::{ItemState, Lease, WorkItem};
use jiff::Timestamp;
use serde_json::json;

use crate::store::laws;
use crate::support::shelf::{PROJECT, Shelf, chain, draft, look, work};

laws! {
    an_item_comes_back_as_it_went_in,
    an_id_is_one_items,
    items_are_listed_in_the_order_of_adding,
    what_is_free_comes_first_and_what_was_left_last,
    a_live_lease_is_nobody_elses,
    phase_and_id_say_which_is_claimed,
    only_phases_that_agents_claim_are_claimed,
    a_lease_follows_what_is_put,
    a_step_ends_the_lease,
    what_has_changed_meanwhile_is_not_changed,
    an_item_that_is_not_committed_is_undone,
    items_of_other_projects_are_not_seen,
}

pub(crate) fn at(millisecond: i64) -> Timestamp {
    Timestamp::from_millisecond(millisecond).unwrap()
}

pub(crate) fn item(id: &str, phase: WorkPhase) -> WorkItem {
    WorkItem::new(id, "a title", "what is to be done", phase).unwrap()
}

fn added(transaction: &mut Transaction<'_>, work: &WorkItem) -> Result<Item, StoreError> {
    let seq = transaction.append(draft(None, &json!({"added": work.id})))?.record.seq;
    assert!(transaction.add_item(work, seq)?, "{} is there", work.id);
    Ok(transaction.item(&work.id)?.expect("it was added"))
}

/// A new item in a phase.
pub(crate) fn add(store: &mut Store, id: &str, phase: WorkPhase) -> Item {
    work(store, |transaction| added(transaction, &item(id, phase))).unwrap()
}

pub(crate) fn drafts(store: &mut Store, ids: &[&str]) {
    ids.iter().for_each(|id| drop(add(store, id, WorkPhase::Draft)));
}

/// Changes leases, and commits.
pub(crate) fn hand<T>(
    store: &mut Store,
    hand: impl FnOnce(&mut Leases<'_>) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let mut leases = store.lease(PROJECT)?;
    let result = hand(&mut leases)?;
    leases.commit()?;
    Ok(result)
}

/// Claims an item at the millisecond `now`, until another one.
pub(crate) fn claim(
    store: &mut Store,
    filter: Claimable<'_>,
    (now, until): (i64, i64),
) -> Option<Item> {
    // No two claims have an id in common.
    static CLAIMS: AtomicU32 = AtomicU32::new(0);
    let lease = format!("lease-{now}-{}", CLAIMS.fetch_add(1, Ordering::Relaxed));
    let request = LeaseRequest { lease: &lease, actor: "a", now: at(now), until: at(until) };
    hand(store, |leases| leases.claim(filter, request)).unwrap()
}

pub(crate) fn claimed(store: &mut Store, now: i64, until: i64) -> Option<String> {
    claim(store, Claimable::default(), (now, until)).map(|item| item.work.id)
}

fn released(item: &Item) -> Lease {
    Lease { expires_at: None, ..item.lease.clone().expect("it is claimed") }
}

fn give_back(store: &mut Store, id: &str, now: i64) {
    let item = kept(store, id);
    hand(store, |leases| leases.put_lease(&item, &released(&item), at(now))).unwrap();
}

pub(crate) fn kept(store: &mut Store, id: &str) -> Item {
    look(store, |view| view.item(id)).unwrap().expect(id)
}

fn an_item_comes_back_as_it_went_in(shelf: &Shelf) {
    let mut store = shelf.open();
    assert_eq!(
        look(&mut store, |view| Ok((view.item("a")?, view.items(0, 9)?))),
        Ok((None, vec![]))
    );
    let description = "two lines\n\u{202e}é 木 🦀 'or' $1\t".repeat(1_000);
    let odd =
        WorkItem::new("W 'or' $1", "ünïcödé \"title\"", &description, WorkPhase::Review).unwrap();
    let bare = WorkItem::new("b", "", "", WorkPhase::Draft).unwrap();
    for work_item in [odd, bare] {
        let added = work(&mut store, |transaction| added(transaction, &work_item)).unwrap();
        let read = kept(&mut shelf.open(), &work_item.id);
        assert_eq!((&read, &read.work), (&added, &work_item));
        let seq = chain(&mut store).len() as u64;
        assert_eq!((read.added, read.seq, read.lease), (seq, seq, None));
    }
    for unknown in ["c", "", "W", "a\0", &"x".repeat(2_000)] {
        assert_eq!(look(&mut store, |view| view.item(unknown)), Ok(None), "{unknown}");
    }
}

fn an_id_is_one_items(shelf: &Shelf) {
    let mut store = shelf.open();
    let first = add(&mut store, "a", WorkPhase::Draft);
    let second = WorkItem::new("a", "another", "", WorkPhase::Review).unwrap();
    let mut transaction = store.begin(PROJECT).unwrap();
    let seq = transaction.append(draft(None, &json!({}))).unwrap().record.seq;
    assert_eq!(transaction.add_item(&second, seq), Ok(false));
    drop(transaction);
    assert_eq!((kept(&mut store, "a"), chain(&mut store).len()), (first, 1));
}

fn items_are_listed_in_the_order_of_adding(shelf: &Shelf) {
    let mut store = shelf.open();
    drafts(&mut store, &["z", "m", "a", "k"]);
    let mut ids = |after, limit| {
        let items = look(&mut store, |view| view.items(after, limit)).unwrap();
        items.into_iter().map(|item| item.work.id).collect::<Vec<_>>()
    };
    assert_eq!(ids(0, 9), ["z", "m", "a", "k"]);
    assert_eq!((ids(1, 2), ids(4, 9)), (vec!["m".to_owned(), "a".to_owned()], vec![]));
}

fn what_is_free_comes_first_and_what_was_left_last(shelf: &Shelf) {
    let mut store = shelf.open();
    let store = &mut store;
    drafts(store, &["a", "b", "c", "d"]);
    for (id, now, until) in [("a", 10, 500), ("b", 11, 400), ("c", 12, 9_000)] {
        assert_eq!(claimed(store, now, until).as_deref(), Some(id), "in the order of adding");
    }
    give_back(store, "c", 450);
    let order: Vec<_> = (600..605).map(|now| claimed(store, now, 10_000)).collect();
    let expected = ["d", "b", "c", "a"].map(|id| Some(id.to_owned()));
    assert_eq!((&order[..4], &order[4]), (&expected[..], &None), "then what ended first");
    for (id, now) in [("b", 700), ("a", 701)] {
        give_back(store, id, now);
    }
    assert_eq!(claimed(store, 702, 10_000).as_deref(), Some("b"), "nobody is held up by it");
}

fn a_live_lease_is_nobody_elses(shelf: &Shelf) {
    let (mut store, mut other_store) = (shelf.open(), shelf.open());
    add(&mut store, "a", WorkPhase::Draft);
    let first = claim(&mut store, Claimable::default(), (100, 200)).unwrap();
    let lease = first.lease.clone().unwrap();
    assert_eq!((lease.actor_id.as_str(), lease.issued_at), ("a", at(100)));
    assert_eq!((lease.expires_at, lease.renewal_count), (Some(at(200)), 0));
    assert_eq!(kept(&mut other_store, "a"), first);
    for now in [100, 150, 199] {
        assert_eq!(claimed(&mut other_store, now, 999), None, "{now}");
    }
    let next = claim(&mut other_store, Claimable::default(), (200, 300)).expect("it expired");
    assert!(next.lease.unwrap().lease_id.starts_with("lease-200-"));
}

fn phase_and_id_say_which_is_claimed(shelf: &Shelf) {
    let mut store = shelf.open();
    let store = &mut store;
    drafts(store, &["a", "b"]);
    add(store, "c", WorkPhase::Review);
    let filter = |phase, id| Claimable { phase, id };
    let mut id = |filter| claim(store, filter, (10, 99)).map(|item| item.work.id);
    assert_eq!(id(filter(Some(WorkPhase::ReadyForMerge), None)), None);
    assert_eq!(id(filter(Some(WorkPhase::Review), Some("a"))), None);
    assert_eq!(id(filter(None, Some("x"))), None);
    assert_eq!(id(filter(Some(WorkPhase::Review), None)).as_deref(), Some("c"));
    assert_eq!(id(filter(None, Some("b"))).as_deref(), Some("b"));
    assert_eq!(id(filter(None, Some("b"))), None);
    assert_eq!(id(filter(Some(WorkPhase::Draft), None)).as_deref(), Some("a"));
}

fn only_phases_that_agents_claim_are_claimed(shelf: &Shelf) {
    let mut store = shelf.open();
    for phase in WorkPhase::ALL {
        add(&mut store, phase.as_str(), phase);
    }
    let claimed: Vec<_> = (1..9).filter_map(|now| claimed(&mut store, now, 99)).collect();
    let five = ["DRAFT", "IMPLEMENTATION", "READY_FOR_REVIEW", "REVIEW", "READY_FOR_MERGE"];
    assert_eq!(claimed, five);
}

fn a_lease_follows_what_is_put(shelf: &Shelf) {
    let mut store = shelf.open();
    add(&mut store, "a", WorkPhase::Draft);
    let item = claim(&mut store, Claimable::default(), (100, 200)).unwrap();
    let lease = item.lease.clone().unwrap();
    let longer = Lease { expires_at: Some(at(300)), renewal_count: 1, ..lease };
    hand(&mut store, |leases| leases.put_lease(&item, &longer, at(150))).unwrap();
    assert_eq!(kept(&mut store, "a").lease.as_ref(), Some(&longer));
    assert_eq!(claimed(&mut store, 299, 999), None);
    give_back(&mut store, "a", 100);
    let ended = Lease { expires_at: None, ..longer };
    assert_eq!(kept(&mut store, "a").lease, Some(ended), "its holder is remembered");
    assert_eq!(claimed(&mut store, 101, 999).as_deref(), Some("a"));
}

fn a_step_ends_the_lease(shelf: &Shelf) {
    let mut store = shelf.open();
    add(&mut store, "a", WorkPhase::Review);
    let item = claim(&mut store, Claimable::default(), (100, 200)).unwrap();
    let blocked_in = Some(WorkPhase::Review);
    let new_state = ItemState { phase: WorkPhase::Blocked, blocked_in, transition_count: 1 };
    work(&mut store, |transaction| {
        let seq = transaction.append(draft(None, &json!({})))?.record.seq;
        transaction.move_item(&item, &new_state, seq)
    })
    .unwrap();
    let moved = kept(&mut store, "a");
    assert_eq!((moved.work.state, moved.added, moved.seq), (new_state, 1, 2));
    assert_eq!(moved.lease, Some(released(&item)));
    assert_eq!(
        (&moved.work.title, &moved.work.description),
        (&item.work.title, &item.work.description)
    );
}

fn what_has_changed_meanwhile_is_not_changed(shelf: &Shelf) {
    let mut store = shelf.open();
    let store = &mut store;
    let unclaimed = add(store, "a", WorkPhase::Draft);
    let first = claim(store, Claimable::default(), (100, 200)).unwrap();
    let second = claim(store, Claimable::default(), (200, 300)).unwrap();
    let changed = Err(StoreError::Changed { id: "a".to_owned() });
    let new_state =
        ItemState { phase: WorkPhase::Implementation, blocked_in: None, transition_count: 1 };
    for stale in [&unclaimed, &first] {
        let lease = released(&first);
        assert_eq!(hand(store, |leases| leases.put_lease(stale, &lease, at(150))), changed);
        // Also if the caller passes over the error.
        let passed_over = hand(store, |leases| {
            assert_eq!(leases.put_lease(stale, &lease, at(150)), changed);
            Ok(())
        });
        assert_eq!(passed_over, changed);
        let moved = work(store, |transaction| {
            let seq = transaction.append(draft(None, &json!({})))?.record.seq;
            transaction.move_item(stale, &new_state, seq)
        });
        assert_eq!(moved, changed);
        assert_eq!((kept(store, "a"), chain(store).len()), (second.clone(), 1), "nothing is kept");
    }
}

fn an_item_that_is_not_committed_is_undone(shelf: &Shelf) {
    let mut store = shelf.open();
    let mut transaction = store.begin(PROJECT).unwrap();
    added(&mut transaction, &item("a", WorkPhase::Draft)).unwrap();
    drop(transaction);
    assert_eq!(look(&mut store, |view| view.item("a")), Ok(None));
    let item = add(&mut store, "a", WorkPhase::Draft);
    let mut transaction = store.begin(PROJECT).unwrap();
    let new_state = ItemState { phase: WorkPhase::Implementation, ..item.work.state };
    transaction.move_item(&item, &new_state, 1).unwrap();
    drop(transaction);
    assert_eq!(kept(&mut store, "a"), item);
}

fn items_of_other_projects_are_not_seen(shelf: &Shelf) {
    let mut store = shelf.open();
    let own_item = add(&mut store, "a", WorkPhase::Draft);
    let other_item = item("a", WorkPhase::Review);
    let mut transaction = store.begin("other").unwrap();
    added(&mut transaction, &other_item).unwrap();
    transaction.commit().unwrap();
    assert_eq!(kept(&mut store, "a"), own_item);
    assert_eq!(claimed(&mut store, 10, 99).as_deref(), Some("a"));
    assert_eq!(claimed(&mut store, 11, 99), None, "that is the other project's");
    let mut view = store.view("other").unwrap();
    let read = view.item("a").unwrap().unwrap();
    assert_eq!(view.claimable_at(Claimable::default()), Ok(Some(at(0))));
    assert_eq!((read.work, read.lease), (other_item, None));
}
