//! `gate goal`: what a person wants to be so, and the command that shows it.

use serde_json::{Value, json};

use crate::run::{SAYS, project};
use crate::support::{DONE, Ran, Run, each, gate};

const TEXT: &str = "the export has a tax column";

/// Passes once the file `tax` is there, and says what is missing before.
const CHECK: &str = "test -e tax || { echo 'assert export() == tax'; exit 1; }\n";

/// `gate goal` with these words behind the goal's, in a folder without settings.
fn given(words: &str) -> Run {
    gate("").args(["goal", TEXT]).args(words.split_whitespace()).file("tax.sh", CHECK)
}

/// A goal with a command was given here.
fn checked() -> Ran {
    given("-- sh tax.sh").code(0)
}

/// The outcome of each check of a decision, by name.
fn outcomes(decision: &Value) -> Vec<(&str, &str)> {
    let evidence = decision["evidence"].as_array().unwrap().iter();
    let pairs =
        evidence.map(|one| (one["check"].as_str().unwrap(), one["outcome"].as_str().unwrap()));
    pairs.collect()
}

#[test]
fn a_loop_goes_on_until_the_command_passes_and_then_the_goal_is_gone() {
    let ran = checked().says("GOAL  given: ").says("✗ not met").says("assert export() == tax");
    let ran = ran.again("check --json out.log").file("out.log", DONE).code(1);
    let decision = ran.json();
    assert_eq!(outcomes(&decision), [("goal", "fail")]);
    assert_eq!(decision["evidence"][0]["mode"], "require");
    let goal = json!({ "text": TEXT, "command": "sh tax.sh", "state": "not-met" });
    assert_eq!(decision["goals"], json!([goal]));
    let feedback = decision["feedback"].as_str().unwrap();
    assert!(feedback.contains("assert export() == tax") && feedback.contains(TEXT), "{feedback}");
    let ran = ran.again("status --line").code(0);
    let ran = ran.says("gate: goal not met: the export has a tax column · NOT DONE");
    let ran = ran.again("check --json out.log").file("tax", "").code(0);
    assert_eq!(ran.json()["goals"][0]["state"], "met");
    assert_eq!(ran.json()["verified"], true);
    let ran = ran
        .again("last")
        .code(0)
        .says("✓ goal        the export has a tax column (`sh tax.sh`): met");
    let ran = ran.again("report --json").code(0);
    assert_eq!(ran.json()["loops"][0]["goals"][0]["text"], TEXT);
    let ran = ran.again("goal --json").code(0);
    assert_eq!(ran.json(), json!({ "schema": "gate.goal.v1", "goals": [], "criteria": [] }));
    // The next task has nothing of it.
    ran.again("check --json out.log").setup("rm tax").code(0);
}

#[test]
fn a_look_changes_nothing_and_shows_what_the_command_says_now() {
    let ran = checked().again("goal --json").file("tax", "").code(0);
    let goal = &ran.json()["goals"][0];
    assert_eq!((&goal["state"], &goal["task"]), (&json!("met"), &Value::Null));
    let ran = ran.again("goal").setup("rm tax").code(0).says("✗ not met").says("exit code 1");
    let ran = ran.again("goal list").code(0).says("GOAL  1 open goal here");
    let ran = ran.again("status --json").code(0);
    assert_eq!(each(&ran.json(), "goals", "text"), [TEXT]);
    assert_eq!(ran.json()["judges"], true);
}

#[test]
fn settings_that_nobody_approved_keep_no_goal_from_its_check() {
    let settings = "[checks.tests]\ncommand = [\"touch\", \"ran\"]\n";
    let ran = checked().again("check --json out.log").unapproved(settings).file("out.log", DONE);
    let ran = ran.code(1);
    assert_eq!(
        outcomes(&ran.json()),
        [("goal", "fail"), ("tests", "inconclusive"), ("settings", "inconclusive")]
    );
    let ran = ran.again("check --json out.log").file("tax", "").code(1);
    assert_eq!(
        outcomes(&ran.json()),
        [("goal", "pass"), ("tests", "inconclusive"), ("settings", "inconclusive")]
    );
    assert!(ran.stdout.contains("gate.toml is not approved"), "{}", ran.stdout);
    assert!(!ran.path("ran").exists(), "nobody approved it");
    let ran = ran.again("trust").code(0).again("check --json out.log").code(0);
    assert_eq!(outcomes(&ran.json()), [("goal", "pass"), ("tests", "pass")]);
}

#[test]
fn another_name_of_the_project_frees_nobody_from_a_goal() {
    let ran = checked().again("check --json out.log").file("out.log", DONE).code(1);
    let rename = "git init -q; git remote add origin https://example.com/shop.git";
    let ran = ran.again("check --json out.log").setup(rename).code(1);
    let ran = ran.again("goal").code(0).says("1 open goal here");
    let ran = ran.again("check --json out.log").file("tax", "").code(0);
    ran.again("goal --json").code(0).says("\"goals\": []");
}

#[test]
fn an_agent_that_checks_by_itself_ends_no_goal() {
    let ran = checked().again("check out.log").file("out.log", DONE).file("tax", "");
    let ran = ran.env("CLAUDECODE", "1").code(0).says("✓ goal ");
    let ran = ran.again("goal --json").code(0);
    assert_eq!(each(&ran.json(), "goals", "text"), [TEXT]);
    let ran = ran.again("check out.log").code(0);
    ran.again("goal").code(0).says("none is open here");
}

#[test]
fn a_decision_is_not_repeated_after_a_persons_act_on_a_goal() {
    let check = |ran: Ran, code: i32| {
        ran.again("check --iteration 1 out.log").file("out.log", DONE).code(code)
    };
    let ran = check(check(checked(), 1), 1).says("repeated");
    let ran = ran.again("goal drop").code(0);
    let ran = check(ran, 0);
    let ran = ran.again("").args(["goal", TEXT, "--", "sh", "tax.sh"]).code(0);
    check(ran, 1);
}

#[test]
fn a_goal_without_a_command_is_shown_and_decides_nothing() {
    let ran = given("").code(0).says("the agent is told").says("! no command ");
    let settings = "[checks.tests]\ncommand = [\"true\"]\n";
    let ran = ran.again("check out.log").settings(settings).file("out.log", DONE).code(0);
    let ran = ran.says("DONE  ").says("! goal        the export has a tax column: only claimed");
    ran.again("goal").code(0).says("none is open here");
}

#[test]
fn a_goal_of_a_task_binds_that_task_alone() {
    let ran = given("--task 7 -- sh tax.sh").code(0).says("not met");
    let check = |ran: Ran, task: &str, code: i32| {
        ran.again(&format!("check --task {task} out.log")).file("out.log", DONE).code(code)
    };
    let ran = check(check(ran, "7", 1), "8", 0);
    let ran = ran.again("check --plan").code(0).says("would run 0 checks here");
    let ran = ran.again("check --plan --task 7").code(0).says("  ✗ goal        sh tax.sh\n");
    let ran = ran.again("goal drop").code(2).tells("no goal is open here");
    let ran = ran.again("goal drop --task 7").code(0).says("dropped: the export has a tax column");
    check(ran, "7", 0);
}

#[test]
fn the_same_words_again_replace_the_command_and_others_stand_beside() {
    let ran = given("-- false").code(0).again("").args(["goal", TEXT, "--", "true"]).code(0);
    let ran = ran.again("").args(["goal", "labels", "--", "test -e a && test -e b"]).code(0);
    let ran = ran.again("goal --json").code(0);
    assert_eq!(each(&ran.json(), "goals", "command"), ["true", "test -e a && test -e b"]);
    assert_eq!(each(&ran.json(), "goals", "state"), ["met", "not-met"]);
    let ran = ran.again("goal drop label").code(2).tells("no open goal here has the words `label`");
    let ran = ran.again("goal drop labels").code(0).says("✓ met");
    ran.again("check out.log").file("out.log", DONE).code(0);
}

#[test]
fn a_goal_says_at_once_if_its_command_tells_nothing() {
    given("-- true").code(0).says("GOAL  given, but its command passes already");
    given("-- no-such-program").code(0).says("GOAL  given, but its command gives no result");
    // A name that no test has.
    let none = "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; \
                3 filtered out; finished in 0.00s\n";
    let ran = given("-- cat report.txt").file("report.txt", none).code(0).says(": no test ran");
    ran.says("GOAL  given, but its command gives no result");
}

#[test]
fn a_command_that_cannot_start_is_never_a_pass() {
    let ran = given("-- no-such-program").code(0).says("! not known");
    let ran = ran.again("check --json out.log").file("out.log", DONE).code(1);
    assert_eq!(outcomes(&ran.json()), [("goal", "inconclusive")]);
    ran.again("check out.log")
        .code(1)
        .says("install it, or give the goal again with another command");
    given("-- -k tax").code(0).says("! not known");
    gate("goal -- true").code(2).tells("TEXT");
    gate("goal dorp").code(2).tells("`dorp` is no subcommand").tells("`gate goal drop`");
}

#[test]
fn a_run_ends_when_its_goal_is_reached() {
    let agent = format!("touch fixed\ntest -e again && touch tax\ntouch again\n{SAYS}");
    let args = ["run", "--prompt", "PROMPT.md", "--goal", TEXT, "--goal-command", "test -e tax"];
    let ran = project(&agent).words("").args(args).args(["--json", "--", "./agent.sh"]);
    let ran = ran.code(0);
    assert_eq!(
        (&ran.json()["stopped_by"], &ran.json()["iterations"]),
        (&json!("completed"), &json!(2))
    );
    assert!(
        ran.file("seen").contains(&format!(
            "The person's goal: {TEXT}. It is reached when `test -e tax` passes."
        ))
    );
    let ran = ran.again("goal").code(0).says("none is open here");
    ran.again("run --prompt P.md --goal-command true -- true").code(2).tells("--goal <TEXT>");
}
