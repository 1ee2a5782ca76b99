//! What a format's reader writes to: the sink, with the house rules applied.

use super::clean::clean;
use super::limit;
use super::{Boundary, Event, Fact, Problem, ProblemKind, Role, Sink, Text};

/// How many problems are reported; a broken input would otherwise drown the rest.
const MAX_PROBLEMS: usize = 100;

/// The longest message of an error that is kept, in bytes.
const MAX_MESSAGE: usize = 2000;

/// What must be remembered over the whole input, whatever the format.
#[derive(Debug, Default)]
pub(super) struct Memo {
    problems: usize,
    session: bool,
    model: bool,
    failure: String,
}

/// A sink that cleans texts, bounds problems and sends some facts only once.
pub(super) struct Out<'s> {
    sink: &'s mut dyn Sink,
    memo: &'s mut Memo,
}

impl<'s> Out<'s> {
    pub(super) fn new(sink: &'s mut dyn Sink, memo: &'s mut Memo) -> Self {
        Self { sink, memo }
    }

    /// Somebody's text, out of one JSON string.
    pub(super) fn say(&mut self, role: Role, text: &str, line: u64) {
        self.text(Text { role, text: &clean(text), line, multiline: false, continues: false });
    }

    /// More of the text before, out of another JSON string: on a line of its own.
    pub(super) fn add(&mut self, role: Role, text: &str, line: u64) {
        let text = format!("\n{}", clean(text));
        self.text(Text { role, text: &text, line, multiline: false, continues: true });
    }

    /// A text that is clean already.
    pub(super) fn text(&mut self, text: Text<'_>) {
        if !text.text.is_empty() {
            self.sink.event(Event::Text(text));
        }
    }

    pub(super) fn boundary(&mut self, boundary: Boundary, line: u64) {
        self.sink.event(Event::Boundary(boundary, line));
    }

    pub(super) fn fact(&mut self, fact: Fact) {
        self.sink.event(Event::Fact(fact));
    }

    /// The session's id: the first one counts.
    pub(super) fn session(&mut self, id: &str) {
        if !id.is_empty() && !std::mem::replace(&mut self.memo.session, true) {
            self.fact(Fact::Session(id.to_owned()));
        }
    }

    /// The model's name: the first one counts.
    pub(super) fn model(&mut self, name: &str) {
        if !name.is_empty() && !std::mem::replace(&mut self.memo.model, true) {
            self.fact(Fact::Model(name.to_owned()));
        }
    }

    /// The agent or its API failed: an error, or a limit where `status` or the
    /// message says so. Clients repeat themselves; a repetition is dropped.
    pub(super) fn failure(&mut self, message: &str, status: Option<i64>, line: u64) {
        let message = clip(message.trim(), MAX_MESSAGE);
        if message.is_empty() || self.memo.failure == message {
            return;
        }
        message.clone_into(&mut self.memo.failure);
        if matches!(status, Some(429 | 529)) || limit::mentioned(message) {
            self.limit(message, limit::resets_at(message), line);
        } else {
            self.fact(Fact::Error { message: message.to_owned(), line });
        }
    }

    /// A limit ended the turn.
    pub(super) fn limit(&mut self, message: &str, resets_at: Option<i64>, line: u64) {
        self.fact(Fact::Limit { message: message.to_owned(), resets_at, line });
    }

    pub(super) fn problem(&mut self, kind: ProblemKind, line: u64) {
        if self.memo.problems < MAX_PROBLEMS {
            self.memo.problems += 1;
            self.sink.event(Event::Problem(Problem { line, kind }));
        }
    }
}

/// The first `max` bytes of `text`, or less, to end between two characters.
pub(super) fn clip(text: &str, max: usize) -> &str {
    let end = (0..=max.min(text.len())).rev().find(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or(0)]
}
