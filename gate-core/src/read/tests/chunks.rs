//! What comes out does not depend on how the input comes in.

use super::{Lines, read_pieces};
use crate::read::detect::Head;
use crate::read::out::{Memo, Out};
use crate::read::{MAX_PIECE, MAX_RECORD, Reader};

const INPUTS: &[&str] = &[
    "Hello\r\n\x1b[1mwörld\x1b[0m\r\n{\"a\":1}\nrest\x1b]0;x\x07 end",
    "# Log\n--- RAW OUTPUT ---\ntext\n{\"a\":\"b\"}\n\n--- STDERR ---\nx\n",
    "OpenAI Codex v0.1.0\n--------\nmodel: m\nuser\nx\ncodex\n\n \ny\n2026-04-28T13:52:06.444724Z ERROR z\nexec\nls in /w\n succeeded in 5ms:\n\ntokens used\n1,2\nend\n",
    "noise\n{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"a \\\"b\\\" \\\\\"}]}}\n\n {\"type\":\"user\",\n  \"message\": {\"content\": \"x}\"}\n}\n{\"type\":\"assist\nmore {noise}\n[1, 2]\n[\n]\n{\"type\":\"result\",\"is_error\":false,\"result\":\"z\"} trailing\n{\"x",
    "[\n  {\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\"},\n  {\n    \"type\": \"assistant\",\n    \"message\": {\"content\": \"hé\"}\n  }, {\"type\":\"result\",\"is_error\":false,\"result\":\"q\"}]\ntail",
    "{\"type\":\"assistant\",\"message\":{\"content\":\"a\"}}{\"type\":\"assistant\",\"message\":{\"content\":\"b\"}} , {\"c\n{\"type\":\"assistant\",\"message\":{\"content\":\"c\"}}\n\x1b[?25h{\"type\":\"assistant\",\"message\":{\"content\":\"d\"}}\n",
    "{\"unknown\":1}\n{\"more\":\n\"text\"}\nEXIT_SIGNAL: true\n",
    "{\"type\":\"thread.started\",\"thread_id\":\"t\"}\n{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"x\"}}\n{",
];

/// Reads past the [`Reader`], which keeps small inputs together.
fn decode_pieces(input: &str, size: usize) -> Lines {
    let head = Head::of(input.as_bytes(), None);
    let mut decode = (head.format.spec().open)(&head);
    let (mut lines, mut memo) = (Lines::default(), Memo::default());
    let mut out = Out::new(&mut lines, &mut memo);
    for piece in input.as_bytes().chunks(size) {
        decode.push(piece, &mut out);
    }
    decode.finish(&mut out);
    lines.last.finish();
    lines
}

#[test]
fn pieces_of_any_size() {
    for input in INPUTS {
        let whole = decode_pieces(input, usize::MAX);
        for size in 1..input.len() {
            let pieces = decode_pieces(input, size);
            assert_eq!(pieces.sorted(), whole.sorted(), "{size}: {input}");
            assert_eq!(last_words(&pieces), last_words(&whole), "{size}: {input}");
        }
    }
}

#[test]
fn the_reader_in_pieces_of_any_size() {
    for input in INPUTS {
        let whole = read_pieces(input.as_bytes(), None, usize::MAX);
        for size in 1..input.len() {
            let pieces = read_pieces(input.as_bytes(), None, size);
            assert_eq!(
                (pieces.0, pieces.1.sorted()),
                (whole.0, whole.1.sorted()),
                "{size}: {input}"
            );
        }
    }
}

fn last_words(lines: &Lines) -> Vec<(&str, u64)> {
    lines.last.words().map(|word| (&*word.text, word.line)).collect()
}

/// A small generator of pseudo-random numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

/// Inputs longer than what is looked at, cut at random, also when the parts of
/// known inputs are shuffled together.
#[test]
fn random_pieces_of_random_inputs() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for round in 0..60 {
        let mut input = String::new();
        while input.len() < 70_000 * (round % 2) + 3000 {
            let part = INPUTS[random.below(INPUTS.len())];
            let lines: Vec<&str> = part.split_inclusive('\n').collect();
            let from = random.below(lines.len());
            input.push_str(&lines[from..from + 1 + random.below(lines.len() - from)].concat());
        }
        let whole = read_pieces(input.as_bytes(), None, usize::MAX);
        let mut lines = Lines::default();
        let mut reader = Reader::new(None);
        let mut rest = input.as_bytes();
        while !rest.is_empty() {
            let (piece, later) = rest.split_at(1 + random.below(rest.len().min(5000)));
            reader.push(piece, &mut lines);
            rest = later;
        }
        reader.finish(&mut lines);
        assert_eq!(reader.format(), whole.0, "round {round}");
        assert!(lines.sorted() == whole.1.sorted(), "round {round}");
    }
}

#[test]
fn long_lines_in_pieces_of_any_size() {
    let text = format!("start\n{}\r\nend \x1b[1mhere\x1b[0m\n", "wörd ".repeat(MAX_PIECE / 3));
    let noise = format!("{{\"type\":\"turn.started\"}}\n{}\n", "nöise ".repeat(MAX_PIECE / 3));
    for input in [text, noise] {
        let whole = read_pieces(input.as_bytes(), None, usize::MAX);
        for size in [4096, 65_537, MAX_PIECE - 1, MAX_PIECE + 7] {
            let pieces = read_pieces(input.as_bytes(), None, size);
            assert!(pieces.1.sorted() == whole.1.sorted(), "{size}");
        }
    }
}

#[test]
fn a_record_that_is_too_long_is_passed_over() {
    let input = format!(
        "{{\"type\":\"turn.started\",\"x\":\"{}\"}}\n{{\"type\":\"thread.started\",\"thread_id\":\"t\"}}\n",
        "x".repeat(MAX_RECORD)
    );
    for size in [1 << 20, usize::MAX] {
        let (_, lines) = read_pieces(input.as_bytes(), None, size);
        assert_eq!(lines.lines, ["1 ! Oversized", "session t"]);
    }
}

#[test]
fn depth_is_no_danger() {
    let deep = format!("{{\"type\":\"turn.started\"}}\n{{\"x\":{}\n", "[".repeat(100_000));
    assert_eq!(read_pieces(deep.as_bytes(), None, 1000).1.lines, ["2 ! Torn"]);
    let closed = format!(
        "{{\"type\":\"turn.started\"}}\n{{\"item\":{}{}}}\n",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    assert!(read_pieces(closed.as_bytes(), None, 1000).1.lines.len() <= 1);
    let brackets = "[".repeat(100_000);
    assert_eq!(read_pieces(brackets.as_bytes(), None, 1000).1.lines.len(), 1);
}
