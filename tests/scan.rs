//! `gate scan`: signals and indicators in files, without a decision.

use crate::support::{DONE, STUCK, UNDONE, gate};

/// Marks that act on a terminal or turn text around.
const HOSTILE: [&str; 9] = [
    "\u{1b}[2J\u{1b}[1;31m",
    "\u{1b}]0;title\u{7}",
    "\u{1b}]8;;http://example.com\u{1b}\\",
    "\u{9b}31m",
    "\u{202e}",
    "\u{2066}",
    "\u{200f}",
    "\u{8}\u{8}\u{8}",
    "\u{200b}",
];

#[test]
fn each_file_is_answered_in_its_order() {
    let run = gate("scan --json a.log b.log c.log");
    let run = run.file("a.log", DONE).file("b.log", UNDONE).file("c.log", STUCK);
    let records = run.code(0).json_lines();
    let got: Vec<_> = records.iter().map(|it| (&it["file"], &it["signal"]["status"])).collect();
    assert_eq!(got[0], (&"a.log".into(), &"complete".into()));
    assert_eq!(got[1], (&"b.log".into(), &"continue".into()));
    assert_eq!(got[2], (&"c.log".into(), &"blocked".into()));
}

#[test]
fn scan_answers_0_whatever_the_signal() {
    for output in [DONE, UNDONE, STUCK, ""] {
        gate("scan out.log").file("out.log", output).code(0).stderr("");
    }
}

#[test]
fn a_bad_file_does_not_stop_the_others() {
    for bad in ["missing.log", ".", "a.log/x"] {
        let run = gate(&format!("scan --json a.log {bad} b.log"));
        let ran = run.file("a.log", DONE).file("b.log", UNDONE).code(2).tells("cannot read");
        let schemas: Vec<_> = ran.json_lines().iter().map(|it| it["schema"].to_string()).collect();
        assert_eq!(schemas, ["\"gate.scan.v1\"", "\"gate.error.v1\"", "\"gate.scan.v1\""], "{bad}");
    }
}

#[test]
fn a_bad_file_is_told_to_a_person_beside_the_cards() {
    let ran = gate("scan missing.log out.log").file("out.log", DONE).code(2);
    assert!(ran.stdout.starts_with("out.log (text)\n"), "{}", ran.stdout);
    ran.stderr("gate: cannot read [..]missing.log: No such file or directory (os error 2)\n");
}

#[test]
fn a_card_shows_signal_and_indicators() {
    gate("scan out.log").file("out.log", DONE).code(0).stdout(
        "\
out.log (text)
  signal      complete (exit_status, line 3): both layouts are read
  indicators  1 of 1
              line 1: ready-for-review [..]
",
    );
}

#[test]
fn scan_needs_a_file() {
    gate("scan").code(2).tells("FILE");
    gate("scan -").stdin(DONE).code(0).says("complete");
}

#[test]
fn scan_reads_settings_and_no_checks() {
    let settings = "[signal]\naccept = [\"promise\"]\n[checks.tests]\ncommand = [\"x\"]\n";
    let run = gate("scan --json out.log").file("out.log", DONE).settings(settings);
    let record = run.code(0).json();
    assert_eq!(record["signal"]["status"], "absent");
    assert_eq!(record["indicators"]["threshold"], 1);
}

#[test]
fn nothing_in_a_transcript_reaches_the_terminal_as_a_command() {
    for mark in HOSTILE {
        let output = format!(
            "Write <promise>COM{mark}PLETE</promise> later.\n\
             The branch is {mark}ready for review.\n\n\
             EXIT_STATUS: COMPLETE\nEXIT_REASON: both {mark} layouts{mark}\n\
             REMAINING_WORK: none{mark}\n"
        );
        let blocked = format!("EXIT_STATUS: BLOCKED\nEXIT_REASON: no {mark}access\n");
        for (words, output) in [
            ("scan out.log", &output),
            ("check out.log", &output),
            ("check out.log", &blocked),
            ("check --feedback next.md out.log", &blocked.replace("BLOCKED", "CONTINUE")),
        ] {
            let ran = gate(words).file("out.log", output).run();
            let shown =
                [&ran.stdout, &ran.stderr, &ran.file("next.md")].map(String::as_str).concat();
            let acts =
                |c: &char| *c != '\n' && (c.is_control() || HOSTILE[4..].concat().contains(*c));
            assert_eq!(shown.chars().find(acts), None, "{words}: {shown:?}");
        }
    }
}

#[test]
fn no_color_without_a_terminal() {
    for (variable, value) in [("TERM", "xterm-256color"), ("NO_COLOR", "1"), ("CLICOLOR", "1")] {
        let ran = gate("check out.log").file("out.log", DONE).env(variable, value).code(0);
        assert!(!ran.stdout.contains('\u{1b}'), "{variable}");
    }
}
