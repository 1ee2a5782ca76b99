//! The card of breakers.

use gate_core::decide::breaker::{BreakerState, Counters};
use gate_core::history::Owner;

use super::breaker_card;
use crate::memory::{BreakerStatus, OpenBreaker, SetAside};
use crate::record::Ledger;
use crate::render::tests::plain;
use crate::render::text::local_time;

fn status(state: BreakerState) -> BreakerStatus {
    BreakerStatus {
        schema: "gate.breaker.v1",
        project: "p".to_owned(),
        task: String::new(),
        state,
        trip: None,
        message: None,
        next: None,
        counters: None,
        probe_at: None,
        open: Vec::new(),
        closed: None,
        set_aside: None,
        ledger: None,
    }
}

#[track_caller]
fn check(status: &BreakerStatus, expected: &[&str]) {
    let card = plain(&breaker_card(status));
    assert_eq!(card.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn each_state_says_what_it_means() {
    for (state, head) in [
        (BreakerState::Closed, "READY  the loop may run"),
        (BreakerState::HalfOpen, "READY  one iteration may try again"),
        (BreakerState::Open, "STOPPED  the loop may not run; the work is not done"),
        (BreakerState::Isolated, "STOPPED  by an operator; the work is not done"),
    ] {
        check(&status(state), &[head, "", "    project     p"]);
    }
}

#[test]
fn only_counters_that_count_are_shown() {
    let counters = Counters { no_exit: 4, permission_denied: 1, ..Counters::default() };
    let counting = BreakerStatus {
        task: "42".to_owned(),
        counters: Some(counters),
        ..status(BreakerState::Closed)
    };
    check(
        &counting,
        &[
            "READY  the loop may run",
            "",
            "    project     p",
            "    task        42",
            "    counters    no exit 4, permission denied 1",
        ],
    );
    let zero =
        BreakerStatus { counters: Some(Counters::default()), ..status(BreakerState::Closed) };
    check(&zero, &["READY  the loop may run", "", "    project     p"]);
}

fn open(is_of_this_tree: bool, probe_at: Option<&str>) -> OpenBreaker {
    OpenBreaker {
        owner: Owner::Loop,
        whose: "the loop nightly".to_owned(),
        name: Some("nightly".to_owned()),
        task: String::new(),
        agent: None,
        session: None,
        is_of_this_tree,
        state: BreakerState::Open,
        trip: Some("refused".to_owned()),
        message: Some("5 claims were refused".to_owned()),
        since: "2026-11-02T10:00:00Z".to_owned(),
        probe_at: probe_at.map(str::to_owned),
        reset: "gate breaker reset --run nightly --reason …".to_owned(),
    }
}

#[test]
fn each_open_breaker_has_its_reason_and_its_way_out() {
    let status = BreakerStatus {
        trip: Some("refused".to_owned()),
        message: Some("5 claims were refused".to_owned()),
        open: vec![
            open(true, Some("2026-11-02T10:30:00Z")),
            OpenBreaker { trip: None, message: None, ..open(false, None) },
        ],
        ..status(BreakerState::Open)
    };
    let at = local_time("2026-11-02T10:30:00Z");
    let retry = format!("    retry       one iteration may try from {at} on");
    check(
        &status,
        &[
            "STOPPED  the loop may not run; the work is not done",
            "",
            "    project     p",
            "",
            "    stopped     the loop nightly",
            "    why         5 claims were refused (refused)",
            &retry,
            "    next        look at the cause, then `gate breaker reset --run nightly --reason …`",
            "",
            "    stopped     the loop nightly, in another work tree",
            "    why         no reason recorded",
            "    next        look at the cause, then `gate breaker reset --run nightly --reason …`",
        ],
    );
}

#[test]
fn state_that_was_lost_names_its_cause_without_a_breaker() {
    let status = BreakerStatus {
        trip: Some("state".to_owned()),
        message: Some("record 3 is gone".to_owned()),
        next: Some("find out what happened".to_owned()),
        ..status(BreakerState::Open)
    };
    check(
        &status,
        &[
            "STOPPED  the loop may not run; the work is not done",
            "",
            "    project     p",
            "    why         record 3 is gone (state)",
            "    next        find out what happened",
        ],
    );
}

/// The row of a card with this label.
fn row(status: &BreakerStatus, label: &str) -> Option<String> {
    let card = plain(&breaker_card(status));
    card.lines().find_map(|line| Some(line.trim().strip_prefix(label)?.trim().to_owned()))
}

#[test]
fn a_reset_says_how_many_it_closed_and_where_that_is_recorded() {
    for (closed, expected) in [
        (0, "no loop was stopped; the counters are at zero"),
        (1, "one loop was stopped, and may run again"),
        (3, "3 loops were stopped, and may run again"),
    ] {
        let ledger = Some(Ledger { seq: 9, hash: "ab".to_owned() });
        let status = BreakerStatus { closed: Some(closed), ledger, ..status(BreakerState::Closed) };
        assert_eq!(row(&status, "reset").as_deref(), Some(expected));
        assert_eq!(row(&status, "recorded").as_deref(), Some("record 9"));
    }
    assert_eq!(row(&status(BreakerState::Closed), "reset"), None);
}

#[test]
fn what_was_set_aside_is_counted_as_far_as_it_could_be_read() {
    for (records, work_items, leases, expected) in [
        (Some(1), Some(0), 0, "one record"),
        (
            Some(7),
            Some(1),
            1,
            "7 records; one work item goes on, and one lease ended: its holder claims again",
        ),
        (
            Some(7),
            Some(4),
            2,
            "7 records; 4 work items go on, and 2 leases ended: their holders claim again",
        ),
        (
            None,
            None,
            0,
            "records that could not be read; the work items could not be read: add them again",
        ),
    ] {
        let set_aside = Some(SetAside { records, work_items, leases });
        let status = BreakerStatus { set_aside, ..status(BreakerState::Closed) };
        assert_eq!(row(&status, "set aside").as_deref(), Some(expected));
    }
}
