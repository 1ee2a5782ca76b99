//! Finds patterns by the rarest texts that their matches must hold.

use std::ops::Range;

use memchr::{memchr, memchr2, memrchr};

use super::prefilter::Prefilter;

/// The rarest texts of some patterns.
#[derive(Debug)]
pub(super) struct Search {
    rarest: Prefilter,
    /// The pattern that each text belongs to.
    owners: Vec<usize>,
}

/// The line around a byte.
pub(super) type LineOf = fn(&[u8], usize) -> Range<usize>;

impl Search {
    /// For short texts: ready at once. `texts` are those of each pattern.
    pub(super) fn briefly<'t>(texts: impl Iterator<Item = &'t [String]>) -> Self {
        Self::of(texts, Prefilter::brief)
    }

    /// For long texts: the fastest way is prepared.
    pub(super) fn at_length<'t>(texts: impl Iterator<Item = &'t [String]>) -> Self {
        Self::of(texts, Prefilter::new)
    }

    fn of<'t>(
        texts: impl Iterator<Item = &'t [String]>,
        prefilter: fn(Vec<String>) -> Prefilter,
    ) -> Self {
        let (mut rarest, mut owners) = (Vec::new(), Vec::new());
        for (index, texts) in texts.enumerate() {
            owners.extend(texts.iter().map(|_| index));
            rarest.extend_from_slice(texts);
        }
        Self { rarest: prefilter(rarest), owners }
    }

    /// Tells the patterns whose rarest text stands in a line, at or after a byte,
    /// and that line, until one is enough: where that text stands. In one line each
    /// pattern is told once.
    pub(super) fn first(
        &self,
        bytes: &[u8],
        from: usize,
        line: LineOf,
        mut enough: impl FnMut(usize, &Range<usize>) -> bool,
    ) -> Option<usize> {
        let (mut within, mut told) = (0..0, Vec::new());
        let first = self.rarest.find(bytes, from, |found, text| {
            if !within.contains(&found) {
                within = line(bytes, found);
                told.clear();
            }
            let owner = self.owners[text];
            let is_new = !told.contains(&owner);
            if is_new {
                told.push(owner);
            }
            is_new && enough(owner, &within)
        });
        first.map(|(found, _)| found)
    }
}

/// The line around a byte, in plain text.
pub(super) fn plain_line(plain: &[u8], at: usize) -> Range<usize> {
    let begin = memrchr(b'\n', &plain[..at]).map_or(0, |found| found + 1);
    begin..memchr(b'\n', &plain[at..]).map_or(plain.len(), |found| at + found)
}

/// Whether a text, in lower case, stands in the line.
pub(super) fn stands_in(line: &[u8], text: &[u8]) -> bool {
    let Some(first) = text.first() else {
        return true;
    };
    let mut at = 0;
    while let Some(found) = memchr2(*first, first.to_ascii_uppercase(), &line[at..]) {
        let stands = line[at + found..].get(..text.len());
        if stands.is_some_and(|stands| stands.eq_ignore_ascii_case(text)) {
            return true;
        }
        at += found + 1;
    }
    false
}
