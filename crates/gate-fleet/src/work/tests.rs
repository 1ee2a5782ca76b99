//! What becomes of work items, step by step.

use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use gate_core::exit::{AgentSessionCompleted, ExitReason, ExitSignal, WorkPhase};
use gate_core::ledger::{Body, Draft, Head, Record};

const CAUSES: [Cause; 6] = [
    Cause::Completed,
    Cause::Blocked,
    Cause::Error,
    Cause::CiPassed,
    Cause::CiFailed,
    Cause::Unblocked,
];

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn actor_of(cause: Cause) -> &'static str {
    match cause {
        Cause::CiPassed | Cause::CiFailed => CI_PROCESSOR,
        _ => "agent",
    }
}

fn said<T>(result: Result<T, WorkError>) -> String {
    result.err().map(|error| error.to_string()).unwrap_or_default()
}

#[test]
fn five_phases_are_claimed() {
    let claimed = WorkPhase::ALL.into_iter().filter(|it| is_claimable(*it));
    let names: Vec<_> = claimed.map(|claimed| claimed.as_str()).collect();
    let five = ["DRAFT", "IMPLEMENTATION", "READY_FOR_REVIEW", "REVIEW", "READY_FOR_MERGE"];
    assert_eq!(names, five);
}

#[test]
fn an_item_goes_through_every_phase() {
    let (mut state, mut phases) = (ItemState::added(WorkPhase::Draft), vec![WorkPhase::Draft]);
    while state.phase != WorkPhase::Completed {
        let waits = state.phase == WorkPhase::CiPending;
        let cause = if waits { Cause::CiPassed } else { Cause::Completed };
        state = state.after_step(&state.step("W", cause).unwrap(), actor_of(cause)).unwrap();
        phases.push(state.phase);
    }
    assert_eq!(phases, WorkPhase::ALL[..7]);
    for cause in CAUSES {
        assert!(state.step("W", cause).is_err(), "{cause:?} of what is done");
    }
}

#[test]
fn ci_alone_leaves_ci_pending() {
    let waits = ItemState::added(WorkPhase::CiPending);
    for cause in [Cause::Completed, Cause::Blocked, Cause::Error, Cause::Unblocked] {
        assert!(waits.step("W", cause).is_err(), "{cause:?}");
    }
    let step = waits.step("W", Cause::CiPassed).unwrap();
    let refused = said(waits.after_step(&step, "agent-1"));
    assert_eq!(refused, "transition from CI_PENDING to READY_FOR_REVIEW is not allowed");
    assert_eq!(waits.after_step(&step, CI_PROCESSOR).unwrap().phase, WorkPhase::ReadyForReview);
}

#[test]
fn a_step_counts_once() {
    let draft = ItemState::added(WorkPhase::Draft);
    let first = draft.step("W", Cause::Blocked).unwrap();
    let blocked = draft.after_step(&first, "a").unwrap();
    let again = blocked.after_step(&blocked.step("W", Cause::Unblocked).unwrap(), "op").unwrap();
    assert_eq!((again.phase, again.transition_count), (WorkPhase::Draft, 2));
    assert_eq!(
        said(again.after_step(&first, "a")),
        "sequence mismatch for work W: expected transition_count 3, event implies 1"
    );
    let skips = Step { to: WorkPhase::ReadyForMerge, ..draft.step("W", Cause::Completed).unwrap() };
    assert_eq!(
        said(draft.after_step(&skips, "a")),
        "transition from DRAFT to READY_FOR_MERGE is not allowed"
    );
    let elsewhere = ItemState::added(WorkPhase::Review);
    assert_eq!(
        said(elsewhere.after_step(&first, "a")),
        "invalid transition from REVIEW via blocked"
    );
}

#[test]
fn blocked_work_goes_back_and_never_ahead() {
    let review = ItemState::added(WorkPhase::Review);
    let blocked = review.after_step(&review.step("W", Cause::Error).unwrap(), "a").unwrap();
    assert_eq!(blocked.step("W", Cause::Unblocked).unwrap().to, WorkPhase::Review);
    assert_eq!(blocked.step_back("W", WorkPhase::Draft).unwrap().to, WorkPhase::Draft);
    for ahead in [WorkPhase::ReadyForMerge, WorkPhase::Completed, WorkPhase::Blocked] {
        assert!(blocked.step_back("W", ahead).is_err(), "{ahead}");
    }
    assert!(review.step_back("W", WorkPhase::Draft).is_err(), "it is not blocked");
    let ci = ItemState::added(WorkPhase::CiPending);
    let failed = ci.after_step(&ci.step("W", Cause::CiFailed).unwrap(), CI_PROCESSOR).unwrap();
    assert_eq!(failed.step("W", Cause::Unblocked).unwrap().to, WorkPhase::Implementation);
    assert_eq!(failed.step_back("W", WorkPhase::CiPending).unwrap().to, WorkPhase::CiPending);
}

fn lease() -> Lease {
    Lease {
        lease_id: "L".to_owned(),
        work_id: "W".to_owned(),
        actor_id: "a".to_owned(),
        issued_at: at(100),
        expires_at: Some(at(200)),
        renewal_count: 0,
    }
}

#[test]
fn a_lease_is_its_holders_until_it_ends() {
    let lease = lease();
    assert_eq!(
        (lease.state(at(199)), lease.state(at(200))),
        (LeaseState::Active, LeaseState::Expired)
    );
    assert_eq!(
        said(lease.released("b", at(150))),
        "unauthorized operation on lease L: actor b is not the lease holder"
    );
    assert_eq!(said(lease.released("a", at(200))), "lease L is already in terminal state: EXPIRED");
    let released = lease.released("a", at(150)).unwrap();
    assert_eq!(
        said(released.released("a", at(151))),
        "lease L is already in terminal state: RELEASED"
    );
    let renewed = lease.renewed("a", at(300), at(150)).unwrap();
    assert_eq!((renewed.expires_at, renewed.renewal_count), (Some(at(300)), 1));
    assert_eq!(
        said(renewed.renewed("a", at(300), at(250))),
        "renewal for lease L must extend expiration: current=1970-01-01T00:05:00Z, new=1970-01-01T00:05:00Z"
    );
    assert!(lease.renewed("b", at(300), at(150)).is_err());
}

#[test]
fn names_are_short_lines() {
    let new = |id: &str| WorkItem::new(id, "", "", WorkPhase::Draft);
    assert!(new("W-00042").is_ok() && new(&"x".repeat(MAX_NAME)).is_ok());
    assert_eq!(said(new(" ")), "the work's id is empty");
    assert_eq!(said(new(&"x".repeat(MAX_NAME + 1))), "the work's id is longer than 128 bytes");
    assert_eq!(said(new("a\nb")), "the work's id holds a control character");
    assert_eq!(said(check_actor("")), "the actor is empty");
}

/// The records of these types, bodies and actors.
fn ledger(records: &[(&str, Value, &str)]) -> Vec<Record> {
    let mut head = Head::EMPTY;
    let seal = |(kind, body, actor): &(&str, Value, &str)| {
        let sealed = head.follow(Draft {
            time: "2026-02-20T15:30:45Z".to_owned(),
            kind: (*kind).to_owned(),
            run: None,
            actor: (*actor).to_owned(),
            body: Body::new(body).unwrap(),
        });
        head = sealed.head();
        sealed.record
    };
    records.iter().map(seal).collect()
}

fn added(id: &str) -> (&'static str, Value, &'static str) {
    let item = WorkItem::new(id, "a title", "", WorkPhase::Implementation).unwrap();
    (kind::ADDED, json!(Added::new(&item)), "op")
}

fn ended(step: &Step, reason: ExitReason) -> (&'static str, Value, &'static str) {
    let signal = ExitSignal::new(step.from, reason);
    let event = AgentSessionCompleted::new(at(9), uuid::Uuid::nil(), "L", "a", signal);
    (kind::ENDED, json!(Ended { event, work: step.clone() }), "a")
}

#[test]
fn records_follow_from_each_other() {
    let state = ItemState::added(WorkPhase::Implementation);
    let step = state.step("W", Cause::Completed).unwrap();
    let waits = state.after_step(&step, "a").unwrap();
    let ci = Moved { work: waits.step("W", Cause::CiPassed).unwrap(), reason: None };
    let moved = |actor| (kind::MOVED, json!(ci), actor);
    let told = |records: &[_]| {
        let mut book = ReplayedItems::default();
        let all = ledger(records);
        let wrong = all.iter().find_map(|record| book.apply(record).err());
        (wrong.map(|wrong| wrong.to_string()).unwrap_or_default(), book.state("W"))
    };
    let whole = [added("W"), ended(&step, ExitReason::Completed), moved(CI_PROCESSOR)];
    let (wrong, last) = told(&whole);
    assert_eq!((wrong.as_str(), last.unwrap().phase), ("", WorkPhase::ReadyForReview));
    let wrong = |records: &[_]| told(records).0;
    assert_eq!(wrong(&[added("W"), added("W")]), "work already exists: W");
    assert_eq!(wrong(&whole[1..]), "work not found: W");
    let forged = [added("W"), ended(&step, ExitReason::Completed), moved("agent")];
    assert!(wrong(&forged).contains("is not allowed"));
    let lies = [added("W"), ended(&step, ExitReason::Blocked)];
    assert_eq!(wrong(&lies), "record 2: its event is of another step");
    let odd = [(kind::MOVED, json!({"work": {"id": "W"}}), "a")];
    assert!(wrong(&odd).starts_with("record 1: missing field"), "{}", wrong(&odd));
    assert_eq!(wrong(&[("exit_gate_passed", json!({}), "gate")]), "");
}

proptest! {
    #[test]
    fn no_way_leads_to_the_end_without_every_phase(causes in prop::collection::vec(0..6usize, 0..40)) {
        let mut state = ItemState::added(WorkPhase::Draft);
        let mut seen = vec![WorkPhase::Draft];
        for cause in causes.into_iter().map(|at| CAUSES[at]) {
            let Ok(step) = state.step("W", cause) else { continue };
            state = state.after_step(&step, actor_of(cause)).unwrap();
            prop_assert!(state.after_step(&step, actor_of(cause)).is_err());
            seen.push(state.phase);
        }
        if state.phase == WorkPhase::Completed {
            for phase in &WorkPhase::ALL[..7] {
                prop_assert!(seen.contains(phase), "{phase} was left out");
            }
        }
    }
}

#[test]
fn an_item_that_begins_blocked_begins_anew_when_it_is_freed() {
    let blocked = ItemState::added(WorkPhase::Blocked);
    assert_eq!(blocked.step("W", Cause::Unblocked).unwrap().to, WorkPhase::Draft);
    assert!(blocked.step_back("W", WorkPhase::Implementation).is_err());
    let draft = ItemState::added(WorkPhase::Draft);
    assert_eq!(
        said(draft.step("W", Cause::Unblocked)),
        "invalid transition from DRAFT via unblocked"
    );
    assert_eq!(
        said(draft.step("W", Cause::CiPassed)),
        "transition from DRAFT to READY_FOR_REVIEW is not allowed"
    );
    let done = ItemState::added(WorkPhase::Completed);
    assert_eq!(
        said(done.step("W", Cause::Completed)),
        "invalid transition from COMPLETED via completed"
    );
}

#[test]
fn texts_of_an_item_may_be_empty_and_not_endless() {
    let new = |title: &str, description: &str| {
        said(WorkItem::new("W", title, description, WorkPhase::Draft))
    };
    assert_eq!(new(&"é".repeat(MAX_TITLE / 2), &"x".repeat(MAX_DESCRIPTION)), "");
    assert_eq!(new(&"x".repeat(MAX_TITLE + 1), ""), "the title is longer than 512 bytes");
    assert_eq!(new("a\tb", ""), "the title holds a control character");
    assert_eq!(
        new("", &"x".repeat(MAX_DESCRIPTION + 1)),
        "the description is longer than 65536 bytes"
    );
    assert_eq!(new("", "a\nb\0"), "the description holds NUL");
    let texts = |title: &str, description: &str| {
        WorkItem::new("W", title, description, WorkPhase::Draft).unwrap().texts()
    };
    assert_ne!(texts("ab", "c"), texts("a", "bc"));
}

#[test]
fn a_record_says_what_it_made_of_its_own_item_alone() {
    let state = ItemState::added(WorkPhase::Implementation);
    let step = state.step("W", Cause::Blocked).unwrap();
    let records = ledger(&[added("W"), ended(&step, ExitReason::Blocked)]);
    let recorded = |at: usize, id: &str| ItemState::from_record(&records[at], id).unwrap();
    assert_eq!(recorded(0, "W"), Some(state));
    assert_eq!(recorded(1, "W"), Some(state.after_step(&step, "a").unwrap()));
    assert_eq!((recorded(0, "V"), recorded(1, "V")), (None, None));
    let item = |id: &str, title: &str| {
        let item = WorkItem::new(id, title, "", WorkPhase::Draft).unwrap();
        records.iter().map(|record| item.is_added_by(record).unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(item("W", "a title"), [true, false], "its phase may have changed since");
    assert_eq!(item("W", "another"), [false, false]);
    assert_eq!(item("V", "a title"), [false, false]);
}

#[test]
fn a_record_with_anything_else_in_it_is_not_read() {
    let wrong = |kind, body: Value| {
        let records = ledger(&[(kind, body, "op")]);
        said(ReplayedItems::default().apply(&records[0]))
    };
    let (_, mut more, _) = added("W");
    more["work"]["owner"] = "x".into();
    assert!(wrong(kind::ADDED, more).starts_with("record 1: unknown field `owner`"));
    let (_, mut phase, _) = added("W");
    phase["work"]["phase"] = "Draft".into();
    assert!(wrong(kind::ADDED, phase).starts_with("record 1: unknown variant `Draft`"));
    let (_, mut name, _) = added("W");
    name["work"]["id"] = "".into();
    assert_eq!(wrong(kind::ADDED, name), "the work's id is empty");
    assert_eq!(wrong(kind::ENDED, json!({ "event": 7 })), "", "it worked on no item");
}
