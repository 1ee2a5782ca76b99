//! The reader of any format.

use super::blocks::count_breaks;
use super::detect::{Head, LOOKAHEAD};
use super::far::{Far, Held, Kept, Released, Sifted};
use super::json::Decode;
use super::out::{Memo, Out};
use super::{Event, Forced, Format, ProblemKind, Sink};

const BOM: &[u8] = b"\xef\xbb\xbf";

/// Reads the output of an agent, in pieces of any size.
///
/// The events do not depend on how the input is cut into pieces, except that
/// one text may come in several [`Text`](super::Text)s, of which the later
/// ones `continue` the first. Nothing is pushed until the format is known:
/// after 64 KiB, or at the end.
///
/// Of a long input, only the last [`NEAR`](super::NEAR) bytes are read whole;
/// [`Event::Near`] comes before them. Lines before them that cannot matter to
/// the sink, as it tells by [`Sink::wanted`], may be passed over.
///
/// ```
/// use gate_core::read::{Event, FinalTurn, Reader, Sink};
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
    memo: Memo,
    open: Option<Open>,
}

/// The reading of a format that is known.
struct Open {
    format: Format,
    decode: Box<dyn Decode>,
    held: Held,
    stage: Stage,
    /// Line breaks before what comes next.
    lines: u64,
    /// The last line in which the agent speaks, where it was passed over and
    /// nothing that matters came after it; and its number.
    spoke: Option<(u64, Vec<u8>)>,
}

/// Which part of the input comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The rest of the line in which the look at the beginning ended.
    Head,
    /// What may be far from the end, or near.
    Middle,
    /// What is near the end.
    Near,
}

impl Reader {
    /// A reader that finds the format by itself, or takes the one given.
    pub fn new(forced: Option<Forced>) -> Self {
        Self { forced, head: Vec::new(), memo: Memo::default(), open: None }
    }

    /// Reads on.
    pub fn push(&mut self, mut bytes: &[u8], sink: &mut dyn Sink) {
        if self.open.is_none() {
            let room = (LOOKAHEAD - self.head.len()).min(bytes.len());
            let (head, rest) = bytes.split_at(room);
            self.head.extend_from_slice(head);
            bytes = rest;
            if self.head.len() == LOOKAHEAD {
                self.begin(sink);
            }
        }
        if let Some(open) = &mut self.open {
            open.push(bytes, sink, &mut self.memo);
        }
    }

    /// Ends the input.
    pub fn finish(&mut self, sink: &mut dyn Sink) {
        if self.open.is_none() {
            self.begin(sink);
        }
        if let Some(open) = &mut self.open {
            open.release_last(sink, &mut self.memo);
            open.decode.finish(&mut Out::new(sink, &mut self.memo));
        }
    }

    /// The format, once it is known.
    pub fn format(&self) -> Option<Format> {
        self.open.as_ref().map(|open| open.format)
    }

    /// What can look at far lines beside this reader, where the input has come
    /// to the end of a line and there are lines that could be passed over.
    pub(crate) fn far(&self, sink: &mut dyn Sink) -> Option<Far> {
        let open = self.open.as_ref().filter(|open| open.stage == Stage::Middle)?;
        open.held.is_empty().then(|| open.far(sink)).flatten()
    }

    /// Takes the next lines, which are far from the end. Where the sink has come
    /// to look for more than it did when they were sifted, stops and tells how
    /// many of the lines it has taken.
    pub(crate) fn take(&mut self, sifted: &Sifted, sink: &mut dyn Sink) -> Option<u64> {
        let open = self.open.as_mut()?;
        open.take(sifted, sink, &mut self.memo)
    }

    /// Sifts and takes the next lines, which are far from the end.
    pub(crate) fn sift(&mut self, lines: &[u8], sink: &mut dyn Sink) {
        if let Some(open) = &mut self.open {
            open.sift(lines, sink, &mut self.memo);
        }
    }

    /// Lines were left out.
    pub(crate) fn skip(&mut self) {
        if let Some(open) = &mut self.open {
            open.decode.skip();
        }
    }

    /// What comes from now on is near the end.
    pub(crate) fn near(&mut self, sink: &mut dyn Sink) {
        if let Some(open) = &mut self.open {
            open.near(sink, &mut self.memo);
        }
    }

    fn begin(&mut self, sink: &mut dyn Sink) {
        let bytes = std::mem::take(&mut self.head);
        let text = bytes.strip_prefix(BOM).unwrap_or(&bytes);
        let head = Head::of(text, self.forced);
        let mut out = Out::new(sink, &mut self.memo);
        if head.unknown_json {
            out.problem(ProblemKind::UnknownJson, 1);
        }
        let mut decode = (head.format.spec().open)(&head);
        decode.push(text, &mut out);
        let stage = if bytes.ends_with(b"\n") { Stage::Middle } else { Stage::Head };
        self.open = Some(Open {
            format: head.format,
            decode,
            held: Held::default(),
            stage,
            lines: count_breaks(text),
            spoke: None,
        });
    }
}

impl Open {
    fn push(&mut self, mut bytes: &[u8], sink: &mut dyn Sink, memo: &mut Memo) {
        if self.stage == Stage::Head {
            let end = memchr::memchr(b'\n', bytes).map_or(bytes.len(), |at| at + 1);
            let (head, rest) = bytes.split_at(end);
            self.read(head, sink, memo);
            if head.ends_with(b"\n") {
                self.stage = Stage::Middle;
            }
            bytes = rest;
        }
        if self.stage == Stage::Near {
            return self.read(bytes, sink, memo);
        }
        self.held.push(bytes);
        let mut held = std::mem::take(&mut self.held);
        while let Some(released) = held.release() {
            self.released(released, sink, memo);
        }
        self.held = held;
    }

    fn release_last(&mut self, sink: &mut dyn Sink, memo: &mut Memo) {
        let mut held = std::mem::take(&mut self.held);
        while let Some(released) = held.release_last() {
            self.released(released, sink, memo);
        }
        let (bytes, is_border) = held.near();
        if is_border && self.stage == Stage::Middle {
            self.near(sink, memo);
        }
        self.read(bytes, sink, memo);
    }

    fn released(&mut self, released: Released<'_>, sink: &mut dyn Sink, memo: &mut Memo) {
        match released {
            Released::Lines(lines) => self.sift(lines, sink, memo),
            Released::Part(bytes) => {
                self.speak(sink, memo);
                self.read(bytes, sink, memo);
            }
        }
    }

    fn far(&self, sink: &mut dyn Sink) -> Option<Far> {
        let sieve = self.decode.sieve()?;
        Some(Far { sieve, wanted: sink.wanted()?, epoch: sink.epoch() })
    }

    fn sift(&mut self, mut lines: &[u8], sink: &mut dyn Sink, memo: &mut Memo) {
        let mut sifted = Sifted::default();
        while !lines.is_empty() {
            let Some(far) = self.far(sink) else {
                self.speak(sink, memo);
                return self.read(lines, sink, memo);
            };
            far.sift(lines, &mut sifted);
            let Some(taken) = self.take(&sifted, sink, memo) else { return };
            lines = super::far::after_lines(lines, taken);
        }
    }

    fn take(&mut self, sifted: &Sifted, sink: &mut dyn Sink, memo: &mut Memo) -> Option<u64> {
        if !sifted.is_of(sink.epoch()) {
            return Some(0);
        }
        let before = self.lines;
        for (kept, bytes) in sifted.kept() {
            match *kept {
                Kept::Matters(line, _) => {
                    self.lines = before + line;
                    self.speak(sink, memo);
                    self.read_at(self.lines, bytes, sink, memo);
                    if !sifted.is_of(sink.epoch()) {
                        self.lines += 1;
                        return Some(line + 1);
                    }
                }
                Kept::Speaks(line, _) => self.spoke = Some((before + line, bytes.to_vec())),
                Kept::Used(id, tokens) => self.decode.used(id, tokens),
            }
        }
        self.lines = before + sifted.lines();
        self.decode.after_lines(self.lines);
        None
    }

    fn near(&mut self, sink: &mut dyn Sink, memo: &mut Memo) {
        self.speak(sink, memo);
        self.stage = Stage::Near;
        self.decode.near();
        sink.event(Event::Near);
    }

    /// Reads the line in which the agent spoke last.
    fn speak(&mut self, sink: &mut dyn Sink, memo: &mut Memo) {
        if let Some((line, bytes)) = self.spoke.take() {
            self.decode.count(false);
            self.read_at(line, &bytes, sink, memo);
            self.decode.count(true);
            self.decode.after_lines(self.lines);
        }
    }

    /// Reads bytes that follow those read last.
    fn read(&mut self, bytes: &[u8], sink: &mut dyn Sink, memo: &mut Memo) {
        self.lines += count_breaks(bytes);
        self.decode.push(bytes, &mut Out::new(sink, memo));
    }

    fn read_at(&mut self, line: u64, bytes: &[u8], sink: &mut dyn Sink, memo: &mut Memo) {
        self.decode.after_lines(line);
        self.decode.push(bytes, &mut Out::new(sink, memo));
    }
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").field("format", &self.format()).finish_non_exhaustive()
    }
}
