//! Work items: a card, and a line each.

use gate_card::local_time;
use gate_core::exit::WorkPhase;
use jiff::Timestamp;

use super::super::{ItemState, Lease, LeaseState, StoredItem, WorkItem};
use super::{work_card, work_list};

/// A text without the commands of a terminal.
fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn item(id: &str, title: &str, phase: WorkPhase) -> StoredItem {
    let state = ItemState { phase, blocked_in: None, transition_count: 2 };
    let (id, title, description) = (id.to_owned(), title.to_owned(), String::new());
    StoredItem { work: WorkItem { id, title, description, state }, added: 1, seq: 4, lease: None }
}

/// The same item, which Ann has until eleven.
fn leased(item: StoredItem) -> StoredItem {
    let lease = Lease {
        lease_id: "l-1".to_owned(),
        work_id: item.work.id.clone(),
        actor_id: "ann\u{1b}[2J".to_owned(),
        issued_at: at("2026-11-02T10:00:00Z"),
        expires_at: Some(at("2026-11-02T11:00:00Z")),
        renewal_count: 0,
    };
    StoredItem { lease: Some(lease), ..item }
}

#[test]
fn a_card_names_the_holder_as_long_as_the_lease_holds() {
    let item = leased(item("W-1", "Mend\nit", WorkPhase::Draft));
    let head = "DRAFT  W-1 Mend it\n\n";
    let below = "    steps       2\n    recorded    record 4\n";
    let until = local_time("2026-11-02T11:00:00Z");
    let held = format!("    held by     ann until {until}\n    lease       l-1\n");
    assert_eq!(plain(&work_card(&item, LeaseState::Active, None)), format!("{head}{held}{below}"));
    for over in [LeaseState::Expired, LeaseState::Released] {
        let card = plain(&work_card(&item, over, None));
        assert_eq!(card, format!("{head}    held by     nobody\n{below}"));
    }
}

#[test]
fn a_blocked_item_says_where_it_was_blocked() {
    let mut item = item("W-1", "", WorkPhase::Blocked);
    item.work.state.blocked_in = Some(WorkPhase::CiPending);
    let card = plain(&work_card(&item, LeaseState::Released, None));
    assert!(
        card.starts_with("BLOCKED  W-1\n\n    blocked in  CI_PENDING\n    held by     nobody\n")
    );
}

#[test]
fn a_list_stands_in_columns_and_shows_who_works() {
    let now = at("2026-11-02T10:30:00Z");
    let items = [
        leased(item("W-1", "Mend it", WorkPhase::Draft)),
        item("Ü-1002", "", WorkPhase::CiPending),
        leased(item("W-3", "", WorkPhase::Blocked)),
    ];
    let expected = "W-1     DRAFT             Mend it  held by ann\n\
                    Ü-1002  CI_PENDING\n\
                    W-3     BLOCKED           held by ann\n";
    assert_eq!(plain(&work_list(&items, now)), expected);
    let later = plain(&work_list(&items[..1], at("2026-11-02T11:00:00Z")));
    assert_eq!(later, "W-1  DRAFT             Mend it\n");
}
