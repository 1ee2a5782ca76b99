//! `gate replay`: rows, labels, comparison, groups, and the exit code.

use serde_json::{Value, json};

use crate::support::{DONE, Ran, Run, STUCK, UNDONE, gate};

/// A signal that is almost one.
const NEAR: &str = "All is done.\n\nThe state is EXIT_STATUS: COMPLETE now.\n";

/// A loop of three iterations.
fn looped() -> String {
    let header = |number| format!("=== Iteration {number} of 3 ===\n");
    [header(1), UNDONE.to_owned(), header(2), NEAR.to_owned(), header(3), DONE.to_owned()].concat()
}

/// A folder of transcripts.
fn folder(words: &str) -> Run {
    let run = gate(words).file("t/a.log", DONE).file("t/b.log", UNDONE).file("t/c.txt", NEAR);
    run.file("t/d.log", looped()).file("t/e.md", STUCK)
}

fn rows(ran: &Ran, field: &str) -> Vec<Value> {
    ran.json_lines().iter().map(|row| row[field].clone()).collect()
}

#[test]
fn the_table_has_a_line_an_iteration_and_totals() {
    folder("replay t").code(0).stderr("").stdout(
        "\
VERDICT   SIGNAL    SCORE  FORMAT[..]ITER  FILE     WHY
exit      complete    1/1  text  [..]   1  t/a.log  exit_status, line 3
continue  continue    0/1  text  [..]   1  t/b.log  the agent says that work remains: the old layout
continue  absent      1/1  text  [..]   1  t/c.txt  almost, line 3: it stands within a line; a signal begins its line
continue  continue    0/1  text  [..]   1  t/d.log  the agent says that work remains: the old layout
continue  absent      1/1  text  [..]   2  t/d.log  almost, line 3: it stands within a line; a signal begins its line
exit      complete    1/1  text  [..]   3  t/d.log  exit_status, line 3
blocked   blocked     0/1  text  [..]   1  t/e.md   the agent says that it cannot go on: the sample files are not readable

7 iterations in 5 files, [..] in [..] s
  2 exit, 4 continue, 1 blocked
",
    );
}

#[test]
fn checks_have_the_last_word_and_are_not_run() {
    let settings =
        "[checks.tests]\ncommand = [\"touch\", \"ran\"]\n[checks.lint]\ncommand = [\"x\"]\n";
    let ran = folder("replay --json t").settings(settings).code(0);
    let verdicts = rows(&ran, "verdict");
    assert_eq!(verdicts[0], "exit-if-checks-pass");
    assert_eq!(verdicts[1], "continue");
    let row = &ran.json_lines()[0];
    assert_eq!(row["assumed"], json!(["lint", "tests"]));
    assert_eq!(row["indicators"]["checks"], 2);
    assert!(!ran.path("ran").exists(), "a check was run");
    let ran = ran.again("replay t/a.log").code(0);
    ran.says("exit-if-checks-pass  complete    3/2").says("if lint, tests pass");
}

#[test]
fn a_check_that_is_only_counted_does_not_decide() {
    let check = "[checks.tests]\ncommand = [\"x\"]\nmode = \"count\"\n";
    let ran = folder("replay --json t/a.log").settings(check).code(0);
    assert_eq!(rows(&ran, "verdict"), ["exit"]);
    let strict = format!("[exit_gate]\nindicator_threshold = 2\n{check}");
    let ran = folder("replay --json t/a.log").settings(&strict).code(0);
    assert_eq!(rows(&ran, "verdict"), ["exit-if-checks-pass"]);
}

#[test]
fn labels_find_false_and_missed_exits_and_explain_them() {
    let labels = "{\"file\":\"t/a.log\",\"label\":\"continue\",\"id\":7}\n\n\
                  {\"file\":\"t/b.log\",\"label\":null}\n\
                  {\"file\":\"t/c.txt\",\"label\":\"exit\"}\n\
                  {\"file\":\"t/d.log\",\"label\":\"exit\"}\n\
                  {\"file\":\"t/d.log\",\"label\":\"exit\",\"iteration\":2,\"ambiguous\":true}\n\
                  {\"file\":\"t/e.md\",\"label\":\"blocked\"}\n\
                  {\"file\":\"t/gone.log\",\"label\":\"exit\"}\n";
    let ran = folder("replay --labels l.jsonl t").file("l.jsonl", labels).code(1);
    let ran = ran.stderr("gate: l.jsonl: line 8: judges nothing: t/gone.log is not there\n");
    let ran = ran.says("exit      FALSE EXIT  complete").says("continue  MISSED      absent");
    let ran = ran.says("continue  unclear     absent").says("\n1 label judges nothing\n");
    let ran = ran.says("\nAGENT  iterations  exits  right  false exit  missed exit  unclear\n");
    let ran = ran.says("\ntext            7      2      2           1            1        1\n");
    let ran = ran.says("\nprecision 50 % (1 of 2; 9–91 %): exits that are right\n");
    let ran = ran.says("\nrecall    50 % (1 of 2; 9–91 %): finished work that is let go\n");
    let ran =
        ran.says("\nFALSE EXIT  t/a.log\n  expected  label continue\n  said      exit, 1 of 1\n");
    let ran =
        ran.says("\nMISSED EXIT  t/c.txt\n  expected  label exit\n  said      continue, 1 of 1\n");
    let ran = ran.says("  almost    line 3: it stands within a line").says("  next      ");
    let ran = ran.again("replay --labels l.jsonl --only wrong --json t").code(1);
    assert_eq!(rows(&ran, "judged"), ["false-exit", "missed-exit"]);
    let ran = ran.again("replay --labels l.jsonl t/d.log t/e.md").code(0);
    ran.says("\nall             4      1      2           0            0        1\n");
}

#[test]
fn verdicts_are_counted_by_folder_without_labels() {
    let ran = folder("replay --by folder t").code(0);
    let ran = ran.says("\nFOLDER  iterations  exits\n");
    assert!(!ran.stdout.contains("precision"), "{}", ran.stdout);
    let ran = ran.again("replay --by folder --json t").code(0);
    let summary = ran.json_lines().pop().unwrap();
    assert_eq!(summary["schema"], "gate.replay.summary.v1");
    assert_eq!(summary["by"], "folder");
    assert_eq!(summary["groups"]["t"], summary["all"]);
    assert_eq!(summary["all"]["exits"], 2);
    assert_eq!(summary["all"]["precision"], Value::Null);
}

#[test]
fn an_earlier_replay_shows_what_has_changed() {
    let ran = folder("replay --json t").code(0);
    let old = ran.stdout.clone();
    let strict = "[exit_gate]\nindicator_threshold = 3\n";
    let run = ran.again("replay --config new.toml --compare old.jsonl --only changed t");
    let run = run.file("old.jsonl", &old).file("new.toml", strict);
    let ran = run.code(0).says("was exit; 1 of 3 completion indicators");
    let ran = ran.says("7 iterations in 5 files (5 not shown)").says("  2 verdicts changed\n");
    let words = "replay --config new.toml --compare old.jsonl --only changed --json t/d.log";
    let ran = ran.again(words).code(0);
    assert_eq!(rows(&ran, "changed"), [json!({ "from": "exit", "to": "continue" })]);
    let ran = ran.again("replay --compare old.jsonl t/d.log").code(0);
    let ran = ran.says("  0 verdicts changed, 4 not there any more\n");
    let ran = ran.again("replay --compare old.jsonl t").file("t/new.log", UNDONE).code(0);
    ran.says("was not there; the agent says that work remains");
}

#[test]
fn only_near_misses_are_shown() {
    let ran = folder("replay --only near --json t").code(0);
    assert_eq!(rows(&ran, "file"), ["t/c.txt", "t/d.log"]);
    assert_eq!(rows(&ran, "iteration"), [1, 2]);
    assert_eq!(rows(&ran, "first_line"), [1, 8]);
}

#[test]
fn options_that_need_others_say_so() {
    gate("replay").code(2).tells("<PATH>...");
    folder("replay --only wrong t").code(2).tells("--only wrong needs --labels FILE");
    folder("replay --only changed t").code(2).tells("--only changed needs --compare OLD.jsonl");
}

#[test]
fn rows_of_a_folder_and_of_a_session_stand_together() {
    let session = |id: &str, text: &str| {
        let text = serde_json::to_string(text).unwrap();
        format!(
            "{{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":{text},\"session_id\":\"{id}\"}}\n"
        )
    };
    let both = session("one", UNDONE) + &session("two", DONE);
    let run = folder("replay --group folder t s").file("s/x/a.jsonl", both);
    let ran = run.file("s/x/b.json", session("one", DONE)).file("s/y.log", STUCK).code(0);
    let ran = ran.stdout(
        "\
LAST     ITERATIONS  EXITS  BLOCKED  ERRORS  GROUP
blocked           7      2        1       0  t
exit              3      2        0       0  s/x
blocked           1      0        1       0  s

11 iterations in 8 files, [..] in [..] s
  4 exit, 5 continue, 2 blocked
",
    );
    let ran = ran.again("replay --group session --json s").code(0);
    assert_eq!(rows(&ran, "group"), ["one", "two", "s/y.log"]);
    assert_eq!(rows(&ran, "last"), ["exit", "exit", "blocked"]);
    assert_eq!(rows(&ran, "iterations"), [2, 1, 1]);
}

#[test]
fn the_agents_own_commands_are_shown_as_observed() {
    let item = |command: &str, code: i32| {
        format!(
            "{{\"type\":\"item.completed\",\"item\":{{\"id\":\"i\",\"type\":\"command_execution\",\"command\":\"{command}\",\"aggregated_output\":\"\",\"exit_code\":{code},\"status\":\"completed\"}}}}\n"
        )
    };
    let log = "{\"type\":\"thread.started\",\"thread_id\":\"t\"}\n".to_owned()
        + &item("cargo test", 101)
        + &item("git add test.rs", 0)
        + "{\"type\":\"turn.completed\",\"usage\":{}}\n";
    let ran = gate("replay c.jsonl").file("c.jsonl", log).code(0);
    let ran = ran.says("observed: `cargo test` ended 101");
    let row = &ran.again("replay --json c.jsonl").code(0).json_lines()[0];
    assert_eq!(row["transcript"]["commands"][0]["exit_code"], 101);
}

#[test]
fn transcripts_without_any_signal_lead_to_the_audit() {
    let run = gate("replay a.log b.log").file("a.log", "I looked.\n").file("b.log", "All done.\n");
    run.code(0).says("no transcript has an exit signal: `gate audit` shows what stood behind");
}

#[test]
fn exits_alone_can_be_shown() {
    let run = gate("replay --only exit a.log b.log").file("a.log", DONE).file("b.log", UNDONE);
    let ran = run.code(0).says("a.log").says("(1 not shown)");
    assert!(!ran.stdout.contains("b.log"), "{}", ran.stdout);
}
