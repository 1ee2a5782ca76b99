//! Large files are read block by block on all processors: that must come to the
//! same as to read them from a pipe.

use serde_json::Value;

use crate::support::gate;

/// From this size on, in bytes, a file is large.
const LARGE: usize = 4 << 20;

/// How much is read at once, in bytes.
const BLOCK: usize = 256 << 10;

/// How a session begins.
const HEAD: &str = concat!(
    r#"{"type":"user","sessionId":"s","parentUuid":null,"message":{"content":"Begin."}}"#,
    "\n"
);

/// What a tool has answered: a line of this length, its line break included.
fn answer(length: usize) -> String {
    let (open, close) = (
        r#"{"type":"user","sessionId":"s","message":{"content":[{"type":"tool_result","content":""#,
        "\"}]}}\n",
    );
    let words = "all tasks completed ".repeat(length / 20 + 1);
    format!("{open}{}{close}", &words[..length - open.len() - close.len()])
}

/// What the agent says, in a line.
fn says(id: &str, text: &str) -> String {
    let message = format!(
        r#"{{"id":"{id}","model":"m","usage":{{"output_tokens":7}},"content":[{{"type":"text","text":"{text}"}}]}}"#
    );
    format!("{{\"type\":\"assistant\",\"sessionId\":\"s\",\"message\":{message}}}\n")
}

/// A session with this in its middle, in lines of 1 KiB, which end where blocks
/// end or `shift` bytes behind, and of a length in all.
fn session(middle: &str, shift: usize, length: usize) -> String {
    let first = answer((64 << 10) - HEAD.len() + shift);
    let mut session = format!("{HEAD}{first}{}", says("m1", "I begin."));
    let aligned = answer(1024 - says("m1", "I begin.").len() + 400);
    session.push_str(&aligned);
    while session.len() + middle.len() < length / 2 {
        session.push_str(&answer(1024));
    }
    session.push_str(middle);
    while session.len() + 4096 < length {
        session.push_str(&answer(1024));
    }
    let rest = length.saturating_sub(session.len());
    session + &if rest > 200 { answer(rest) } else { String::new() }
}

#[track_caller]
fn assert_same(input: &str, what: &str) {
    let mut read = ["-", "out.log"].map(|from| {
        let run = gate(&format!("scan --json {from}")).file("out.log", input).stdin(input);
        run.code(0).json()
    });
    for scan in &mut read {
        *scan.get_mut("file").unwrap() = Value::Null;
    }
    assert_eq!(read[0], read[1], "{what}");
    assert!(read[0]["transcript"]["format"].is_string(), "{what}");
}

#[test]
fn where_files_become_large() {
    let middle = says("m2", "All tasks completed.") + &says("m3", "EXIT_STATUS: COMPLETE");
    for length in [LARGE - 1, LARGE, LARGE + 1] {
        let input = session(&middle, 0, length);
        assert_eq!(input.len(), length);
        assert_same(&input, &format!("{length} bytes"));
    }
}

#[test]
fn lines_that_end_where_blocks_end() {
    let middle = says("m2", "Ready for review.") + &says("m3", "EXIT_STATUS: CONTINUE");
    for shift in [0, 1, 2, 1023] {
        assert_same(&session(&middle, shift, LARGE + BLOCK), &format!("{shift} bytes behind"));
    }
}

#[test]
fn lines_that_are_longer_than_what_is_read_at_once() {
    let done = says("m2", "All tasks completed.\\n\\nEXIT_STATUS: COMPLETE");
    for length in [BLOCK - 1, BLOCK, 300_000, 1_100_000, 17 << 20] {
        let middle = format!("{}{done}{}", answer(length), answer(length));
        assert_same(&session(&middle, 0, LARGE + 2 * length), &format!("{length} bytes"));
        let words = says("m2", &"Still at work. ".repeat(length / 15));
        assert_same(&session(&words, 0, LARGE + length), &format!("{length} bytes of words"));
    }
}

#[test]
fn text_in_long_lines() {
    let done = "All tasks completed.\n";
    for length in [80, 300_000, 1_100_000, 17 << 20] {
        let line = "words ".repeat(length / 6);
        let count = (LARGE / line.len()).max(1);
        let input = format!("{line}\n").repeat(count) + done + &format!("{line}\n").repeat(count);
        assert_same(&input, &format!("{length} bytes"));
    }
}

#[test]
fn ends_of_all_kinds() {
    let middle = says("m2", "Ready for review.");
    let whole = session(&middle, 0, LARGE + BLOCK);
    let last = says("m3", "EXIT_STATUS: COMPLETE");
    for end in [last.trim_end(), &last[..40], "{", &"\n".repeat(3 << 20), &" \r\n".repeat(9)] {
        assert_same(&format!("{whole}{end}"), &format!("{} bytes at the end", end.len()));
    }
}

#[test]
fn sessions_that_take_turns() {
    let mut middle = String::new();
    for number in 0..2000 {
        let said = says(&format!("m{number}"), "Ready for review.");
        middle += &said.replace("\"s\"", if number % 3 == 0 { "\"s\"" } else { "\"other\"" });
        middle += "{\"type\":\"user\",\"sessionId\":\"s\",\"message\":{\"content\":\"Go on.\"}}\n";
    }
    assert_same(&session(&middle, 0, LARGE + BLOCK), "two sessions");
}
