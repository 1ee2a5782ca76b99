//! `gate check`: verdicts, exit codes, and where it writes what.

use crate::support::{DONE, STOP, STUCK, UNDONE, each, gate, judge};

#[test]
fn the_exit_code_is_the_verdict() {
    judge("check out.log", DONE).code(0).says(
        "DONE (unverified)  the agent says \"both layouts are read\"; no check confirms that",
    );
    judge("check out.log", UNDONE)
        .code(1)
        .says("NOT DONE  the agent says that work remains")
        .stderr("");
    judge("check out.log", STUCK)
        .code(4)
        .says("BLOCKED  the agent says that it cannot go on")
        .stops();
}

#[test]
fn a_shell_that_asks_for_another_iteration_goes_on_with_0_alone() {
    judge("check --while out.log", UNDONE).code(0);
    judge("check --while out.log", DONE).code(10);
    judge("check --while out.log", STUCK).code(4).stops();
    judge("check --while missing.log", DONE).code(2).stops();
    judge("check --while --feedback nowhere/next.md out.log", UNDONE).code(5).stops();
    judge("check --while --force-complete --reason shipped out.log", UNDONE).code(10);
}

#[test]
fn a_stop_says_what_the_agent_said() {
    judge("check -q out.log", STUCK)
        .code(4)
        .stderr("gate: STOP, not done: [..]the sample files are not readable\n");
}

#[test]
fn output_without_a_signal_is_not_done() {
    for text in ["", "\n\n", "It is all done and ready for review.", "\u{feff}", "{}", "[]"] {
        let reasons = judge("check --json out.log", text).code(1).json();
        assert!(each(&reasons, "reasons", "code").contains(&"signal-absent"), "{text:?}");
    }
}

#[test]
fn usage_errors_stop_the_loop_whatever_the_output_mode() {
    for words in [
        "",
        "missing.log",
        ".",
        "out.log/out.log",
        "out.log other.log",
        "out.log --no-such-flag",
        "out.log --format nonsense",
        "out.log --exit-threshold many",
        "out.log --exit-threshold -1",
        "out.log --iteration 0",
        "out.log --agent-exit-code x",
        "out.log --task-type nobody-wrote",
        "out.log --only nobody-wrote",
        "out.log --config missing.toml",
        "out.log --config wrong.toml",
        "out.log --force-complete",
        "out.log --reason because",
        "out.log --all-checks --no-checks",
        "out.log --no-state --dry-run",
    ] {
        for mode in ["", "--json", "--quiet", "--while"] {
            let run = judge(&format!("check {mode} {words}"), DONE);
            let ran = run.file("wrong.toml", "[exit_gat]\n").code(2).stops();
            if mode == "--json" {
                assert_eq!(ran.json()["exit_code"], 2, "{words}");
            } else {
                assert_eq!(ran.stdout, "", "{words} {mode}");
            }
        }
    }
}

#[test]
fn settings_that_are_wrong_decide_nothing() {
    let run = judge("check out.log", DONE).settings("[exit_gate]\nindicator_treshold = 1\n");
    run.code(2).stdout("").stops().tells("gate.toml:2:1: ").tells("`indicator_threshold`");
    let run = judge("check out.log", DONE).env("GATE_EXIT_THRESHOLD", "two");
    run.code(2).stdout("").stops().tells("GATE_EXIT_THRESHOLD");
}

#[test]
fn a_folder_that_is_not_there_decides_nothing() {
    judge("-C nowhere check out.log", DONE).code(2).stops();
    judge("-C nowhere check --json out.log", DONE).code(2).stops().says("gate.error.v1");
}

#[test]
fn the_feedback_goes_where_the_runner_wants_it() {
    let ran = judge("check -q --feedback next.md out.log", UNDONE).code(1);
    assert!(ran.file("next.md").contains("does not count as done yet"), "{}", ran.file("next.md"));
    let ran = judge("check -q --feedback sub/next.md out.log", UNDONE).folder("sub").code(1);
    assert_ne!(ran.file("sub/next.md"), "");
    let ran = judge("-C sub check -q --feedback next.md ../out.log", UNDONE).folder("sub").code(1);
    assert_ne!(ran.file("sub/next.md"), "");
}

#[test]
fn feedback_that_no_longer_holds_is_taken_away() {
    for output in [DONE, STUCK] {
        let run = judge("check -q --feedback next.md out.log", output);
        assert_eq!(run.file("next.md", "from the last iteration").run().file("next.md"), "");
    }
}

#[test]
fn feedback_that_cannot_be_written_is_no_decision() {
    for (file, output) in [("nowhere/next.md", DONE), ("out.log/next.md", UNDONE), (".", DONE)] {
        for mode in ["", "--json", "--quiet"] {
            let ran = judge(&format!("check {mode} --feedback {file} out.log"), output);
            ran.code(5).stops().tells("feedback");
        }
    }
}

#[test]
fn an_agent_that_repeats_its_feedback_does_not_pass() {
    for output in [UNDONE, "", "<promise>COMPLETE</promise> and then there is", "EXIT_STATUS: COM"]
    {
        let text = judge("check -q --feedback next.md out.log", output).code(1).file("next.md");
        judge("check --exit-threshold 0 out.log", &text).code(1);
    }
}

#[test]
fn an_answer_that_cannot_be_written_is_no_decision() {
    if std::path::Path::new("/dev/full").exists() {
        judge("check out.log", DONE).stdout_to("/dev/full").code(5).stops();
        judge("check --json out.log", DONE).stdout_to("/dev/full").code(5).stops();
        judge("check --quiet out.log", DONE).stdout_to("/dev/full").code(0);
    }
}

#[test]
fn quiet_prints_nothing_but_a_stop() {
    for (output, code) in [(DONE, 0), (UNDONE, 1)] {
        judge("check --quiet out.log", output).code(code).stdout("").stderr("");
        judge("check -q out.log", output).code(code).stdout("").stderr("");
    }
    judge("check -q out.log", STUCK).code(4).stdout("").stops();
}

#[test]
fn json_prints_exactly_one_object() {
    for (output, code, verdict) in
        [(DONE, 0, "exit"), (UNDONE, 1, "continue"), (STUCK, 4, "blocked")]
    {
        let decision = judge("check --json out.log", output).code(code).json();
        assert_eq!(decision["verdict"], verdict);
        assert_eq!(decision["exit_code"], code);
        assert_eq!(decision["stop"], code != 1);
        assert_eq!(decision["success"], code == 0);
    }
}

#[test]
fn the_exit_code_in_json_is_the_verdicts_also_with_while() {
    let decision = judge("check --json --while out.log", DONE).code(10).json();
    assert_eq!(decision["exit_code"], 0);
}

#[test]
fn a_dash_is_the_standard_input() {
    gate("check -").stdin(DONE).code(0);
    gate("check -").stdin(UNDONE).code(1);
    gate("check --while -").stdin("").code(0);
}

#[test]
fn files_are_named_from_the_folder_of_c() {
    gate("-C sub check out.log").file("sub/out.log", DONE).file("out.log", UNDONE).code(0);
    gate("-C sub check ../out.log").file("sub/out.log", DONE).file("out.log", UNDONE).code(1);
    let strict = "[exit_gate]\nindicator_threshold = 9\n";
    gate("-C sub check out.log").file("sub/out.log", DONE).file("sub/gate.toml", strict).code(1);
    gate("-C sub check out.log").file("sub/out.log", DONE).settings(strict).code(0);
}

#[test]
fn the_format_can_be_forced() {
    let result = serde_json::json!({
        "type": "result", "subtype": "success", "is_error": false, "num_turns": 3, "result": DONE,
    });
    let result = result.to_string();
    judge("check out.log", &result).code(0);
    judge("check --format claude-json out.log", &result).code(0);
    judge("check --format claude out.log", &result).code(0);
    judge("check --format text out.log", &result).code(1);
    judge("check --format text out.log", DONE).code(0);
}

#[test]
fn a_wrong_format_is_answered_with_the_known_ones() {
    let ran = judge("check --format cluade out.log", DONE).code(2).stops();
    ran.tells("unknown format `cluade`").tells("claude-stream").tells("codex");
}

#[test]
fn force_complete_goes_past_everything_and_says_so() {
    let words = "check --json --force-complete --reason shipped-by-hand out.log";
    for output in [UNDONE, STUCK, ""] {
        let decision = judge(words, output).code(0).json();
        assert_eq!(decision["forced"], true);
        assert_eq!(decision["force_reason"], "shipped-by-hand");
        assert_eq!(each(&decision, "reasons", "code"), ["forced"]);
    }
    let card = judge("check --force-complete --reason shipped-by-hand out.log", UNDONE).code(0);
    card.says("forced by the operator").says("shipped-by-hand");
}

#[test]
fn help_and_version_are_answers() {
    gate("--version").code(0).stdout("gate [..]\n").stderr("");
    gate("check --help").code(0).says("Exit codes:").stderr("");
    assert!(!gate("").code(2).stderr.starts_with(STOP));
}
