//! `gate work`: items, their leases, and the phases that they go through.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::exit::signal;
use crate::schemas::printed;
use crate::support::json_schema::{holds, holds_but_for};
use crate::support::shop::{Said, Shop, given};

/// The phases that agents end, and where each leads.
const STEPS: [[&str; 2]; 5] = [
    ["DRAFT", "IMPLEMENTATION"],
    ["IMPLEMENTATION", "CI_PENDING"],
    ["READY_FOR_REVIEW", "REVIEW"],
    ["REVIEW", "READY_FOR_MERGE"],
    ["READY_FOR_MERGE", "COMPLETED"],
];

#[test]
fn an_item_goes_through_every_phase() {
    let shop = Shop::new();
    shop.add("W-1", "DRAFT");
    for [phase, next] in STEPS {
        let lease = shop.say("work claim --actor a --json").is(0).json();
        assert_eq!((&lease["work"], &lease["phase"]), (&json!("W-1"), &json!(phase)));
        let words =
            format!("--work W-1 --actor a --lease {} --json", lease["lease"].as_str().unwrap());
        let signal = signal(phase, "completed", &[]).to_string();
        let submitted = shop.submit(&words, &signal).is(0).json();
        assert_eq!((&submitted["ok"], &submitted["next_phase"]), (&json!(true), &json!(next)));
        assert_eq!(shop.show("W-1")["lease"], Value::Null, "it is over with the phase");
        if next == "CI_PENDING" {
            assert_eq!(shop.say("work claim --actor a").is(1).out, "there is nothing to claim\n");
            shop.say("work ci W-1 --result passed").is(0);
        }
    }
    let item = shop.show("W-1");
    assert_eq!((&item["phase"], &item["transition_count"]), (&json!("COMPLETED"), &json!(6)));
    let records = shop.records();
    let types: Vec<_> = records.iter().map(|record| record["type"].as_str().unwrap()).collect();
    let ended = "AgentSessionCompleted";
    assert_eq!(types, ["work_added", ended, ended, "work_phase_changed", ended, ended, ended]);
    assert_eq!(item["seq"], 7);
    assert_eq!(records[3]["actor"], "system:ci-processor");
    shop.say("ledger verify").is(0);
    shop.say("work claim W-1 --actor a").is(1);
}

#[test]
fn what_is_printed_is_as_the_schemas_say() {
    let shop = Shop::new();
    let added = shop.say_with("work add W-1 --json --title", &["a title"]).is(0).json();
    holds(&printed("work"), &added);
    assert_eq!((&added["title"], &added["claimable"]), (&json!("a title"), &json!(true)));
    let lease = shop.say("work claim --actor a --ttl 10m --json").is(0).json();
    holds_but_for(&printed("work-lease"), &lease);
    let renewed = shop.say("work renew W-1 --actor a --ttl 1h --json").is(0).json();
    holds(&printed("work"), &renewed);
    assert!(renewed["lease"]["expires_at"].as_str() > lease["expires_at"].as_str());
    holds(&printed("work"), &shop.show("W-1"));
    shop.add("W-2", "CI_PENDING");
    let list = shop.say("work list --json").is(0).json();
    holds(&printed("work-list"), &list);
    assert_eq!(list["items"].as_array().unwrap().len(), 2);
    let released = shop.say("work release W-1 --actor a --json").is(0).json();
    holds(&printed("work"), &released);
    assert_eq!((&released["lease"], &released["claimable"]), (&Value::Null, &json!(true)));
    holds(&printed("work"), &shop.say("work ci W-2 --result failed --json").is(1).json());
    holds(&printed("work"), &shop.say("work unblock W-2 --json").is(0).json());
    shop.claim("W-1", "a");
    let submitted = printed("exit-submit");
    let wrong = signal("REVIEW", "completed", &[]).to_string();
    holds_but_for(&submitted, &shop.submit("--work W-1 --actor a --json", &wrong).is(1).json());
    let right = signal("DRAFT", "blocked", &[("notes", "no access")]).to_string();
    holds_but_for(&submitted, &shop.submit("--work W-1 --actor a --json", &right).is(0).json());
    holds(&printed("error"), &shop.say("work show W-9 --json").is(2).json());
}

#[test]
fn who_holds_an_item_gets_that_one_again() {
    let shop = Shop::new();
    for (id, phase) in [("W-1", "DRAFT"), ("W-2", "DRAFT"), ("W-3", "REVIEW")] {
        shop.add(id, phase);
    }
    let first = shop.say("work claim --actor ann --json").is(0).json();
    assert_eq!(first["work"], "W-1");
    for words in ["", " W-1", " --phase DRAFT", " --ttl 1m", " --wait 10s"] {
        let second = shop.say(&format!("work claim --actor ann --json{words}")).is(0).json();
        assert_eq!(second["lease"], first["lease"], "{words}");
        assert!(second["expires_at"].as_str() >= first["expires_at"].as_str(), "{words}");
        let card = shop.say(&format!("work claim --actor ann{words}")).is(0).out;
        assert!(card.starts_with("you hold W-1 until "), "{card}");
    }
    // Another actor, or a claim that the held item does not meet, gets the next item.
    shop.say("work claim W-1 --actor bob").is(1);
    assert_eq!(shop.say("work claim --actor bob --json").is(0).json()["work"], "W-2");
    let card = shop.say("work claim --actor ann --phase REVIEW").is(0).out;
    assert!(card.contains("W-3") && !card.contains("you hold"), "{card}");
    shop.say("work release W-1 --actor ann").is(0);
    let further = shop.say("work claim --actor bob --request r2 --json").is(0).json();
    assert_eq!(further["work"], "W-1");
    // A lease that is over is nobody's.
    shop.say("work release W-3 --actor ann").is(0);
    let taken = shop.say("work claim --actor ann --json").is(0).json();
    assert_eq!(taken["work"], "W-3");
    assert_ne!(taken["lease"], first["lease"]);
}

#[test]
fn items_are_listed_by_phase_and_by_holder() {
    let shop = Shop::new();
    assert_eq!(shop.say("work list").is(0).out, "no work items\n");
    for (id, phase) in [("c", "REVIEW"), ("a", "DRAFT"), ("b", "DRAFT")] {
        shop.add(id, phase);
    }
    shop.claim("b", "agent-7");
    shop.say("work claim c --actor agent-7 --ttl 1ms").is(0);
    let ids = |words: &str| {
        let list = shop.say(&format!("work list --json {words}")).is(0).json();
        let ids =
            list["items"].as_array().unwrap().iter().map(|item| item["work"].as_str().unwrap());
        ids.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(["", "--phase draft", "--phase COMPLETED"].map(ids), ["c a b", "a b", ""]);
    assert_eq!(ids("--actor agent-7"), "b", "the other lease is over");
    let list = "c  REVIEW\na  DRAFT\nb  DRAFT             held by agent-7\n";
    assert_eq!(shop.say("work list").is(0).out, list);
}

#[test]
fn a_description_comes_from_a_file_and_goes_to_whoever_shows_it() {
    let shop = Shop::new();
    let text = "# The importer\n\nReads both layouts.\n";
    std::fs::write(shop.machines[0].path("spec.md"), text).unwrap();
    let added = shop.say("work add W-1 --file spec.md --json").is(0).json();
    assert_eq!(added["description"], text);
    assert_eq!(shop.show("W-1")["description"], text);
    shop.say("work add W-2 --file missing.md").is(2);
    std::fs::write(shop.machines[0].path("long.md"), "x".repeat(64 * 1024 + 1)).unwrap();
    shop.say("work add W-2 --file long.md")
        .is(2)
        .tells("the description is longer than 65536 bytes");
    shop.say("work show W-2").is(2);
}

#[test]
fn blocked_work_waits_for_an_operator() {
    let shop = Shop::new();
    shop.add("W-1", "REVIEW");
    shop.ends("W-1", "error");
    let item = shop.show("W-1");
    assert_eq!((&item["phase"], &item["blocked_in"]), (&json!("BLOCKED"), &json!("REVIEW")));
    let answer = shop.say("work claim W-1 --actor a").is(1).out;
    assert_eq!(answer, "work item W-1 is in phase BLOCKED, which nobody claims\n");
    let beyond = shop.say("work unblock W-1 --phase READY_FOR_MERGE").is(2);
    beyond.tells("transition from BLOCKED to READY_FOR_MERGE is not allowed");
    let reason = ["--reason", "the host is back"];
    let item = shop.say_with("work unblock W-1 --json", &reason).is(0).json();
    assert_eq!((&item["phase"], &item["blocked_in"]), (&json!("REVIEW"), &Value::Null));
    assert_eq!(shop.records()[2]["body"]["reason"], "the host is back");
    shop.ends("W-1", "blocked");
    let words = "work unblock W-1 --phase implementation --actor lead --json";
    assert_eq!(shop.say(words).is(0).json()["phase"], "IMPLEMENTATION");
    assert_eq!(shop.records()[4]["actor"], "lead");
    shop.say("ledger verify").is(0);
}

#[test]
fn an_id_that_equals_a_secret_is_kept_and_texts_are_masked() {
    let shop = Shop::new();
    shop.add("SHOP-1234", "DRAFT");
    shop.claim("SHOP-1234", "a");
    let completed = signal("DRAFT", "completed", &[("notes", "SHOP-1234 is written")]).to_string();
    let mut submit = shop.command(0, "exit submit - --work SHOP-1234 --actor a");
    given(submit.env("ISSUE_KEY", "SHOP-1234"), &completed).is(0);
    shop.ends("SHOP-1234", "completed");
    let mut ci = shop.command(0, "work ci SHOP-1234 --result passed --reason");
    ci.arg("SHOP-1234 is green").env("ISSUE_KEY", "SHOP-1234");
    Said::of(&ci.output().unwrap()).is(0);
    let records = shop.records();
    assert_eq!(records[1]["body"]["work"]["id"], "SHOP-1234");
    assert_eq!(records[1]["body"]["event"]["notes"], "[masked] is written");
    assert_eq!(records[3]["body"]["work"]["id"], "SHOP-1234");
    assert_eq!(records[3]["body"]["reason"], "[masked] is green");
    assert_eq!(shop.show("SHOP-1234")["phase"], "READY_FOR_REVIEW");
    shop.say("ledger verify").is(0);
}

/// The item that a waiting claimer gets, while `meanwhile` runs.
#[track_caller]
fn waited(shop: &Shop, meanwhile: impl FnOnce()) -> Value {
    let start = Instant::now();
    let waiting = shop.begin("work claim --actor waiter --wait 100s --json");
    thread::sleep(Duration::from_millis(400));
    meanwhile();
    let claimed = Said::of(&waiting.wait_with_output().unwrap()).is(0);
    assert!(start.elapsed() < Duration::from_secs(60), "it slept on");
    claimed.json()["work"].clone()
}

fn waits(shop: &Shop) {
    assert_eq!(waited(shop, || shop.add("W-1", "DRAFT")), "W-1");
    shop.say("work release W-1 --actor waiter").is(0);
    shop.claim("W-1", "b");
    let released = waited(shop, || {
        shop.say("work release W-1 --actor b").is(0);
    });
    assert_eq!(released, "W-1");
    shop.say("work release W-1 --actor waiter").is(0);
    shop.say("work claim --actor b --ttl 1500ms").is(0);
    assert_eq!(waited(shop, || ()), "W-1", "it expired");
    assert_eq!(shop.show("W-1")["lease"]["actor"], "waiter");
    shop.say("work release W-1 --actor waiter").is(0);
    shop.claim("W-1", "b");
    shop.add("W-2", "CI_PENDING");
    let passed = waited(shop, || {
        shop.say("work ci W-2 --result passed").is(0);
    });
    assert_eq!(passed, "W-2");
    let start = Instant::now();
    let words = "work claim --actor c --wait 300ms --json";
    let nothing = json!({ "work": null, "error": null });
    assert_eq!(shop.say(words).is(1).json(), nothing);
    assert!(start.elapsed() >= Duration::from_millis(300), "it waited");
    shop.say("ledger verify").is(0);
}

#[test]
fn who_waits_is_woken_by_what_can_be_claimed() {
    waits(&Shop::new());
}

#[test]
fn who_waits_in_a_fleet_is_woken_by_what_can_be_claimed() {
    if let Some(shop) = Shop::fleet(1) {
        waits(&shop);
    }
}
