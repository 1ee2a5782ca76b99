//! The ways in which a transcript is read, and long transcripts.

use std::collections::VecDeque;

use gate_core::decide::indicator::PatternSet;
use gate_core::decide::pattern::{Guard, Matcher, Pattern, Scope};
use gate_core::read::{Far, NEAR, Sifted};
use gate_core::{Policy, Scan, Scanner};
use memchr::{memchr, memrchr};
use proptest::prelude::*;

use crate::Item;

/// A format: how it begins, its records, and a line that says nothing.
pub(crate) struct Format {
    pub(crate) head: &'static str,
    pub(crate) record: fn(&Item) -> Vec<u8>,
    pub(crate) idle: fn(&str) -> String,
}

/// What is looked at before the format is known, in bytes.
const HEAD: usize = 64 << 10;

/// A transcript with these records far from its end, and near it.
pub(crate) fn transcript(format: &Format, far: &[Item], near: &[Item], more: usize) -> Vec<u8> {
    let mut bytes = format.head.as_bytes().to_vec();
    let idle = (format.idle)(&"words of a tool, all tasks completed. ".repeat(100));
    while bytes.len() < HEAD + 100 {
        bytes.extend_from_slice(idle.as_bytes());
    }
    for item in far {
        (0..item.times).for_each(|_| bytes.extend((format.record)(item)));
    }
    let wide = (format.idle)(&"words of a tool, all tasks completed. ".repeat(1700));
    let end = bytes.len() + NEAR - near.len() * 100 + (more << 10);
    while bytes.len() < end {
        bytes.extend_from_slice(wide.as_bytes());
    }
    for item in near {
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
    }
}

/// The shipped patterns, with anchored ones and ones of any turn.
fn policy(everything: bool) -> Policy {
    let mut policy = Policy::default();
    policy.signal.exit_protocol = true;
    policy.patterns.push(pattern("anchored", "^(done|let me check.)$", Scope::Final));
    policy.patterns.push(pattern("ends", "is done$", Scope::Assistant));
    policy.patterns.push(pattern("ever", "all tests pass", Scope::Assistant));
    if everything {
        policy.patterns.push(pattern("never", "zqzqzqzq", Scope::Any));
    }
    policy
}

fn scan(policy: &Policy, read: impl FnOnce(&mut Scanner<'_>)) -> Scan {
    let patterns = PatternSet::new(&policy.patterns).expect("valid patterns");
    let mut scanner = Scanner::new(&patterns, None);
    read(&mut scanner);
    scanner.finish(&policy.signal)
}

fn in_pieces(mut input: &[u8], random: &mut Random, scanner: &mut Scanner<'_>) {
    while !input.is_empty() {
        let size = if random.below(3) == 0 { 3 << 20 } else { 300_000 };
        let (piece, rest) = input.split_at(1 + random.below(input.len().min(size)));
        scanner.push(piece);
        input = rest;
    }
}

/// As large files are read: with sieves that may be stale.
fn sifted_ahead(input: &[u8], random: &mut Random, scanner: &mut Scanner<'_>) {
    let head = HEAD + memchr(b'\n', &input[HEAD - 1..]).expect("lines");
    scanner.push(&input[..head]);
    let border = memrchr(b'\n', &input[..input.len() - NEAR]).map_or(0, |at| at + 1);
    let far = scanner.far().filter(|_| border > head);
    let Some(mut far) = far else {
        return scanner.push(&input[head..]);
    };
    let (mut ahead, mut rest) = (VecDeque::new(), &input[head..border]);
    while !rest.is_empty() || !ahead.is_empty() {
        if !rest.is_empty() && ahead.len() < 6 && random.below(4) > 0 {
            let (lines, later) = some_lines(rest, random);
            ahead.push_back((lines, sift(&far, lines)));
            rest = later;
        } else if let Some((lines, sifted)) = ahead.pop_front() {
            if let Some(taken) = scanner.take(&sifted) {
                let breaks = memchr::memchr_iter(b'\n', lines).take(taken as usize);
                scanner.sift(&lines[breaks.last().map_or(0, |at| at + 1)..]);
            }
            far = scanner.far().unwrap_or(far);
        }
    }
    scanner.near();
    scanner.push(&input[border..]);
}

fn some_lines<'i>(rest: &'i [u8], random: &mut Random) -> (&'i [u8], &'i [u8]) {
    let most = if random.below(2) == 0 { 2000 } else { 99_000 };
    let size = random.below(rest.len().min(most));
    rest.split_at(size + memchr(b'\n', &rest[size..]).expect("whole lines") + 1)
}

fn sift(far: &Far, lines: &[u8]) -> Sifted {
    let mut sifted = Sifted::default();
    far.sift(lines, &mut sifted);
    sifted
}

/// All ways to read a transcript come to the same.
pub(crate) fn all_ways_agree(input: &[u8], seed: u64) -> Result<(), TestCaseError> {
    let random = &mut Random(seed | 1);
    let plain = scan(&policy(true), |scanner| scanner.push(input));
    let policy = policy(false);
    let whole = scan(&policy, |scanner| scanner.push(input));
    prop_assert_eq!(&whole, &plain, "pushed at once");
    let pieces = scan(&policy, |scanner| in_pieces(input, random, scanner));
    prop_assert_eq!(&pieces, &plain, "in pieces");
    let ahead = scan(&policy, |scanner| sifted_ahead(input, random, scanner));
    prop_assert_eq!(&ahead, &plain, "sifted ahead");
    Ok(())
}
