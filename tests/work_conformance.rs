//! The shared cases of work items and of a ledger, which every implementation has to meet.

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

/// Compares the outcome of a case's operation with the members that the case expects.
#[track_caller]
fn agrees(outcome: &Value, case: &Value) {
    for (name, expected) in case["expect"].as_object().unwrap() {
        let error = || text(&outcome["error"]).to_owned();
        let is_expected = match name.as_str() {
            "error_contains" => error().contains(text(expected)),
            "at_any_of" => expected.as_array().unwrap().contains(&outcome["at"]),
            name => {
                let member = outcome.get(name);
                member.unwrap_or_else(|| panic!("{name} of {outcome}: {case}")) == expected
            }
        };
        assert!(is_expected, "{name}: {outcome:#}\n{case:#}");
    }
}

fn phase(value: &Value) -> WorkPhase {
    WorkPhase::parse(text(value)).unwrap()
}

/// The outcome of an operation. After an error the old state is unchanged.
fn outcome<T>(result: Result<T, WorkError>) -> Value {
    match result {
        Ok(_) => json!({ "ok": true, "state_unchanged": false, "error": "" }),
        Err(error) => {
            json!({ "ok": false, "state_unchanged": true, "error": error.to_string() })
        }
    }
}

fn transition(input: &Value) -> Value {
    let (from, to) = (phase(&input["from"]), phase(&input["to"]));
    let old_state = ItemState {
        phase: from,
        blocked_in: (from == WorkPhase::Blocked).then_some(WorkPhase::Review),
        transition_count: 3,
    };
    // The cause of such a step, and a wrong one; the case does not name a cause.
    let causes = match (from, to) {
        (WorkPhase::CiPending, WorkPhase::Blocked) => [Cause::CiFailed, Cause::Blocked],
        (WorkPhase::CiPending, _) => [Cause::CiPassed, Cause::Completed],
        (WorkPhase::Blocked, _) => [Cause::Unblocked, Cause::Completed],
        (_, WorkPhase::Blocked) => [Cause::Blocked, Cause::Error],
        _ => [Cause::Completed, Cause::Unblocked],
    };
    let named_actor = input["actor"].as_str();
    let take_step = |cause: Cause| {
        let is_of_ci = matches!(cause, Cause::CiPassed | Cause::CiFailed);
        let actor = named_actor.unwrap_or(if is_of_ci { CI_PROCESSOR } else { "agent" });
        let step = Step { id: "W".to_owned(), from, to, transition_count: 4, cause };
        old_state.after_step(&step, actor)
    };
    outcome(take_step(causes[0]).or_else(|error| take_step(causes[1]).map_err(|_| error)))
}

fn replayed() -> Value {
    let draft = ItemState::added(WorkPhase::Draft);
    let first = draft.step("W", Cause::Blocked).unwrap();
    let blocked = draft.after_step(&first, "a").unwrap();
    let unblocked = blocked.step("W", Cause::Unblocked).unwrap();
    let draft_again = blocked.after_step(&unblocked, "op").unwrap();
    assert_eq!(draft_again.phase, WorkPhase::Draft);
    outcome(draft_again.after_step(&first, "a"))
}

/// An operation on a lease from second 100 to 200. The case names the actor and the time.
fn leased(op: &str, input: &Value) -> Value {
    let second = |name: &str, default: i64| {
        Timestamp::from_second(input[name].as_i64().unwrap_or(default)).unwrap()
    };
    let lease = Lease {
        lease_id: input["lease"].as_str().unwrap_or("L-1").to_owned(),
        work_id: "W".to_owned(),
        actor_id: input["holder"].as_str().unwrap_or("a").to_owned(),
        issued_at: second("issued_at", 100),
        expires_at: Some(second("expires_at", 200)),
        renewal_count: 0,
    };
    let is_others = ["other", "non-holder", "not the holder"].iter().any(|name| op.contains(name));
    let actor = input["actor"].as_str().unwrap_or(if is_others { "b" } else { "a" });
    let now = second("now", 150);
    if op.contains("renew") {
        outcome(lease.renewed(actor, second("new_expires_at", 300), now))
    } else if op.contains("release") && op.contains("twice") {
        outcome(lease.released(actor, now).and_then(|lease| lease.released(actor, now)))
    } else if op.contains("release") {
        outcome(lease.released(actor, now))
    } else if op.contains("expire") {
        let state = lease.state(second("now", 200));
        json!({ "state": state.as_str(), "expired": state.as_str() == "EXPIRED" })
    } else {
        claimed_twice()
    }
}

/// The program's answer to a second claim.
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

fn check_work_case(case: &Value) {
    let input = &case["input"];
    let op = text(&input["op"]).to_lowercase();
    let outcome = match op.split([' ', '.']).next().unwrap() {
        "claimable" => claimable(input),
        "transition" => transition(input),
        "replay" => replayed(),
        "lease" | "issue" | "renew" | "release" | "expire" | "claim" | "two" => leased(&op, input),
        _ => panic!("{op}: nobody knows how to do that: {case}"),
    };
    // gate differs from the cases here: work that was given back in the middle of these phases
    // needs a successor.
    let phase = input["phase"].as_str().unwrap_or_default();
    if op == "claimable" && ["IMPLEMENTATION", "REVIEW"].contains(&phase) {
        assert_eq!(outcome["claimable"], true, "{case}");
    } else {
        agrees(&outcome, case);
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
    let digits = tamper.split("event ").nth(1).unwrap_or("2");
    digits.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap()
}

fn verified(tamper: &str) -> Value {
    let mut records = lines();
    let head = records[records.len() - 1].head();
    let index = number(tamper) - 1;
    let names_one_of = |words: &[&str]| words.iter().any(|word| tamper.contains(word));
    let mut head_flag = String::new();
    if names_one_of(&["delete", "remove"]) {
        records.remove(index);
    } else if names_one_of(&["swap", "reorder"]) {
        records.swap(index, index + 1);
    } else if names_one_of(&["insert", "duplicate"]) {
        records.insert(index + 1, records[index].clone());
    } else if names_one_of(&["truncat", "cut", "tail"]) {
        records.pop();
        head_flag = format!("--head {head}");
    } else if tamper.contains("recompute") {
        records[index].record.actor.push('x');
        records[index] = records[index].record.clone().seal();
    } else if names_one_of(&["actor", "type", "timestamp"]) {
        records[index].record.actor.push('x');
    } else if names_one_of(&["payload", "body", "byte", "change", "edit"]) {
        records[index].record.body = records[index - 1].record.body.clone();
    } else {
        assert!(["none", ""].contains(&tamper), "{tamper}: nobody knows how to do that");
    }
    let text: String = records.iter().map(|record| format!("{}\n", record.to_line())).collect();
    let report = gate(&format!("ledger verify - --json {head_flag}")).stdin(text).run().json();
    let (at, events) = (&report["problem"]["seq"], &report["records"]);
    json!({ "ok": report["ok"], "at": at, "verify": "ok", "events": events })
}

fn appended(input: &Value) -> Value {
    let count = |name: &str| usize::try_from(input[name].as_u64().unwrap()).unwrap();
    let (writers, items) = (count("writers"), count("each"));
    let shop = Shop::new();
    thread::scope(|scope| {
        for writer in 0..writers {
            let shop = &shop;
            scope.spawn(move || {
                for number in 0..items {
                    let words = format!("work add W-{writer}-{number}");
                    Said::of(&shop.command(0, &words).output().unwrap()).is(0);
                }
            });
        }
    });
    let report = shop.say("ledger verify --json").json();
    let seqs: Vec<_> =
        shop.records().iter().map(|record| record["seq"].as_u64().unwrap()).collect();
    let last = seqs.len() as u64;
    let is_gap_free = seqs.iter().copied().eq(1..=last);
    let seq = if is_gap_free { format!("1..{last} gap-free") } else { format!("{seqs:?}") };
    let verify = if report["ok"] == true { "ok" } else { "broken" };
    json!({ "verify": verify, "ok": report["ok"], "events": last, "seq": seq })
}

/// The hash of a payload after a previous hash, in the chain that the cases describe.
fn chained(input: &Value) -> Value {
    let prev = input["prev"].as_str().or(input["prev_hash"].as_str()).unwrap_or_default();
    let byte = |offset: usize| u8::from_str_radix(&prev[offset..offset + 2], 16).unwrap();
    let prev_bytes: Vec<u8> = match prev.len() {
        64 => (0..64).step_by(2).map(byte).collect(),
        _ => vec![0; 32],
    };
    let hash =
        Hash::digest(&[&prev_bytes, text(&input["payload"]).as_bytes()].concat()).to_string();
    json!({ "hash": hash, "event_hash": hash, "ok": true })
}

fn check_ledger_case(case: &Value) {
    let input = &case["input"];
    let op = text(&input["op"]);
    let outcome = match op.split(' ').next().unwrap() {
        "verify" => verified(input["tamper"].as_str().unwrap_or_default()),
        "append" => appended(input),
        "hash" | "vector" | "vectors" | "chain" => chained(input),
        _ => panic!("{op}: nobody knows how to do that: {case}"),
    };
    agrees(&outcome, case);
}

#[test]
fn each_case_of_work_items_comes_out_as_expected() {
    if needs("shared") {
        let cases = cases("apm2-work");
        assert!(cases.len() >= 6, "{} cases", cases.len());
        cases.iter().for_each(check_work_case);
    }
}

#[test]
fn each_case_of_a_ledger_comes_out_as_expected() {
    if needs("shared") {
        let cases = cases("apm2-ledger");
        assert!(cases.len() >= 4, "{} cases", cases.len());
        cases.iter().for_each(check_ledger_case);
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
        let is_allowed = ["renew", "release"].contains(&op);
        assert_eq!(leased(op, &json!({}))["ok"], is_allowed, "{op}");
    }
    assert_eq!(leased("expire", &json!({ "now": 200 }))["state"], "EXPIRED");
    assert_eq!(leased("expire", &json!({ "now": 199 }))["state"], "ACTIVE");
    assert!(text(&claimed_twice()["error"]).contains("already has an active lease: "));
    for (from, to, is_allowed) in [
        ("DRAFT", "IMPLEMENTATION", true),
        ("CI_PENDING", "READY_FOR_REVIEW", true),
        ("REVIEW", "BLOCKED", true),
        ("BLOCKED", "IMPLEMENTATION", true),
        ("BLOCKED", "COMPLETED", false),
        ("COMPLETED", "DRAFT", false),
        ("REVIEW", "COMPLETED", false),
    ] {
        let outcome = transition(&json!({ "from": from, "to": to }));
        assert_eq!(outcome["ok"], is_allowed, "{from} {to}: {outcome}");
    }
}
