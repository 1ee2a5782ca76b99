//! What a sieve leaves of some lines.

use std::ops::Range;

/// Lines that went through a sieve: those that matter, and how many there were.
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
    /// The last of some lines in which the agent speaks, or one of the last that
    /// are of one message, with the message's digest.
    Speaks(u64, Range<usize>, u64),
    /// A line in which the agent speaks what stands in another line too, with the
    /// number of the text.
    Twice(u64, Range<usize>, u64),
    /// What the agent says next is another message.
    Parted,
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
            Kept::Matters(_, range) | Kept::Speaks(_, range, _) | Kept::Twice(_, range, _) => {
                (kept, &self.bytes[range.clone()])
            }
            Kept::Used(..) | Kept::Parted => (kept, &self.bytes[..0]),
        })
    }
}

/// Room for what is kept of a block of lines, in bytes.
const ROOM: usize = 16 << 10;

/// Collects what is kept of lines, as a sieve goes over them.
pub(crate) struct Sifting<'s> {
    sifted: &'s mut Sifted,
    /// The last lines in which the agent speaks, where nothing that matters came
    /// after them: the place of the first, and the message.
    spoke: Option<(usize, u64)>,
    /// Whether [`Kept::Parted`] came last, lines apart that do not matter.
    parted: bool,
}

impl<'s> Sifting<'s> {
    /// Begins with nothing.
    pub(super) fn new(sifted: &'s mut Sifted, epoch: u64) -> Self {
        sifted.epoch = epoch;
        sifted.bytes.clear();
        sifted.kept.clear();
        sifted.lines = 0;
        // Threads that grow their lists wait for one another.
        sifted.bytes.reserve(ROOM);
        sifted.kept.reserve(ROOM / 64);
        Self { sifted, spoke: None, parted: false }
    }

    /// Keeps the line, with its line break.
    pub(in crate::read) fn matters(&mut self, line: &[u8]) {
        (self.spoke, self.parted) = (None, false);
        let at = self.keep(line);
        self.sifted.kept.push(Kept::Matters(self.sifted.lines, at));
    }

    /// Keeps the line, with its line break, until another is kept that is not
    /// of the same message.
    pub(in crate::read) fn speaks(&mut self, line: &[u8], message: u64) {
        let goes_on = |spoke: &(usize, u64)| message != 0 && spoke.1 == message;
        if self.parted || !self.spoke.as_ref().is_some_and(goes_on) {
            self.forget();
            self.spoke = Some((self.sifted.kept.len(), message));
        }
        self.parted = false;
        let at = self.keep(line);
        self.sifted.kept.push(Kept::Speaks(self.sifted.lines, at, message));
    }

    /// Keeps the line, with its line break: the reader knows which of two it is.
    pub(in crate::read) fn twice(&mut self, line: &[u8], number: u64) {
        let at = self.keep(line);
        self.sifted.kept.push(Kept::Twice(self.sifted.lines, at, number));
    }

    /// A call ends the message.
    pub(in crate::read) fn part(&mut self) {
        if !std::mem::replace(&mut self.parted, true) {
            self.sifted.kept.push(Kept::Parted);
        }
    }

    /// Forgets the last lines in which the agent speaks.
    fn forget(&mut self) {
        let Some((first, _)) = self.spoke.take() else { return };
        let kept = &mut self.sifted.kept;
        // Nothing was kept after them: their bytes are the last ones.
        if let Some(Kept::Speaks(_, range, _)) = kept.get(first) {
            self.sifted.bytes.truncate(range.start);
        }
        for one in &mut kept[first..] {
            if matches!(one, Kept::Speaks(..)) {
                *one = Kept::Parted;
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
