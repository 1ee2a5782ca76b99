//! The end of a stream, kept back until it is known that it is the end.

use memchr::{memchr, memrchr};

use super::MAX_RECORD;

/// The length of the tail of a long input, in bytes: the last lines that together are as
/// long. gate reports errors, denied calls and commands only from the tail, so that a
/// session does not carry its old troubles along.
pub const TAIL_BYTES: usize = 256 << 10;

/// Bytes beyond [`TAIL_BYTES`] that are buffered before lines are released.
const STEP_BYTES: usize = 1 << 20;

/// The last lines of a stream, as far as it has come.
#[derive(Debug, Default)]
pub(super) struct TailBuffer {
    bytes: Vec<u8>,
    /// The first byte that was not released.
    from: usize,
    /// True while the rest of a line is coming that is too long to be buffered.
    within_line: bool,
    /// True once anything was released: what is left is the tail of more.
    released: bool,
}

/// Bytes before the tail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Released<'h> {
    /// Whole lines.
    Lines(&'h [u8]),
    /// A part of a line that is longer than [`MAX_RECORD`].
    Part(&'h [u8]),
}

impl TailBuffer {
    /// True if all that came was released, up to the end of a line.
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.len() == self.from && !self.within_line
    }

    /// Lines were left out: what comes is the tail of more.
    pub(super) fn skip(&mut self) {
        self.released = true;
    }

    /// Takes the next bytes, and passes on what is not in the tail, wherever the end will be.
    pub(super) fn push(&mut self, bytes: &[u8], take: &mut dyn FnMut(Released<'_>)) {
        if self.pass_lines(bytes, take).is_none() {
            if self.from > STEP_BYTES {
                self.bytes.drain(..self.from);
                self.from = 0;
            }
            self.bytes.extend_from_slice(bytes);
        }
        while let Some(released) = self.release() {
            take(released);
        }
    }

    /// Passes on the lines of a long piece without a copy, and buffers its end.
    fn pass_lines(&mut self, bytes: &[u8], take: &mut dyn FnMut(Released<'_>)) -> Option<()> {
        let far = &bytes[..bytes.len().checked_sub(TAIL_BYTES)?];
        let (first, last) = (memchr(b'\n', far)? + 1, memrchr(b'\n', far)? + 1);
        if self.within_line || self.bytes.len() - self.from + first > MAX_RECORD {
            return None;
        }
        self.bytes.extend_from_slice(&bytes[..first]);
        take(Released::Lines(&self.bytes[self.from..]));
        take(Released::Lines(&bytes[first..last]));
        self.bytes.clear();
        self.bytes.extend_from_slice(&bytes[last..]);
        self.from = 0;
        self.released = true;
        Some(())
    }

    /// Releases what is not in the tail, wherever the end will be.
    fn release(&mut self) -> Option<Released<'_>> {
        let buffered = &self.bytes[self.from..];
        if self.within_line {
            let end = memchr(b'\n', buffered).map_or(buffered.len(), |at| at + 1);
            self.within_line = end == buffered.len() && buffered.last() != Some(&b'\n');
            return self.part(end);
        }
        if buffered.len() <= TAIL_BYTES + STEP_BYTES {
            return None;
        }
        match memrchr(b'\n', &buffered[..buffered.len() - TAIL_BYTES]) {
            Some(at) => self.lines(at + 1),
            None if buffered.len() > MAX_RECORD
                && memchr(b'\n', &buffered[..MAX_RECORD]).is_none() =>
            {
                self.within_line = true;
                self.part(MAX_RECORD)
            }
            None => None,
        }
    }

    /// The stream has ended: releases the lines before the tail.
    pub(super) fn release_last(&mut self) -> Option<Released<'_>> {
        let buffered = &self.bytes[self.from..];
        let far = buffered.len().saturating_sub(TAIL_BYTES);
        memrchr(b'\n', &buffered[..far]).and_then(|at| self.lines(at + 1))
    }

    /// The bytes that were not released, and whether others come before them.
    pub(super) fn tail(&self) -> (&[u8], bool) {
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
mod tests;
