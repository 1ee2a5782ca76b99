//! `gate prune`: what can be made again goes, unless a check uses it; what is recorded stays.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::needs::needs;
use crate::run::wait;
use crate::schemas::printed;
use crate::support::json_schema::holds;
use crate::support::{DONE, Ran, Run, gate, judge};

const SETTINGS: &str = "[checks.tests]\ncommand = [\"node\", \"--test\"]\n";

const TEST: &str = "require('node:test')('sum', () => {});\n";

/// A project whose tests run in a copy.
fn project() -> Run {
    judge("check --json out.log", DONE).settings(SETTINGS).file("sum.test.js", TEST).committed()
}

/// The folders of the trees in a state folder.
fn trees(state: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(state.join("trees")).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// A tree's folder of the state has a copy of its files.
fn has_copy(tree: &Path) -> bool {
    tree.join("workspace/place").exists()
}

fn make_old(path: &Path) {
    let day = Duration::from_secs(24 * 60 * 60);
    fs::File::open(path).unwrap().set_modified(SystemTime::now() - day).unwrap();
}

/// A project that was checked, with things beside its copy that can be made again.
fn filled() -> Ran {
    let ran = project().code(0);
    let tree = &trees(&ran.state())[0];
    for folder in ["deciding-builds/0a", "self-test/00000001"] {
        fs::create_dir_all(tree.join(folder)).unwrap();
        fs::write(tree.join(folder).join("object"), vec![b'x'; 100_000]).unwrap();
    }
    let logs = tree.join("logs/0000000000001-old");
    fs::create_dir_all(&logs).unwrap();
    fs::write(logs.join("tests.log"), "ok\n").unwrap();
    make_old(&logs);
    ran
}

fn counts(record: &Value) -> Vec<u64> {
    let kinds = ["copies", "builds", "logs"];
    kinds.iter().map(|kind| record["removed"][kind]["count"].as_u64().unwrap()).collect()
}

fn ledger(ran: &Ran) -> Vec<u8> {
    ran.beside("ledger export").output().unwrap().stdout
}

#[test]
fn what_can_be_made_again_goes_and_what_is_recorded_stays() {
    if !needs("node") {
        return;
    }
    let ran = filled();
    let (tree, records) = (trees(&ran.state())[0].clone(), ledger(&ran));
    let log = ran.json()["evidence"][0]["log"].as_str().unwrap().to_owned();
    let ran = ran.again("prune --dry-run --json").code(0);
    let dry = ran.json();
    assert_eq!((counts(&dry), &dry["dry_run"]), (vec![1, 3, 1], &true.into()));
    assert!(has_copy(&tree) && tree.join("deciding-builds/0a/object").exists());
    let ran = ran.again("prune --json").code(0);
    let record = ran.json();
    assert_eq!(counts(&record), [1, 3, 1]);
    assert_eq!(record["bytes"], dry["bytes"]);
    holds(&printed("prune"), &record);
    assert!(record["bytes"].as_u64().unwrap() > 200_000);
    assert!(!has_copy(&tree) && !tree.join("deciding-builds/0a").exists());
    assert!(!tree.join("self-test/00000001").exists());
    assert!(Path::new(&log).exists(), "a log of the last hour stays");
    assert_eq!(ledger(&ran), records);
    let ran = ran.again("last --json").code(0);
    let ran = ran.again("prune").code(0).stdout("nothing to remove\n");
    let ran = ran.again("check --json --new-run --no-cache out.log").code(0);
    assert!(has_copy(&tree), "{}", ran.stdout);
}

#[test]
fn a_card_says_what_was_freed() {
    if !needs("node") {
        return;
    }
    let ran = filled().again("prune --dry-run").code(0);
    let ran = ran.stdout(
        "\
would free [..]B

    copies of trees  1, [..]B
    build output     3, [..]B
    logs of checks   1, [..]B
",
    );
    let ran = ran.again("prune --older 2d").code(0);
    let ran = ran.again("prune --older 2d").code(0);
    let ran = ran.stdout("nothing to remove that is older than 2d\n");
    ran.again("prune")
        .code(0)
        .says("freed ")
        .says("copies of trees  1,")
        .says("builds everything anew");
}

#[test]
fn a_copy_in_use_is_left_alone() {
    if !needs("node") {
        return;
    }
    let ran = project().code(0);
    let test = format!(
        "const fs = require('node:fs');\nrequire('node:test')('wait', async () => {{\n\
         \x20 fs.writeFileSync('{0}', '');\n  while (!fs.existsSync('{1}'))\n\
         \x20   await new Promise((go) => setTimeout(go, 50));\n}});\n",
        ran.home().join("began").display(),
        ran.home().join("go").display(),
    );
    fs::write(ran.path("wait.test.js"), test).unwrap();
    let mut check = ran.beside("check --json --new-run out.log");
    let check = check.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let (began, go) = (ran.home().join("began"), ran.home().join("go"));
    wait(|| began.exists());
    let ran = ran.again("prune --json").code(0);
    let record = ran.json();
    assert_eq!((counts(&record), &record["removed"]["in_use"]), (vec![0; 3], &1.into()));
    let ran = ran.again("prune").code(0).says("in use           1 copy, left alone\n");
    fs::write(go, "").unwrap();
    let said = check.wait_with_output().unwrap();
    let decision: Value = serde_json::from_slice(&said.stdout).unwrap();
    assert_eq!(decision["evidence"][0]["outcome"], "pass", "{decision:#}");
    assert!(has_copy(&trees(&ran.state())[0]));
}

#[test]
fn bad_input_is_named() {
    for age in ["soon", "7", "0d", "-1d"] {
        let ran = gate(&format!("prune --older={age}")).code(2);
        ran.tells("a length of time such as 90s or 1h30m is expected");
    }
    let missing = gate("prune").env("GATE_STATE_DIR", "no-such-folder").code(2);
    missing.tells("no-such-folder, in which gate keeps its state");
    let file = gate("prune --json").file("state", "").env("GATE_STATE_DIR", "state").code(2);
    assert_eq!(file.json()["code"], "state-missing");
    let odd = gate("prune --json").file("state/trees", "").env("GATE_STATE_DIR", "state").code(2);
    let error = odd.json();
    assert_eq!(error["code"], "state-unreadable");
    assert!(error["message"].as_str().unwrap().contains("cannot read the list of work trees in"));
    gate("prune").folder("state").env("GATE_STATE_DIR", "state").code(0).says("nothing to remove");
}

#[test]
fn copies_above_the_limit_go_when_tests_end() {
    if !needs("node") {
        return;
    }
    let first = project().code(0);
    let tree = trees(&first.state())[0].clone();
    assert!(has_copy(&tree), "the limit is far away");
    let settings = format!("{SETTINGS}[checks]\ncopies_max = \"1KB\"\n");
    let other = judge("check --json out.log", DONE).settings(&settings);
    let other = other.file("sum.test.js", TEST).committed();
    let other = other.env("GATE_STATE_DIR", first.state()).code(0);
    let copies: Vec<_> = trees(&first.state()).into_iter().filter(|tree| has_copy(tree)).collect();
    assert_eq!(copies.len(), 1, "{copies:?}");
    assert_ne!(copies[0], tree, "the copy that was used last stays");
    let other = other.again("doctor").env("GATE_STATE_DIR", first.state()).code(0);
    other.says("and `copies_max` in [checks] is 1 KB").says("do: gate prune");
    first.again("check --json --new-run --no-cache out.log").code(0);
}
