//! Whatever is changed in the rows of work items behind gate's back is found, and
//! nothing is claimed by a row that its records contradict.

use gate_cli::store::{Place, Store};
use gate_core::ledger::{Body, Draft};
use serde_json::{Value, json};

use crate::exit::signal;
use crate::support::shelf::{PATIENCE, append_to};
use crate::support::shop::Shop;

/// A project with an item that was blocked in its review, one that is claimed, and
/// one that was added alone.
fn stocked(shop: &Shop) {
    shop.add("a", "REVIEW");
    shop.ends("a", "blocked");
    shop.add("b", "IMPLEMENTATION");
    shop.claim("b", "agent");
    shop.add("c", "DRAFT");
    shop.say("ledger verify").is(0);
}

/// Every edit of a row that counts, and the record that contradicts it.
const EDITS: [(&str, &str, u64); 14] = [
    ("a", "phase = 'REVIEW', blocked_in = NULL", 2),
    ("a", "blocked_in = 'READY_FOR_MERGE'", 2),
    ("a", "blocked_in = NULL", 2),
    ("a", "transitions = 2", 2),
    ("a", "seq = 1", 2),
    ("a", "title = 'another'", 1),
    ("a", "description = 'do something else'", 1),
    ("a", "added = 2", 1),
    ("b", "phase = 'READY_FOR_MERGE'", 3),
    ("b", "seq = 4", 3),
    ("c", "id = 'd'", 4),
    ("c", "phase = 'COMPLETED'", 4),
    ("c", "added = 7", 4),
    ("c", "project = 'other'", 4),
];

fn edits_are_found(shop: &Shop) {
    stocked(shop);
    shop.run("CREATE TABLE untouched AS SELECT * FROM work");
    for (id, edit, seq) in EDITS {
        shop.run(&format!("UPDATE work SET {edit} WHERE id = '{id}'"));
        let problem = shop.problem();
        assert_eq!(problem["seq"], seq, "{edit}: {problem}");
        let message = problem["message"].as_str().unwrap();
        assert!(message.starts_with("the work item `"), "{edit}: {message}");
        shop.run("DELETE FROM work");
        shop.run("INSERT INTO work SELECT * FROM untouched");
    }
    for (edit, message) in [
        ("UPDATE work SET phase = 'DOING' WHERE id = 'b'", "column `phase`: `DOING` is no phase"),
        (
            "UPDATE work SET seq = 90 WHERE id = 'b'",
            "the row of the work item `b` says IMPLEMENTATION, and record 90 does not",
        ),
        ("DELETE FROM work WHERE id = 'b'", "the work item `b` has no row"),
    ] {
        shop.run(edit);
        assert_eq!(shop.problem()["message"], message, "{edit}");
        shop.run("DELETE FROM work");
        shop.run("INSERT INTO work SELECT * FROM untouched");
    }
    // Leases are rows alone.
    shop.run("UPDATE work SET expires_at = 0 WHERE id = 'b'");
    shop.say("ledger verify").is(0);
}

#[test]
fn edits_on_one_machine_are_found() {
    edits_are_found(&Shop::new());
}

#[test]
fn edits_in_a_fleet_are_found() {
    if let Some(shop) = Shop::fleet(1) {
        edits_are_found(&shop);
    }
}

#[test]
fn a_row_that_its_records_contradict_is_not_used() {
    let shop = Shop::new();
    stocked(&shop);
    let refused = |words: &str| {
        let said = shop.say(&format!("{words} --json")).is(5).json();
        assert_eq!(said["code"], "state-corrupt", "{words}: {said}");
    };
    shop.run("UPDATE work SET blocked_in = 'READY_FOR_MERGE' WHERE id = 'a'");
    refused("work unblock a");
    shop.run("UPDATE work SET description = 'do something else' WHERE id = 'c'");
    for words in ["work show c", "work claim c --actor x", "work claim --actor x"] {
        refused(words);
    }
    shop.run("UPDATE work SET phase = 'READY_FOR_MERGE' WHERE id = 'b'");
    refused("work release b --actor agent");
    let done = signal("READY_FOR_MERGE", "completed", &[]).to_string();
    let said = shop.submit("--work b --actor agent --json", &done).is(5).json();
    assert_eq!(said["code"], "state-corrupt");
    assert_eq!(shop.records().len(), 4, "nothing was recorded");
}

/// Appends a record that fits in the chain, and lets the row follow it.
fn forge(shop: &Shop, kind: &str, actor: &str, body: &Value, edit: &str) {
    let place = Place::Folder(shop.machines[0].state());
    let draft = Draft {
        time: "2026-11-22T10:00:00Z".to_owned(),
        kind: kind.to_owned(),
        run: None,
        actor: actor.to_owned(),
        body: Body::new(body).unwrap(),
    };
    let mut store = Store::open(&place, None, PATIENCE).unwrap();
    append_to(&mut store, "shop", draft).unwrap();
    shop.run(&format!("UPDATE work SET {edit}, seq = 2, transitions = 1 WHERE id = 'a'"));
}

#[test]
fn a_forged_record_that_skips_a_phase_is_found() {
    let step = |from: &str, to: &str, cause: &str| json!({ "work": { "id": "a", "from": from, "to": to, "transition_count": 1, "cause": cause } });
    for (phase, kind, actor, body, message) in [
        (
            "IMPLEMENTATION",
            "work_phase_changed",
            "x",
            step("IMPLEMENTATION", "READY_FOR_MERGE", "completed"),
            "record 2: transition from IMPLEMENTATION to READY_FOR_MERGE is not allowed",
        ),
        (
            "CI_PENDING",
            "work_phase_changed",
            "x",
            step("CI_PENDING", "READY_FOR_REVIEW", "ci_passed"),
            "record 2: transition from CI_PENDING to READY_FOR_REVIEW is not allowed",
        ),
        (
            "DRAFT",
            "work_phase_changed",
            "x",
            step("REVIEW", "READY_FOR_MERGE", "completed"),
            "record 2: invalid transition from DRAFT via completed",
        ),
        (
            "DRAFT",
            "work_added",
            "x",
            json!({ "work": { "id": "a", "title": "", "description": "", "phase": "REVIEW" } }),
            "record 2: work already exists: a",
        ),
    ] {
        let shop = Shop::new();
        shop.add("a", phase);
        let to = body["work"]["to"].as_str().unwrap_or("REVIEW");
        forge(&shop, kind, actor, &body, &format!("phase = '{to}'"));
        assert_eq!(shop.problem(), json!({ "seq": 2, "message": message }));
    }
}

#[test]
fn a_row_that_is_not_believed_holds_nobody_up() {
    let shop = Shop::new();
    shop.add("a", "DRAFT");
    shop.add("b", "DRAFT");
    shop.run("UPDATE work SET phase = 'REVIEW' WHERE id = 'a'");
    shop.say("work claim --actor one").is(5);
    assert_eq!(shop.say("work claim --actor two --json").is(0).json()["work"], "b");
}
