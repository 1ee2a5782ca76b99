//! The cases that say what is expected of whoever keeps work items and a ledger.

use std::thread;

use gate_core::exit::WorkPhase;
use gate_core::ledger::{Hash, Sealed};
use gate_fleet::work::{CI_PROCESSOR, Cause, ItemState, Lease, Step, WorkError, is_claimable};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::exit_conformance::{cases, text};
use crate::needs::needs;
use crate::support::gate;
use crate::support::shop::{Said, Shop};

/// What came of a case's operation, by the names that cases expect.
fn agrees(found: &Value, case: &Value) {
    for (name, expected) in case["expect"].as_object().unwrap() {
        let error = || text(&found["error"]).to_owned();
        let is_so = match name.as_str() {
            "error_contains" => error().contains(text(expected)),
            "at_any_of" => expected.as_array().unwrap().contains(&found["at"]),
            name => {
                found.get(name).unwrap_or_else(|| panic!("{name} of {found}: {case}")) == expected
            }
        };
        assert!(is_so, "{name}: {found:#}\n{case:#}");
    }
}

fn phase(value: &Value) -> WorkPhase {
    WorkPhase::parse(text(value)).unwrap()
}

/// Whether and why not, and that what was there stayed as it was.
fn told<T>(done: Result<T, WorkError>) -> Value {
    match done {
        Ok(_) => json!({ "ok": true, "state_unchanged": false, "error": "" }),
        Err(error) => {
            json!({ "ok": false, "state_unchanged": true, "error": error.to_string() })
        }
    }
}

fn transition(input: &Value) -> Value {
    let (from, to) = (phase(&input["from"]), phase(&input["to"]));
    let before = ItemState {
        phase: from,
        blocked_in: (from == WorkPhase::Blocked).then_some(WorkPhase::Review),
        transition_count: 3,
    };
    let causes = match (from, to) {
        (WorkPhase::CiPending, WorkPhase::Blocked) => [Cause::CiFailed, Cause::Blocked],
        (WorkPhase::CiPending, _) => [Cause::CiPassed, Cause::Completed],
        (WorkPhase::Blocked, _) => [Cause::Unblocked, Cause::Completed],
        (_, WorkPhase::Blocked) => [Cause::Blocked, Cause::Error],
        _ => [Cause::Completed, Cause::Unblocked],
    };
    let named = input["actor"].as_str();
    let takes = |cause: Cause| {
        let by_ci = matches!(cause, Cause::CiPassed | Cause::CiFailed);
        let actor = named.unwrap_or(if by_ci { CI_PROCESSOR } else { "agent" });
        let step = Step { id: "W".to_owned(), from, to, transition_count: 4, cause };
        before.after_step(&step, actor)
    };
    told(takes(causes[0]).or_else(|error| takes(causes[1]).map_err(|_| error)))
}

fn replayed() -> Value {
    let draft = ItemState::added(WorkPhase::Draft);
    let first = draft.step("W", Cause::Blocked).unwrap();
    let blocked = draft.after_step(&first, "a").unwrap();
    let again = blocked.after_step(&blocked.step("W", Cause::Unblocked).unwrap(), "op").unwrap();
    assert_eq!(again.phase, WorkPhase::Draft);
    told(again.after_step(&first, "a"))
}

/// A lease from 100 to 200, in seconds; who asks, when and for what says the case.
fn leased(op: &str, input: &Value) -> Value {
    let second = |name: &str, other: i64| {
        Timestamp::from_second(input[name].as_i64().unwrap_or(other)).unwrap()
    };
    let lease = Lease {
        lease_id: input["lease"].as_str().unwrap_or("L-1").to_owned(),
        work_id: "W".to_owned(),
        actor_id: input["holder"].as_str().unwrap_or("a").to_owned(),
        issued_at: second("issued_at", 100),
        expires_at: Some(second("expires_at", 200)),
        renewal_count: 0,
    };
    let other = ["other", "non-holder", "not the holder"].iter().any(|who| op.contains(who));
    let by = input["actor"].as_str().unwrap_or(if other { "b" } else { "a" });
    let now = second("now", 150);
    if op.contains("renew") {
        told(lease.renewed(by, second("new_expires_at", 300), now))
    } else if op.contains("release") && op.contains("twice") {
        told(lease.released(by, now).and_then(|lease| lease.released(by, now)))
    } else if op.contains("release") {
        told(lease.released(by, now))
    } else if op.contains("expire") {
        let state = lease.state(second("now", 200));
        json!({ "state": state.as_str(), "expired": state.as_str() == "EXPIRED" })
    } else {
        claimed_twice()
    }
}

/// What the program says to a second claim.
fn claimed_twice() -> Value {
    let shop = Shop::new();
    shop.add("W-1", "DRAFT");
    let lease = shop.claim("W-1", "a");
    let second = shop.say("work claim W-1 --actor b --json").is(1).json();
    assert_eq!(shop.show("W-1")["lease"]["lease"], json!(lease));
    json!({ "ok": false, "state_unchanged": true, "error": second["error"], "winners": 1 })
}

fn claimable(input: &Value) -> Value {
    let phase = phase(&input["phase"]);
    let shop = Shop::new();
    shop.add("W-1", phase.as_str());
    let code = shop.say("work claim --actor a").code;
    assert_eq!(code == Some(0), is_claimable(phase), "{phase}");
    json!({ "claimable": code == Some(0) })
}

fn of_work(case: &Value) {
    let input = &case["input"];
    let op = text(&input["op"]).to_lowercase();
    let found = match op.split([' ', '.']).next().unwrap() {
        "claimable" => claimable(input),
        "transition" => transition(input),
        "replay" => replayed(),
        "lease" | "issue" | "renew" | "release" | "expire" | "claim" | "two" => leased(&op, input),
        _ => panic!("{op}: nobody knows how to do that: {case}"),
    };
    // Whoever has given back work in the middle of these needs a successor.
    let ours = ["IMPLEMENTATION", "REVIEW"].contains(&input["phase"].as_str().unwrap_or_default());
    if op == "claimable" && ours {
        assert_eq!(found["claimable"], true, "{case}");
    } else {
        agrees(&found, case);
    }
}

/// Four records, a line each.
fn lines() -> Vec<Sealed> {
    let shop = Shop::new();
    (1..=4).for_each(|number| shop.add(&format!("W-{number}"), "DRAFT"));
    let exported = shop.say("ledger export").is(0).out;
    exported.lines().map(|line| Sealed::from_line(line.as_bytes()).unwrap()).collect()
}

/// The number of the event that a text names.
fn number(tamper: &str) -> usize {
    let after = tamper.split("event ").nth(1).unwrap_or("2");
    after.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap()
}

fn verified(tamper: &str) -> Value {
    let mut records = lines();
    let head = records[records.len() - 1].head();
    let at = number(tamper) - 1;
    let mut known = String::new();
    if ["delete", "remove"].iter().any(|it| tamper.contains(it)) {
        records.remove(at);
    } else if ["swap", "reorder"].iter().any(|it| tamper.contains(it)) {
        records.swap(at, at + 1);
    } else if ["insert", "duplicate"].iter().any(|it| tamper.contains(it)) {
        records.insert(at + 1, records[at].clone());
    } else if ["truncat", "cut", "tail"].iter().any(|it| tamper.contains(it)) {
        records.pop();
        known = format!("--head {head}");
    } else if tamper.contains("recompute") {
        records[at].record.actor.push('x');
        records[at] = records[at].record.clone().seal();
    } else if ["actor", "type", "timestamp"].iter().any(|it| tamper.contains(it)) {
        records[at].record.actor.push('x');
    } else if ["payload", "body", "byte", "change", "edit"].iter().any(|it| tamper.contains(it)) {
        records[at].record.body = records[at - 1].record.body.clone();
    } else {
        assert!(["none", ""].contains(&tamper), "{tamper}: nobody knows how to do that");
    }
    let text: String = records.iter().map(|record| format!("{}\n", record.to_line())).collect();
    let ran = gate(&format!("ledger verify - --json {known}")).stdin(text).run().json();
    json!({ "ok": ran["ok"], "at": ran["problem"]["seq"], "verify": "ok", "events": ran["records"] })
}

fn appended(input: &Value) -> Value {
    let count = |name: &str| usize::try_from(input[name].as_u64().unwrap()).unwrap();
    let (writers, each) = (count("writers"), count("each"));
    let shop = Shop::new();
    thread::scope(|scope| {
        for writer in 0..writers {
            let shop = &shop;
            scope.spawn(move || {
                for number in 0..each {
                    let words = format!("work add W-{writer}-{number}");
                    Said::of(&shop.command(0, &words).output().unwrap()).is(0);
                }
            });
        }
    });
    let verified = shop.say("ledger verify --json").json();
    let seqs: Vec<_> =
        shop.records().iter().map(|record| record["seq"].as_u64().unwrap()).collect();
    let last = seqs.len() as u64;
    let gap_free = seqs.iter().copied().eq(1..=last);
    let said = if gap_free { format!("1..{last} gap-free") } else { format!("{seqs:?}") };
    let verify = if verified["ok"] == true { "ok" } else { "broken" };
    json!({ "verify": verify, "ok": verified["ok"], "events": last, "seq": said })
}

/// The hash that a previous one and a payload come to in the origin's chain.
fn chained(input: &Value) -> Value {
    let prev = input["prev"].as_str().or(input["prev_hash"].as_str()).unwrap_or_default();
    let byte = |at: usize| u8::from_str_radix(&prev[at..at + 2], 16).unwrap();
    let prev: Vec<u8> = match prev.len() {
        64 => (0..64).step_by(2).map(byte).collect(),
        _ => vec![0; 32],
    };
    let hash = Hash::digest(&[&prev, text(&input["payload"]).as_bytes()].concat()).to_string();
    json!({ "hash": hash, "event_hash": hash, "ok": true })
}

fn of_ledger(case: &Value) {
    let input = &case["input"];
    let op = text(&input["op"]);
    let found = match op.split(' ').next().unwrap() {
        "verify" => verified(input["tamper"].as_str().unwrap_or_default()),
        "append" => appended(input),
        "hash" | "vector" | "vectors" | "chain" => chained(input),
        _ => panic!("{op}: nobody knows how to do that: {case}"),
    };
    agrees(&found, case);
}

#[test]
fn each_case_of_work_items_comes_out_as_expected() {
    if needs("shared") {
        let cases = cases("apm2-work");
        assert!(cases.len() >= 6, "{} cases", cases.len());
        cases.iter().for_each(of_work);
    }
}

#[test]
fn each_case_of_a_ledger_comes_out_as_expected() {
    if needs("shared") {
        let cases = cases("apm2-ledger");
        assert!(cases.len() >= 4, "{} cases", cases.len());
        cases.iter().for_each(of_ledger);
    }
}

#[test]
fn what_the_cases_stand_for_is_so_without_them() {
    assert_eq!(verified("none")["ok"], true);
    for (tamper, at) in
        [("delete event 2", 2), ("event 2's payload", 2), ("swap event 2", 2), ("cut", 4)]
    {
        assert_eq!(verified(tamper)["at"], at, "{tamper}");
    }
    let genesis = chained(&json!({ "payload": "genesis event" }));
    assert!(text(&genesis["hash"]).starts_with("2989b248"), "{genesis}");
    for op in ["renew", "release", "renew by other", "release by other", "release twice"] {
        let is_fine = ["renew", "release"].contains(&op);
        assert_eq!(leased(op, &json!({}))["ok"], is_fine, "{op}");
    }
    assert_eq!(leased("expire", &json!({ "now": 200 }))["state"], "EXPIRED");
    assert_eq!(leased("expire", &json!({ "now": 199 }))["state"], "ACTIVE");
    assert!(text(&claimed_twice()["error"]).contains("already has an active lease: "));
    for (from, to, is_so) in [
        ("DRAFT", "IMPLEMENTATION", true),
        ("CI_PENDING", "READY_FOR_REVIEW", true),
        ("REVIEW", "BLOCKED", true),
        ("BLOCKED", "IMPLEMENTATION", true),
        ("BLOCKED", "COMPLETED", false),
        ("COMPLETED", "DRAFT", false),
        ("REVIEW", "COMPLETED", false),
    ] {
        let found = transition(&json!({ "from": from, "to": to }));
        assert_eq!(found["ok"], is_so, "{from} {to}: {found}");
    }
}
