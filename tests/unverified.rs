//! Exits that no check stands behind, and what counts as an indicator.

use crate::support::{DONE, each, judge};

const TESTS: &str = "[checks.tests]\ncommand = [\"true\"]\n";

/// A threshold of two, and tests that fail and only count.
const COUNTED: &str = "[exit_gate]\nindicator_threshold = 2\n\
                       [checks.tests]\ncommand = [\"false\"]\nmode = \"count\"\n";

#[test]
fn a_missing_gate_toml_does_not_look_like_a_green_project() {
    let ran = judge("check out.log", DONE).code(0);
    let ran = ran.says("DONE (unverified)  ").tells("on the agent's word alone");
    let ran = ran.again("check --json out.log").code(0).tells("on the agent's word alone");
    let decision = ran.json();
    assert_eq!(decision["verified"], false);
    assert!(each(&decision, "warnings", "code").contains(&"no-evidence"), "{decision}");
    assert!(each(&decision, "reasons", "message")[0].ends_with("no checks"), "{decision}");
    ran.again("last").code(0).says("DONE (unverified)  ");
}

#[test]
fn an_exit_with_a_passing_check_is_verified() {
    let ran = judge("check out.log", DONE).settings(TESTS).code(0);
    let ran = ran.says("DONE  1 check passed").stderr("");
    assert_eq!(ran.again("check --json out.log").code(0).json()["verified"], true);
}

#[test]
fn checks_that_are_left_out_verify_nothing() {
    let ran = judge("check --no-checks --json out.log", DONE).settings(TESTS).code(0);
    assert_eq!(ran.json()["verified"], false);
    ran.tells("no check stands behind it (check again without `--no-checks`)\n");
    let forced = "check --force-complete --reason shipped --json out.log";
    let red = judge(forced, DONE).settings(&TESTS.replace("true", "false")).code(0);
    assert_eq!(red.json()["verified"], false);
}

#[test]
fn who_asks_for_evidence_is_not_let_go_without() {
    let settings = "[exit_gate]\nunverified = \"continue\"\n";
    for run in [
        judge("check --json --require-evidence out.log", DONE),
        judge("check --json out.log", DONE).settings(settings),
    ] {
        let decision = run.code(1).json();
        assert_eq!(each(&decision, "reasons", "code"), ["evidence-required"]);
        assert!(decision["next"].as_str().unwrap().contains("gate init"), "{decision}");
    }
    judge("check --require-evidence out.log", DONE).settings(TESTS).code(0);
    judge("explain evidence-required", "").code(0).says("exit_gate.unverified");
}

#[test]
fn an_agent_that_answers_with_the_signal_alone_is_not_asked_forever() {
    let decision = judge("check --json out.log", "<promise>COMPLETE</promise>\n").code(0).json();
    assert_eq!(
        (&decision["indicators"]["threshold"], &decision["verified"]),
        (&1.into(), &false.into())
    );
}

#[test]
fn a_promise_after_other_words_is_the_agents_word_alone() {
    const ALONE: &str = "only the agent's word: no check and no second condition";
    for text in [
        "I looked around.\n\n<promise>COMPLETE</promise>\n",
        "<promise>COMPLETE</promise>\n\nI looked around.\n",
        "Let me run it again:\n<promise>COMPLETE</promise>\n",
        "I looked around.\n\nEXIT_STATUS: COMPLETE\nREMAINING_WORK: none\n",
        "I looked around.\n\nEXIT_STATUS: COMPLETE\nEXIT_REASON: the tax is added\n",
    ] {
        judge("check out.log", text).code(0).says("DONE (unverified)  ").says(ALONE);
        let set = judge("check --exit-threshold 1 out.log", text).code(1);
        set.says("0 of 1 completion indicators");
        judge("check out.log", text).settings(TESTS).code(0).says("DONE  1 check passed");
        judge("check --require-evidence out.log", text).code(1);
    }
    let second = "All tasks are completed.\n\n<promise>COMPLETE</promise>\n";
    let ran = judge("check out.log", second).code(0);
    assert!(!ran.stdout.contains(ALONE), "{}", ran.stdout);
    judge("check out.log", "I looked around.\n\nEXIT_STATUS: COMPLETE\n").code(1);
}

#[test]
fn one_sentence_does_not_outvote_failing_tests() {
    let text = "The implementation is finished.\n\nEXIT_STATUS: COMPLETE\nEXIT_REASON: r\n";
    let ran = judge("check --no-state --json out.log", text).settings(COUNTED).code(1);
    assert_eq!(ran.json()["indicators"]["score"], 1);
    let two = text.replace("finished.", "finished.\nIt is ready for review.");
    judge("check --no-state out.log", &two).settings(COUNTED).code(0).says("no check is required");
}

#[test]
fn a_named_agents_result_is_not_missed_for_want_of_marks() {
    let bare = r#"{"type":"result","result":"All is in place.\n\nEXIT_STATUS: COMPLETE\nREMAINING_WORK: none"}"#;
    for format in ["claude-code", "claude", "claude-json"] {
        let words = format!("check --json --format {format} out.log");
        let decision = judge(&words, bare).code(0).json();
        assert_eq!(decision["transcript"]["format"], "claude-json", "{format}");
    }
}

#[test]
fn open_wishes_below_nice_to_have_hold_nobody_up() {
    let settings = "[checks.acceptance_criteria]\nfiles = [\"plan.md\"]\n";
    let plan = "# Plan\n\n- [x] parse\n\n## Nice to Have\n\n- [ ] colours\n\n## Future Enhancements\n\n- [ ] speed\n";
    let run =
        |plan: &str| judge("check --json out.log", DONE).settings(settings).file("plan.md", plan);
    run(plan).code(0);
    run(&plan.replace("Nice to Have", "Also")).code(1);
}

#[test]
fn a_sentence_about_open_work_refuses_a_claim_once_on_the_same_files() {
    let text = "The other two lists I do next time.\n\n<promise>COMPLETE</promise>\n";
    let first = judge("check --iteration 1 out.log", text).settings(TESTS).committed().code(1);
    let quoted = "work is left: \"The other two lists I do next time.\"";
    let ran = first.says(quoted).again("check --json --iteration 2 out.log");
    let ran = ran.setup("echo x >other.txt").code(1);
    assert_eq!(each(&ran.json(), "reasons", "code"), ["work-left"]);
    ran.again("check --iteration 3 out.log").code(0).says("DONE  1 check passed");
    judge("explain work-left", "").code(0).says("it counts no more");
}
