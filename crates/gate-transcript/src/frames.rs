//! Cuts a stream into JSON records and noise: JSON Lines, pretty-printed
//! objects, arrays of objects, and foreign lines before, between and after.

use memchr::memchr;

use super::blocks::count_breaks;
use super::scan::{Progress, Scan};
use super::{MAX_PIECE, MAX_RECORD, ProblemKind};

/// Takes what [`Frames`] finds, in the order of the input.
pub(super) trait Frame {
    /// Takes a record that begins in this line. False, without any effect, if it is
    /// not valid JSON.
    fn record(&mut self, json: &[u8], line: u64) -> bool;
    /// The records that follow are elements of an array.
    fn array(&mut self) {}
    /// A line that is no record, cut at [`MAX_PIECE`].
    fn noise(&mut self, text: &[u8], line: u64);
    /// A record that cannot be read.
    fn flaw(&mut self, kind: ProblemKind, line: u64);
}

/// The part of the stream that comes next.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    /// A record, a bracket of an array, or a line of noise.
    #[default]
    Between,
    /// After a `[` that may open an array of records.
    Bracket,
    /// The end of a line of noise.
    Noise,
    /// The end of a record.
    Record,
}

/// The splitter. Holds at most one record; a record longer than
/// [`MAX_RECORD`] is passed over without being held.
#[derive(Debug, Default)]
pub(super) struct Frames {
    state: State,
    /// Line breaks before the current position, without those in `buffer`.
    breaks: u64,
    /// Line breaks in the bytes of the current record that have come.
    breaks_in_record: u64,
    buffer: Vec<u8>,
    oversized: bool,
    scan: Scan,
    in_array: bool,
    /// The current line is not one record from end to end.
    mixed_line: bool,
}

impl Frames {
    pub(super) fn push(&mut self, mut bytes: &[u8], frame: &mut dyn Frame) {
        while !bytes.is_empty() {
            let used_bytes = match self.state {
                State::Between => self.between(bytes, frame),
                State::Bracket => self.bracket(bytes, frame),
                State::Noise => self.noise(bytes, frame),
                State::Record => self.record(bytes, frame),
            };
            bytes = &bytes[used_bytes..];
        }
    }

    pub(super) fn finish(&mut self, frame: &mut dyn Frame) {
        match self.state {
            State::Between => {}
            State::Bracket | State::Noise => self.end_noise(frame),
            State::Record if self.oversized => frame.flaw(ProblemKind::Oversized, self.line()),
            State::Record => self.flawed(ProblemKind::Torn, frame),
        }
    }

    /// The beginning of a line that belongs to no record or array so far.
    pub(super) fn is_between_lines(&self) -> bool {
        self.state == State::Between && !self.mixed_line && !self.in_array
    }

    /// Passes over a line. To be called only if [`Frames::is_between_lines`].
    pub(super) fn skip_line(&mut self) {
        self.breaks += 1;
    }

    /// The beginning of a record whose end has not come yet, and its line.
    pub(super) fn unfinished(&self) -> Option<(&[u8], u64)> {
        (self.state == State::Record).then(|| (&*self.buffer, self.line()))
    }

    fn line(&self) -> u64 {
        self.breaks + 1
    }

    fn between(&mut self, bytes: &[u8], frame: &mut dyn Frame) -> usize {
        let blank = bytes.iter().position(|byte| !byte.is_ascii_whitespace());
        let at = blank.unwrap_or(bytes.len());
        let breaks = count_breaks(&bytes[..at]);
        self.breaks += breaks;
        // A line break begins a line that may be one record again.
        self.mixed_line &= breaks == 0;
        match bytes.get(at) {
            None => at,
            Some(b'{') => at + self.whole_line(&bytes[at..], frame),
            Some(b',') if self.in_array => at + 1,
            Some(b']') if self.in_array => {
                self.in_array = false;
                at + 1
            }
            Some(b'[') if !self.in_array => {
                self.state = State::Bracket;
                self.buffer.push(b'[');
                at + 1
            }
            Some(_) => {
                self.state = State::Noise;
                at
            }
        }
    }

    /// The quick way: a line that is one record needs no scan of its own.
    fn whole_line(&mut self, bytes: &[u8], frame: &mut dyn Frame) -> usize {
        if !std::mem::replace(&mut self.mixed_line, true)
            && let Some(end) = memchr(b'\n', bytes)
        {
            let line = bytes[..end].trim_ascii_end();
            let is_whole = line.ends_with(b"}") && line.len() <= MAX_RECORD;
            if is_whole && frame.record(line, self.line()) {
                return end;
            }
        }
        self.state = State::Record;
        self.scan = Scan::default();
        0
    }

    fn bracket(&mut self, bytes: &[u8], frame: &mut dyn Frame) -> usize {
        let blank = bytes.iter().position(|byte| !byte.is_ascii_whitespace());
        let at = blank.unwrap_or(bytes.len());
        let room = MAX_PIECE - self.buffer.len().min(MAX_PIECE);
        self.buffer.extend_from_slice(&bytes[..at.min(room)]);
        match bytes.get(at) {
            None if at <= room => at,
            Some(b'{') if at <= room => {
                self.in_array = true;
                frame.array();
                self.breaks += count_breaks(&self.buffer);
                self.buffer.clear();
                self.state = State::Between;
                at
            }
            // Another character, or more blanks than are held.
            _ => self.no_array(frame, at.min(room)),
        }
    }

    /// The `[` was noise: its line ends at the first line break, if any.
    fn no_array(&mut self, frame: &mut dyn Frame, used_bytes: usize) -> usize {
        self.state = State::Noise;
        if self.buffer.contains(&b'\n') {
            let breaks = count_breaks(&self.buffer);
            self.buffer.truncate(1);
            self.end_noise(frame);
            self.breaks += breaks;
        }
        used_bytes
    }

    fn noise(&mut self, bytes: &[u8], frame: &mut dyn Frame) -> usize {
        let end = memchr(b'\n', bytes);
        let part = &bytes[..end.unwrap_or(bytes.len())];
        let room = MAX_PIECE - self.buffer.len().min(MAX_PIECE);
        self.buffer.extend_from_slice(&part[..part.len().min(room)]);
        if end.is_some() {
            self.end_noise(frame);
        }
        part.len()
    }

    fn end_noise(&mut self, frame: &mut dyn Frame) {
        frame.noise(&self.buffer, self.line());
        self.buffer.clear();
        self.state = State::Between;
    }

    fn record(&mut self, bytes: &[u8], frame: &mut dyn Frame) -> usize {
        match self.scan.run(bytes) {
            Progress::More => {
                self.buffer_record(bytes);
                bytes.len()
            }
            Progress::End(end) => {
                self.buffer_record(&bytes[..end]);
                if self.oversized {
                    frame.flaw(ProblemKind::Oversized, self.line());
                } else if !frame.record(&self.buffer, self.line()) {
                    self.flawed(ProblemKind::Unreadable, frame);
                }
                self.end_record();
                end
            }
            Progress::Torn(end) => {
                self.buffer_record(&bytes[..end]);
                self.flawed(ProblemKind::Unreadable, frame);
                self.end_record();
                end
            }
        }
    }

    /// Passes over a record that cannot be read. If it breaks off within a string, the lines below
    /// it do not belong to it, and are noise.
    fn flawed(&self, kind: ProblemKind, frame: &mut dyn Frame) {
        frame.flaw(kind, self.line());
        let break_at = self.scan.string_break.unwrap_or(self.buffer.len());
        let Some((record, lines_below)) = self.buffer.split_at_checked(break_at + 1) else {
            return;
        };
        let first_line = self.line() + count_breaks(record);
        for (line, text) in (first_line..).zip(lines_below.split(|byte| *byte == b'\n')) {
            let text = text.trim_ascii_start();
            if !text.is_empty() {
                frame.noise(&text[..text.len().min(MAX_PIECE)], line);
            }
        }
    }

    fn buffer_record(&mut self, bytes: &[u8]) {
        self.breaks_in_record += count_breaks(bytes);
        self.oversized |= self.buffer.len() + bytes.len() > MAX_RECORD;
        if self.oversized {
            self.buffer = Vec::new();
        } else {
            self.buffer.extend_from_slice(bytes);
        }
    }

    fn end_record(&mut self) {
        self.breaks += std::mem::take(&mut self.breaks_in_record);
        self.buffer.clear();
        self.oversized = false;
        self.state = State::Between;
    }
}
