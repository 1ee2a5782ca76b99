//! Cuts plain text into blocks of complete lines.

use memchr::{memchr, memchr_iter, memrchr};

use super::MAX_PIECE;
use super::json::Decode;
use super::out::Out;

/// A part of a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block<'a> {
    pub(super) bytes: &'a [u8],
    /// The line in which it begins.
    pub(super) line: u64,
    /// The block begins a line. A later piece of a line does not, if the line is longer than [`MAX_PIECE`].
    pub(super) starts_line: bool,
}

/// The splitter: holds at most one line, or [`MAX_PIECE`] bytes of it.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    partial: Vec<u8>,
    /// Line breaks before the current position.
    breaks: u64,
    /// A piece of the current line was handed on already.
    within_line: bool,
}

impl Blocks {
    pub(super) fn push(&mut self, bytes: &[u8], take: &mut dyn FnMut(Block<'_>)) {
        // Whatever comes at once, no line above MAX_PIECE is ever whole.
        for chunk in bytes.chunks(MAX_PIECE) {
            self.push_chunk(chunk, take);
        }
    }

    pub(super) fn finish(&mut self, take: &mut dyn FnMut(Block<'_>)) {
        self.hand_on_partial(take);
    }

    fn push_chunk(&mut self, mut bytes: &[u8], take: &mut dyn FnMut(Block<'_>)) {
        if !self.partial.is_empty() || self.within_line {
            let end = memchr(b'\n', bytes).map_or(bytes.len(), |at| at + 1);
            self.partial.extend_from_slice(&bytes[..end]);
            bytes = &bytes[end..];
            if self.partial.len() > MAX_PIECE {
                self.hand_on_piece(take);
            }
            if self.partial.ends_with(b"\n") {
                self.hand_on_partial(take);
            }
        }
        let end = memrchr(b'\n', bytes).map_or(0, |at| at + 1);
        self.hand_on(&bytes[..end], take);
        self.partial.extend_from_slice(&bytes[end..]);
    }

    /// Hands on the first [`MAX_PIECE`] bytes of a long line, or up to three
    /// less, so as not to cut a character.
    fn hand_on_piece(&mut self, take: &mut dyn FnMut(Block<'_>)) {
        let last_bytes = self.partial[MAX_PIECE - 3..=MAX_PIECE].iter().rev();
        let continuation_bytes = last_bytes.take_while(|byte| **byte & 0xc0 == 0x80).count();
        // A character has at most three. Four in a row are not UTF-8, and may be cut anywhere.
        let remainder = self.partial.split_off(MAX_PIECE - continuation_bytes % 4);
        self.hand_on_partial(take);
        self.partial = remainder;
    }

    fn hand_on_partial(&mut self, take: &mut dyn FnMut(Block<'_>)) {
        let partial = std::mem::take(&mut self.partial);
        self.hand_on(&partial, take);
    }

    fn hand_on(&mut self, bytes: &[u8], take: &mut dyn FnMut(Block<'_>)) {
        if !bytes.is_empty() {
            take(Block { bytes, line: self.breaks + 1, starts_line: !self.within_line });
            self.breaks += memchr_iter(b'\n', bytes).count() as u64;
            self.within_line = !bytes.ends_with(b"\n");
        }
    }
}

/// A format of plain text.
pub(super) trait Lines: Send {
    /// Takes the next lines.
    fn block(&mut self, block: Block<'_>, out: &mut Out<'_>);

    /// Ends the input.
    fn finish(&mut self, _out: &mut Out<'_>) {}

    /// See [`Decode::can_skip`].
    fn can_skip(&self) -> bool {
        false
    }
}

/// Reads one format of plain text.
#[derive(Debug)]
pub(super) struct Plain<L> {
    blocks: Blocks,
    lines: L,
}

impl<L: Lines> Plain<L> {
    pub(super) fn new(lines: L) -> Self {
        Self { blocks: Blocks::default(), lines }
    }
}

impl<L: Lines> Decode for Plain<L> {
    fn push(&mut self, bytes: &[u8], out: &mut Out<'_>) {
        let Self { blocks, lines } = self;
        blocks.push(bytes, &mut |block| lines.block(block, out));
    }

    fn finish(&mut self, out: &mut Out<'_>) {
        let Self { blocks, lines } = self;
        blocks.finish(&mut |block| lines.block(block, out));
        lines.finish(out);
    }

    fn can_skip(&self) -> bool {
        self.lines.can_skip()
    }
}

/// A text with the line of the input in which it begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passage<'a> {
    pub(super) text: &'a str,
    pub(super) line: u64,
}

impl Passage<'_> {
    /// The passage without blank lines at its beginning. Blank lines begin no message: whether
    /// they came together with the text below must not matter.
    pub(super) fn skip_blank(self) -> Self {
        let blank = self.text.len() - self.text.trim_start().len();
        let start = match memrchr(b'\n', &self.text.as_bytes()[..blank]) {
            _ if blank == self.text.len() => blank,
            Some(line_break) => line_break + 1,
            None => 0,
        };
        let (blank_lines, text) = self.text.split_at(start);
        Self { text, line: self.line + count_breaks(blank_lines) }
    }
}

/// The end of a block's text that was not handed on yet.
#[derive(Debug)]
pub(super) struct Pending<'a> {
    text: &'a str,
    start: usize,
    line: u64,
}

impl<'a> Pending<'a> {
    /// All of a block's text, which begins in this line.
    pub(super) fn new(text: &'a str, line: u64) -> Self {
        Self { text, start: 0, line }
    }

    /// The passage before the byte `end`, which is in line `line`.
    pub(super) fn take_until(&mut self, end: usize, line: u64) -> Passage<'a> {
        let passage = Passage { text: &self.text[self.start..end], line: self.line };
        self.skip_to(end, line);
        passage
    }

    /// Leaves out the text before the byte `start`, which is in line `line`.
    pub(super) fn skip_to(&mut self, start: usize, line: u64) {
        (self.start, self.line) = (start, line);
    }

    /// The passage up to the end of the block.
    pub(super) fn into_passage(self) -> Passage<'a> {
        Passage { text: &self.text[self.start..], line: self.line }
    }
}

pub(super) fn count_breaks(text: impl AsRef<[u8]>) -> u64 {
    memchr_iter(b'\n', text.as_ref()).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(input: &[u8], chunk: usize) -> Vec<(String, u64, bool)> {
        let mut blocks = Blocks::default();
        let mut found: Vec<(String, u64, bool)> = Vec::new();
        let mut take = |block: Block<'_>| {
            let text = String::from_utf8(block.bytes.to_vec()).unwrap();
            found.push((text, block.line, block.starts_line));
        };
        for bytes in input.chunks(chunk) {
            blocks.push(bytes, &mut take);
        }
        blocks.finish(&mut take);
        found
    }

    #[test]
    fn hands_on_complete_lines() {
        let found = blocks(b"a\nb\nc", 3);
        let expected = [("a\n", 1, true), ("b\n", 2, true), ("c", 3, true)];
        assert_eq!(found, expected.map(|(text, line, starts)| (text.to_owned(), line, starts)));
    }

    #[test]
    fn cuts_long_lines_at_the_same_places_between_characters() {
        let input = format!("x\na{}\ny", "ü".repeat(MAX_PIECE));
        let long = |chunk| {
            let found = blocks(input.as_bytes(), chunk).into_iter();
            found.filter(|(text, ..)| text.len() > 4).collect::<Vec<_>>()
        };
        let expected = long(1000);
        assert_eq!(expected[0].0.len(), MAX_PIECE - 1);
        assert!(expected.iter().all(|(_, line, _)| *line == 2));
        assert_eq!(expected.iter().filter(|(.., starts)| *starts).count(), 1);
        for chunk in [77_777, MAX_PIECE, MAX_PIECE + 1, usize::MAX] {
            assert!(long(chunk) == expected, "{chunk}");
        }
    }
}
