//! The reader of any format.

use super::detect::{Head, LOOKAHEAD};
use super::json::Decode;
use super::out::{Memo, Out};
use super::prefix::Unprefixed;
use super::tail_buffer::{Released, TailBuffer};
use super::{Forced, Format, ProblemKind, Sink};

const BOM: &[u8] = b"\xef\xbb\xbf";

/// Reads the output of an agent, in pieces of any size.
///
/// The events do not depend on how the input is cut into pieces, except that
/// one text may come in several [`Text`](super::Text)s, of which the later
/// ones `continue` the first. Nothing is pushed until the format is known:
/// after 64 KiB, or at the end.
///
/// Of a long input, `Event::Tail` comes before the last
/// [`TAIL_BYTES`](crate::TAIL_BYTES) bytes.
///
/// ```
/// use gate_transcript::{Event, FinalTurn, Reader, Sink};
///
/// struct Last(FinalTurn);
///
/// impl Sink for Last {
///     fn event(&mut self, event: Event<'_>) {
///         self.0.event(&event);
///     }
/// }
///
/// let mut last = Last(FinalTurn::default());
/// let mut reader = Reader::new(None);
/// reader.push(b"{\"type\":\"result\",\"subtype\":\"success\",", &mut last);
/// reader.push(b"\"is_error\":false,\"result\":\"Done.\"}\n", &mut last);
/// reader.finish(&mut last);
/// last.0.finish();
/// assert_eq!(reader.format().map(|format| format.name()), Some("claude-json"));
/// assert_eq!(last.0.words().next().map(|word| word.text.as_str()), Some("Done."));
/// ```
pub struct Reader {
    forced: Option<Forced>,
    head: Vec<u8>,
    unprefixed: Unprefixed,
    memo: Memo,
    open: Option<Open>,
    pace: Pace,
}

/// The parts of an input that are read in full, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pace {
    /// The tail is kept back until it is known that it is the tail.
    Tail,
    /// Nothing is kept back.
    Whole,
    /// Nothing is kept back, and the first line determines the format.
    Live,
}

/// The reading of a format that is known.
struct Open {
    format: Format,
    decode: Box<dyn Decode>,
    tail: TailBuffer,
    stage: Stage,
    /// The input is JSON of no known format.
    unknown_json: bool,
    /// The input's beginning is JSON, but not of the format that is forced.
    is_foreign_json: bool,
}

/// The most of one piece that is buffered at once, in bytes.
const PIECE_BYTES: usize = 1 << 20;

/// The part of the input that comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The end of the line in which the look at the beginning stopped.
    Head,
    /// Lines that may belong to the tail, or not.
    Middle,
    /// Bytes that are read as they come.
    Live,
}

impl Reader {
    /// A reader that finds the format by itself, or takes the one given.
    pub fn new(forced: Option<Forced>) -> Self {
        Self {
            forced,
            head: Vec::new(),
            unprefixed: Unprefixed::default(),
            memo: Memo::default(),
            open: None,
            pace: Pace::Tail,
        }
    }

    /// A reader that reports all calls, failures and commands, not only those of the tail. No
    /// `Event::Tail` comes.
    pub fn whole(forced: Option<Forced>) -> Self {
        Self { pace: Pace::Whole, ..Self::new(forced) }
    }

    /// A reader that shows a run while it lasts: it takes the format from the
    /// first line, and passes on what comes at once.
    pub fn live(forced: Option<Forced>) -> Self {
        Self { pace: Pace::Live, ..Self::new(forced) }
    }

    /// Reads on.
    pub fn push(&mut self, mut bytes: &[u8], sink: &mut dyn Sink) {
        if self.open.is_none() {
            let room = (LOOKAHEAD - self.head.len()).min(bytes.len());
            let (head, remainder) = bytes.split_at(room);
            self.head.extend_from_slice(head);
            bytes = remainder;
            let first_line = self.pace == Pace::Live && self.head.contains(&b'\n');
            if self.head.len() == LOOKAHEAD || first_line {
                self.begin(sink);
            }
        }
        let Some(open) = &mut self.open else { return };
        let mut out = Out::new(sink, &mut self.memo);
        if self.unprefixed.is_empty() {
            open.push(bytes, &mut out);
        } else {
            open.push(&self.unprefixed.push(bytes), &mut out);
        }
    }

    /// Ends the input.
    pub fn finish(&mut self, sink: &mut dyn Sink) {
        if self.open.is_none() {
            self.begin(sink);
        }
        if let Some(open) = &mut self.open {
            let mut out = Out::new(sink, &mut self.memo);
            open.push(&self.unprefixed.finish(), &mut out);
            open.finish(&mut out);
        }
    }

    /// The format, once it is known.
    pub fn format(&self) -> Option<Format> {
        self.open.as_ref().map(|open| open.format)
    }

    /// A place at which whole lines can be left out: the format allows it, and the input has
    /// come to the end of a line.
    pub fn can_skip(&self) -> bool {
        self.open.as_ref().is_some_and(|open| {
            open.stage == Stage::Middle && open.tail.is_empty() && open.decode.can_skip()
        }) && self.unprefixed.is_between_lines()
    }

    /// Goes on behind lines that were left out.
    pub fn skip(&mut self) {
        if let Some(open) = &mut self.open {
            open.tail.note_left_out();
            open.decode.skip();
        }
    }

    fn begin(&mut self, sink: &mut dyn Sink) {
        let bytes = std::mem::take(&mut self.head);
        let text = bytes.strip_prefix(BOM).unwrap_or(&bytes);
        // One line does not show what stands before all.
        let stripped = (self.pace != Pace::Live).then(|| self.unprefixed.begin(text));
        let text = stripped.as_deref().unwrap_or(text);
        let head = Head::detect(text, self.forced);
        let mut out = Out::new(sink, &mut self.memo);
        if head.start.unknown_json {
            out.at_line(1).problem(ProblemKind::UnknownJson);
        }
        let mut decode = (head.format.spec().open)(&head.start);
        decode.push(text, &mut out);
        let stage = match text.ends_with(b"\n") {
            _ if self.pace != Pace::Tail => Stage::Live,
            true => Stage::Middle,
            false => Stage::Head,
        };
        self.open = Some(Open {
            format: head.format,
            decode,
            tail: TailBuffer::default(),
            stage,
            unknown_json: head.start.unknown_json,
            is_foreign_json: head.is_foreign_json,
        });
    }
}

impl Open {
    fn push(&mut self, mut bytes: &[u8], out: &mut Out<'_>) {
        if self.stage == Stage::Head {
            let end = memchr::memchr(b'\n', bytes).map_or(bytes.len(), |at| at + 1);
            let (head, remainder) = bytes.split_at(end);
            self.decode.push(head, out);
            if head.ends_with(b"\n") {
                self.stage = Stage::Middle;
            }
            bytes = remainder;
        }
        if self.stage == Stage::Live {
            return self.decode.push(bytes, out);
        }
        let Self { tail, decode, .. } = self;
        for bytes in bytes.chunks(PIECE_BYTES) {
            // A format may skip whole lines; the part of a line says too little for that.
            tail.push(bytes, &mut |released| match released {
                Released::Lines(lines) => decode.push_lines(lines, out),
                Released::Part(bytes) => decode.push(bytes, out),
            });
        }
    }

    fn finish(&mut self, out: &mut Out<'_>) {
        while let Some(Released::Lines(bytes) | Released::Part(bytes)) = self.tail.release_last() {
            self.decode.push_lines(bytes, out);
        }
        let is_tail = self.tail.has_released();
        if is_tail && self.stage == Stage::Middle {
            self.decode.tail();
            out.tail();
            // The tail begins the list of problems anew, and this one is about all of the input.
            if self.unknown_json {
                out.at_line(1).problem(ProblemKind::UnknownJson);
            }
        }
        self.decode.push(self.tail.tail(), out);
        self.decode.finish(out);
        if self.is_foreign_json && !out.has_text() {
            out.at_line(1).problem(ProblemKind::ForeignJson);
        }
    }
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").field("format", &self.format()).finish_non_exhaustive()
    }
}
