//! A record that cannot be read, far from the end, behind a signal.

use gate_core::{Policy, scan};

use crate::claude::{SESSION, STREAM};
use crate::codex::{EXEC, ROLLOUT};
use crate::ways::{Format, all_ways_agree, transcript};
use crate::{Item, json};

/// An item of a kind that says this.
fn item(kind: usize, text: &'static str) -> Item {
    Item { kind, text, more: "", id: 0, vary: 0, times: 1 }
}

/// A transcript with a signal and this line behind it, both far from the end.
fn behind_a_signal(format: &Format, line: &str) -> Vec<u8> {
    let signal = item(0, "EXIT_STATUS: COMPLETE\nREMAINING_WORK: none");
    let mut bytes = transcript(format, std::slice::from_ref(&signal), &[], 900);
    let spoken = json(signal.text, 0);
    let at = memchr::memmem::find(&bytes, spoken.as_bytes()).expect("the signal");
    let end = at + memchr::memchr(b'\n', &bytes[at..]).expect("its line") + 1;
    bytes.splice(end..end, line.bytes());
    bytes
}

#[test]
fn lines_that_cannot_matter_tear_what_has_not_ended_before_them() {
    for format in [STREAM, SESSION, EXEC, ROLLOUT] {
        for (line, doubted) in [("", false), ("{\n", true), ("{\"a\":[1}\n", true), ("[\n", false)]
        {
            let bytes = behind_a_signal(&format, line);
            let signal = scan(&bytes, &Policy::default()).expect("patterns").signal;
            assert_eq!(!signal.problems.is_empty(), doubted, "{}{line}", format.head);
            all_ways_agree(&bytes, 1).expect("one reading");
        }
    }
}

#[test]
fn a_line_that_is_no_json_is_told_though_it_would_not_matter() {
    for format in [STREAM, SESSION, EXEC, ROLLOUT] {
        for (member, doubted) in [("[{}]", false), ("[{\"y\":1]}", true), ("[1,,2]", true)] {
            let idle = (format.idle)("words of a tool");
            let line = format!("{},\"x\":{member}}}\n", &idle[..idle.len() - 2]);
            let bytes = behind_a_signal(&format, &line);
            let signal = scan(&bytes, &Policy::default()).expect("patterns").signal;
            assert_eq!(!signal.problems.is_empty(), doubted, "{line}");
        }
    }
}
