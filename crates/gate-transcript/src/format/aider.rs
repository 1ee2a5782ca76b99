//! Aider's `.aider.chat.history.md`.
//!
//! Source: Aider-AI/aider, `aider/io.py` (0.86). What the person writes is
//! behind `#### `, what the client says behind `> `; such lines end with two
//! blanks, which tells the client's from the agent's own quotations, unless an
//! editor has stripped them all. A heading of the agent's that looks like a
//! prompt is taken for one. Everything before the first prompt is the client's:
//! among it the command line, whose later lines have no mark. The files that the
//! agent writes are in its messages: edits between marks, whole ones in a fence
//! under their name.

use super::text::decode;
use crate::blocks::{Block, Lines, Passage, Pending, Plain};
use crate::out::Out;
use crate::spec::{KnownBy, Spec};
use crate::{Boundary, Role, Text, Usage};

pub(super) const AIDER_HISTORY: Spec = Spec {
    name: "aider-history",
    family: &["aider"],
    known_by: KnownBy::Lines(|lines| {
        let first_line = lines.iter().find(|line| !line.trim().is_empty());
        first_line.is_some_and(|line| line.starts_with(START))
    }),
    open: |start| Box::new(Plain::new(Chat { header: start.header, ..Chat::default() })),
};

/// The line that each start of the client writes.
const START: &str = "# aider chat started at ";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Voice {
    /// The client's, until a prompt comes.
    #[default]
    Preamble,
    Prompt,
    Client,
    Agent,
    /// A file that the agent writes, up to some line.
    File(FileEnd),
}

/// The line that ends a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileEnd {
    /// The mark under an edit.
    Edit,
    Fence,
    /// The line before was the last one.
    Over,
}

/// The marks around an edit.
const SEARCH: &str = "<<<<<<< SEARCH";
const REPLACE: &str = ">>>>>>> REPLACE";

/// A part of the question that the client asks before it reports a failure to the agent.
const ATTEMPT: &str = "Attempt to fix ";

/// Follows the chat, line by line.
#[derive(Debug, Default)]
struct Chat {
    header: u64,
    voice: Voice,
    /// A part of the voice's text was handed on: the next part continues it.
    continues: bool,
    /// The agent's message began before the file in it.
    message_began: bool,
    /// The line before is a file's name alone: a fence after it opens that file.
    below_file_name: bool,
    /// The chat's file lost the blanks at the ends of its lines.
    has_lost_blanks: bool,
    usage: Usage,
}

impl Lines for Chat {
    fn block(&mut self, block: Block<'_>, out: &mut Out<'_>) {
        let text = decode(&block, out);
        let mut pending = Pending::new(&text, block.line);
        let mut line_start = 0;
        for (line, number) in text.split_inclusive('\n').zip(block.line..) {
            let is_line_start = block.starts_line || number != block.line;
            if is_line_start && number > self.header {
                let voice = self.voice_of(line);
                if voice != self.voice || line.starts_with(START) {
                    self.say(pending.take_until(line_start, number), out);
                    self.begin(voice, line, number, out);
                }
                if voice == Voice::Client {
                    self.client_line(line.trim_start_matches("> ").trim(), number, out);
                }
            }
            line_start += line.len();
        }
        self.say(pending.into_passage(), out);
    }

    fn finish(&mut self, out: &mut Out<'_>) {
        out.usage(self.usage);
    }
}

impl Chat {
    fn voice_of(&mut self, line: &str) -> Voice {
        let line = line.trim_end_matches(['\n', '\r']);
        if self.voice == Voice::Preamble && line.starts_with("> Aider v") {
            self.has_lost_blanks = !line.ends_with("  ");
        }
        let below_file_name = std::mem::replace(&mut self.below_file_name, is_file_name(line));
        let has_blanks = line.ends_with("  ");
        let may_be_marked = has_blanks || self.has_lost_blanks;
        if line.starts_with(START) {
            Voice::Preamble
        } else if is_prompt(line) && may_be_marked {
            Voice::Prompt
        } else if let Voice::File(end) = self.voice
            && (!has_blanks || !line.starts_with("> "))
            && let Some(end) = end.after_line(line)
        {
            Voice::File(end)
        } else if self.voice == Voice::Preamble {
            Voice::Preamble
        } else if line.starts_with("#### ") {
            Voice::Prompt
        } else if may_be_marked && line.starts_with("> ") {
            Voice::Client
        } else {
            self.voice_of_unmarked(line, below_file_name)
        }
    }

    /// The voice of a line that has no mark. Below a file's name a fence begins that file.
    fn voice_of_unmarked(&self, line: &str, below_file_name: bool) -> Voice {
        if line.starts_with(SEARCH) {
            Voice::File(FileEnd::Edit)
        } else if below_file_name && line.starts_with("```") {
            Voice::File(FileEnd::Fence)
        } else if line.trim().is_empty() && !matches!(self.voice, Voice::File(_)) {
            // A blank line belongs to the text before it.
            self.voice
        } else {
            Voice::Agent
        }
    }

    fn begin(&mut self, voice: Voice, line: &str, number: u64, out: &mut Out<'_>) {
        if voice == Voice::Prompt || line.starts_with(START) {
            out.at_line(number).boundary(Boundary::Prompt);
        }
        let was_file = matches!(self.voice, Voice::File(_));
        let is_file = matches!(voice, Voice::File(_));
        if is_file && !was_file {
            self.message_began = self.continues && self.voice == Voice::Agent;
        }
        // A message goes on after the file in it.
        self.continues = match voice {
            Voice::Agent => was_file && self.message_began,
            _ => was_file && is_file && self.continues,
        };
        self.voice = voice;
    }

    fn say(&mut self, passage: Passage<'_>, out: &mut Out<'_>) {
        let continues = self.continues;
        let Passage { text, line } = if continues { passage } else { passage.skip_blank() };
        if !text.is_empty() {
            self.continues = true;
            let role = match self.voice {
                Voice::Preamble | Voice::Client => Role::System,
                Voice::Prompt => Role::User,
                Voice::Agent => Role::Assistant,
                Voice::File(_) => Role::Tool,
            };
            out.text(Text { role, text, line, multiline: true, continues });
        }
    }

    /// Reads the model, the usage and the failures that the client prints.
    fn client_line(&mut self, line: &str, number: u64, out: &mut Out<'_>) {
        if let Some((_, model)) = line.split_once("odel: ").filter(|(kind, _)| is_model(kind)) {
            out.model(model.split(" with ").next().unwrap_or(model));
        } else if let Some(counts) = line.strip_prefix("Tokens: ") {
            self.usage.add(message_usage(counts));
        } else if line.starts_with(ATTEMPT) && line.ends_with(": y") {
            out.at_line(number).boundary(Boundary::HookFeedback);
        } else if line.starts_with("litellm.") || line.starts_with("The API provider") {
            out.at_line(number).failure(line, None);
        }
    }
}

/// The usage of one message, out of `12k sent, 1.2k cache hit, 345 received. Cost: $0.05 message,
/// $0.10 session.`
fn message_usage(counts: &str) -> Usage {
    let (token_counts, costs) = counts.split_once(" Cost: ").unwrap_or((counts, ""));
    let is_used = |count: &&str| count.ends_with("sent") || count.ends_with("received");
    let used_counts = token_counts.trim_end_matches('.').split(", ").filter(is_used);
    let tokens = used_counts.filter_map(parse_count).reduce(u64::saturating_add);
    let message_cost = costs.strip_prefix('$').and_then(|cost| cost.split(' ').next());
    let dollars = message_cost.and_then(|cost| cost.parse::<f64>().ok());
    let cost_micro_usd =
        dollars.filter(|dollars| *dollars >= 0.0).map(|dollars| (dollars * 1e6).round() as u64);
    Usage { tokens, cost_micro_usd, ..Usage::default() }
}

impl FileEnd {
    /// The end to wait for after this line; `None` if the file is over.
    fn after_line(self, line: &str) -> Option<Self> {
        match self {
            Self::Edit if line.starts_with(REPLACE) => Some(Self::Over),
            Self::Fence if line.trim_end() == "```" => Some(Self::Over),
            Self::Over => None,
            end => Some(end),
        }
    }
}

/// A line, without the blanks at its end, that a person may have written.
fn is_prompt(line: &str) -> bool {
    line.strip_prefix("####").is_some_and(|prompt| prompt.is_empty() || prompt.starts_with(' '))
}

/// A line that is a path alone. The agent names a file so before a fence with its content.
fn is_file_name(line: &str) -> bool {
    let name = line.trim_end();
    let is_one_word = !name.contains(char::is_whitespace) && !name.ends_with([':', '.']);
    is_one_word && name.contains(['.', '/']) && !name.starts_with(['<', '`', '#'])
}

/// The words before the name of the main model, not of the weak or the editor model.
fn is_model(kind: &str) -> bool {
    matches!(kind, "M" | "Main m")
}

/// A count as the client rounds it: `345`, `1.2k`, `3M`.
fn parse_count(count: &str) -> Option<u64> {
    let number = count.split(' ').next()?;
    let (digits, unit) = match number.strip_suffix(['k', 'M']) {
        Some(digits) if number.ends_with('k') => (digits, 1e3),
        Some(digits) => (digits, 1e6),
        None => (number, 1.0),
    };
    let value: f64 = digits.replace(',', "").parse().ok()?;
    (value >= 0.0).then_some((value * unit).round() as u64)
}
