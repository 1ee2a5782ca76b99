//! `gate scan`: signals and indicators in files, without a decision.

use crate::support::{DONE, STUCK, UNDONE, gate};
use crate::transcripts;

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
    let got: Vec<_> =
        records.iter().map(|record| (&record["file"], &record["signal"]["status"])).collect();
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
        let schemas: Vec<_> =
            ran.json_lines().iter().map(|json_line| json_line["schema"].to_string()).collect();
        assert_eq!(schemas, ["\"gate.scan.v1\"", "\"gate.error.v1\"", "\"gate.scan.v1\""], "{bad}");
    }
}

#[test]
fn json_of_another_format_than_the_named_one_is_an_error() {
    let stream =
        "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"Done.\"}\n";
    for command in ["scan --json --format goose-json", "check --json --no-state --format cline"] {
        let run = gate(&format!("{command} a.json")).file("a.json", stream);
        let failure = run.code(2).json_lines().remove(0);
        assert_eq!(failure["code"], "format-without-turn", "{command}");
        let hint = failure["hint"].to_string();
        assert!(hint.contains("leave `--format` out"), "{hint}");
        // What an agent prints as it fails is no wrong format.
        let failed = gate(&format!("{command} a.json")).file("a.json", "Error: no network\n");
        let expected_code = if command.starts_with("scan") { 0 } else { 1 };
        failed.code(expected_code);
    }
    let error = "{\"error\":{\"message\":\"no network\"}}\n";
    let run = gate("check --no-state --format claude-code --agent-exit-code 1 a.json");
    run.file("a.json", error).code(1);
}

#[test]
fn a_bad_file_is_told_to_a_person_beside_the_cards() {
    let ran = gate("scan missing.log out.log").file("out.log", DONE).code(2);
    assert!(ran.stdout.starts_with("out.log  (text)\n"), "{}", ran.stdout);
    ran.stderr("gate: cannot read [..]missing.log: No such file or directory (os error 2)\n");
}

#[test]
fn a_card_shows_signal_and_indicators() {
    gate("scan out.log").file("out.log", DONE).code(0).stdout(
        "\
out.log  (text)
    signal      complete in line 3 (exit_status): both layouts are read
    indicators  1 found, 1 needed
                line 1: ready-for-review [..]
",
    );
}

#[test]
fn each_agents_format_is_found_and_read() {
    for transcript in transcripts::all() {
        let run = gate("scan --json out.log").file("out.log", transcript.ending(DONE));
        let record = run.code(0).json();
        assert_eq!(record["transcript"]["format"], transcript.known_as());
        assert_eq!(record["signal"]["status"], "complete", "{}", transcript.format);
    }
}

#[test]
fn an_output_of_no_known_format_says_so_whatever_its_size() {
    let record = "{\"event\":\"said\",\"body\":\"EXIT_SIGNAL: true\"}\n";
    for records in [1, 9_000, 50_000] {
        let run =
            gate("check --json out.jsonl").settings("").file("out.jsonl", record.repeat(records));
        let ran = run.code(1);
        let decision = ran.json();
        let warning = &decision["warnings"][0];
        assert_eq!(warning["code"], "unknown-format", "{records} records: {warning}");
        let message = warning["message"].as_str().unwrap();
        assert!(message.contains("no known format") && message.contains("--format"), "{message}");
        assert!(decision["next"].as_str().unwrap().contains("--format"), "{}", decision["next"]);
        let ran = ran.again("explain --json").code(0);
        assert_eq!(ran.json()["same"], true);
        ran.again("scan out.jsonl").code(0).says("JSON of no known format");
    }
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
