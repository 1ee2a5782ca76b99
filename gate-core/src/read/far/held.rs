//! Holds the end of a stream back until it is known what stands near it.

use memchr::{memchr, memrchr};

use super::NEAR;
use crate::read::MAX_RECORD;

/// How much more than [`NEAR`] is held before lines are released, in bytes.
const STEP: usize = 1 << 20;

/// The last lines of a stream, as far as it has come.
#[derive(Debug, Default)]
pub(in crate::read) struct Held {
    bytes: Vec<u8>,
    /// What is held begins here.
    from: usize,
    /// Whether a line goes on that is too long to be held.
    within: bool,
    released: bool,
}

/// Bytes that are not near the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::read) enum Released<'h> {
    /// Whole lines.
    Lines(&'h [u8]),
    /// A part of a line that is longer than [`MAX_RECORD`].
    Part(&'h [u8]),
}

impl Held {
    /// Whether nothing is held.
    pub(in crate::read) fn is_empty(&self) -> bool {
        self.bytes.len() == self.from && !self.within
    }

    /// Takes the next bytes.
    pub(in crate::read) fn push(&mut self, bytes: &[u8]) {
        if self.from > STEP {
            self.bytes.drain(..self.from);
            self.from = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// Releases what is not near the end, wherever the end will be.
    pub(in crate::read) fn release(&mut self) -> Option<Released<'_>> {
        let held = &self.bytes[self.from..];
        if self.within {
            let end = memchr(b'\n', held).map_or(held.len(), |at| at + 1);
            self.within = end == held.len() && held.last() != Some(&b'\n');
            return self.part(end);
        }
        if held.len() <= NEAR + STEP {
            return None;
        }
        match memrchr(b'\n', &held[..held.len() - NEAR]) {
            Some(at) => self.lines(at + 1),
            None if held.len() > MAX_RECORD && memchr(b'\n', &held[..MAX_RECORD]).is_none() => {
                self.within = true;
                self.part(MAX_RECORD)
            }
            None => None,
        }
    }

    /// The stream has ended: releases the lines that are not near the end.
    pub(in crate::read) fn release_last(&mut self) -> Option<Released<'_>> {
        let held = &self.bytes[self.from..];
        let far = held.len().saturating_sub(NEAR);
        memrchr(b'\n', &held[..far]).and_then(|at| self.lines(at + 1))
    }

    /// What is near the end, where something is not.
    pub(in crate::read) fn near(&self) -> (&[u8], bool) {
        (&self.bytes[self.from..], self.released)
    }

    fn lines(&mut self, length: usize) -> Option<Released<'_>> {
        Some(Released::Lines(self.take(length)))
    }

    fn part(&mut self, length: usize) -> Option<Released<'_>> {
        (length > 0).then(|| Released::Part(self.take(length)))
    }

    fn take(&mut self, length: usize) -> &[u8] {
        self.released = true;
        let from = self.from;
        self.from += length;
        &self.bytes[from..self.from]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is released of these bytes in pieces of a size, and what is near.
    fn far_and_near(input: &[u8], size: usize) -> (Vec<u8>, Vec<u8>) {
        let (mut held, mut far) = (Held::default(), Vec::new());
        let mut keep = |released: Released<'_>| match released {
            Released::Lines(bytes) | Released::Part(bytes) => far.extend_from_slice(bytes),
        };
        for bytes in input.chunks(size) {
            held.push(bytes);
            while let Some(released) = held.release() {
                keep(released);
            }
        }
        while let Some(released) = held.release_last() {
            keep(released);
        }
        let near = held.near().0.to_vec();
        (far, near)
    }

    #[test]
    fn the_border_is_the_same_however_the_bytes_come() {
        let short = "line\n".repeat(NEAR);
        let long = format!("a\n{}\nb\n{}", "x".repeat(NEAR + 9), "c\n".repeat(NEAR / 4));
        let endless = format!("a\n{}\nb\n", "y".repeat(MAX_RECORD + 9));
        for (input, near) in
            [(&short, NEAR + 4 * NEAR % 5), (&long, NEAR / 2 + 12 + NEAR), (&endless, 2)]
        {
            let expected = far_and_near(input.as_bytes(), usize::MAX);
            assert_eq!(expected.1.len(), near);
            assert_eq!(expected.0.len() + near, input.len());
            for size in [70_001, NEAR - 1, 3 * NEAR] {
                assert!(far_and_near(input.as_bytes(), size) == expected, "{size}");
            }
        }
    }

    #[test]
    fn a_short_input_is_near_as_a_whole() {
        assert_eq!(far_and_near(b"a\nb\n", 1), (Vec::new(), b"a\nb\n".to_vec()));
    }
}
