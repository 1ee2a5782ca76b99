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
use crate::blocks::{Block, Lines, Plain, skip_blank};
use crate::out::Out;
use crate::spec::{KnownBy, Spec};
use crate::{Boundary, Role, Text, Usage};

pub(super) const AIDER_HISTORY: Spec = Spec {
    name: "aider-history",
    family: &["aider"],
    known_by: KnownBy::Lines(|lines| {
        let first = lines.iter().find(|line| !line.trim().is_empty());
        first.is_some_and(|line| line.starts_with(START))
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
    File(End),
}

/// The line that ends a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
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
    /// True once a part of the voice's text was handed on.
    begun: bool,
    /// True if the agent's message began before the file in it.
    spoke: bool,
    /// True if the line before is a file's name alone: a fence after it opens that file.
    named: bool,
    /// True if the file lost the blanks at the ends of its lines.
    stripped: bool,
    spent: Usage,
}

impl Lines for Chat {
    fn block(&mut self, block: Block<'_>, out: &mut Out<'_>) {
        let text = decode(&block, out);
        let (mut from, mut first, mut at) = (0, block.line, 0);
        for (line, number) in text.split_inclusive('\n').zip(block.line..) {
            let whole = block.starts_line || number != block.line;
            if whole && number > self.header {
                let voice = self.voice_of(line);
                if voice != self.voice || line.starts_with(START) {
                    self.say(&text[from..at], first, out);
                    (from, first) = (at, number);
                    self.begin(voice, line, number, out);
                }
                if voice == Voice::Client {
                    self.look(line.trim_start_matches("> ").trim(), number, out);
                }
            }
            at += line.len();
        }
        self.say(&text[from..], first, out);
    }

    fn finish(&mut self, out: &mut Out<'_>) {
        out.usage(self.spent);
    }
}

impl Chat {
    fn voice_of(&mut self, line: &str) -> Voice {
        let line = line.trim_end_matches(['\n', '\r']);
        if self.voice == Voice::Preamble && line.starts_with("> Aider v") {
            self.stripped = !line.ends_with("  ");
        }
        let named = std::mem::replace(&mut self.named, is_name(line));
        let blanks = line.ends_with("  ");
        let marked = blanks || self.stripped;
        if line.starts_with(START) {
            Voice::Preamble
        } else if is_prompt(line) && marked {
            Voice::Prompt
        } else if let Voice::File(end) = self.voice
            && (!blanks || !line.starts_with("> "))
            && let Some(end) = end.after(line)
        {
            Voice::File(end)
        } else if self.voice == Voice::Preamble {
            Voice::Preamble
        } else if line.starts_with("#### ") {
            Voice::Prompt
        } else if marked && line.starts_with("> ") {
            Voice::Client
        } else {
            self.voice_of_message(line, named)
        }
    }

    /// Whose a line is that nothing marks; `named` where it may begin a file.
    fn voice_of_message(&self, line: &str, named: bool) -> Voice {
        if line.starts_with(SEARCH) {
            Voice::File(End::Edit)
        } else if named && line.starts_with("```") {
            Voice::File(End::Fence)
        } else if line.trim().is_empty() && !matches!(self.voice, Voice::File(_)) {
            // A blank line belongs to the text before it.
            self.voice
        } else {
            Voice::Agent
        }
    }

    fn begin(&mut self, voice: Voice, line: &str, number: u64, out: &mut Out<'_>) {
        if voice == Voice::Prompt || line.starts_with(START) {
            out.at(number).boundary(Boundary::Prompt);
        }
        let was_file = matches!(self.voice, Voice::File(_));
        let is_file = matches!(voice, Voice::File(_));
        if is_file && !was_file {
            self.spoke = self.begun && self.voice == Voice::Agent;
        }
        // A message goes on after the file in it.
        self.begun = match voice {
            Voice::Agent => was_file && self.spoke,
            _ => was_file && is_file && self.begun,
        };
        self.voice = voice;
    }

    fn say(&mut self, text: &str, line: u64, out: &mut Out<'_>) {
        let continues = self.begun;
        let (text, line) = if continues { (text, line) } else { skip_blank(text, line) };
        if !text.is_empty() {
            self.begun = true;
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
    fn look(&mut self, line: &str, number: u64, out: &mut Out<'_>) {
        if let Some((_, model)) = line.split_once("odel: ").filter(|(kind, _)| is_model(kind)) {
            out.model(model.split(" with ").next().unwrap_or(model));
        } else if let Some(counts) = line.strip_prefix("Tokens: ") {
            self.spend(counts);
        } else if line.starts_with(ATTEMPT) && line.ends_with(": y") {
            out.at(number).boundary(Boundary::HookFeedback);
        } else if line.starts_with("litellm.") || line.starts_with("The API provider") {
            out.at(number).failure(line, None);
        }
    }

    /// `12k sent, 1.2k cache hit, 345 received. Cost: $0.05 message, $0.10
    /// session.`
    fn spend(&mut self, counts: &str) {
        let (tokens, cost) = counts.split_once(" Cost: ").unwrap_or((counts, ""));
        let parts = tokens.trim_end_matches('.').split(", ");
        let parts = parts.filter(|part| part.ends_with("sent") || part.ends_with("received"));
        let tokens = parts.filter_map(count).reduce(u64::saturating_add);
        let message = cost.strip_prefix('$').and_then(|cost| cost.split(' ').next());
        let dollars: Option<f64> = message.and_then(|dollars| dollars.parse().ok());
        let cost_micro_usd = dollars.filter(|n| *n >= 0.0).map(|n| (n * 1e6).round() as u64);
        self.spent.add(Usage { tokens, cost_micro_usd, ..Usage::default() });
    }
}

impl End {
    /// The end to wait for after this line; `None` if the file is over.
    fn after(self, line: &str) -> Option<Self> {
        match self {
            Self::Edit if line.starts_with(REPLACE) => Some(Self::Over),
            Self::Fence if line.trim_end() == "```" => Some(Self::Over),
            Self::Over => None,
            more => Some(more),
        }
    }
}

/// True for a line, without the blanks at its end, that a person may have written.
fn is_prompt(line: &str) -> bool {
    line.strip_prefix("####").is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

fn is_name(line: &str) -> bool {
    let name = line.trim_end();
    let plain = !name.contains(char::is_whitespace) && !name.ends_with([':', '.']);
    plain && name.contains(['.', '/']) && !name.starts_with(['<', '`', '#'])
}

/// True for the words before the name of the main model, not of the weak or the editor
/// model.
fn is_model(kind: &str) -> bool {
    matches!(kind, "M" | "Main m")
}

/// A count as the client rounds it: `345`, `1.2k`, `3M`.
fn count(part: &str) -> Option<u64> {
    let number = part.split(' ').next()?;
    let (digits, unit) = match number.strip_suffix(['k', 'M']) {
        Some(digits) if number.ends_with('k') => (digits, 1e3),
        Some(digits) => (digits, 1e6),
        None => (number, 1.0),
    };
    let value: f64 = digits.replace(',', "").parse().ok()?;
    (value >= 0.0).then_some((value * unit).round() as u64)
}
