//! The events of a reader: texts with their speakers, boundaries, facts and problems.

use std::borrow::Cow;

/// Consumes what a [`Reader`](super::Reader) finds.
pub trait Sink {
    /// Takes one event. Events come in the order of the input.
    fn event(&mut self, event: Event<'_>);

    /// A text that a client words in this way. Formats do not mark all that a client says,
    /// and readers know no wordings: they ask about texts that may be the client's. A
    /// sink that knows no wordings takes texts as they are.
    fn has_wording(&self, _wording: Wording, _text: &str) -> bool {
        false
    }

    /// The main agent or a sub-agent calls a tool.
    fn called(&mut self, _call: &Call<'_>) {}

    /// The answer to a call begins. Texts of tools and facts that come next belong to the answer,
    /// up to the next call, answer, boundary, or text of somebody else.
    fn answered(&mut self, _answer: &Answer<'_>) {}
}

/// A call of a tool.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Call<'a> {
    /// Its id; empty if the format has none, and the same for the calls of one script.
    pub id: &'a str,
    /// The tool's name.
    pub tool: &'a str,
    /// The command line of a shell.
    pub command: Option<&'a str>,
    /// All texts among the arguments, in their order.
    pub texts: &'a [Cow<'a, str>],
    /// Line of the input.
    pub line: u64,
}

/// The answer to a call.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Answer<'a> {
    /// The id of the call; empty for the last call.
    pub id: &'a str,
    /// The end of the call as the client marks it.
    pub ending: Ending,
    /// Line of the input.
    pub line: u64,
}

/// The end of a call as its client marks it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The call succeeded. For a command this means exit code 0.
    Succeeded,
    /// The call failed or was denied.
    Failed,
    /// The client does not mark it.
    Unmarked,
}

impl Ending {
    /// The end of a call whose client marks failures alone.
    pub(super) fn failed_if(failed: bool) -> Self {
        if failed { Self::Failed } else { Self::Unmarked }
    }

    /// The end of a call whose client marks each command that fails.
    pub(super) fn from_mark(failed: bool) -> Self {
        if failed { Self::Failed } else { Self::Succeeded }
    }
}

impl Call<'_> {
    /// The command line, or the first text among the arguments.
    pub fn about(&self) -> Option<&str> {
        let first_text = self.texts.iter().find(|text| !text.is_empty());
        self.command.or_else(|| first_text.map(|text| &**text))
    }
}

/// A kind of message that some clients only mark by how they word it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wording {
    /// The text is, as a whole, the client's notice of a rate or usage limit.
    Notice,
    /// The text, which is an error, comes from such a limit.
    Limit,
    /// The text, which is a tool's answer, says that the call was denied.
    Denial,
}

/// The speaker of a text.
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
    /// The speaker.
    pub role: Role,
    /// The text: valid UTF-8, without terminal escapes.
    pub text: &'a str,
    /// The input's line (from 1) in which the text begins; in JSON, its record.
    pub line: u64,
    /// Line breaks inside the text are line breaks of the input (plain text); in JSON they
    /// are escaped within one line.
    pub multiline: bool,
    /// The text continues the message of the text before it, which had the same
    /// role: plain text comes in blocks, and one API message may be split over several
    /// records.
    pub continues: bool,
}

/// Something that may change the agent's mind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boundary {
    /// A real user prompt.
    Prompt,
    /// A stop hook, or another program of the client's, sent the agent back to work.
    HookFeedback,
    /// The runner set a new objective.
    Objective,
    /// The context was compacted: earlier texts are only summarised.
    Compaction,
    /// A background task reported back. It does not begin a turn: what the
    /// agent answers counts only if it carries a signal of its own.
    Notification,
    /// The turn ended without a final message: what the agent said on the way is no last word.
    Unanswered,
}

/// A piece of what a reader finds in the input.
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// Somebody's text.
    Text(Text<'a>),
    /// A boundary between turns, at this line of the input.
    Boundary(Boundary, u64),
    /// A fact beside the conversation.
    Fact(Fact),
    /// Something in the input could not be read as it should be.
    Problem(Problem),
    /// The tail of a long input begins: the last [`TAIL_BYTES`](super::TAIL_BYTES) bytes in
    /// whole lines.
    Tail,
}

/// A fact beside the conversation. Facts are shown and feed the breaker; none of them is
/// evidence.
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
        /// When it ends, in seconds since 1970, if the format says so.
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
        /// The tool's answer; of one longer than 4 KiB the beginning and the end.
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

/// Tokens, cost and time of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// Input and output tokens together.
    pub tokens: Option<u64>,
    /// Cost in micro-dollars.
    pub cost_micro_usd: Option<u64>,
    /// Time in milliseconds.
    pub duration_ms: Option<u64>,
    /// The figures are of one call of the client alone, also where its session goes on.
    /// Otherwise they may be sums over several calls.
    pub is_of_call: bool,
}

impl Usage {
    /// Adds figures; one that is unknown on either side is taken from the other.
    pub(super) fn add(&mut self, added: Self) {
        self.tokens = sum(self.tokens, added.tokens);
        self.cost_micro_usd = sum(self.cost_micro_usd, added.cost_micro_usd);
        self.duration_ms = sum(self.duration_ms, added.duration_ms);
    }
}

fn sum(total: Option<u64>, added: Option<u64>) -> Option<u64> {
    total.into_iter().chain(added).reduce(u64::saturating_add)
}

/// A flaw in the input that did not stop the reader.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// Line of the input, from 1.
    pub line: u64,
    /// The flaw.
    pub kind: ProblemKind,
}

/// The kinds of [`Problem`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// Bytes that are not UTF-8 were replaced.
    InvalidUtf8,
    /// Control characters stand in a string as they are, and were read as text.
    RawControl,
    /// A line that is no record of this format was passed over.
    Noise,
    /// A record that is torn or no JSON was passed over.
    Unreadable,
    /// The last line ends in the middle of a record.
    Torn,
    /// A record longer than [`MAX_RECORD`](super::MAX_RECORD) was passed over.
    Oversized,
    /// The input is JSON of no known format: nobody's words could be found.
    UnknownJson,
    /// The input is JSON, but not of the format or agent that was forced: it holds no turn.
    ForeignJson,
}

impl ProblemKind {
    /// A flaw with which a text may have been lost.
    pub fn loses_words(self) -> bool {
        match self {
            Self::Unreadable | Self::Torn | Self::Oversized => true,
            Self::InvalidUtf8 | Self::RawControl | Self::Noise => false,
            Self::UnknownJson | Self::ForeignJson => false,
        }
    }
}
