//! JSON that no terminal and no CI obeys, and that means the same.

use std::time::Duration;

use serde_json::json;

use super::text::{brief, lines, plain, span};
use super::{json as pretty, json_line};

#[test]
fn what_a_terminal_or_a_ci_would_obey_is_escaped_and_means_the_same() {
    let value = json!({
        "a": "x\u{9b}2J\u{202e}y\u{200b}z", "b": "##[error]no", "c\u{2028}": "tab\tend\n",
    });
    let line = json_line(&value).unwrap();
    let expected = concat!(
        r###"{"a":"x\u009b2J\u202ey\u200bz","b":"##\u005berror]no","###,
        r#""c\u2028":"tab\tend\n"}"#,
        "\n",
    );
    assert_eq!(line, expected);
    assert_eq!(serde_json::from_str::<serde_json::Value>(&line).unwrap(), value);
    let indented = pretty(&value).unwrap();
    assert!(indented.starts_with("{\n  \"a\": \"x\\u009b2J"), "{indented}");
    assert_eq!(serde_json::from_str::<serde_json::Value>(&indented).unwrap(), value);
    assert_eq!(json_line(&json!({ "é": "日本" })).unwrap(), "{\"é\":\"日本\"}\n");
}

#[test]
fn a_row_is_cut_and_a_text_on_one_line_is_not() {
    let long = "é".repeat(250);
    assert_eq!(brief(&long), format!("{}…", "é".repeat(200)));
    assert_eq!(plain(&long), long);
    assert_eq!(plain("a\nb\r\nc\u{1b}[31md"), "a b  cd");
    assert_eq!(plain("::error::x"), ": :error::x");
    assert_eq!(brief("  ##[group]x"), "  ## [group]x");
}

#[test]
fn lines_stay_lines() {
    assert_eq!(lines("a\u{1b}[2J\n\n  b\u{7}\n"), "a\n\n  b\n");
    assert_eq!(lines("no end"), "no end");
    assert_eq!(lines("\n::warning::x"), "\n: :warning::x");
    assert_eq!(lines(""), "");
}

#[test]
fn a_time_is_shown_in_its_two_largest_units() {
    for (millis, expected) in [
        (0, "0.0s"),
        (9_949, "9.9s"),
        (10_000, "10s"),
        (59_999, "59s"),
        (60_000, "1m 0s"),
        (3_599_000, "59m 59s"),
        (3_600_000, "1h 0m"),
        (90_061_000, "25h 1m"),
    ] {
        assert_eq!(span(Duration::from_millis(millis)), expected);
    }
}
