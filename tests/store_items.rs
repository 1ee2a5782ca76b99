//! What every store keeps to of work items and their leases: each law is asked of
//! both databases.

use std::sync::atomic::{AtomicU32, Ordering};

use gate_cli::store::{Ask, Claimable, Item, Leases, Store, StoreError, Transaction};
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

fn added(writing: &mut Transaction<'_>, work: &WorkItem) -> Result<Item, StoreError> {
    let seq = writing.append(draft(None, &json!({"added": work.id})))?.record.seq;
    assert!(writing.add_item(work, seq)?, "{} is there", work.id);
    Ok(writing.item(&work.id)?.expect("it was added"))
}

/// A new item in a phase.
pub(crate) fn add(store: &mut Store, id: &str, phase: WorkPhase) -> Item {
    work(store, |writing| added(writing, &item(id, phase))).unwrap()
}

pub(crate) fn drafts(store: &mut Store, ids: &[&str]) {
    ids.iter().for_each(|id| drop(add(store, id, WorkPhase::Draft)));
}

/// What is done with leases.
pub(crate) fn hand<T>(
    store: &mut Store,
    hand: impl FnOnce(&mut Leases<'_>) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let mut leases = store.lease(PROJECT)?;
    let given = hand(&mut leases)?;
    leases.commit()?;
    Ok(given)
}

/// The item that is claimed in a moment, for a time.
pub(crate) fn claim(
    store: &mut Store,
    which: Claimable<'_>,
    (now, until): (i64, i64),
) -> Option<Item> {
    // No two claims have an id in common.
    static CLAIMS: AtomicU32 = AtomicU32::new(0);
    let lease = format!("lease-{now}-{}", CLAIMS.fetch_add(1, Ordering::Relaxed));
    let ask = Ask { lease: &lease, actor: "a", now: at(now), until: at(until) };
    hand(store, |leasing| leasing.claim(which, ask)).unwrap()
}

pub(crate) fn claimed(store: &mut Store, now: i64, until: i64) -> Option<String> {
    claim(store, Claimable::default(), (now, until)).map(|item| item.work.id)
}

fn released(item: &Item) -> Lease {
    Lease { expires_at: None, ..item.lease.clone().expect("it is claimed") }
}

fn give_back(store: &mut Store, id: &str, now: i64) {
    let before = kept(store, id);
    hand(store, |leasing| leasing.put_lease(&before, &released(&before), at(now))).unwrap();
}

pub(crate) fn kept(store: &mut Store, id: &str) -> Item {
    look(store, |reading| reading.item(id)).unwrap().expect(id)
}

fn an_item_comes_back_as_it_went_in(shelf: &Shelf) {
    let mut store = shelf.open();
    assert_eq!(look(&mut store, |it| Ok((it.item("a")?, it.items(0, 9)?))), Ok((None, vec![])));
    let text = "two lines\n\u{202e}é 木 🦀 'or' $1\t".repeat(1_000);
    let odd = WorkItem::new("W 'or' $1", "ünïcödé \"title\"", &text, WorkPhase::Review).unwrap();
    let bare = WorkItem::new("b", "", "", WorkPhase::Draft).unwrap();
    for work_item in [odd, bare] {
        let went_in = work(&mut store, |writing| added(writing, &work_item)).unwrap();
        let again = kept(&mut shelf.open(), &work_item.id);
        assert_eq!((&again, &again.work), (&went_in, &work_item));
        let seq = chain(&mut store).len() as u64;
        assert_eq!((again.added, again.seq, again.lease), (seq, seq, None));
    }
    for unknown in ["c", "", "W", "a\0", &"x".repeat(2_000)] {
        assert_eq!(look(&mut store, |it| it.item(unknown)), Ok(None), "{unknown}");
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
        let items = look(&mut store, |reading| reading.items(after, limit)).unwrap();
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
    let (mut one, mut two) = (shelf.open(), shelf.open());
    add(&mut one, "a", WorkPhase::Draft);
    let first = claim(&mut one, Claimable::default(), (100, 200)).unwrap();
    let lease = first.lease.clone().unwrap();
    assert_eq!((lease.actor_id.as_str(), lease.issued_at), ("a", at(100)));
    assert_eq!((lease.expires_at, lease.renewal_count), (Some(at(200)), 0));
    assert_eq!(kept(&mut two, "a"), first);
    for now in [100, 150, 199] {
        assert_eq!(claimed(&mut two, now, 999), None, "{now}");
    }
    let next = claim(&mut two, Claimable::default(), (200, 300)).expect("it expired");
    assert!(next.lease.unwrap().lease_id.starts_with("lease-200-"));
}

fn phase_and_id_say_which_is_claimed(shelf: &Shelf) {
    let mut store = shelf.open();
    let store = &mut store;
    drafts(store, &["a", "b"]);
    add(store, "c", WorkPhase::Review);
    let of = |phase, id| Claimable { phase, id };
    let mut id = |which| claim(store, which, (10, 99)).map(|item| item.work.id);
    assert_eq!(id(of(Some(WorkPhase::ReadyForMerge), None)), None);
    assert_eq!(id(of(Some(WorkPhase::Review), Some("a"))), None);
    assert_eq!(id(of(None, Some("x"))), None);
    assert_eq!(id(of(Some(WorkPhase::Review), None)).as_deref(), Some("c"));
    assert_eq!(id(of(None, Some("b"))).as_deref(), Some("b"));
    assert_eq!(id(of(None, Some("b"))), None);
    assert_eq!(id(of(Some(WorkPhase::Draft), None)).as_deref(), Some("a"));
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
    let before = claim(&mut store, Claimable::default(), (100, 200)).unwrap();
    let lease = before.lease.clone().unwrap();
    let longer = Lease { expires_at: Some(at(300)), renewal_count: 1, ..lease };
    hand(&mut store, |leasing| leasing.put_lease(&before, &longer, at(150))).unwrap();
    assert_eq!(kept(&mut store, "a").lease.as_ref(), Some(&longer));
    assert_eq!(claimed(&mut store, 299, 999), None);
    give_back(&mut store, "a", 100);
    let over = Lease { expires_at: None, ..longer };
    assert_eq!(kept(&mut store, "a").lease, Some(over), "whose it was is remembered");
    assert_eq!(claimed(&mut store, 101, 999).as_deref(), Some("a"));
}

fn a_step_ends_the_lease(shelf: &Shelf) {
    let mut store = shelf.open();
    add(&mut store, "a", WorkPhase::Review);
    let before = claim(&mut store, Claimable::default(), (100, 200)).unwrap();
    let blocked_in = Some(WorkPhase::Review);
    let after = ItemState { phase: WorkPhase::Blocked, blocked_in, transition_count: 1 };
    work(&mut store, |writing| {
        let seq = writing.append(draft(None, &json!({})))?.record.seq;
        writing.move_item(&before, &after, seq)
    })
    .unwrap();
    let moved = kept(&mut store, "a");
    assert_eq!((moved.work.state, moved.added, moved.seq), (after, 1, 2));
    assert_eq!(moved.lease, Some(released(&before)));
    assert_eq!(
        (&moved.work.title, &moved.work.description),
        (&before.work.title, &before.work.description)
    );
}

fn what_has_changed_meanwhile_is_not_changed(shelf: &Shelf) {
    let mut store = shelf.open();
    let store = &mut store;
    let unclaimed = add(store, "a", WorkPhase::Draft);
    let first = claim(store, Claimable::default(), (100, 200)).unwrap();
    let second = claim(store, Claimable::default(), (200, 300)).unwrap();
    let changed = Err(StoreError::Changed { id: "a".to_owned() });
    let next =
        ItemState { phase: WorkPhase::Implementation, blocked_in: None, transition_count: 1 };
    for stale in [&unclaimed, &first] {
        let lease = released(&first);
        assert_eq!(hand(store, |leasing| leasing.put_lease(stale, &lease, at(150))), changed);
        // Also where whoever does it passes over the error.
        let passed_over = hand(store, |leasing| {
            assert_eq!(leasing.put_lease(stale, &lease, at(150)), changed);
            Ok(())
        });
        assert_eq!(passed_over, changed);
        let moved = work(store, |writing| {
            let seq = writing.append(draft(None, &json!({})))?.record.seq;
            writing.move_item(stale, &next, seq)
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
    assert_eq!(look(&mut store, |reading| reading.item("a")), Ok(None));
    let before = add(&mut store, "a", WorkPhase::Draft);
    let mut transaction = store.begin(PROJECT).unwrap();
    let after = ItemState { phase: WorkPhase::Implementation, ..before.work.state };
    transaction.move_item(&before, &after, 1).unwrap();
    drop(transaction);
    assert_eq!(kept(&mut store, "a"), before);
}

fn items_of_other_projects_are_not_seen(shelf: &Shelf) {
    let mut store = shelf.open();
    let here = add(&mut store, "a", WorkPhase::Draft);
    let there = item("a", WorkPhase::Review);
    let mut other = store.begin("other").unwrap();
    added(&mut other, &there).unwrap();
    other.commit().unwrap();
    assert_eq!(kept(&mut store, "a"), here);
    assert_eq!(claimed(&mut store, 10, 99).as_deref(), Some("a"));
    assert_eq!(claimed(&mut store, 11, 99), None, "that is the other project's");
    let mut other = store.view("other").unwrap();
    let seen = other.item("a").unwrap().unwrap();
    assert_eq!(other.claimable_at(Claimable::default()), Ok(Some(at(0))));
    assert_eq!((seen.work, seen.lease), (there, None));
}
