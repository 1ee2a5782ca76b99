//! Cuts logs into iterations: one file may hold the output of many.
//!
//! This stands before a [`Reader`](crate::Reader), and is no event of it: an
//! iteration is an agent's whole output, with a format, a last word and totals
//! of its own, so that each gets a reader of its own.
//!
//! A file is cut only where a mark is unmistakable; what an agent writes cuts
//! nothing. There are two kinds of marks:
//!
//! * *a loop's header*, `=== Iteration 3 of 10 ===`: only in a file that begins
//!   with such a header, and only where a later line is the same header with the
//!   next number, or with 1 again; never in a code fence or where a line
//!   introduces it. See the file `header.rs` for what a header looks like.
//! * *another session's record* in a stream of JSON records, after the record
//!   that ended the session before. See the file `stream.rs`.
//!
//! Where a mark is missed, two iterations are one, and the last word is still
//! that of the last.

mod header;
mod quoted;
mod stream;

#[cfg(test)]
mod tests;

use memchr::{memchr, memchr_iter};

use self::header::Loop;
use self::stream::Stream;

/// Bytes at the beginning in which a mark is looked for.
const HEAD: usize = 8 << 10;

/// A part that a [`Splitter`] finds, in the order of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// An iteration begins in this line of the input, from 1.
    Begin(u64),
    /// Bytes of the iteration that began last.
    Bytes(&'a [u8]),
}

/// Takes what a [`Splitter`] finds.
pub type Take<'t> = dyn FnMut(Part<'_>) + 't;

/// Cuts a log into iterations, fed in pieces of any size. Memory is flat: at
/// most one line of 1 MiB is held.
///
/// ```
/// use gate_transcript::iterations::{Part, Splitter};
///
/// let log = b"--- Loop #1 ---\nI began.\n--- Loop #2 ---\nI am done.\n";
/// let mut iterations: Vec<(u64, String)> = Vec::new();
/// let mut take = |part: Part<'_>| match part {
///     Part::Begin(line) => iterations.push((line, String::new())),
///     Part::Bytes(bytes) => {
///         let text = &mut iterations.last_mut().expect("it began").1;
///         text.push_str(&String::from_utf8_lossy(bytes));
///     }
/// };
/// let mut splitter = Splitter::default();
/// splitter.push(log, &mut take);
/// splitter.finish(&mut take);
/// assert_eq!(iterations, [(2, "I began.\n".to_owned()), (4, "I am done.\n".to_owned())]);
/// ```
#[derive(Debug, Default)]
pub struct Splitter {
    head: Vec<u8>,
    cutter: Option<Cutter>,
}

impl Splitter {
    /// Takes the next bytes.
    pub fn push(&mut self, mut bytes: &[u8], take: &mut Take<'_>) {
        if self.cutter.is_none() {
            let (head, rest) = bytes.split_at(bytes.len().min(HEAD - self.head.len()));
            self.head.extend_from_slice(head);
            bytes = rest;
            if self.head.len() == HEAD {
                self.open(take);
            }
        }
        if let Some(cutter) = &mut self.cutter {
            cutter.push(bytes, take);
        }
    }

    /// Ends the input. There is always one iteration, even an empty one.
    pub fn finish(mut self, take: &mut Take<'_>) {
        if self.cutter.is_none() {
            self.open(take);
        }
        if let Some(cutter) = &mut self.cutter {
            cutter.finish(take);
        }
    }

    fn open(&mut self, take: &mut Take<'_>) {
        let head = std::mem::take(&mut self.head);
        let mut cutter = Cutter::detect(&head);
        cutter.push(&head, take);
        self.cutter = Some(cutter);
    }
}

/// Use of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    /// It goes on with the iteration.
    No,
    /// An iteration begins with it.
    Before,
    /// An iteration begins after it: the line is the runner's own.
    After,
    /// It is the runner's own, and belongs to no iteration.
    Drop,
}

/// The reader of this input's marks.
#[derive(Debug)]
enum Marks {
    /// There are none.
    None,
    Loop(Loop),
    Stream(Stream),
}

impl Marks {
    /// The longest line that may be a mark, in bytes.
    fn longest(&self) -> usize {
        match self {
            Self::None => 0,
            Self::Loop(_) => header::MAX_LINE_BYTES,
            Self::Stream(_) => stream::MAX_LINE_BYTES,
        }
    }

    fn judge(&mut self, line: &[u8]) -> Cut {
        match self {
            Self::None => Cut::No,
            Self::Loop(marks) => marks.judge(line),
            Self::Stream(marks) => marks.judge(line),
        }
    }
}

/// Looks at line after line, and hands on what lies between marks.
#[derive(Debug)]
struct Cutter {
    marks: Marks,
    /// The beginning of a line whose end has not come yet.
    held: Vec<u8>,
    /// True if the rest of a line that is too long for a mark is coming.
    passing: bool,
    /// Line breaks that were seen.
    breaks: u64,
    /// True if an iteration has begun of which no byte was handed on.
    fresh: bool,
}

impl Cutter {
    fn detect(head: &[u8]) -> Self {
        let marks = match (Loop::detect(head), Stream::detect(head)) {
            (Some(marks), _) => Marks::Loop(marks),
            (None, Some(marks)) => Marks::Stream(marks),
            (None, None) => Marks::None,
        };
        Self { marks, held: Vec::new(), passing: false, breaks: 0, fresh: true }
    }

    fn push(&mut self, bytes: &[u8], take: &mut Take<'_>) {
        if matches!(self.marks, Marks::None) {
            return self.hand_on(bytes, take);
        }
        let rest = self.first_line(bytes, take);
        let mut from = 0;
        let mut at = 0;
        for end in memchr_iter(b'\n', rest) {
            let line = &rest[at..=end];
            let cut =
                if line.len() > self.marks.longest() { Cut::No } else { self.marks.judge(line) };
            if cut != Cut::No {
                self.hand_on(&rest[from..at], take);
                from = if cut == Cut::Before { at } else { end + 1 };
                self.cut(cut, line);
            }
            at = end + 1;
        }
        self.hand_on(&rest[from..at], take);
        self.last_line(&rest[at..], take);
    }

    /// Ends the line that is held or passed on; returns what follows it.
    fn first_line<'b>(&mut self, bytes: &'b [u8], take: &mut Take<'_>) -> &'b [u8] {
        if self.held.is_empty() && !self.passing {
            return bytes;
        }
        let end = memchr(b'\n', bytes).map(|end| end + 1);
        let (part, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
        if self.passing {
            self.passing = end.is_none();
            self.hand_on(part, take);
            return rest;
        }
        self.held.extend_from_slice(part);
        if end.is_some() || self.held.len() > self.marks.longest() {
            let line = std::mem::take(&mut self.held);
            match end {
                Some(_) => self.whole(&line, take),
                None => self.last_line(&line, take),
            }
        }
        rest
    }

    fn whole(&mut self, line: &[u8], take: &mut Take<'_>) {
        let cut = if line.len() > self.marks.longest() { Cut::No } else { self.marks.judge(line) };
        self.cut(cut, line);
        if matches!(cut, Cut::No | Cut::Before) {
            self.hand_on(line, take);
        }
    }

    /// A line whose end has not come yet.
    fn last_line(&mut self, line: &[u8], take: &mut Take<'_>) {
        if line.len() > self.marks.longest() {
            self.passing = true;
            self.hand_on(line, take);
        } else {
            self.held.extend_from_slice(line);
        }
    }

    fn cut(&mut self, cut: Cut, line: &[u8]) {
        self.fresh |= matches!(cut, Cut::Before | Cut::After);
        if matches!(cut, Cut::After | Cut::Drop) {
            self.breaks += memchr_iter(b'\n', line).count() as u64;
        }
    }

    fn hand_on(&mut self, bytes: &[u8], take: &mut Take<'_>) {
        if bytes.is_empty() {
            return;
        }
        self.begin(take);
        take(Part::Bytes(bytes));
        if !matches!(self.marks, Marks::None) {
            self.breaks += memchr_iter(b'\n', bytes).count() as u64;
        }
    }

    fn begin(&mut self, take: &mut Take<'_>) {
        if std::mem::take(&mut self.fresh) {
            take(Part::Begin(self.breaks + 1));
        }
    }

    fn finish(&mut self, take: &mut Take<'_>) {
        let line = std::mem::take(&mut self.held);
        if !line.is_empty() {
            self.whole(&line, take);
        }
        self.begin(take);
    }
}
