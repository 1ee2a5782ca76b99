//! `gate baseline`, and what decisions say of the tree that they compare with.

use serde_json::Value;

use crate::needs::needs;
use crate::support::{DONE, Ran, Run, gate, judge};

/// A project whose tests are a script.
fn project(words: &str) -> Run {
    judge(words, DONE)
        .settings("[checks.tests]\ncommand = [\"sh\", \"tests/run.sh\"]\n")
        .file("tests/run.sh", "exit 0\n")
}

const CHECK: &str = "check --json out.log";

/// The baseline that a decision was compared with.
fn baseline(ran: &Ran) -> Value {
    ran.json()["baseline"].clone()
}

fn warns(ran: &Ran) -> bool {
    ran.json()["warnings"].to_string().contains("no-baseline")
}

#[test]
fn outside_of_git_there_is_none_and_the_decision_says_so() {
    let ran = project(CHECK).code(0);
    assert!(baseline(&ran).is_null() && warns(&ran));
    assert!(ran.stdout.contains("not in a git repository (`git init`): what the tree was"));
    let ran = project(CHECK).setup("git init -q").run();
    assert!(ran.stdout.contains("nothing is committed (`git commit`): what the tree was"));
    let none = gate("baseline").settings("").code(1).says("not in a git repository (`git init`)");
    let none = none.again("baseline").setup("git init -q").code(1);
    let none = none.says("no baseline: nothing is committed (`git commit`)");
    none.again("baseline --show").code(1).says("none was taken: `gate baseline` takes one");
    let ran = judge(CHECK, DONE).settings("[checks.clean_git]\n").code(0);
    assert!(!warns(&ran), "nothing compares");
}

#[test]
fn a_run_keeps_the_commit_that_it_began_with() {
    let ran = project(CHECK).committed().code(0);
    let first = baseline(&ran);
    assert!(first.as_str().unwrap().starts_with("blake3:") && !warns(&ran));
    let again = "check --json --run one out.log";
    let ran = ran.again(again).code(0);
    let one = baseline(&ran);
    let commit = "git add -A; git -c user.name=a -c user.email=a commit -qm b --allow-empty";
    let ran = ran.again(again).setup(commit).code(0);
    // The first run has ended, and the next begins above another commit.
    assert_ne!(baseline(&ran), one);
}

#[test]
fn one_that_can_be_moved_is_told_with_the_remedy() {
    let ran = project(CHECK).committed().code(0);
    let decision = ran.json();
    assert_eq!((&decision["trust"], &decision["verdict"]), (&"T0".into(), &"exit".into()));
    let warning = decision["warnings"].as_array().unwrap().iter();
    let mut warning = warning.filter(|one| one["code"] == "baseline-of-history");
    let message = warning.next().unwrap()["message"].as_str().unwrap();
    assert!(message.contains("Run `gate baseline`"), "{message}");
    let ran = ran.again("baseline").code(0).again("check --json --new-run out.log").code(0);
    assert_eq!(ran.json()["trust"], "T1");
    assert!(!ran.stdout.contains("baseline-of-history"), "{}", ran.stdout);
}

#[test]
fn one_that_was_taken_by_hand_holds_for_the_runs_that_begin_then() {
    let ran = project("baseline --json").committed().code(0);
    let taken = ran.json()["baseline"].clone();
    assert_eq!(ran.json()["schema"], "gate.baseline.v1");
    assert_eq!(ran.json()["guarded"], 2, "gate.toml and the test: {}", ran.stdout);
    assert_eq!(ran.json()["tools"][0]["name"], "sh");
    assert!(ran.json()["ledger"]["seq"].is_u64());
    let ran = ran.again("baseline --show --json").code(0);
    assert_eq!(ran.json()["baseline"], taken);
    // A new file that nothing uses is asked about once.
    let ran = ran.again(CHECK).file("later.txt", "x\n").code(1).again(CHECK).code(0);
    assert_eq!(baseline(&ran), taken);
    let ran = ran.again("baseline --forget").code(0);
    let ran = ran.again("baseline --show").code(1);
    let ran = ran.again("check --json --new-run out.log").code(0);
    assert_ne!(baseline(&ran), taken);
}

#[test]
fn one_that_cannot_be_read_decides_nothing() {
    let ran = project("baseline").committed().code(0);
    let damage = "for f in $(find ../home .. -name waiting.json); do echo '{' > $f; done";
    let ran = ran.again("check out.log").setup(damage).code(5).stops();
    assert!(ran.stderr.contains("the baseline is damaged"), "{}", ran.stderr);
    let kept = "check --run night out.log";
    let not_done = "printf 'Not yet.\\n' > other.log";
    let ran = ran.again("baseline").code(0).again("check --run night other.log").setup(not_done);
    let damage = "for f in $(find ../home .. -path '*runs/*.json'); do echo '{' > $f; done";
    let ran =
        ran.run().again("check --run night --json out.log").setup("echo z >> later.txt").run();
    let ran = ran.again(kept).setup(damage).run();
    let ran = ran.again("baseline").code(0).again(kept).run();
    assert!(!ran.stderr.contains("damaged"), "{}", ran.stderr);
}

#[test]
fn a_dry_run_keeps_none() {
    let ran = project("check --json --dry-run out.log").committed().code(0);
    assert!(baseline(&ran).is_string());
    let found = ran.again("baseline --show").setup("find .. -name '*.json' -path '*runs*' > found");
    assert_eq!(found.code(1).file("found"), "");
}

#[test]
fn the_tests_of_a_baseline_are_found_out_with_it() {
    if !needs("pytest") {
        return;
    }
    let ran = gate("baseline")
        .settings("[checks.tests]\ncommand = [\"python3\", \"-m\", \"pytest\", \"-q\"]\n")
        .file(".gitignore", "__pycache__\n.pytest_cache\n")
        .file("tests/test_a.py", "def test_a():\n    assert True\n")
        .committed()
        .code(0);
    let trees = ran.state().join("trees");
    let results = std::fs::read_dir(trees).unwrap().flatten().filter(|tree| {
        std::fs::read_dir(tree.path().join("baseline/tests")).is_ok_and(|all| all.count() > 0)
    });
    assert_eq!(results.count(), 1, "{}", ran.stderr);
}

#[test]
fn tests_that_do_not_end_within_their_limit_are_told_when_it_is_taken() {
    let settings = "[checks.tests]\ncommand = [\"sleep\", \"60\"]\ntimeout = \"1s\"\n";
    let ran = gate("baseline").settings(settings).file("a.txt", "").committed().code(0);
    ran.tells(", its limit: raise `timeout` in [checks.tests], or name a part of the tests");
}
