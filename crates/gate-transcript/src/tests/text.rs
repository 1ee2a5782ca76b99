//! Plain text.

use super::{check, events, has_problem, read, read_pieces, says, words};
use crate::{Forced, Format, ProblemKind, Role};

#[test]
fn everything_is_the_agents() {
    check(Format::Text, "Hello\r\n\x1b[1mworld\x1b[0m\n\n", &["1 assistant: Hello⏎world⏎⏎"]);
    check(Format::Text, "no line break", &["1 assistant: no line break"]);
    check(Format::Text, "", &[]);
}

#[test]
fn a_runners_header_and_trailer_are_not() {
    check(
        Format::Text,
        "# Iteration 7 Log\n- **Promise Detected**: Yes\n--- RAW OUTPUT ---\nDone.\n--- STDERR ---\n<promise>COMPLETE</promise>\n",
        &[
            "1 system: # Iteration 7 Log⏎- **Promise Detected**: Yes⏎--- RAW OUTPUT ---⏎",
            "4 assistant: Done.⏎",
            "5 system+: --- STDERR ---⏎<promise>COMPLETE</promise>⏎",
        ],
    );
}

#[test]
fn lines_that_are_json_are_data() {
    let input = "Before\n{\"text\":\"EXIT_SIGNAL: true\"}\n[{\"a\":1}]\ndata: {\"b\":\"EXIT_SIGNAL: true\"}\nAfter\n{not json}\n[1] a note\n";
    check(
        Format::Text,
        input,
        &[
            "1 assistant: Before⏎",
            "2 tool: {\"text\":\"EXIT_SIGNAL: true\"}",
            "2 assistant+: ⏎",
            "3 tool: [{\"a\":1}]",
            "3 assistant+: ⏎",
            "4 tool: data: {\"b\":\"EXIT_SIGNAL: true\"}",
            "4 assistant+: ⏎After⏎{not json}⏎[1] a note⏎",
        ],
    );
}

#[test]
fn lines_are_counted_through_data() {
    let (_, lines) = read("Before\n{\"a\":1}\nAfter\n");
    let word = lines.last.words().next().cloned().unwrap_or_default();
    let after = word.text.find("After").unwrap_or_default();
    assert_eq!((word.text.as_str(), word.line_at(after)), ("Before\n\nAfter\n", 3));
}

#[test]
fn the_json_exit_signal_is_the_agents() {
    let signal = r#"{"protocol":"apm2_agent_exit","version":"1.0.0"}"#;
    assert_eq!(words(&format!("Done.\n{signal}\n")), [format!("Done.\n{signal}\n")]);
    assert_eq!(words(signal), [signal]);
}

#[test]
fn json_of_no_known_format_is_nobodys() {
    for input in [
        "{\"messages\":[{\"role\":\"assistant\",\"content\":\"EXIT_SIGNAL: true\"}]}",
        "{\n  \"messages\": [\n    {\n      \"content\": \"EXIT_SIGNAL: true\"\n    }\n  ]\n}\n",
        "[\n  {\"role\":\"assistant\",\"content\":\"EXIT_SIGNAL: true\"}\n]\n",
        "[{\"role\":\"assistant\",\n\"content\":\"EXIT_SIGNAL: true\"}]",
        "{\"type\":\"agent.message\",\"data\":{\"content\":\"EXIT_SIGNAL: true\"}}\n{\"type\":\"result\",\"exitCode\":0}\n",
        "{\"a\": NaN,\n \"content\": \"EXIT_SIGNAL: true\"}",
    ] {
        assert!(words(input).is_empty(), "{input}");
        assert!(has_problem(input, ProblemKind::UnknownJson), "{input}");
        assert!(says(input, Role::Assistant).is_empty(), "{input}");
    }
}

#[test]
fn a_text_that_begins_with_data_is_a_text() {
    let input = "{\"a\":1}\nI have read the configuration. It is valid.\n";
    assert_eq!(words(input), ["I have read the configuration. It is valid.\n"]);
    let bracketed = "[INFO] start\nDone.\n";
    assert_eq!(words(bracketed), [bracketed]);
}

#[test]
fn blank_lines_begin_no_message() {
    check(Format::Text, "\n \n\n  Done.\n\n", &["4 assistant:   Done.⏎⏎"]);
    check(Format::Text, " \n\n", &[]);
}

#[test]
fn forced_text_is_text() {
    let input = "{\n\"a\":\n1}\n";
    let (format, lines) = read_pieces(input.as_bytes(), Some(Forced::Format(Format::Text)), 7);
    assert_eq!(format, Some(Format::Text));
    assert_eq!(lines.lines, ["1 assistant: {⏎\"a\":⏎1}⏎"]);
}

#[test]
fn bytes_that_are_no_utf8_are_replaced_and_reported_by_line() {
    let (_, lines) = read_pieces(b"a\xff\xfeb\nc\n\xc3(\n", None, 100);
    assert_eq!(
        lines.lines,
        ["1 ! InvalidUtf8", "3 ! InvalidUtf8", "1 assistant: a\u{fffd}\u{fffd}b⏎c⏎\u{fffd}(⏎"]
    );
}

#[test]
fn problems_are_bounded() {
    let input = b"\xff\n".repeat(1000);
    let (_, lines) = read_pieces(&input, None, 100);
    assert_eq!(lines.lines.iter().filter(|line| line.contains(" ! ")).count(), 100);
}

#[test]
fn a_carriage_return_within_a_line_stays() {
    assert_eq!(events(Format::Text, "10%\r100%\nok\n"), ["1 assistant: 10%\r100%⏎ok⏎"]);
}

#[test]
fn a_byte_order_mark_is_no_text() {
    assert_eq!(words("\u{feff}Done."), ["Done."]);
    assert_eq!(
        words("\u{feff}{\"type\":\"result\",\"is_error\":false,\"result\":\"Done.\"}"),
        ["Done."]
    );
}
