//! `gate prune --records`: old decisions leave the store for an archive, and nothing is lost.

use std::fs;
use std::path::{Path, PathBuf};

use gate_core::ledger::{Draft, Head, Sealed};
use serde_json::Value;

use crate::schemas::printed;
use crate::support::json_schema::holds;
use crate::support::shop::{Said, Shop};
use crate::support::{DONE, UNDONE};

/// What archives the decisions of these tests.
pub(crate) const PRUNE: &str = "prune --older 90d --records --json";

/// Lets every record up to this one be of another year. Their hashes follow.
pub(crate) fn age(shop: &Shop, up_to: u64) {
    let (mut head, mut sql) = (Head::EMPTY, String::new());
    let lines = shop.say("ledger export").is(0).out;
    for line in lines.lines() {
        let old = Sealed::from_line(line.as_bytes()).unwrap().record;
        let is_old = old.seq <= up_to;
        let time = if is_old { "2020-01-02T03:04:05Z".to_owned() } else { old.time };
        let draft = Draft { time, kind: old.kind, run: old.run, actor: old.actor, body: old.body };
        let new = head.follow(draft);
        head = new.head();
        sql.push_str(&format!(
            "UPDATE ledger SET time = '{}', prev = '{}', hash = '{}' WHERE seq = {};\n",
            new.record.time, new.record.prev, new.hash, new.record.seq,
        ));
    }
    shop.run(&sql);
    for machine in &shop.machines {
        let _ = fs::remove_dir_all(machine.heads());
    }
}

/// A decision about an output.
pub(crate) fn decide(shop: &Shop, machine: usize, words: &str, output: &str, code: i32) {
    fs::write(shop.machines[machine].path("out.log"), output).unwrap();
    let output = shop.command(machine, &format!("check out.log {words}")).output().unwrap();
    Said::of(&output).is(code);
}

/// Runs of two loops: of the first one the first run is over. All is old.
pub(crate) fn old(shop: &Shop) {
    decide(shop, 0, "--run a", UNDONE, 1);
    decide(shop, 0, "--run a", UNDONE, 1);
    decide(shop, 0, "--run a", DONE, 0);
    decide(shop, 0, "--run a", UNDONE, 1);
    decide(shop, 0, "--run b", UNDONE, 1);
    age(shop, u64::MAX);
}

pub(crate) fn shop() -> Shop {
    let shop = Shop::new();
    old(&shop);
    shop
}

pub(crate) fn verified(shop: &Shop) -> Value {
    shop.say("ledger verify --json").is(0).json()
}

/// The numbers of records in the store.
pub(crate) fn stored(shop: &Shop) -> Vec<u64> {
    let lines = shop.say("ledger show --all --json").is(0).out;
    lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["seq"].as_u64().unwrap())
        .collect()
}

pub(crate) fn archives(shop: &Shop) -> PathBuf {
    shop.machines[0].state().join("archive")
}

/// The archives that are whole.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|end| end == "gz")).collect();
    files.sort();
    files
}

#[test]
fn old_decisions_go_to_an_archive_and_the_ledger_stays_whole() {
    let shop = shop();
    let before = shop.records();
    let dry = shop.say(&format!("{PRUNE} --dry-run")).is(0).json();
    assert_eq!((&dry["records"]["count"], &dry["records"]["archive"]), (&3.into(), &Value::Null));
    assert_eq!(shop.records(), before);
    let pruned = shop.say(PRUNE).is(0).json();
    holds(&printed("prune"), &pruned);
    let (records, archive) = (&pruned["records"], &pruned["records"]["archive"]);
    assert_eq!((&records["count"], &records["bytes"]), (&3.into(), &dry["records"]["bytes"]));
    assert_eq!((&archive["first"], &archive["records"]), (&1.into(), &3.into()));
    let place = records["ledger"]["seq"].as_u64().unwrap();
    let after = shop.records();
    assert_eq!(after[..before.len()], before, "the export has all of them");
    assert_eq!(
        (after.len() as u64, &after[before.len()]["type"]),
        (place, &"ledger_archived".into())
    );
    assert_eq!(after[before.len()]["body"]["archive"], *archive);
    let verified = verified(&shop);
    assert_eq!((&verified["records"], &verified["archived"]), (&place.into(), &3.into()));
    assert_eq!(verified["undecided"], 0, "archived decisions are made again, too");
    assert!(stored(&shop).len() + 3 == after.len() && !stored(&shop).contains(&1));
    assert_eq!(shop.say("ledger show 1 --json").is(0).json(), before[0]);
    let id = before[0]["body"]["decision"]["decision_id"].as_str().unwrap();
    for named in ["1", "#1", id] {
        assert_eq!(
            shop.say(&format!("explain {named} --json")).is(0).json()["decision"]["ledger"]["seq"],
            1
        );
    }
    assert_eq!(shop.say(PRUNE).is(0).json()["records"]["count"], 0, "no record twice");
    let card = shop.say("prune --older 90d --records").is(0).out;
    assert_eq!(card, "nothing to remove that is older than 90d\n");
    shop.say("log").is(0);
}

#[test]
fn later_archives_reach_back_before_earlier_ones() {
    let shop = Shop::new();
    decide(&shop, 0, "--run b", UNDONE, 1);
    decide(&shop, 0, "--run a", UNDONE, 1);
    decide(&shop, 0, "--run a", UNDONE, 1);
    age(&shop, u64::MAX);
    let first = shop.say(PRUNE).is(0).json()["records"]["archive"].clone();
    assert_eq!((&first["first"], &first["last"]), (&2.into(), &2.into()));
    decide(&shop, 0, "--run b", UNDONE, 1);
    decide(&shop, 0, "--run a", UNDONE, 1);
    let before = shop.records();
    age(&shop, u64::MAX);
    let second = shop.say(PRUNE).is(0).json()["records"]["archive"].clone();
    assert_eq!((&second["first"], &second["last"]), (&1.into(), &3.into()));
    assert_eq!((files(&archives(&shop)).len(), stored(&shop)), (2, vec![4, 5, 6, 7]));
    let bodies = |records: &[Value]| -> Vec<Value> {
        records.iter().map(|record| record["body"].clone()).collect()
    };
    assert_eq!(bodies(&shop.records()[..before.len()]), bodies(&before));
    assert_eq!(verified(&shop)["archived"], 3);
}

#[test]
fn an_archived_iteration_is_decided_anew_in_a_new_run() {
    let shop = Shop::new();
    decide(&shop, 0, "--run a --iteration 1", UNDONE, 1);
    decide(&shop, 0, "--run a --iteration 2", DONE, 0);
    age(&shop, u64::MAX);
    assert_eq!(shop.say(PRUNE).is(0).json()["records"]["archive"]["last"], 1);
    decide(&shop, 0, "--run a --iteration 1", UNDONE, 1);
    let last = shop.say("last --json").is(1).json();
    let told = (&last["run"], &last["iteration"], &last["repeated"]);
    assert_eq!(told, (&"a#2".into(), &1.into(), &false.into()));
    verified(&shop);
}

#[test]
fn a_changed_or_missing_archive_is_named_and_stops_no_decision() {
    let shop = shop();
    let before = shop.records();
    shop.say(PRUNE).is(0);
    let file = files(&archives(&shop)).remove(0);
    let shown = file.display().to_string();
    let whole = fs::read(&file).unwrap();
    let beside = fs::read_dir(file.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path());
    let beside = beside.into_iter().find(|path| path.extension().unwrap() == "sig").unwrap();
    let problem = |what: &str| {
        let problem = shop.problem();
        let message = problem["message"].as_str().unwrap();
        assert_eq!(problem["seq"], 1, "{problem}");
        assert!(message.contains(&shown) && message.contains(what), "{message}");
        let export = shop.say("ledger export").is(5);
        assert!(export.out.is_empty() && export.err.contains(&shown), "{}", export.err);
        shop.say("ledger show 1").is(5);
    };
    fs::write(&file, [&whole[..20], b"x", &whole[21..]].concat()).unwrap();
    problem("it has another digest");
    fs::remove_file(&file).unwrap();
    problem("is missing: bring it back");
    decide(&shop, 0, "--run b", UNDONE, 1);
    shop.say("ledger show 2").is(5);
    shop.say(&format!("ledger show {}", before.len())).is(0);
    fs::write(&file, &whole).unwrap();
    let signature = fs::read_to_string(&beside).unwrap();
    fs::write(&beside, signature.replace("\"signature\": \"", "\"signature\": \"0")).unwrap();
    problem("is not the signature in the ledger's record");
    fs::write(&beside, signature).unwrap();
    assert_eq!(verified(&shop)["archived"], 3);
}

#[test]
fn an_archive_in_another_ones_place_is_found() {
    let shop = shop();
    let other = self::shop();
    shop.say(PRUNE).is(0);
    other.say(PRUNE).is(0);
    let [own, foreign] = [&shop, &other].map(|shop| files(&archives(shop)).remove(0));
    fs::copy(&foreign, &own).unwrap();
    assert!(shop.problem()["message"].as_str().unwrap().contains("it has another digest"));
}

#[test]
fn it_is_the_operators_and_keeps_thirty_days() {
    let shop = shop();
    shop.say("prune --records").is(2);
    shop.say("prune --older 90d --to x").is(2);
    shop.say("prune --records --older 29d")
        .is(2)
        .tells("--records keeps the records of 30 days at least");
    let before = shop.records();
    let refused = shop.command(0, PRUNE).env("CLAUDECODE", "1").output().unwrap();
    assert_eq!(Said::of(&refused).is(2).json()["code"], "under-an-agent");
    assert_eq!((shop.records(), archives(&shop).exists()), (before, false));
    shop.say(&format!("{PRUNE} --to elsewhere")).is(0);
    let elsewhere = shop.machines[0].path("elsewhere");
    assert_eq!((files(&elsewhere).len(), archives(&shop).exists()), (1, false));
    verified(&shop);
    // Moved to the state folder, it is found there.
    fs::rename(elsewhere, archives(&shop)).unwrap();
    verified(&shop);
    let log = shop.say("log --since 9999d").is(0).out;
    assert!(
        log.starts_with("older decisions, up to 2020-01-02") && log.contains("archived"),
        "{log}"
    );
    assert!(!shop.say("log --since 30d").is(0).out.starts_with("older decisions"));
}

#[test]
fn a_record_that_was_changed_is_not_archived() {
    let shop = shop();
    shop.run("UPDATE ledger SET actor = 'someone' WHERE seq = 2");
    let rows = shop.rows();
    let refused = shop.say(PRUNE).is(5);
    assert_eq!(refused.json()["code"], "state-corrupt", "{}", refused.out);
    assert_eq!((shop.rows(), files(&archives(&shop)).len()), (rows, 0));
}

#[test]
fn a_damaged_archive_is_written_again() {
    let shop = shop();
    shop.say("ledger backup before.db").is(0);
    shop.say(PRUNE).is(0);
    let file = files(&archives(&shop)).remove(0);
    let whole = fs::read(&file).unwrap();
    fs::write(&file, b"garbage").unwrap();
    shop.say_with("ledger restore before.db --reason", &["the archive is damaged"]).is(0);
    shop.say(PRUNE).is(0);
    assert_eq!(fs::read(&file).unwrap(), whole);
    verified(&shop);
}
