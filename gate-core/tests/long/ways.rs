//! Long transcripts, and how they come.

use gate_core::decide::indicator::PatternSet;
use gate_core::decide::pattern::{Guard, Matcher, Pattern, Scope};
use gate_core::{Policy, Scan, Scanner};
use gate_transcript::TAIL_BYTES;
use proptest::prelude::*;
use serde::de::IgnoredAny;

use crate::Item;

/// A format: how it begins, its records, and a line that says nothing.
pub(crate) struct Format {
    pub(crate) head: &'static str,
    pub(crate) record: fn(&Item) -> Vec<u8>,
    pub(crate) idle: fn(&str) -> String,
}

/// What is looked at before the format is known, in bytes.
const HEAD: usize = 64 << 10;

/// A transcript with these records before its tail, and in it.
pub(crate) fn transcript(format: &Format, before: &[Item], tail: &[Item], more: usize) -> Vec<u8> {
    let mut bytes = format.head.as_bytes().to_vec();
    let idle = (format.idle)(&"words of a tool, all tasks completed. ".repeat(100));
    while bytes.len() < HEAD + 100 {
        bytes.extend_from_slice(idle.as_bytes());
    }
    for item in before {
        (0..item.times).for_each(|_| bytes.extend((format.record)(item)));
    }
    let wide = (format.idle)(&"words of a tool, all tasks completed. ".repeat(1700));
    let end = bytes.len() + TAIL_BYTES - tail.len() * 100 + (more << 10);
    while bytes.len() < end {
        bytes.extend_from_slice(wide.as_bytes());
    }
    for item in tail {
        bytes.extend((format.record)(item));
    }
    bytes
}

/// Pseudo-random numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

fn pattern(id: &str, regex: &str, scope: Scope) -> Pattern {
    Pattern {
        id: id.to_owned(),
        pack: "custom".to_owned(),
        matcher: Matcher::Regex(regex.to_owned()),
        weight: 1,
        scope,
        unless: vec![Guard::Negation],
        keywords: Vec::new(),
    }
}

/// The shipped patterns, with anchored ones and ones of any turn.
fn policy() -> Policy {
    let mut policy = Policy::default();
    policy.signal.exit_protocol = true;
    policy.patterns.push(pattern("anchored", "^(done|let me check.)$", Scope::Final));
    policy.patterns.push(pattern("ends", "is done$", Scope::Assistant));
    policy.patterns.push(pattern("ever", "all tests pass", Scope::Assistant));
    policy
}

fn scan(policy: &Policy, read: impl FnOnce(&mut Scanner<'_>)) -> Scan {
    let patterns = PatternSet::new(&policy.patterns).expect("valid patterns");
    let mut scanner = Scanner::new(&patterns, None);
    read(&mut scanner);
    scanner.finish(&policy.signal).without_token()
}

fn in_pieces(mut input: &[u8], random: &mut Random, scanner: &mut Scanner<'_>) {
    while !input.is_empty() {
        let size = if random.below(3) == 0 { 3 << 20 } else { 300_000 };
        let (piece, rest) = input.split_at(1 + random.below(input.len().min(size)));
        scanner.push(piece);
        input = rest;
    }
}

/// The beginnings by which lines are passed over, up to a place for a blank.
const MARKS: [(&str, &str); 4] = [
    (r#""message":{"role":"user","#, r#""content":[{"tool_use_id""#),
    (r#""role":"assistant","#, r#""content":[{"type":"tool_use""#),
    (r#""payload":"#, r#"{"type""#),
    (r#""type":"#, r#""command_execution""#),
];

/// Lines that are passed over say nothing: with a blank in the client's spelling they are
/// read, and the transcript reads the same as with a blank at their end. That a line is no
/// JSON goes unnoticed if gate passes over it.
pub(crate) fn passed_over_lines_say_nothing(input: &str) -> Result<(), TestCaseError> {
    let (mut read, mut passed_over) = (String::new(), String::new());
    for line in input.split_inclusive('\n') {
        let is_json = serde_json::from_str::<IgnoredAny>(line).is_ok();
        let mark = MARKS
            .iter()
            .filter(|(_, value)| is_json && line.contains(value))
            .find_map(|(key, value)| Some(line.find(&format!("{key}{value}"))? + key.len()));
        match (mark, line.strip_suffix("}\n")) {
            (Some(at), Some(record)) => {
                read += &format!("{} {}}}\n", &record[..at], &record[at..]);
                passed_over += &format!("{record}}} \n");
            }
            _ => {
                read += line;
                passed_over += line;
            }
        }
    }
    let policy = policy();
    let passed_over = scan(&policy, |scanner| scanner.push(passed_over.as_bytes()));
    let read = scan(&policy, |scanner| scanner.push(read.as_bytes()));
    prop_assert_eq!(&passed_over, &read, "passed over");
    Ok(())
}

/// A long transcript reads the same however it is cut into pieces.
pub(crate) fn pieces_agree(input: &[u8], seed: u64) -> Result<(), TestCaseError> {
    let random = &mut Random(seed | 1);
    let policy = policy();
    let whole = scan(&policy, |scanner| scanner.push(input));
    let pieces = scan(&policy, |scanner| in_pieces(input, random, scanner));
    prop_assert_eq!(&pieces, &whole, "in pieces");
    Ok(())
}
