//! `gate work ci`: what the checks of `[work] ci` come to, or what a CI says.

use serde_json::json;

use crate::support::shop::Shop;

/// A project with checks, of which these are CI's, and an item that waits.
fn waiting(ci: &str) -> Shop {
    let checks = "[checks.good]\ncommand = [\"true\"]\n[checks.bad]\ncommand = [\"false\"]\n\
                  [checks.absent]\ncommand = [\"no-such-program\"]\n";
    let shop = Shop::with(&format!("{checks}[work]\n{ci}\n"));
    shop.add("W-1", "CI_PENDING");
    shop
}

#[test]
fn checks_that_pass_let_an_item_go_on() {
    let shop = waiting("ci = [\"good\"]");
    let item = shop.say("work ci W-1 --json").is(0).json();
    assert_eq!((&item["phase"], &item["claimable"]), (&json!("READY_FOR_REVIEW"), &json!(true)));
    let records = shop.records();
    assert_eq!(records[1]["type"], "work_phase_changed");
    assert_eq!(records[1]["actor"], "system:ci-processor");
    assert_eq!(records[1]["body"]["work"]["cause"], "ci_passed");
    let again = shop.say("work ci W-1").is(2);
    again.tells("invalid transition from READY_FOR_REVIEW via ci_passed");
    shop.say("ledger verify").is(0);
}

#[test]
fn checks_that_fail_block_it_and_are_named() {
    let shop = waiting("ci = [\"good\", \"bad\"]");
    let item = shop.say("work ci W-1 --json").is(1).json();
    assert_eq!((&item["phase"], &item["blocked_in"]), (&json!("BLOCKED"), &json!("CI_PENDING")));
    let body = &shop.records()[1]["body"];
    assert_eq!(body["work"]["cause"], "ci_failed");
    let reason = body["reason"].as_str().unwrap();
    assert!(reason.starts_with("bad: ") && !reason.contains("good"), "{reason}");
    let item = shop.say("work unblock W-1 --json").is(0).json();
    assert_eq!(item["phase"], "IMPLEMENTATION");
}

#[test]
fn what_was_not_found_out_changes_nothing() {
    let shop = waiting("ci = [\"good\", \"absent\"]");
    let rows = shop.rows();
    let said = shop.say("work ci W-1 --json").is(2);
    assert_eq!(said.json()["code"], "ci-inconclusive");
    assert_eq!(shop.rows(), rows);
    let said = shop.say("work ci W-1").is(2).err;
    assert!(said.contains("absent: ") && said.contains("--result"), "{said}");
}

#[test]
fn no_check_and_an_unknown_one_are_wrong_settings() {
    let shop = waiting("");
    let said = shop.say("work ci W-1 --json").is(2).json();
    assert_eq!((&said["code"], &said["key"]), (&json!("config-invalid"), &json!("work.ci")));
    assert_eq!(said["message"], "`ci` in [work] names no check");
    assert_eq!(shop.show("W-1")["phase"], "CI_PENDING");
    let text = "[project]\nid = \"shop\"\n[work]\nci = [\"nothing\"]\n";
    std::fs::write(shop.machines[0].path("gate.toml"), text).unwrap();
    let said = shop.say("work ci W-1 --json").is(2).json();
    assert_eq!(said["code"], "config-unknown-name", "{said}");
    assert!(said["message"].as_str().unwrap().contains("nothing"), "{said}");
}

#[test]
fn a_result_is_taken_at_its_word() {
    let shop = waiting("");
    let more = ["--reason", "https://ci.example/7"];
    shop.say_with("work ci W-1 --result failed", &more).is(1);
    assert_eq!(shop.records()[1]["body"]["reason"], more[1]);
    shop.say("work unblock W-1 --phase CI_PENDING").is(0);
    shop.say("work ci W-1 --result passed").is(0);
    assert_eq!(shop.show("W-1")["phase"], "READY_FOR_REVIEW");
    shop.say("work ci W-1 --result maybe").is(2);
    shop.say("ledger verify").is(0);
}
