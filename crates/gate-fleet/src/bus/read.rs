//! Reads a bus: every entry that is whole, whoever wrote it.

use std::borrow::Cow;

use super::escape::{MARK, unescaped};
use super::event::is_runners;
use super::header::header;
use super::legacy;
use super::message::{Message, is_message_id};

/// The messages of a bus.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Read {
    /// Its messages, the oldest first.
    pub messages: Vec<Message>,
    /// Problems with it, in order.
    pub problems: Vec<Problem>,
    /// The state of its end.
    pub tail: Tail,
}

/// Something that is wrong with a bus.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {trouble}")]
pub struct Problem {
    /// The line that the entry begins in, from 1.
    pub line: usize,
    /// The fault.
    pub trouble: Trouble,
}

/// A fault of an entry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// Its header cannot be read; it is passed over.
    #[error("passed over: its header, line {line} of it: {what}")]
    Header {
        /// The line within the header, from 1.
        line: usize,
        /// The fault, in words.
        what: String,
    },
    /// Its end is missing: whoever wrote it was stopped. It is passed over.
    #[error("passed over: its end is missing")]
    Torn,
    /// It is of a type that only runners write, and no runner wrote it.
    #[error("{kind} that no runner wrote: {why}")]
    Forged {
        /// Its type.
        kind: String,
        /// The reason, in words.
        why: &'static str,
    },
    /// It is no UTF-8: what cannot be read is replaced.
    #[error("it is not UTF-8")]
    NotUtf8,
}

/// The end of a bus, for a writer that appends to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tail {
    /// With a whole entry, or it is empty.
    #[default]
    Whole,
    /// Within a line that belongs to no entry.
    Line,
    /// Within a header.
    Header,
    /// Within the body of an entry, or the first line of one: it begins at this
    /// byte, the empty line before it included.
    Body(usize),
}

impl Tail {
    /// Text that a writer puts between the end of a bus and a new entry. A bus that ends in
    /// a body that was cut off has to be cut back first. A header that was cut off is made
    /// unreadable: otherwise the new entry would become its body.
    pub fn gap(self, is_empty: bool) -> &'static str {
        match self {
            Self::Whole | Self::Body(_) if is_empty => "",
            Self::Whole | Self::Body(_) => "\n",
            Self::Line => "\n\n",
            Self::Header => "\n] the entry above was not finished\n\n",
        }
    }
}

/// Reads a bus. Nothing in it is an error: what is no entry is passed over and reported. As in
/// conductor-loop, a line `---` ends whatever it stands in, and a header that cannot be read ends
/// where the next may begin.
pub fn read(bytes: &[u8]) -> Read {
    let mut reader = Reader::default();
    bytes.split_inclusive(|byte| *byte == b'\n').for_each(|line| reader.line(line));
    reader.end()
}

#[derive(Default)]
struct Reader {
    read: Read,
    state: State,
    /// Lines so far.
    number: usize,
    /// Bytes so far.
    at: usize,
    /// Line and byte at which the entry begins.
    begun: (usize, usize),
    /// True if an empty line, or nothing, stands before it.
    apart: bool,
    /// True if the last line was empty.
    after_empty: bool,
    /// Bytes of the header or the body so far.
    pending: Vec<u8>,
}

#[derive(Default)]
enum State {
    /// Nothing has begun.
    #[default]
    Seeking,
    /// Within a header.
    Header,
    /// Within the body of a message.
    Body(Box<Message>),
}

impl Reader {
    fn line(&mut self, line: &[u8]) {
        self.number += 1;
        let bare = line.strip_suffix(b"\n").unwrap_or(line);
        let bare = bare.strip_suffix(b"\r").unwrap_or(bare);
        if bare == MARK.as_bytes() {
            self.mark();
        } else if let State::Seeking = self.state {
            let message = legacy::message(&String::from_utf8_lossy(bare), self.number);
            self.read.messages.extend(message);
        } else {
            self.pending.extend_from_slice(line);
        }
        self.at += line.len();
        self.after_empty = bare.is_empty();
        self.read.tail = self.tail(line.ends_with(b"\n"));
    }

    fn mark(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        match std::mem::take(&mut self.state) {
            State::Seeking => self.begin(),
            State::Header => match header(&self.text(&pending)) {
                Ok(message) => self.state = State::Body(Box::new(message)),
                Err((line, what)) => {
                    self.report(Trouble::Header { line, what });
                    self.begin();
                }
            },
            State::Body(message) => {
                self.finish(*message, &pending, true);
                self.begin();
            }
        }
    }

    fn begin(&mut self) {
        self.state = State::Header;
        self.apart = self.after_empty || self.at == 0;
        let gap = usize::from(self.after_empty && self.at > 0);
        self.begun = (self.number, self.at - gap);
    }

    /// A message whose body is whole. Behind it, the empty line before the next
    /// entry is none of its own.
    fn finish(&mut self, mut message: Message, pending: &[u8], another: bool) {
        let gap = usize::from(another && pending.ends_with(b"\n\n"));
        let pending = &pending[..pending.len() - gap];
        let text = self.text(pending);
        message.body = unescaped(text.strip_suffix('\n').unwrap_or(&text));
        if is_runners(&message.kind)
            && let Some(why) = self.doubt(&message)
        {
            self.report(Trouble::Forged { kind: message.kind.clone(), why });
        }
        self.read.messages.push(message);
    }

    /// The reason that a runner's message cannot be one.
    fn doubt(&self, message: &Message) -> Option<&'static str> {
        if !is_message_id(&message.msg_id) {
            Some("its id is none that a bus gives")
        } else if !self.apart {
            Some("no empty line stands before it, so it was a part of a body")
        } else {
            None
        }
    }

    fn text<'a>(&mut self, bytes: &'a [u8]) -> Cow<'a, str> {
        let text = String::from_utf8_lossy(bytes);
        if matches!(text, Cow::Owned(_)) {
            self.report(Trouble::NotUtf8);
        }
        text
    }

    fn report(&mut self, trouble: Trouble) {
        self.read.problems.push(Problem { line: self.begun.0.max(1), trouble });
    }

    fn tail(&self, ended: bool) -> Tail {
        let half = self.half_mark();
        match &self.state {
            State::Header => Tail::Header,
            State::Seeking if ended => Tail::Whole,
            State::Seeking => Tail::Line,
            // An entry whose body has no line is not whole: an empty body is an empty line.
            State::Body(_) if ended && !self.pending.is_empty() => Tail::Whole,
            // From the empty line before the partial mark on.
            State::Body(_) if !ended && half > 0 => Tail::Body(self.at - half - 1),
            State::Body(_) => Tail::Body(self.begun.1),
        }
    }

    /// Length, in bytes, of a partial `---` at the end of the bus. The text after it would
    /// belong to the entry before.
    fn half_mark(&self) -> usize {
        let half = [&b"\n\n--"[..], b"\n\n-"].into_iter().find(|mark| self.pending.ends_with(mark));
        half.map_or(0, |half| half.len() - 2)
    }

    fn end(mut self) -> Read {
        let half = self.half_mark();
        let pending = std::mem::take(&mut self.pending);
        match (std::mem::take(&mut self.state), self.read.tail) {
            (State::Body(message), Tail::Whole) => self.finish(*message, &pending, false),
            (State::Body(message), _) if half > 0 => {
                self.finish(*message, &pending[..pending.len() - half], true);
                self.begun.0 = self.number;
                self.report(Trouble::Torn);
            }
            (State::Body(_), _) => self.report(Trouble::Torn),
            (State::Header, _) if !pending.is_empty() => self.report(Trouble::Torn),
            _ => {}
        }
        self.read
    }
}
