//! Records as a person reads them, and as a program does.

use std::io::{BufRead, BufReader, pipe};
use std::process::{Child, Stdio};

use gate_core::ledger::Sealed;

use crate::support::{DONE, Ran, UNDONE, gate, judge};

/// No breaker, so that iterations may be alike.
const PATIENT: &str = "[breaker]\nno_progress = 0\n";

/// Two decisions of one run, and one of another.
fn recorded() -> Ran {
    let ran = judge("check out.log --run nightly", UNDONE).settings(PATIENT).code(1);
    let ran = ran.again("check out.log --run nightly").file("out.log", DONE).code(0);
    ran.again("check out.log --run weekly --task 42").file("out.log", UNDONE).code(1)
}

/// A process that does not outlive its test.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_record_is_a_line() {
    recorded().again("log").code(0).stderr("").stdout(
        "[..]      1  nightly, 1                continue       the agent says that work remains: the old layout\n\
         [..]      2  nightly, 2                exit           [..]\n\
         [..]      3  weekly, 1                 continue       the agent says that work remains: [..]\n",
    );
}

#[test]
fn so_many_records_of_a_run_are_shown() {
    let shown = |words: &str| {
        let ran = recorded().again(words).code(0).stderr("");
        let number = |line: &str| line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap();
        ran.stdout.lines().map(number).collect::<Vec<_>>()
    };
    assert_eq!(shown("log -n 2"), [2, 3]);
    assert_eq!(shown("log --run nightly"), [1, 2]);
    assert_eq!(shown("log --run nightly -n 1"), [2]);
    assert_eq!(shown("log --run other"), [0; 0]);
    assert_eq!(shown("ledger show"), [1, 2, 3]);
    assert_eq!(shown("ledger show --all"), [1, 2, 3]);
    assert_eq!(shown("log --since 9999999d"), [1, 2, 3]);
    gate("log -n 0").code(2).tells("-n");
}

#[test]
fn a_task_or_run_without_a_decision_is_named_by_gate_last() {
    let ran = recorded().again("last --task typo").code(5);
    let ran = ran.tells("nothing was decided for the task typo\n").tells("hint: `gate log` lists");
    let ran = ran.again("last --run typo --task 42").code(5);
    ran.tells("nothing was decided for the task 42 and the run typo\n");
}

#[test]
fn the_latest_twenty_are_shown_unless_all_are_wanted() {
    let mut ran = judge("check out.log", UNDONE).settings(PATIENT).code(1);
    for _ in 0..24 {
        ran = ran.again("check out.log").code(1);
    }
    for (words, lines) in [("log", 20), ("log -n 23", 23), ("ledger show --all", 25)] {
        ran = ran.again(words).code(0);
        assert_eq!(ran.stdout.lines().count(), lines, "{words}");
    }
}

#[test]
fn json_is_the_exported_line() {
    let export = recorded().again("ledger export").code(0);
    let lines: Vec<_> = export.stdout.lines().map(str::to_owned).collect();
    let all = format!("{}\n", lines.join("\n"));
    let ran = export.again("log --json").code(0);
    assert_eq!(ran.stdout, all);
    let ran = ran.again("ledger show --json").code(0);
    assert_eq!(ran.stdout, all);
    let ran = ran.again("ledger show 2 --json").code(0);
    assert_eq!(ran.stdout, format!("{}\n", lines[1]));
    assert!(Sealed::from_line(lines[1].as_bytes()).is_ok());
}

#[test]
fn a_record_is_shown_whole() {
    let ran = recorded().again("ledger show 2").code(0).stderr("");
    let ran = ran.says("record 2  ").says("    type        exit_gate_passed\n");
    let ran = ran.says("    run         nightly\n").says("    \"verdict\": \"exit\",\n");
    let ran = ran.again("ledger show 9").code(2);
    ran.tells("there is no record 9: the ledger ends at record 3").tells("hint: `gate log`");
}

#[test]
fn an_operators_act_is_a_line() {
    let ran = recorded().again("breaker trip --reason").args(["lunch\u{202e}"]).code(0);
    let ran = ran.again("log -n 1").code(0);
    ran.stdout("[..]      4  -                         breaker_trip   lunch\n");
}

#[test]
fn nobody_reading_on_is_no_error() {
    let ran = recorded();
    for words in ["log", "log --json", "log --follow", "ledger show 1", "ledger export"] {
        let (reader, writer) = pipe().unwrap();
        drop(reader);
        let output = ran.beside(words).stdout(writer).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{words}");
        assert_eq!(output.status.code(), Some(0), "{words}");
    }
}

#[test]
fn new_records_follow() {
    let ran = recorded();
    let mut log = Ended(ran.beside("log -n 1 --follow").stdout(Stdio::piped()).spawn().unwrap());
    let mut lines = BufReader::new(log.0.stdout.take().unwrap()).lines();
    let mut next = || lines.next().unwrap().unwrap();
    assert!(next().contains("  3  weekly, 1 "));
    let ran = ran.again("check out.log --run nightly").code(1);
    assert!(next().contains("  4  nightly#2, 1 "));
    let _ran = ran.again("check out.log --run nightly").code(1);
    assert!(next().contains("  5  nightly#2, 2 "));
    drop(lines);
    assert_eq!(log.0.wait().unwrap().code(), Some(0));
}
