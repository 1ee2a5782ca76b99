//! Reads a bus: every entry that is whole, whoever wrote it.

use std::borrow::Cow;

use super::escape::{MARK, unescaped};
use super::event::is_runner_type;
use super::header::header;
use super::legacy;
use super::message::{Message, is_message_id};
use crate::yaml::YamlError;

/// The messages of a bus, with its problems.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// Its messages, the oldest first.
    pub messages: Vec<Message>,
    /// Faults of its entries, in order.
    pub problems: Vec<Problem>,
    /// The state of its end.
    pub tail: Tail,
}

/// A fault in a bus, with its place.
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
    #[error("passed over: its header, line {line} of it: {fault}")]
    Header {
        /// The line within the header, from 1.
        line: usize,
        /// The fault, in words.
        fault: String,
    },
    /// Its end is missing: its writer was stopped. It is passed over.
    #[error("passed over: its end is missing")]
    Torn,
    /// It is of a type that only runners write, and no runner wrote it.
    #[error("{kind} that no runner wrote: {reason}")]
    Forged {
        /// Its type.
        kind: String,
        /// The reason, in words.
        reason: &'static str,
    },
    /// It is no UTF-8: bytes that cannot be read are replaced.
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

/// Reads a bus. Nothing in it is an error: bytes that are no entry are passed over and reported.
/// As in conductor-loop, a line `---` ends any header or body, and a header that cannot be read
/// ends where the next may begin.
pub fn read(bytes: &[u8]) -> Contents {
    let mut reader = Reader::default();
    bytes.split_inclusive(|byte| *byte == b'\n').for_each(|line| reader.line(line));
    reader.end()
}

#[derive(Default)]
struct Reader {
    contents: Contents,
    state: State,
    /// Lines so far.
    line_count: usize,
    /// Bytes so far.
    offset: usize,
    entry: EntryStart,
    /// The last line was empty.
    after_empty: bool,
    /// Bytes of the header or the body so far.
    pending: Vec<u8>,
}

/// The beginning of the current entry.
#[derive(Clone, Copy, Default)]
struct EntryStart {
    /// Its first line, from 1.
    line: usize,
    /// Its first byte, the empty line before it included.
    offset: usize,
    /// An empty line, or nothing, stands before it.
    is_apart: bool,
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
        self.line_count += 1;
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        if text == MARK.as_bytes() {
            self.mark();
        } else if let State::Seeking = self.state {
            let message = legacy::message(&String::from_utf8_lossy(text), self.line_count);
            self.contents.messages.extend(message);
        } else {
            self.pending.extend_from_slice(line);
        }
        self.offset += line.len();
        self.after_empty = text.is_empty();
        self.contents.tail = self.tail(line.ends_with(b"\n"));
    }

    fn mark(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        match std::mem::take(&mut self.state) {
            State::Seeking => self.begin(),
            State::Header => match header(&self.text(&pending)) {
                Ok(message) => self.state = State::Body(Box::new(message)),
                Err(YamlError { line, fault }) => {
                    self.report(Trouble::Header { line, fault });
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
        let gap = usize::from(self.after_empty && self.offset > 0);
        self.entry = EntryStart {
            line: self.line_count,
            offset: self.offset - gap,
            is_apart: self.after_empty || self.offset == 0,
        };
    }

    /// Takes a message whose body is whole. If another entry comes, the empty line before it does
    /// not belong to the body.
    fn finish(&mut self, mut message: Message, pending: &[u8], is_followed: bool) {
        let gap = usize::from(is_followed && pending.ends_with(b"\n\n"));
        let text = self.text(&pending[..pending.len() - gap]);
        message.body = unescaped(text.strip_suffix('\n').unwrap_or(&text));
        if is_runner_type(&message.kind)
            && let Some(reason) = self.doubt(&message)
        {
            self.report(Trouble::Forged { kind: message.kind.clone(), reason });
        }
        self.contents.messages.push(message);
    }

    /// The reason that a runner's message cannot be one.
    fn doubt(&self, message: &Message) -> Option<&'static str> {
        if !is_message_id(&message.msg_id) {
            Some("its id is none that a bus gives")
        } else if !self.entry.is_apart {
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
        self.contents.problems.push(Problem { line: self.entry.line.max(1), trouble });
    }

    fn tail(&self, line_ended: bool) -> Tail {
        let partial_mark = self.partial_mark();
        match &self.state {
            State::Header => Tail::Header,
            State::Seeking if line_ended => Tail::Whole,
            State::Seeking => Tail::Line,
            // An entry whose body has no line is not whole: an empty body is an empty line.
            State::Body(_) if line_ended && !self.pending.is_empty() => Tail::Whole,
            // From the empty line before the partial mark on.
            State::Body(_) if !line_ended && partial_mark > 0 => {
                Tail::Body(self.offset - partial_mark - 1)
            }
            State::Body(_) => Tail::Body(self.entry.offset),
        }
    }

    /// Length, in bytes, of a partial `---` at the end of the bus. The text after it would
    /// belong to the entry before.
    fn partial_mark(&self) -> usize {
        let mut endings = [&b"\n\n--"[..], b"\n\n-"].into_iter();
        let ending = endings.find(|ending| self.pending.ends_with(ending));
        ending.map_or(0, |ending| ending.len() - 2)
    }

    fn end(mut self) -> Contents {
        let partial_mark = self.partial_mark();
        let pending = std::mem::take(&mut self.pending);
        match (std::mem::take(&mut self.state), self.contents.tail) {
            (State::Body(message), Tail::Whole) => self.finish(*message, &pending, false),
            (State::Body(message), _) if partial_mark > 0 => {
                // The body is whole: an entry behind it was begun, and cut off in its first line.
                self.finish(*message, &pending[..pending.len() - partial_mark], true);
                self.entry.line = self.line_count;
                self.report(Trouble::Torn);
            }
            (State::Body(_), _) => self.report(Trouble::Torn),
            (State::Header, _) if !pending.is_empty() => self.report(Trouble::Torn),
            _ => {}
        }
        self.contents
    }
}
