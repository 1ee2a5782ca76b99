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

/// A place where a pattern may match: one of its rarest texts.
pub(super) struct Place {
    /// The pattern.
    pub(super) owner: usize,
    /// The line.
    pub(super) line: Range<usize>,
    /// From which byte of the line on a match may begin.
    pub(super) from: usize,
    /// Where the text stands.
    pub(super) at: usize,
}

/// What comes of a place.
pub(super) enum Told {
    /// It is enough.
    Enough,
    /// In this line, the pattern is to be told of no place before this byte.
    Until(usize),
}

/// The pattern is not to be told of the line again.
pub(super) const ONCE: Told = Told::Until(usize::MAX);

/// The line around a byte.
pub(super) type LineOf = fn(&[u8], usize) -> Range<usize>;

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

    /// Tells the places of the rarest texts, at or after a byte, until one is
    /// enough: where that text stands.
    pub(super) fn first(
        &self,
        bytes: &[u8],
        from: usize,
        line: LineOf,
        mut tell: impl FnMut(&Place) -> Told,
    ) -> Option<usize> {
        let (mut within, mut told) = (0..0, Vec::<(usize, usize)>::new());
        let first = self.rarest.find(bytes, from, |at, text| {
            if !within.contains(&at) {
                within = line(bytes, at);
                told.clear();
            }
            let owner = self.owners[text];
            let before = told.iter().position(|(known, _)| *known == owner);
            let from = before.map_or(within.start, |index| told[index].1);
            if at < from {
                return false;
            }
            match (tell(&Place { owner, line: within.clone(), from, at }), before) {
                (Told::Enough, _) => return true,
                (Told::Until(place), Some(index)) => told[index].1 = place,
                (Told::Until(place), None) => told.push((owner, place)),
            }
            false
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
