//! Finds patterns by the rarest texts that their matches must hold.

use std::ops::Range;

use memchr::{memchr, memchr2, memrchr};

use super::prefilter::Prefilter;
use crate::decide::literal::Needle;

/// The rarest texts of some patterns.
#[derive(Debug)]
pub(super) struct Search {
    rarest: Prefilter,
    /// The pattern that each text belongs to.
    owners: Vec<usize>,
}

impl Search {
    /// For short texts: ready at once. `texts` are those of each pattern.
    pub(super) fn briefly<'t>(texts: impl Iterator<Item = &'t [Needle]>) -> Self {
        Self::of(texts, Prefilter::brief)
    }

    /// For long texts: the fastest way is prepared.
    pub(super) fn at_length<'t>(texts: impl Iterator<Item = &'t [Needle]>) -> Self {
        Self::of(texts, Prefilter::new)
    }

    fn of<'t>(
        texts: impl Iterator<Item = &'t [Needle]>,
        prefilter: fn(Vec<Needle>) -> Prefilter,
    ) -> Self {
        let (mut rarest, mut owners) = (Vec::new(), Vec::new());
        for (index, texts) in texts.enumerate() {
            owners.extend(texts.iter().map(|_| index));
            rarest.extend_from_slice(texts);
        }
        Self { rarest: prefilter(rarest), owners }
    }

    /// Calls `visit` with each pattern that one of its rarest texts may lead to and with the
    /// line of that text, once for a pattern and line, until it returns true.
    pub(super) fn visit(&self, bytes: &[u8], mut visit: impl FnMut(usize, Range<usize>) -> bool) {
        let (mut line, mut visited) = (0..0, Vec::<usize>::new());
        self.rarest.find(bytes, 0, |at, text| {
            if !line.contains(&at) {
                line = line_around(bytes, at);
                visited.clear();
            }
            let owner = self.owners[text];
            if visited.contains(&owner) {
                return false;
            }
            visited.push(owner);
            visit(owner, line.clone())
        });
    }
}

/// The line in which a byte stands, without its line break.
fn line_around(plain: &[u8], at: usize) -> Range<usize> {
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
