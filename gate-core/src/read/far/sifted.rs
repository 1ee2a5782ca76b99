//! What a sieve leaves of some lines.

use std::ops::Range;

/// Lines that went through a [`Sieve`](super::Sieve): those that matter, and
/// how many there were.
#[derive(Debug, Default)]
pub struct Sifted {
    /// How often more was looked for than before, when it was made.
    epoch: u64,
    /// The lines that are kept, one after the other.
    bytes: Vec<u8>,
    kept: Vec<Kept>,
    /// How many lines there were.
    lines: u64,
}

/// Something that is kept of far lines, in their order.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::read) enum Kept {
    /// A line that may matter: its number among the lines, from 0, and where it
    /// stands in the kept bytes.
    Matters(u64, Range<usize>),
    /// The last of some lines in which the agent speaks.
    Speaks(u64, Range<usize>),
    /// What a message used: a digest of its id, and tokens.
    Used(u64, u64),
}

impl Sifted {
    /// Whether no more was looked for before than in this epoch.
    pub(in crate::read) fn is_of(&self, epoch: u64) -> bool {
        self.epoch == epoch
    }

    /// How many lines there were.
    pub(in crate::read) fn lines(&self) -> u64 {
        self.lines
    }

    /// What is kept, in order; lines with their bytes.
    pub(in crate::read) fn kept(&self) -> impl Iterator<Item = (&Kept, &[u8])> {
        self.kept.iter().map(|kept| match kept {
            Kept::Matters(_, range) | Kept::Speaks(_, range) => (kept, &self.bytes[range.clone()]),
            Kept::Used(..) => (kept, &self.bytes[..0]),
        })
    }
}

/// Collects what is kept of lines, as a sieve goes over them.
pub(crate) struct Sifting<'s> {
    sifted: &'s mut Sifted,
    /// The place of the last line in which the agent speaks, where nothing
    /// that matters came after it.
    spoke: Option<usize>,
}

impl<'s> Sifting<'s> {
    /// Begins with nothing.
    pub(super) fn new(sifted: &'s mut Sifted, epoch: u64) -> Self {
        sifted.epoch = epoch;
        sifted.bytes.clear();
        sifted.kept.clear();
        sifted.lines = 0;
        Self { sifted, spoke: None }
    }

    /// Keeps the line, with its line break.
    pub(in crate::read) fn matters(&mut self, line: &[u8]) {
        self.spoke = None;
        let at = self.keep(line);
        self.sifted.kept.push(Kept::Matters(self.sifted.lines, at));
    }

    /// Keeps the line, with its line break, until another is kept.
    pub(in crate::read) fn speaks(&mut self, line: &[u8]) {
        match self.spoke {
            Some(index) => {
                let Kept::Speaks(number, range) = &mut self.sifted.kept[index] else { return };
                // Nothing was kept after it: its bytes are the last ones.
                self.sifted.bytes.truncate(range.start);
                self.sifted.bytes.extend_from_slice(line);
                *number = self.sifted.lines;
                range.end = self.sifted.bytes.len();
            }
            None => {
                let at = self.keep(line);
                self.spoke = Some(self.sifted.kept.len());
                self.sifted.kept.push(Kept::Speaks(self.sifted.lines, at));
            }
        }
    }

    /// Keeps what a message used.
    pub(in crate::read) fn used(&mut self, id: u64, tokens: u64) {
        self.sifted.kept.push(Kept::Used(id, tokens));
    }

    /// Goes on by some lines.
    pub(in crate::read) fn pass_over(&mut self, lines: u64) {
        self.sifted.lines += lines;
    }

    fn keep(&mut self, line: &[u8]) -> Range<usize> {
        let from = self.sifted.bytes.len();
        self.sifted.bytes.extend_from_slice(line);
        from..self.sifted.bytes.len()
    }
}
