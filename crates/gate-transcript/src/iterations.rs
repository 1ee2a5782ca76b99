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
const HEAD_BYTES: usize = 8 << 10;

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
            let (head, remainder) = bytes.split_at(bytes.len().min(HEAD_BYTES - self.head.len()));
            self.head.extend_from_slice(head);
            bytes = remainder;
            if self.head.len() == HEAD_BYTES {
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

/// The use of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    /// The line goes on with the iteration.
    No,
    /// An iteration begins with it.
    Before,
    /// An iteration begins after it: the line is the runner's own.
    After,
    /// The line is the runner's own, and belongs to no iteration.
    Drop,
}

/// The reader of this input's marks.
#[derive(Debug)]
enum Marks {
    /// The input has no marks: it is one iteration.
    None,
    Loop(Loop),
    Stream(Stream),
}

impl Marks {
    /// The longest line that may be a mark, in bytes.
    fn max_line_bytes(&self) -> usize {
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
    /// The end of a line that is too long for a mark has still to come.
    passes_line: bool,
    /// Line breaks in the bytes that were handed on or dropped.
    breaks: u64,
    /// An iteration has begun of which no byte was handed on.
    begins_iteration: bool,
}

impl Cutter {
    fn detect(head: &[u8]) -> Self {
        let marks = match (Loop::detect(head), Stream::detect(head)) {
            (Some(marks), _) => Marks::Loop(marks),
            (None, Some(marks)) => Marks::Stream(marks),
            (None, None) => Marks::None,
        };
        Self { marks, held: Vec::new(), passes_line: false, breaks: 0, begins_iteration: true }
    }

    fn push(&mut self, bytes: &[u8], take: &mut Take<'_>) {
        if matches!(self.marks, Marks::None) {
            return self.hand_on(bytes, take);
        }
        let lines = self.end_line(bytes, take);
        // Lines without a mark between them are handed on together.
        let mut unhanded = 0;
        let mut line_start = 0;
        for line_break in memchr_iter(b'\n', lines) {
            let line_end = line_break + 1;
            let line = &lines[line_start..line_end];
            let cut = self.judge(line);
            if cut != Cut::No {
                self.hand_on(&lines[unhanded..line_start], take);
                unhanded = if cut == Cut::Before { line_start } else { line_end };
                self.cut(cut, line);
            }
            line_start = line_end;
        }
        self.hand_on(&lines[unhanded..line_start], take);
        self.begin_line(&lines[line_start..], take);
    }

    /// Ends the line that is held or passed on; returns the bytes after it.
    fn end_line<'b>(&mut self, bytes: &'b [u8], take: &mut Take<'_>) -> &'b [u8] {
        if self.held.is_empty() && !self.passes_line {
            return bytes;
        }
        let end = memchr(b'\n', bytes).map(|end| end + 1);
        let (part, lines) = bytes.split_at(end.unwrap_or(bytes.len()));
        if self.passes_line {
            self.passes_line = end.is_none();
            self.hand_on(part, take);
            return lines;
        }
        self.held.extend_from_slice(part);
        if end.is_some() || self.held.len() > self.marks.max_line_bytes() {
            let line = std::mem::take(&mut self.held);
            match end {
                Some(_) => self.whole_line(&line, take),
                None => self.begin_line(&line, take),
            }
        }
        lines
    }

    fn whole_line(&mut self, line: &[u8], take: &mut Take<'_>) {
        let cut = self.judge(line);
        self.cut(cut, line);
        if matches!(cut, Cut::No | Cut::Before) {
            self.hand_on(line, take);
        }
    }

    fn judge(&mut self, line: &[u8]) -> Cut {
        if line.len() > self.marks.max_line_bytes() { Cut::No } else { self.marks.judge(line) }
    }

    /// Takes a line whose end has not come yet.
    fn begin_line(&mut self, line: &[u8], take: &mut Take<'_>) {
        if line.len() > self.marks.max_line_bytes() {
            self.passes_line = true;
            self.hand_on(line, take);
        } else {
            self.held.extend_from_slice(line);
        }
    }

    fn cut(&mut self, cut: Cut, line: &[u8]) {
        self.begins_iteration |= matches!(cut, Cut::Before | Cut::After);
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
        if std::mem::take(&mut self.begins_iteration) {
            take(Part::Begin(self.breaks + 1));
        }
    }

    fn finish(&mut self, take: &mut Take<'_>) {
        let line = std::mem::take(&mut self.held);
        if !line.is_empty() {
            self.whole_line(&line, take);
        }
        self.begin(take);
    }
}
