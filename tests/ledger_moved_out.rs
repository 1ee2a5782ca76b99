//! A ledger from which an earlier version of gate moved old decisions to an archive.

use std::fs;

use gate_cli::store::{Place, Store};
use gate_core::ledger::{Draft, MovedOut, Sealed};
use serde_json::{Value, json};

use crate::support::shelf::{PATIENCE, append_to, draft};
use crate::support::shop::{Shop, given};
use crate::support::{DONE, UNDONE};

/// A decision about an output.
#[track_caller]
fn decide(shop: &Shop, run: &str, output: &str, code: i32) {
    fs::write(shop.machines[0].path("out.log"), output).unwrap();
    shop.say(&format!("check out.log --run {run}")).is(code);
}

/// Two runs of one loop, and one of another.
fn decided() -> Shop {
    let shop = Shop::new();
    for (run, output, code) in
        [("a", UNDONE, 1), ("a", DONE, 0), ("a", UNDONE, 1), ("a", UNDONE, 1), ("b", UNDONE, 1)]
    {
        decide(&shop, run, output, code);
    }
    shop
}

/// Moves these decisions out, as earlier versions did.
fn move_out(shop: &Shop, numbers: &[u64]) {
    let lines = shop.say("ledger export").is(0).out;
    let records: Vec<_> =
        lines.lines().map(|line| Sealed::from_line(line.as_bytes()).unwrap()).collect();
    let (first, last) = (numbers[0], *numbers.last().unwrap());
    let head = records.iter().find(|sealed| sealed.record.seq == last).unwrap().hash;
    let archive = json!({
        "file": "shop.jsonl.gz", "first": first, "last": last, "records": numbers.len(), "head": head,
    });
    let kind = "ledger_archived".to_owned();
    let record = Draft { kind, ..draft(None, &json!({ "archive": archive })) };
    let list: Vec<_> = numbers.iter().map(u64::to_string).collect();
    shop.run(&format!("DELETE FROM ledger WHERE seq IN ({})", list.join(", ")));
    let machine = &shop.machines[0];
    let place = Place::Folder(machine.state());
    let mut store = Store::open(&place, Some(machine.heads()), PATIENCE).unwrap();
    append_to(&mut store, "shop", record).unwrap();
}

fn verified(shop: &Shop, words: &str, code: i32) -> Value {
    shop.say(&format!("ledger verify --json {words}")).is(code).json()
}

#[test]
fn the_ledger_goes_on_and_verify_says_what_is_missing() {
    let shop = decided();
    // The run of record 4 began with record 3.
    move_out(&shop, &[1, 2, 3]);
    let holds = verified(&shop, "", 0);
    assert_eq!((&holds["records"], &holds["archived"]), (&6.into(), &3.into()));
    assert_eq!((&holds["archived_before"], &holds["undecided"]), (&4.into(), &0.into()));
    let card = shop.say("ledger verify").is(0).out;
    let told = "moved out   3 records before record 4, by an earlier version of gate";
    assert!(card.starts_with("HOLDS  6 records") && card.contains(told), "{card}");
    decide(&shop, "a", UNDONE, 1);
    assert_eq!(shop.say("last --json").is(1).json()["iteration"], 3, "its run goes on");
    decide(&shop, "c", DONE, 0);
    for words in ["log", "log --since 1d", "ledger show --all", "explain 4", "report"] {
        shop.say(words).is(0);
    }
    assert!(shop.say("explain 1").is(2).err.contains("`1`"));
    let export = shop.say("ledger export").is(0).out;
    assert_eq!(export.lines().count(), 5);
    fs::write(shop.machines[0].path("export.jsonl"), &export).unwrap();
    assert_eq!(verified(&shop, "export.jsonl", 0)["archived"], 3);
    let piped = given(&mut shop.command(0, "ledger verify --json -"), &export).is(0).json();
    assert_eq!((&piped["archived"], &piped["store"]), (&3.into(), &Value::Null));
}

#[test]
fn decisions_between_others_may_be_moved_out_twice() {
    let shop = decided();
    move_out(&shop, &[2]);
    move_out(&shop, &[1, 3]);
    let holds = verified(&shop, "", 0);
    assert_eq!((&holds["archived"], &holds["archived_before"]), (&3.into(), &4.into()));
    decide(&shop, "b", UNDONE, 1);
    verified(&shop, "", 0);
}

#[test]
fn what_nobody_moved_out_is_missing_as_before() {
    let shop = decided();
    move_out(&shop, &[1, 3]);
    shop.run("DELETE FROM ledger WHERE seq = 2");
    let problem = shop.problem();
    assert_eq!(problem["message"], "records 1 to 3 are missing: the ledger begins with 4");
    let shop = decided();
    move_out(&shop, &[1]);
    shop.run("DELETE FROM ledger WHERE seq = 3");
    assert_eq!(shop.problem()["seq"], 3);
    let shop = decided();
    move_out(&shop, &[1, 2]);
    shop.run("UPDATE ledger SET actor = 'eve' WHERE seq = 3");
    assert_eq!(shop.problem()["message"], "record 3: its hash does not fit what it says");
}

#[test]
fn a_lost_end_behind_them_is_accepted() {
    let shop = decided();
    move_out(&shop, &[1, 2]);
    decide(&shop, "b", UNDONE, 1);
    shop.run("DELETE FROM ledger WHERE seq = 7");
    assert!(shop.say("check out.log --run b").is(3).out.contains("gate ledger accept --reason"));
    shop.say("ledger accept --reason restored").is(0);
    verified(&shop, "", 0);
    decide(&shop, "b", UNDONE, 1);
}

#[test]
fn a_record_names_what_was_moved_out_before_it() {
    let shop = decided();
    move_out(&shop, &[1, 2]);
    let line = shop.say("ledger show 6 --json").is(0).out;
    let sealed = Sealed::from_line(line.trim_end().as_bytes()).unwrap();
    let moved = MovedOut::named_by(&sealed.record).unwrap();
    assert_eq!((moved.first, moved.last.seq, moved.records), (1, 2, 2));
    let mut other = sealed.record;
    other.kind = "note".to_owned();
    assert_eq!(MovedOut::named_by(&other), None);
}
