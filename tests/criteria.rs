//! Acceptance criteria with commands: of the settings, of Markdown, of prd.json.

use serde_json::{Value, json};

use crate::support::{DONE, Run, each, gate, judge};

const TWO: &str = "[[criteria]]\nid = \"sale\"\ntext = \"The discount applies to sale items\"\n\
                   verify = [\"test\", \"-e\", \"sale\"]\n\
                   [[criteria]]\nid = \"tax\"\ntext = \"The tax is shown\"\n\
                   verify = [\"test\", \"-e\", \"tax\"]\n";

/// The record of `acceptance_criteria`.
fn evidence(decision: &Value) -> Value {
    let all = decision["evidence"].as_array().unwrap();
    let found = all.iter().find(|one| one["check"] == "acceptance_criteria");
    found.unwrap_or_else(|| panic!("{decision}")).clone()
}

fn states(evidence: &Value) -> Vec<&str> {
    each(&evidence["detail"], "criteria", "state")
}

#[test]
fn criteria_of_the_settings_decide_by_their_commands() {
    let run = judge("check --json out.log", DONE).settings(TWO).file("sale", "");
    let ran = run.code(1);
    let decision = ran.json();
    let found = evidence(&decision);
    assert_eq!(states(&found), ["met", "not-met"]);
    let expected = "1 of 2 criteria are not met: The tax is shown (`test -e tax`: exit code 1)";
    assert_eq!((&found["outcome"], &found["summary"]), (&json!("fail"), &json!(expected)));
    assert!(decision["feedback"].as_str().unwrap().contains("The tax is shown"), "{decision}");
    assert_eq!(decision["next"], "meet the criterion: The tax is shown");
    let ran = ran.again("check --json out.log").file("tax", "").code(0);
    let decision = ran.json();
    assert_eq!(evidence(&decision)["summary"], "all 2 criteria are met");
    assert_eq!(decision["verified"], true);
    ran.again("last").code(0).says("DONE  criteria met 2 of 2; ");
}

#[test]
fn gate_goal_lists_them_with_their_states() {
    let settings = format!("{TWO}[[criteria]]\nid = \"copy\"\ntext = \"The words are kind\"\n");
    let ran = gate("goal").settings(&settings).file("sale", "").code(0);
    let ran = ran.says("GOAL  none is open here; 1 of 3 criteria met\n");
    let ran = ran.says("✓ met").says("✗ not met");
    let ran = ran.says("! claimed     The words are kind");
    let ran =
        ran.again("doctor --self-test").code(0).says("can fail    it fails now: 1 of 3 criteria");
    let record = ran.again("goal --json").code(0).json();
    assert_eq!(each(&record, "criteria", "id"), ["sale", "tax", "copy"]);
    assert_eq!(each(&record, "criteria", "state"), ["met", "not-met", "claimed"]);
    let ran = gate("goal").unapproved(&settings).code(0);
    ran.says("! criteria    ").says("is not approved yet");
}

#[test]
fn a_criterion_that_is_not_met_is_told_by_its_failing_assertion() {
    let script = "def total(prices):\n    return sum(prices)\n";
    let check = "import sys\n\nsys.path.insert(0, \".\")\nimport cart\n\nfor line in range(40):\n    \
                 print(\"looking\", line)\nassert cart.total([100]) == 90, \"the discount is missing\"\n";
    let settings = "[[criteria]]\nid = \"sale\"\ntext = \"The discount applies\"\n\
                    verify = [\"python3\", \"check.py\"]\n\
                    [[criteria]]\nid = \"same\"\ntext = \"Nothing else changes\"\n\
                    verify = [\"diff\", \"-u\", \"old.txt\", \"new.txt\"]\n";
    let run = gate("goal").settings(settings).file("cart.py", script).file("check.py", check);
    let ran = run.file("old.txt", "a\nb\n").file("new.txt", "a\nc\n").code(0);
    let ran = ran.says("`python3 check.py`: check.py:8: AssertionError: the discount is missing\n");
    let ran =
        ran.says("assert cart.total([100]) == 90").says("`diff -u old.txt new.txt`: -b, +c\n");
    assert!(!ran.stdout.contains("looking"), "{}", ran.stdout);
    let ran = ran.again("goal --json").code(0);
    let record = ran.json();
    let failure = record["criteria"][1]["failure"].as_str().unwrap();
    assert!(failure.starts_with("--- old.txt"), "{record}");
    let ran = ran.again("check --json out.log").file("out.log", DONE).code(1);
    let feedback = ran.json()["feedback"].as_str().unwrap().to_owned();
    for told in ["check.py:8: AssertionError: the discount is missing", "== 90", "-b\n+c"] {
        assert!(feedback.contains(told), "{feedback}");
    }
    assert!(!feedback.contains("looking") && !feedback.contains("exit code"), "{feedback}");
}

#[test]
fn a_claim_alone_is_told_as_one() {
    let settings = format!("{TWO}[[criteria]]\nid = \"copy\"\ntext = \"The words are kind\"\n");
    let run = judge("check --json out.log", DONE).settings(&settings).file("sale", "");
    let found = evidence(&run.file("tax", "").code(0).json());
    assert_eq!(found["summary"], "2 of 3 criteria are met; 1 only claimed: The words are kind");
    assert_eq!(found["claim"], true);
}

const TASKS: &str = "# Shop\n\n- [x] The discount applies\n  verify: test -e sale\n\
                     - [x] The tax is shown\n  - verify: `test -e tax`\n- [x] The words are kind\n";

/// A project whose tasks are committed, with state: its baseline is known.
fn tasks(words: &str) -> Run {
    let settings = "[checks.acceptance_criteria]\nfiles = [\"TASKS.md\"]\n";
    let run = judge(words, DONE).settings(settings).file("TASKS.md", TASKS);
    run.file(".gitignore", "out.log\n").committed()
}

#[test]
fn a_ticked_box_whose_command_fails_is_refused_by_name() {
    let ran = tasks("check --json out.log").file("sale", "").code(1);
    let found = evidence(&ran.json());
    assert_eq!(states(&found), ["met", "not-met", "claimed"]);
    let expected = "1 of 3 criteria are not met: The tax is shown (ticked, but `test -e tax`: exit \
                    code 1)";
    assert_eq!(found["summary"], expected);
    let ran = ran.again("check --json out.log").file("tax", "").code(0);
    assert_eq!(states(&evidence(&ran.json())), ["met", "met", "claimed"]);
}

#[test]
fn each_command_of_a_task_has_to_pass() {
    let both = "- [x] The shop\n  Verify: test -e sale\n  verify: test -e tax\n";
    let ran = tasks("check --json out.log").file("TASKS.md", both).committed();
    let ran = ran.file("tax", "").code(1);
    assert_eq!(states(&evidence(&ran.json())), ["not-met"]);
    let ran = ran.again("check --json out.log").file("sale", "").code(0);
    assert_eq!(states(&evidence(&ran.json())), ["met"]);
}

#[test]
fn a_new_file_that_meets_a_criterion_is_the_work() {
    let settings = "[[criteria]]\nid = \"cli\"\ntext = \"There is a program\"\n\
                    verify = [\"sh\", \"cli.sh\"]\n";
    let run = judge("baseline", DONE).settings(settings).file(".gitignore", "out.log\n");
    let ran =
        run.committed().code(0).again("check --json out.log").file("cli.sh", "true\n").code(0);
    ran.again("last").code(0).says("criteria met 1 of 1");
}

#[test]
fn an_exit_names_the_edited_script_that_it_rests_on() {
    let settings = "[[criteria]]\nid = \"sale\"\ntext = \"The discount applies\"\n\
                    verify = [\"sh\", \"ci/sale.sh\"]\n";
    let run = judge("check --json out.log", DONE).settings(settings);
    let run = run.file("ci/sale.sh", "test -e sale\n").file(".gitignore", "out.log\n");
    let ran = run.committed().code(1);
    let ran = ran.again("check --json out.log").file("ci/sale.sh", "true\n").code(0);
    ran.again("last").code(0).says("DONE  criteria met 1 of 1 (edited: ci/sale.sh)");
}

#[test]
fn a_command_that_the_agent_wrote_shows_nothing() {
    let weakened = TASKS.replace("test -e tax", "true").replace("test -e sale", "true");
    let ran = tasks("check --json out.log").code(1);
    let ran = ran.again("check --json out.log").file("TASKS.md", &weakened).code(1);
    assert_eq!(states(&evidence(&ran.json())), ["not-met", "not-met", "claimed"]);
    let gone = "- [x] The words are kind\n- [x] New\n  verify: touch ran\n";
    let ran = ran.again("check --json out.log").file("TASKS.md", gone).code(1);
    let found = evidence(&ran.json());
    assert_eq!(each(&found["detail"], "criteria", "text").len(), 4);
    assert!(!ran.path("work/ran").exists(), "a command of the agent ran");
}

#[test]
fn stories_have_commands_too() {
    let stories = json!({"userStories": [
        {"id": "US-1", "title": "Sale", "passes": true, "verify": ["test", "-e", "sale"]},
        {"id": "US-2", "title": "Tax", "passes": false, "verify": "test -e tax | cat"},
    ]});
    let settings = "[checks.acceptance_criteria]\nfiles = [\"prd.json\"]\n";
    let run = judge("check --json out.log", DONE).settings(settings);
    let run = run.file("prd.json", stories.to_string()).file(".gitignore", "out.log\n").committed();
    let found = evidence(&run.file("sale", "").code(1).json());
    assert_eq!(states(&found), ["met", "not-met"]);
}

#[test]
fn a_command_that_cannot_start_is_never_a_pass() {
    let settings = TWO.replace("\"test\", \"-e\", \"tax\"", "\"no-such-program\"");
    let run = judge("check --json out.log", DONE).settings(&settings).file("sale", "");
    let found = evidence(&run.code(1).json());
    assert_eq!(found["outcome"], "inconclusive");
    assert!(found["summary"].as_str().unwrap().contains("The tax is shown"), "{found}");
}

#[test]
fn commands_wait_for_an_approval() {
    let ran = judge("check --json out.log", DONE).unapproved(TWO).code(2);
    ran.tells(r#"["test", "-e", "sale"]"#);
    let settings = "[checks.acceptance_criteria]\nfiles = [\"TASKS.md\"]\n";
    let run = judge("check --json out.log", DONE).unapproved(settings);
    let run =
        run.file("TASKS.md", "- [x] A\n  verify: touch ran\n").file(".gitignore", "out.log\n");
    let ran = run.committed().code(2).tells("touch ran");
    assert!(!ran.path("work/ran").exists(), "nobody approved it");
}

#[test]
fn wrong_criteria_are_told_with_their_place() {
    let check = |settings: &str, message: &str| {
        gate("goal").unapproved(settings).code(2).tells(message);
    };
    check("[[criteria]]\nid = \"a\"\n", "criteria[0]");
    check("[[criteria]]\nid = \"a b\"\ntext = \"x\"\n", "letters, digits");
    check("[[criteria]]\nid = \"a\"\ntext = \"x\"\nverify = []\n", "the list is empty");
    check("[[criteria]]\nid = \"a\"\ntext = \"x\"\nverify = \"make\"\n", "gate.toml:4");
    let twice = "[[criteria]]\nid = \"a\"\ntext = \"x\"\n".repeat(2);
    check(&twice, "criterion");
}
