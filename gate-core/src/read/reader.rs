//! The reader of any format.

use super::blocks::count_breaks;
use super::detect::{Head, LOOKAHEAD};
use super::far::{Far, Held, Kept, Released, Sifted, after_lines, first_lines};
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
    /// Whether what comes is passed on at once.
    live: bool,
}

/// The reading of a format that is known.
struct Open {
    format: Format,
    decode: Box<dyn Decode>,
    held: Held,
    stage: Stage,
    /// Line breaks before what comes next.
    lines: u64,
    /// The last message of the agent, where it was passed over and nothing that
    /// matters came after it.
    spoke: Option<Spoke>,
    /// Whether what the agent says next is another message than what it said last.
    parted: bool,
}

/// Lines of one message that were passed over, with their numbers.
struct Spoke {
    message: u64,
    lines: Vec<(u64, Vec<u8>)>,
    /// Their length in bytes.
    length: usize,
    /// Whether it is another message than the one read last.
    parted: bool,
}

/// A line that is a message of its own, the last one so far.
struct Alone<'l> {
    line: u64,
    bytes: &'l [u8],
    /// Whether it is another message than the one read last.
    parted: bool,
}

/// How much is held at once, in bytes, of what comes in one piece.
const PIECE: usize = 1 << 20;

/// How few lines are sifted at once, in bytes.
const FEW: usize = 512;

/// How much of one message is held, in bytes, before it is read.
const MOST: usize = 1 << 20;

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
        Self { forced, head: Vec::new(), memo: Memo::default(), open: None, live: false }
    }

    /// A reader for whoever shows a run while it lasts: it takes the format from the
    /// first line, and passes on what comes at once.
    pub fn live(forced: Option<Forced>) -> Self {
        Self { live: true, ..Self::new(forced) }
    }

    /// Reads on.
    pub fn push(&mut self, mut bytes: &[u8], sink: &mut dyn Sink) {
        if self.open.is_none() {
            let room = (LOOKAHEAD - self.head.len()).min(bytes.len());
            let (head, rest) = bytes.split_at(room);
            self.head.extend_from_slice(head);
            bytes = rest;
            let told = self.live && self.head.contains(&b'\n');
            if self.head.len() == LOOKAHEAD || told {
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
        let stage = match bytes.ends_with(b"\n") {
            _ if self.live => Stage::Near,
            true => Stage::Middle,
            false => Stage::Head,
        };
        self.open = Some(Open {
            format: head.format,
            decode,
            held: Held::default(),
            stage,
            lines: count_breaks(text),
            spoke: None,
            parted: false,
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
        let mut held = std::mem::take(&mut self.held);
        for bytes in bytes.chunks(PIECE) {
            held.push(bytes);
            while let Some(released) = held.release() {
                self.released(released, sink, memo);
            }
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
        Some(Far { sieve, wanted: sink.wanted()?, epoch: self.epoch(sink) })
    }

    /// How often the sieve was to be another one.
    fn epoch(&self, sink: &dyn Sink) -> u64 {
        sink.epoch() + self.decode.epoch()
    }

    /// Where the sieve is to be another one often, few lines are sifted at once.
    fn sift(&mut self, mut lines: &[u8], sink: &mut dyn Sink, memo: &mut Memo) {
        let mut sifted = Sifted::default();
        let mut length = lines.len();
        while !lines.is_empty() {
            let Some(far) = self.far(sink) else {
                self.speak(sink, memo);
                return self.read(lines, sink, memo);
            };
            let first = first_lines(lines, length);
            far.sift(first, &mut sifted);
            let taken = match self.take(&sifted, sink, memo) {
                None => first.len(),
                Some(taken) => first.len() - after_lines(first, taken).len(),
            };
            lines = &lines[taken..];
            length = if taken < first.len() { taken.max(FEW) } else { 2 * length };
        }
    }

    fn take(&mut self, sifted: &Sifted, sink: &mut dyn Sink, memo: &mut Memo) -> Option<u64> {
        if !sifted.is_of(self.epoch(sink)) {
            return Some(0);
        }
        let before = self.lines;
        // Most messages are followed by another one: only the last is copied.
        let mut alone = None;
        for (kept, bytes) in sifted.kept() {
            match *kept {
                Kept::Matters(line, _) => {
                    self.lines = before + line;
                    self.spoke_alone(&mut alone);
                    self.speak(sink, memo);
                    self.read_at(self.lines, bytes, sink, memo);
                    if !sifted.is_of(self.epoch(sink)) {
                        self.lines += 1;
                        return Some(line + 1);
                    }
                }
                Kept::Speaks(line, _, message) if message != 0 => {
                    self.spoke_alone(&mut alone);
                    self.lines = before + line;
                    self.spoke(message, bytes, sink, memo);
                }
                Kept::Twice(_, _, number) if !self.decode.is_first(number) => {}
                Kept::Speaks(line, ..) | Kept::Twice(line, ..) => {
                    let follows = alone.is_some() || self.spoke.take().is_some();
                    let parted = std::mem::take(&mut self.parted) || follows;
                    alone = Some(Alone { line: before + line, bytes, parted });
                }
                Kept::Parted => self.parted = true,
                Kept::Used(id, tokens) => self.decode.used(id, tokens),
            }
        }
        self.spoke_alone(&mut alone);
        self.lines = before + sifted.lines();
        self.decode.after_lines(self.lines, &mut Out::new(sink, memo));
        None
    }

    fn near(&mut self, sink: &mut dyn Sink, memo: &mut Memo) {
        self.speak(sink, memo);
        self.stage = Stage::Near;
        self.decode.near();
        memo.near();
        sink.event(Event::Near);
    }

    /// The agent spoke a message of one line, if it did.
    fn spoke_alone(&mut self, alone: &mut Option<Alone<'_>>) {
        if let Some(Alone { line, bytes, parted }) = alone.take() {
            let lines = vec![(line, bytes.to_vec())];
            self.spoke = Some(Spoke { message: 0, lines, length: bytes.len(), parted });
        }
    }

    /// The agent speaks in this line, the next one.
    fn spoke(&mut self, message: u64, line: &[u8], sink: &mut dyn Sink, memo: &mut Memo) {
        let parted = std::mem::take(&mut self.parted);
        let one = (self.lines, line.to_vec());
        match &mut self.spoke {
            Some(spoke) if !parted && message != 0 && spoke.message == message => {
                spoke.lines.push(one);
                spoke.length += line.len();
                if spoke.length > MOST {
                    self.speak(sink, memo);
                }
            }
            last => {
                let parted = parted || last.is_some();
                *last = Some(Spoke { message, lines: vec![one], length: line.len(), parted });
            }
        }
    }

    /// Reads the message that the agent spoke last.
    fn speak(&mut self, sink: &mut dyn Sink, memo: &mut Memo) {
        if let Some(spoke) = self.spoke.take() {
            if spoke.parted {
                self.decode.part();
            }
            self.decode.count(false);
            for (line, bytes) in &spoke.lines {
                self.read_at(*line, bytes, sink, memo);
            }
            self.decode.count(true);
            self.decode.after_lines(self.lines, &mut Out::new(sink, memo));
        }
        if std::mem::take(&mut self.parted) {
            self.decode.part();
        }
    }

    /// Reads bytes that follow those read last.
    fn read(&mut self, bytes: &[u8], sink: &mut dyn Sink, memo: &mut Memo) {
        self.lines += count_breaks(bytes);
        self.decode.push(bytes, &mut Out::new(sink, memo));
    }

    fn read_at(&mut self, line: u64, bytes: &[u8], sink: &mut dyn Sink, memo: &mut Memo) {
        let mut out = Out::new(sink, memo);
        self.decode.after_lines(line, &mut out);
        self.decode.push(bytes, &mut out);
    }
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").field("format", &self.format()).finish_non_exhaustive()
    }
}
