//! The output side of a format's reader: the sink, with rules that hold for all formats.

use std::borrow::Cow;
use std::collections::VecDeque;

use super::clean::clean;
use super::limit;
use super::loose::Leaves;
use super::{
    Answer, Boundary, Call, Ending, Event, Fact, Problem, ProblemKind, Role, Sink, Text, Usage,
    Wording,
};

/// The most problems that are reported; a broken input would otherwise drown the rest.
const MAX_PROBLEMS: usize = 100;

/// The longest message of an error that is kept, in bytes.
const MAX_MESSAGE: usize = 2000;

/// Longest beginning and longest end of a failed tool's answer that are kept, in bytes.
const MAX_END: usize = 2048;

/// Denied calls that are remembered: clients report a denial when it happens and once
/// more when the turn ends.
const MAX_DENIED: usize = 256;

/// State of the whole input, whatever the format.
#[derive(Debug, Default)]
pub(super) struct Memo {
    problem_count: usize,
    /// Somebody's text came.
    has_text: bool,
    has_session: bool,
    has_model: bool,
    last_failure: String,
    /// The ids of calls that were reported as denied, newest first.
    denied_ids: VecDeque<String>,
}

/// A sink that cleans texts, bounds problems and sends some facts only once.
pub(super) struct Out<'s> {
    sink: &'s mut dyn Sink,
    memo: &'s mut Memo,
    /// The line of the input in which the next event begins.
    line: u64,
}

impl<'s> Out<'s> {
    pub(super) fn new(sink: &'s mut dyn Sink, memo: &'s mut Memo) -> Self {
        Self { sink, memo, line: 1 }
    }

    /// Sets the line of the input in which the next event begins.
    pub(super) fn at_line(&mut self, line: u64) -> &mut Self {
        self.line = line;
        self
    }

    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// Somebody's text came.
    pub(super) fn has_text(&self) -> bool {
        self.memo.has_text
    }

    /// The tail of a long input begins. Errors and denials before it are forgotten, also
    /// as what a later one repeats.
    pub(super) fn tail(&mut self) {
        let Memo { has_text, has_session, has_model, .. } = *self.memo;
        *self.memo = Memo { has_text, has_session, has_model, ..Memo::default() };
        self.sink.event(Event::Tail);
    }

    /// Somebody's text, out of one JSON string.
    pub(super) fn say(&mut self, role: Role, text: &str) {
        self.json_text(role, &clean(text), false);
    }

    /// Each of somebody's texts, out of JSON strings of their own.
    pub(super) fn say_all(&mut self, role: Role, texts: &[Cow<'_, str>]) {
        texts.iter().for_each(|text| self.say(role, text));
    }

    /// More of the text before, out of another JSON string: on a line of its own.
    pub(super) fn add_line(&mut self, role: Role, text: &str) {
        self.json_text(role, &format!("\n{}", clean(text)), true);
    }

    /// More of the text before, without a line break between.
    pub(super) fn continue_text(&mut self, role: Role, text: &str) {
        self.json_text(role, &clean(text), true);
    }

    fn json_text(&mut self, role: Role, text: &str, continues: bool) {
        self.text(Text { role, text, line: self.line, multiline: false, continues });
    }

    /// A text that is clean already.
    pub(super) fn text(&mut self, text: Text<'_>) {
        if !text.text.is_empty() {
            self.memo.has_text = true;
            self.sink.event(Event::Text(text));
        }
    }

    pub(super) fn boundary(&mut self, boundary: Boundary) {
        self.sink.event(Event::Boundary(boundary, self.line));
    }

    pub(super) fn fact(&mut self, fact: Fact) {
        self.sink.event(Event::Fact(fact));
    }

    /// The totals, if anything is known of them.
    pub(super) fn usage(&mut self, usage: Usage) {
        if usage != Usage::default() {
            self.fact(Fact::Usage(usage));
        }
    }

    /// The session's id: the first one counts.
    pub(super) fn session(&mut self, id: &str) {
        if !id.is_empty() && !std::mem::replace(&mut self.memo.has_session, true) {
            self.fact(Fact::Session(id.to_owned()));
        }
    }

    /// The model's name: the first one counts.
    pub(super) fn model(&mut self, name: &str) {
        if !name.is_empty() && !std::mem::replace(&mut self.memo.has_model, true) {
            self.fact(Fact::Model(name.to_owned()));
        }
    }

    /// The agent or its API failed: an error, or a limit if `status` or the
    /// message says so. Clients repeat themselves; a repetition is dropped.
    pub(super) fn failure(&mut self, message: &str, status: Option<i64>) {
        let message = clip(message.trim(), MAX_MESSAGE);
        if message.is_empty() || self.memo.last_failure == message {
            return;
        }
        message.clone_into(&mut self.memo.last_failure);
        if matches!(status, Some(429 | 529)) || self.has_wording(Wording::Limit, message) {
            self.limit(message, limit::resets_at(message));
        } else {
            self.fact(Fact::Error { message: message.to_owned(), line: self.line });
        }
    }

    /// The client says that the agent or its API failed.
    pub(super) fn fail(&mut self, message: &str, status: Option<i64>) {
        self.say(Role::System, message);
        self.failure(message, status);
    }

    /// A limit ended the turn.
    pub(super) fn limit(&mut self, message: &str, resets_at: Option<i64>) {
        self.fact(Fact::Limit { message: message.to_owned(), resets_at, line: self.line });
    }

    /// A tool is called, with these arguments.
    pub(super) fn called(&mut self, id: &str, tool: &str, input: &Leaves<'_>) {
        let command = input.command.as_deref();
        self.sink.called(&Call { id, tool, command, texts: &input.texts, line: self.line });
    }

    /// The answer to the call with this id begins.
    pub(super) fn answered(&mut self, id: &str, ending: Ending) {
        self.sink.answered(&Answer { id, ending, line: self.line });
    }

    /// The agent ran a command.
    pub(super) fn ran(&mut self, command: String, exit_code: i32) {
        self.fact(Fact::Command { command, exit_code, line: self.line });
    }

    /// A tool call failed with this answer. An empty answer is left out.
    pub(super) fn tool_failed(&mut self, output: &str) {
        let output = clean(output.trim());
        if !output.is_empty() {
            self.fact(Fact::ToolFailure {
                output: both_ends(&output, MAX_END).into_owned(),
                line: self.line,
            });
        }
    }

    /// The call with this id, if it has one, was denied.
    pub(super) fn denied(&mut self, tool: &str, id: &str) {
        if self.memo.denied_ids.iter().any(|denied_id| denied_id == id) {
            return;
        }
        if !id.is_empty() {
            self.memo.denied_ids.truncate(MAX_DENIED - 1);
            self.memo.denied_ids.push_front(id.to_owned());
        }
        self.fact(Fact::Denial { tool: tool.to_owned(), line: self.line });
    }

    /// A call did not succeed: it was denied, or it failed with this answer.
    pub(super) fn denied_or_failed(&mut self, tool: &str, id: &str, cause: &str) {
        if self.has_wording(Wording::Denial, cause) {
            self.denied(tool, id);
        } else {
            self.tool_failed(cause);
        }
    }

    /// See [`Sink::has_wording`].
    pub(super) fn has_wording(&self, wording: Wording, text: &str) -> bool {
        self.sink.has_wording(wording, text)
    }

    pub(super) fn problem(&mut self, kind: ProblemKind) {
        // A problem that loses words weighs in the decision, so that it is never left out.
        if self.memo.problem_count < MAX_PROBLEMS || kind.loses_words() {
            self.memo.problem_count += 1;
            self.sink.event(Event::Problem(Problem { line: self.line, kind }));
        }
    }
}

/// The first `max` bytes of `text`, or less, to end between two characters.
pub(super) fn clip(text: &str, max: usize) -> &str {
    let end = (0..=max.min(text.len())).rev().find(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or(0)]
}

/// Drops the beginning of `text` so that at most `max` bytes remain.
pub(super) fn keep_end(text: &mut String, max: usize) {
    if text.len() > max {
        text.drain(..text.ceil_char_boundary(text.len() - max));
    }
}

/// The first and the last `max` bytes of `text`, on lines of their own.
pub(super) fn both_ends(text: &str, max: usize) -> Cow<'_, str> {
    if text.len() <= 2 * max {
        return Cow::Borrowed(text);
    }
    let tail = text.ceil_char_boundary(text.len() - max);
    Cow::Owned(format!("{}\n{}", clip(text, max), &text[tail..]))
}

#[cfg(test)]
mod tests {
    use super::both_ends;

    #[test]
    fn the_ends_of_a_long_text_are_kept_between_characters() {
        assert_eq!(both_ends("abcdef", 3), "abcdef");
        assert_eq!(both_ends("abcdefg", 3), "abc\nefg");
        assert_eq!(both_ends("aüücdüü", 2), "a\nü");
    }
}
