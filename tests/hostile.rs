//! Input that nobody meant well: `gate scan` ends, answers, and stays small.

use std::io::{self, Write};

use proptest::prelude::*;

use crate::support::{Ran, gate};

const MIB: usize = 1 << 20;

/// The most memory that any text may take, in KiB.
const MOST: u64 = 64 * 1024;

/// It was answered, with no panic, in bounded memory.
#[track_caller]
fn answered(ran: &Ran) -> String {
    assert_eq!(ran.stderr, "");
    // Only Linux tells, and only of a process that is seen before it ends.
    if let Some(peak) = ran.peak {
        assert!(peak < MOST, "{peak} KiB");
    }
    ran.json()["signal"]["status"].as_str().unwrap().to_owned()
}

fn scan(bytes: impl Into<Vec<u8>>) -> String {
    answered(&gate("scan --json -").stdin(bytes).code(0))
}

/// Scans a head, then a block so often, then a tail, made while they are read.
fn stream(head: &'static str, block: Vec<u8>, times: usize, tail: &'static str) -> Ran {
    let run = gate("scan --json -").feed(move |stdin| {
        stdin.write_all(head.as_bytes())?;
        (0..times).try_for_each(|_| stdin.write_all(&block))?;
        stdin.write_all(tail.as_bytes())
    });
    run.code(0)
}

/// Bytes, with pieces in between that mean something to gate.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let pieces = [
        "EXIT_STATUS: ",
        "COMPLETE",
        "CONTINUE\n",
        "---RALPH_STATUS---\n",
        "EXIT_SIGNAL: true\n",
        "---END_RALPH_STATUS---",
        "<promise>",
        "</promise>",
        "```\n",
        "{\"type\":",
        "\"assistant\"",
        "{\"type\":\"result\",\"subtype\":\"success\",\"result\":\"",
        "\\u001b",
        "\\ud800",
        "\"}\n",
        "[",
        "]",
        "{",
        "}",
        ",",
        ":",
        "\r\n",
        "\n",
        "\0",
        "\u{202e}",
        "\u{feff}",
        "all tasks ",
        " completed",
    ];
    let piece = prop_oneof![
        proptest::sample::select(pieces.to_vec()).prop_map(|text| text.as_bytes().to_vec()),
        proptest::collection::vec(any::<u8>(), 0..40),
    ];
    proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_answered(bytes in bytes()) {
        scan(bytes);
    }
}

#[test]
fn a_transcript_cut_anywhere_is_answered_and_never_complete_before_its_end() {
    let text = "Both layouts are read.\n\n<promise>COMPLETE</promise>";
    let message =
        serde_json::json!({"role": "assistant", "content": [{"type": "text", "text": text}]});
    let line = serde_json::json!({"type": "assistant", "message": message, "session_id": "s"});
    let line = line.to_string();
    for end in (0..line.len()).step_by(7) {
        assert_ne!(scan(&line.as_bytes()[..end]), "complete", "{}", &line[..end]);
    }
    assert_eq!(scan(line), "complete");
}

// Longer than the bound of memory by half again; what reads it is built for tests, and takes seconds.
#[test]
fn a_line_of_100_mib_is_answered_in_bounded_memory() {
    let ran = stream("", vec![b'a'; MIB], 100, "\n\nEXIT_STATUS: COMPLETE\n");
    assert_eq!(answered(&ran), "complete");
    assert_eq!(answered(&stream("EXIT_STATUS: COMPLETE ", vec![b'a'; MIB], 100, "")), "absent");
}

#[test]
fn a_json_string_of_100_mib_is_answered_in_bounded_memory() {
    let head =
        r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":""#;
    let ran = stream(head, vec![b'a'; MIB], 100, "\"}]}}\n");
    assert_ne!(answered(&ran), "complete");
    let result = r#"{"type":"result","subtype":"success","is_error":false,"result":""#;
    assert_ne!(answered(&stream(result, vec![b'a'; MIB], 100, "")), "complete");
}

#[test]
fn many_short_lines_are_answered_in_bounded_memory() {
    let lines = b"All tasks are completed, all acceptance criteria are met.\n".repeat(10_000);
    assert_eq!(answered(&stream("", lines, 40, "EXIT_STATUS: COMPLETE\n")), "complete");
}

#[test]
fn deep_json_is_answered() {
    for depth in [200, 10_000, 100_000] {
        scan("[".repeat(depth));
        scan("[".repeat(depth) + &"]".repeat(depth));
        scan("{\"a\":".repeat(depth));
        scan("{\"a\":".repeat(depth) + "1" + &"}".repeat(depth));
        let inner = "{\"content\":[".repeat(depth);
        scan(format!("{{\"type\":\"assistant\",\"message\":{inner}"));
    }
}

#[test]
fn a_file_of_nul_is_answered() {
    assert_eq!(scan(vec![0; 4 * MIB]), "absent");
    let mut bytes = vec![0; MIB];
    bytes.extend(b"\nEXIT_STATUS: COMPLETE\n");
    scan(bytes);
}

#[test]
fn bytes_that_are_no_utf8_are_told() {
    let ran = gate("scan --json -").stdin(b"caf\xe9\n\nEXIT_STATUS: COMPLETE\n".to_vec()).code(0);
    assert_eq!(answered(&ran), "complete");
    assert_eq!(ran.json()["transcript"]["problems"][0]["line"], 1);
}

#[test]
fn twenty_thousand_signals_are_answered() {
    for text in [
        "```\n",
        "> ",
        "<promise>",
        "<promise>COMPLETE</promise>\n",
        "EXIT_STATUS: COMPLETE\n",
        "---RALPH_STATUS---\n",
        "---RALPH_STATUS---\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---\n",
        "{\"protocol\":\"apm2_agent_exit\"}\n",
    ] {
        scan(text.repeat(20_000));
    }
}

#[test]
fn fifty_thousand_signals_in_one_line_are_answered() {
    scan("<promise>COMPLETE</promise> ".repeat(50_000));
    scan("EXIT_STATUS: COMPLETE ".repeat(50_000));
}

#[test]
fn a_reader_that_goes_away_is_no_panic() {
    let run = gate("scan --json -").feed(|stdin| {
        stdin.write_all(b"one line, then nothing")?;
        Err(io::ErrorKind::BrokenPipe.into())
    });
    answered(&run.code(0));
}

/// What was once slow: many candidates, long lines, and both at once.
#[test]
fn repetition_without_end_is_answered() {
    let custom = "[[signal.custom]]\nliteral = \"MY_DONE\"\nvalue = \"complete\"\n";
    let long = format!("{}\n", "word ".repeat(MIB));
    for text in [
        "see EXIT_STATUS: x\n".repeat(300_000),
        "see EXIT_SIGNAL: x\n".repeat(300_000),
        "not ready for review and ".repeat(40_000),
        "MY_DONE\n".repeat(300_000),
        format!("{}{long}", "<promise>COMPLETE</promise>\nEXIT_STATUS: COMPLETE\n\n".repeat(300)),
        format!("{long}<promise>COMPLETE</promise>\n"),
    ] {
        answered(&gate("scan --json -").settings(custom).stdin(text).code(0));
    }
}

/// JavaScript writes half of a character where it cuts a text within one.
#[test]
fn half_a_character_hides_nobodys_words() {
    let says = |who: &str, text: &str| {
        let role = format!(r#""type":"{who}","message":{{"role":"{who}","content":"{text}"}}"#);
        format!("{{\"sessionId\":\"s\",\"parentUuid\":null,{role}}}\n")
    };
    let done = says("assistant", r"Done \ud83d.\n\nEXIT_STATUS: COMPLETE");
    assert_eq!(scan(done.as_str()), "complete");
    assert_eq!(scan(done.clone() + &says("user", r"And the docs \ud83d")), "absent");
    assert_eq!(scan(done.clone() + &says("assistant", r"I go on \ude00")), "absent");
    let unreadable = says("user", r"And the docs \q");
    assert_eq!(scan(done + &unreadable), "invalid", "nobody knows what it says");
}
