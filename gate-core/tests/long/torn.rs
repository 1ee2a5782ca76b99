//! A record that cannot be read, before the tail, behind a signal.

use gate_core::{Policy, scan};

use crate::claude::{SESSION, STREAM};
use crate::codex::{EXEC, ROLLOUT};
use crate::ways::{Format, pieces_agree, transcript};
use crate::{Item, json};

/// An item of a kind that says this.
fn item(kind: usize, text: &'static str) -> Item {
    Item { kind, text, more: "", id: 0, vary: 0, times: 1 }
}

/// A transcript with a signal and this line behind it, both before the tail.
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
fn a_torn_line_is_told_apart_from_noise() {
    for format in [STREAM, SESSION, EXEC, ROLLOUT] {
        for (line, doubted) in [("", false), ("{\n", true), ("{\"a\":[1}\n", true), ("[\n", false)]
        {
            let bytes = behind_a_signal(&format, line);
            let signal = scan(&bytes, &Policy::default()).expect("patterns").signal;
            assert_eq!(!signal.problems.is_empty(), doubted, "{}{line}", format.head);
            pieces_agree(&bytes, 1).expect("one reading");
        }
    }
}

#[test]
fn a_message_that_is_no_json_casts_doubt_on_the_signal_before_it() {
    for format in [STREAM, SESSION, EXEC, ROLLOUT] {
        for (member, doubted) in [("[{}]", false), ("[{\"y\":1]}", true), ("[1,,2]", true)] {
            let spoken = (format.record)(&item(0, " \n"));
            let spoken = String::from_utf8(spoken).expect("text");
            let line = format!("{},\"x\":{member}}}\n", &spoken[..spoken.len() - 2]);
            let bytes = behind_a_signal(&format, &line);
            let signal = scan(&bytes, &Policy::default()).expect("patterns").signal;
            assert_eq!(!signal.problems.is_empty(), doubted, "{line}");
        }
    }
}
