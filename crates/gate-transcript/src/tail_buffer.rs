//! The end of a stream, kept back until it is known that it is the end.

use memchr::{memchr, memrchr};

use super::MAX_RECORD;

/// The least length of the tail of a long input, in bytes: the tail is the fewest last lines that
/// have as many. gate reports errors, denied calls and commands only from the tail, so that a
/// session does not carry its old troubles along.
pub const TAIL_BYTES: usize = 256 << 10;

/// Bytes beyond [`TAIL_BYTES`] that are buffered before lines are released.
const STEP_BYTES: usize = 1 << 20;

/// The last lines of a stream, as far as it has come.
#[derive(Debug, Default)]
pub(super) struct TailBuffer {
    bytes: Vec<u8>,
    /// The index of the first byte that was not released.
    unreleased: usize,
    /// The end of a line that is too long to be buffered has still to come.
    within_line: bool,
    /// Bytes were released or left out: what is buffered is the tail of more.
    has_released: bool,
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
    /// All that came was released, up to the end of a line.
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.len() == self.unreleased && !self.within_line
    }

    /// Lines were left out: the bytes that come next are the tail of more.
    pub(super) fn note_left_out(&mut self) {
        self.has_released = true;
    }

    /// Takes the next bytes, and passes on those that are before the tail wherever the end will be.
    pub(super) fn push(&mut self, bytes: &[u8], pass_on: &mut dyn FnMut(Released<'_>)) {
        if self.pass_lines(bytes, pass_on).is_none() {
            // To move the bytes to the front takes time, so that it is done once a step.
            if self.unreleased > STEP_BYTES {
                self.bytes.drain(..self.unreleased);
                self.unreleased = 0;
            }
            self.bytes.extend_from_slice(bytes);
        }
        while let Some(released) = self.release() {
            pass_on(released);
        }
    }

    /// Passes on the lines of a long piece without a copy, and buffers its end. `None`, and nothing
    /// is done, if the piece is short or has no line end before the tail.
    fn pass_lines(&mut self, bytes: &[u8], pass_on: &mut dyn FnMut(Released<'_>)) -> Option<()> {
        let before_tail = &bytes[..bytes.len().checked_sub(TAIL_BYTES)?];
        let first_line_end = memchr(b'\n', before_tail)? + 1;
        let last_line_end = memrchr(b'\n', before_tail)? + 1;
        let buffered = self.bytes.len() - self.unreleased;
        if self.within_line || buffered + first_line_end > MAX_RECORD {
            return None;
        }
        self.bytes.extend_from_slice(&bytes[..first_line_end]);
        pass_on(Released::Lines(&self.bytes[self.unreleased..]));
        pass_on(Released::Lines(&bytes[first_line_end..last_line_end]));
        self.bytes.clear();
        self.bytes.extend_from_slice(&bytes[last_line_end..]);
        self.unreleased = 0;
        self.has_released = true;
        Some(())
    }

    /// Releases the bytes that are before the tail wherever the end will be.
    fn release(&mut self) -> Option<Released<'_>> {
        let buffered = &self.bytes[self.unreleased..];
        if self.within_line {
            let end = memchr(b'\n', buffered).map_or(buffered.len(), |at| at + 1);
            self.within_line = end == buffered.len() && buffered.last() != Some(&b'\n');
            return self.release_part(end);
        }
        if buffered.len() <= TAIL_BYTES + STEP_BYTES {
            return None;
        }
        match memrchr(b'\n', &buffered[..buffered.len() - TAIL_BYTES]) {
            Some(at) => self.release_lines(at + 1),
            // No reader takes a record of that length: it need not be whole. The line may end within
            // the tail, and still be short enough.
            None if buffered.len() > MAX_RECORD
                && memchr(b'\n', &buffered[..MAX_RECORD]).is_none() =>
            {
                self.within_line = true;
                self.release_part(MAX_RECORD)
            }
            None => None,
        }
    }

    /// The stream has ended: releases the lines before the tail.
    pub(super) fn release_last(&mut self) -> Option<Released<'_>> {
        let buffered = &self.bytes[self.unreleased..];
        let tail_start = buffered.len().saturating_sub(TAIL_BYTES);
        memrchr(b'\n', &buffered[..tail_start]).and_then(|at| self.release_lines(at + 1))
    }

    /// The bytes that were not released.
    pub(super) fn tail(&self) -> &[u8] {
        &self.bytes[self.unreleased..]
    }

    /// The tail is not the whole input: bytes before it were released or left out.
    pub(super) fn has_released(&self) -> bool {
        self.has_released
    }

    fn release_lines(&mut self, length: usize) -> Option<Released<'_>> {
        Some(Released::Lines(self.advance(length)))
    }

    fn release_part(&mut self, length: usize) -> Option<Released<'_>> {
        (length > 0).then(|| Released::Part(self.advance(length)))
    }

    fn advance(&mut self, length: usize) -> &[u8] {
        self.has_released = true;
        let start = self.unreleased;
        self.unreleased += length;
        &self.bytes[start..self.unreleased]
    }
}

#[cfg(test)]
mod tests;
