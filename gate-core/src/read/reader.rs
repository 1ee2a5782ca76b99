//! The reader of any format.

use super::detect::{Head, LOOKAHEAD};
use super::json::Decode;
use super::out::{Memo, Out};
use super::{Forced, Format, ProblemKind, Sink};

const BOM: &[u8] = b"\xef\xbb\xbf";

/// Reads the output of an agent, in pieces of any size.
///
/// The events do not depend on how the input is cut into pieces, except that
/// one text may come in several [`Text`](super::Text)s, of which the later
/// ones `continue` the first. Nothing is pushed until the format is known:
/// after 64 KiB, or at the end.
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
    open: Option<(Format, Box<dyn Decode>)>,
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
        if let Some((_, decode)) = &mut self.open {
            decode.push(bytes, &mut Out::new(sink, &mut self.memo));
        }
    }

    /// Ends the input.
    pub fn finish(&mut self, sink: &mut dyn Sink) {
        if self.open.is_none() {
            self.begin(sink);
        }
        if let Some((_, decode)) = &mut self.open {
            decode.finish(&mut Out::new(sink, &mut self.memo));
        }
    }

    /// The format, once it is known.
    pub fn format(&self) -> Option<Format> {
        self.open.as_ref().map(|(format, _)| *format)
    }

    fn begin(&mut self, sink: &mut dyn Sink) {
        let bytes = std::mem::take(&mut self.head);
        let bytes = bytes.strip_prefix(BOM).unwrap_or(&bytes);
        let head = Head::of(bytes, self.forced);
        let mut out = Out::new(sink, &mut self.memo);
        if head.unknown_json {
            out.problem(ProblemKind::UnknownJson, 1);
        }
        let mut decode = (head.format.spec().open)(&head);
        decode.push(bytes, &mut out);
        self.open = Some((head.format, decode));
    }
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").field("format", &self.format()).finish_non_exhaustive()
    }
}
