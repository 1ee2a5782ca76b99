//! Which lines of plain text cannot matter.

use memchr::{memchr, memrchr};

use crate::read::MAX_PIECE;
use crate::read::blocks::count_breaks;
use crate::read::clean::{clean_into, controls};
use crate::read::far::{Sieve, Sifting, Wanted};

/// Knows nothing: each line is the agent's, or data that no one looks into.
#[derive(Debug)]
pub(super) struct TextSieve;

impl Sieve for TextSieve {
    fn sift(&self, lines: &[u8], wanted: &dyn Wanted, kept: &mut Sifting<'_>) {
        let mut counted = 0;
        for (begin, end) in found(lines, wanted) {
            if begin < counted {
                continue;
            }
            kept.pass_over(count_breaks(&lines[counted..begin]));
            kept.matters(&lines[begin..end]);
            kept.pass_over(1);
            counted = end;
        }
        kept.pass_over(count_breaks(&lines[counted..]));
    }
}

/// The lines that may hold something, in order.
fn found(lines: &[u8], wanted: &dyn Wanted) -> Vec<(usize, usize)> {
    let mut found = plain(lines, wanted);
    let others = [dressed(lines, wanted), long(lines)].concat();
    if !others.is_empty() {
        found.extend(others);
        found.sort_unstable();
    }
    found
}

fn plain(lines: &[u8], wanted: &dyn Wanted) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(next) = wanted.next(lines, at) {
        let line = line_around(lines, next);
        found.push(line);
        at = line.1;
    }
    found
}

/// Lines that hold something only without what a terminal wants.
fn dressed(lines: &[u8], wanted: &dyn Wanted) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let (mut at, mut plain) = (0, String::new());
    while let Some(next) = controls(&lines[at..]) {
        let (begin, end) = line_around(lines, at + next);
        plain.clear();
        clean_into(&String::from_utf8_lossy(&lines[begin..end]), &mut plain);
        if wanted.next(plain.as_bytes(), 0).is_some() {
            found.push((begin, end));
        }
        at = end;
    }
    found
}

/// Lines that are read in several pieces: each is a line of its own there.
fn long(lines: &[u8]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(piece) = lines.get(at..=at + MAX_PIECE) {
        at = match memrchr(b'\n', piece) {
            Some(last) => at + last + 1,
            None => {
                let line = line_around(lines, at);
                found.push(line);
                line.1
            }
        };
    }
    found
}

/// The line in which a byte stands, with its line break.
fn line_around(lines: &[u8], at: usize) -> (usize, usize) {
    let begin = memrchr(b'\n', &lines[..at]).map_or(0, |found| found + 1);
    let end = memchr(b'\n', &lines[at..]).map_or(lines.len(), |found| at + found + 1);
    (begin, end)
}
