//! Turns the output of any agent into events: who said what, where, and what
//! else the format tells.
//!
//! A [`Reader`] is fed bytes as they come and pushes [`Event`]s into a
//! [`Sink`]. It finds the [`Format`] by itself unless one is
//! forced, keeps memory flat whatever the size of the input, and tolerates
//! noise: invalid UTF-8, foreign lines between JSON records and a torn last
//! line become [`Event::Problem`]s, never errors.
//!
//! What an event means for the decision (which text is the agent's *last
//! word*) is [`FinalTurn`]'s business, so that no format has to know it.

mod aider;
mod amp;
mod blocks;
mod calls;
mod chat;
mod claude;
mod clean;
mod codex_exec;
mod codex_rollout;
mod codex_text;
mod copilot;
mod cursor;
mod detect;
mod droid;
mod final_turn;
mod format;
mod frames;
mod gemini;
mod goose;
mod json;
mod limit;
mod loose;
mod opencode;
mod out;
mod parts;
mod prompt;
mod qwen;
mod reader;
mod scan;
mod shape;
mod specstory;
mod surrogates;
mod tail_buffer;
mod tally;
mod text;
mod utterance;

#[cfg(test)]
mod tests;

pub use final_turn::{FinalTurn, Word};
pub use format::{Forced, Format, UnknownFormat};
pub(crate) use limit::resets_at;
pub use prompt::Prompt;
pub use reader::Reader;
pub use tail_buffer::TAIL_BYTES;

/// Consumes what a [`Reader`] finds.
pub trait Sink {
    /// Takes one event. Events come in the order of the input.
    fn event(&mut self, event: Event<'_>);

    /// Whether a client words this in this way. Formats do not mark all that a
    /// client says, and readers know no wordings: they ask, about texts that
    /// may be the client's. A sink that knows none takes texts as they are.
    fn says(&self, _what: Wording, _text: &str) -> bool {
        false
    }

    /// The main agent or a sub-agent calls a tool; `about` is the command line or the
    /// first argument. For whoever shows a run while it lasts.
    fn called(&mut self, _tool: &str, _about: Option<&str>) {}
}

/// What a client may have said where its format does not say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wording {
    /// The text is, as a whole, its notice of a rate or usage limit.
    Notice,
    /// The text, which is an error, comes from such a limit.
    Limit,
    /// The text, which is a tool's answer, says that the call was denied.
    Denial,
}

/// Who a text belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The main agent, speaking.
    Assistant,
    /// The main agent's reasoning: never its word.
    Thinking,
    /// Input or output of a tool, and everything a sub-agent says.
    Tool,
    /// A person, a prompt, hook feedback: whatever the client sent to the agent.
    User,
    /// The client itself: banners, system prompts, summaries, logs.
    System,
}

/// A piece of text with its place in the input.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a> {
    /// Who it belongs to.
    pub role: Role,
    /// The text: valid UTF-8, without terminal escapes.
    pub text: &'a str,
    /// The input's line (from 1) in which the text begins; in JSON, its record.
    pub line: u64,
    /// Whether line breaks inside the text are line breaks of the input
    /// (plain text), or stand escaped within one line (JSON).
    pub multiline: bool,
    /// Whether it continues the message of the text before it, which had the
    /// same role: plain text comes in blocks, one API message may be split
    /// over several records.
    pub continues: bool,
}

/// Something that may change the agent's mind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boundary {
    /// A real user prompt.
    Prompt,
    /// A stop hook sent the agent back to work.
    HookFeedback,
    /// The runner set a new objective.
    Objective,
    /// The context was compacted: what was said before is only summarised.
    Compaction,
    /// A background task reported back. It does not begin a turn: what the
    /// agent answers counts only if it carries a signal of its own.
    Notification,
}

/// What a reader pushes.
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// Somebody's text.
    Text(Text<'a>),
    /// A boundary between turns, at this line of the input.
    Boundary(Boundary, u64),
    /// What the format says beside the conversation.
    Fact(Fact),
    /// Something in the input could not be read as it should be.
    Problem(Problem),
    /// What follows is the tail of a long input, the last
    /// [`TAIL_BYTES`] bytes in whole lines.
    Tail,
}

/// What a format tells beside the conversation. Facts are shown and feed the
/// breaker; none of them is evidence.
#[derive(Clone, Debug, PartialEq)]
pub enum Fact {
    /// The client's id of the session.
    Session(String),
    /// The model's name.
    Model(String),
    /// Totals, sent once, when the input ends.
    Usage(Usage),
    /// The agent or its API failed.
    Error {
        /// The client's text.
        message: String,
        /// Line of the input.
        line: u64,
    },
    /// A rate or usage limit ended the turn.
    Limit {
        /// The client's text.
        message: String,
        /// When it ends, in seconds since 1970, where the format says so.
        resets_at: Option<i64>,
        /// Line of the input.
        line: u64,
    },
    /// A tool call was denied.
    Denial {
        /// The tool's name.
        tool: String,
        /// Line of the input.
        line: u64,
    },
    /// A tool call failed, as its client marks it; a denied call did not.
    ToolFailure {
        /// What the tool answered: where it was longer than 4 KiB, its
        /// beginning and its end.
        output: String,
        /// Line of the input.
        line: u64,
    },
    /// A command that the agent ran, with the exit code its client saw.
    Command {
        /// The command line.
        command: String,
        /// Its exit code.
        exit_code: i32,
        /// Line of the input.
        line: u64,
    },
}

/// What a run has cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Input and output tokens together.
    pub tokens: Option<u64>,
    /// Cost in micro-dollars.
    pub cost_micro_usd: Option<u64>,
    /// Time in milliseconds.
    pub duration_ms: Option<u64>,
}

impl Usage {
    /// Adds what came to it; what is unknown of one is the other's.
    fn add(&mut self, more: Self) {
        let sum = |old: &mut Option<u64>, more: Option<u64>| {
            *old = old.zip(more).map(|(old, more)| old.saturating_add(more)).or(*old).or(more);
        };
        sum(&mut self.tokens, more.tokens);
        sum(&mut self.cost_micro_usd, more.cost_micro_usd);
        sum(&mut self.duration_ms, more.duration_ms);
    }
}

/// A flaw in the input that did not stop the reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Line of the input, from 1.
    pub line: u64,
    /// What is wrong there.
    pub kind: ProblemKind,
}

/// The kinds of [`Problem`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// Bytes that are not UTF-8 were replaced.
    InvalidUtf8,
    /// A line that is no record of this format was passed over.
    Noise,
    /// What begins as a record is none, or is torn: it was passed over.
    Unreadable,
    /// The last line ends in the middle of a record.
    Torn,
    /// A record longer than [`MAX_RECORD`] was passed over.
    Oversized,
    /// The input is JSON of no known format: nobody's words could be found.
    UnknownJson,
}

impl ProblemKind {
    /// Whether somebody's words were lost with it.
    pub fn loses_words(self) -> bool {
        match self {
            Self::Unreadable | Self::Torn | Self::Oversized => true,
            Self::InvalidUtf8 | Self::Noise | Self::UnknownJson => false,
        }
    }
}

/// The longest JSON record that is parsed, in bytes; longer ones are passed over.
pub const MAX_RECORD: usize = 16 << 20;

/// The longest piece in which a line of plain text is handed on, in bytes.
/// Longer lines come in several pieces.
pub const MAX_PIECE: usize = 1 << 20;
