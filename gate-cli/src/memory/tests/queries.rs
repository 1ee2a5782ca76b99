//! Decisions that are looked up: by work tree, run, session, task, id and number.

use gate_core::history::kind;
use gate_core::ledger::{Body, Draft};
use serde_json::Value;

use super::super::{LastEvent, NotJudged, RecordSelector};
use super::*;

/// Appends records, each with a type, a run and a body.
fn append(memory: &mut Memory, records: &[(&str, Option<&str>, Value)]) {
    let mut transaction = memory.begin().unwrap();
    for (kind, run, body) in records {
        let draft = Draft {
            time: "2026-11-02T10:00:00Z".to_owned(),
            kind: (*kind).to_owned(),
            run: run.map(str::to_owned),
            actor: "gate".to_owned(),
            body: Body::new(body).unwrap(),
        };
        transaction.append(draft).unwrap();
    }
    transaction.commit().unwrap();
}

/// A decision's record with this id, of this work tree.
fn decided(tree: &str, id: &str, more: &Value) -> Value {
    let mut decision = serde_json::to_value(record(&json!({ "decision_id": id }))).unwrap();
    let usage = json!({ "tokens": 7, "cost_micro_usd": 1_250_000, "partial": false });
    decision["usage"] = usage;
    let mut body = json!({ "decision": decision, "tree": tree, "state": {} });
    for (pointer, value) in more.as_object().unwrap() {
        let (outer, name) = pointer.rsplit_once('/').unwrap();
        body.pointer_mut(outer).unwrap()[name] = value.clone();
    }
    body
}

fn latest(memory: &mut Memory, run: Option<&str>, task: Option<&str>) -> Option<String> {
    let found = memory.latest(&RecordSelector { run, task }).unwrap();
    found.map(|record| record.decision_id)
}

#[test]
fn the_latest_decision_is_of_this_work_tree_unless_a_run_is_named() {
    let shop = Shop::new();
    let mut memory = shop.memory();
    let tree = memory.tree.clone();
    let session = json!({ "/decision/observed/session": "s-1", "/state/task": "42" });
    let looped = json!({ "/state/loop": "nightly", "/state/iteration": 2 });
    append(
        &mut memory,
        &[
            (kind::BLOCKED, Some("one"), decided(&tree, "id-1", &session)),
            (kind::BLOCKED, Some("two"), decided(&tree, "id-2", &json!({}))),
            (kind::BLOCKED, Some("nightly#2"), decided("other", "id-3", &looped)),
            (kind::ACT, None, json!({ "act": "breaker_reset", "tree": tree })),
        ],
    );
    assert_eq!(latest(&mut memory, None, None).as_deref(), Some("id-2"));
    assert_eq!(latest(&mut memory, Some("one"), None).as_deref(), Some("id-1"));
    assert_eq!(latest(&mut memory, Some("s-1"), None).as_deref(), Some("id-1"));
    assert_eq!(latest(&mut memory, Some("nightly"), None).as_deref(), Some("id-3"));
    assert_eq!(latest(&mut memory, Some("nightly#2"), None).as_deref(), Some("id-3"));
    assert_eq!(latest(&mut memory, None, Some("42")).as_deref(), Some("id-1"));
    assert_eq!(latest(&mut memory, Some("two"), Some("42")), None);
    assert_eq!(latest(&mut memory, Some("three"), None), None);
}

#[test]
fn a_stop_without_a_decision_is_the_last_event_of_its_tree() {
    let shop = Shop::new();
    let mut memory = shop.memory();
    let last = |memory: &mut Memory, run, task| {
        let found = memory.last_event(&RecordSelector { run, task }).unwrap();
        found.map(|last| match last {
            LastEvent::Decided(record) => record.decision_id,
            LastEvent::Undecided(why) => why,
        })
    };
    assert_eq!(last(&mut memory, None, None), None);
    let tree = memory.tree.clone();
    append(&mut memory, &[(kind::BLOCKED, Some("s-1"), decided(&tree, "id-1", &json!({})))]);
    let stop = NotJudged { agent: "codex", session: Some("s-1"), why: "gate.toml is torn" };
    memory.undecided(&stop).unwrap();
    memory.not_judged(&NotJudged { why: "plan mode", ..stop.clone() }).unwrap();
    assert_eq!(last(&mut memory, None, None).as_deref(), Some("gate.toml is torn"));
    assert_eq!(last(&mut memory, Some("s-1"), None).as_deref(), Some("gate.toml is torn"));
    assert_eq!(last(&mut memory, Some("s-2"), None), None);
    assert_eq!(last(&mut memory, None, Some("42")), None);
    let mut elsewhere = Memory { tree: "other".to_owned(), ..shop.memory() };
    assert_eq!(last(&mut elsewhere, None, None), None);
}

#[test]
fn a_decision_is_found_by_its_id_its_beginning_and_its_number() {
    let shop = Shop::new();
    let mut memory = shop.memory();
    let tree = memory.tree.clone();
    append(
        &mut memory,
        &[
            (kind::BLOCKED, None, decided(&tree, "0195-aaaa", &json!({}))),
            (kind::BLOCKED, None, decided(&tree, "0195-bbbb", &json!({}))),
            (kind::ACT, None, json!({ "act": "x" })),
            (kind::BLOCKED, None, decided(&tree, "4444", &json!({}))),
        ],
    );
    let mut find = |named: &str| {
        let found = memory.decision(named).unwrap();
        found.map(|record| (record.decision_id, record.ledger.unwrap().seq))
    };
    let one = Some(("0195-aaaa".to_owned(), 1));
    assert_eq!(find("0195-aaaa"), one);
    assert_eq!(find("0195-a"), one);
    assert_eq!(find("#1"), one);
    assert_eq!(find("1"), one);
    assert_eq!(find("0195"), None, "two begin so");
    assert_eq!(find("0195-c"), None);
    assert_eq!(find("#3"), None, "that is no decision");
    assert_eq!(find("019"), None, "three characters are too few");
    assert_eq!(find("#9"), None);
    assert_eq!(find("4444"), Some(("4444".to_owned(), 4)));
    assert_eq!(find(""), None);
}

#[test]
fn costs_are_dollars_again_when_a_record_is_read() {
    let shop = Shop::new();
    let mut memory = shop.memory();
    let tree = memory.tree.clone();
    append(&mut memory, &[(kind::BLOCKED, None, decided(&tree, "id-1", &json!({})))]);
    let usage = memory.decision("id-1").unwrap().unwrap().usage;
    assert_eq!((usage.tokens, usage.cost_usd, usage.partial), (Some(7), Some(1.25), false));
    let torn = json!({ "decision": { "decision_id": "id-2" }, "tree": tree });
    append(&mut memory, &[(kind::BLOCKED, None, torn)]);
    let failure = memory.decision("id-2").unwrap_err();
    assert_eq!((failure.exit_code, failure.code.as_str()), (5, "state-corrupt"));
    assert!(failure.message.starts_with("record 2 of the ledger cannot be read: "), "{failure}");
}

#[test]
fn decisions_are_read_page_by_page_from_the_newest() {
    let shop = Shop::new();
    let mut memory = shop.memory();
    let tree = memory.tree.clone();
    let other = json!({ "act": "x" });
    let records: Vec<_> = (1..=120)
        .map(|number| match number % 40 {
            0 => (kind::BLOCKED, None, decided(&tree, &format!("id-{number}"), &json!({}))),
            _ => (kind::ACT, None, other.clone()),
        })
        .collect();
    append(&mut memory, &records);
    let mut page = |before| {
        let (records, next) = memory.decisions(before).unwrap();
        let ids: Vec<_> = records.into_iter().map(|record| record.decision_id).collect();
        (ids.join(" "), next)
    };
    assert_eq!(page(None), ("id-120 id-80 id-40".to_owned(), Some(21)));
    assert_eq!(page(Some(80)), ("id-40".to_owned(), None));
    assert_eq!(page(Some(21)), (String::new(), None));
    assert_eq!(latest(&mut memory, None, None).as_deref(), Some("id-120"));
}

#[test]
fn a_policy_has_to_match_its_digest() {
    let (shop, ask) = (Shop::new(), Ask::under("breaker.no_exit = 7\n"));
    let mut memory = shop.memory();
    let recorded = decide(&mut memory, &ask.request(), &goes_on()).unwrap();
    let kept = memory.policy(&recorded.policy_digest).unwrap();
    assert_eq!(kept.map(|policy| policy.breaker.no_exit), Some(7));
    let replayed = memory.replay(recorded.clone()).unwrap();
    assert_eq!(replayed.is_same(), Some(true));
    let unknown = Record { policy_digest: "blake3:aa".to_owned(), ..recorded };
    let replayed = memory.replay(unknown).unwrap();
    assert_eq!((replayed.is_same(), replayed.policy), (None, None));
    let mut transaction = memory.begin().unwrap();
    transaction.keep_policy("blake3:bb", "{}").unwrap();
    transaction.commit().unwrap();
    let failure = memory.policy("blake3:bb").unwrap_err();
    assert_eq!(failure.code, "state-corrupt");
    assert_eq!(failure.message, "the policy blake3:bb was changed in the store");
}

#[test]
fn the_length_of_a_transcript_is_that_of_its_sessions_last_decision() {
    let shop = Shop::new();
    let mut memory = shop.memory();
    assert_eq!(memory.read_before("s-1"), None);
    let tree = memory.tree.clone();
    let read = |session: &str, bytes: u64| {
        let more = json!({
            "/decision/transcript/session": session, "/decision/transcript/bytes": bytes,
        });
        (kind::BLOCKED, None, decided(&tree, &format!("id-{bytes}"), &more))
    };
    append(&mut memory, &[read("s-1", 100), read("s-1", 200), read("s-2", 300)]);
    assert_eq!(memory.read_before("s-1"), Some(200));
    assert_eq!(memory.read_before("s-2"), Some(300));
    assert_eq!(memory.read_before("s-3"), None);
    let later: Vec<_> = (0..14).map(|_| (kind::ACT, None, json!({ "act": "x" }))).collect();
    append(&mut memory, &later);
    assert_eq!(memory.read_before("s-1"), Some(200), "it is the sixteenth from the end");
    append(&mut memory, &later[..1]);
    assert_eq!(memory.read_before("s-1"), None);
    assert_eq!(memory.read_before("s-2"), Some(300));
}
