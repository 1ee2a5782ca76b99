//! Follows a transcript for the failures of its final turn.

use super::{Effort, Signature, wording};
use crate::decide::iteration_facts::LimitNotice;
use gate_transcript::{Boundary, Event, Fact, FinalTurn, Role, Text, resets_at};

/// The most failed tool results, errors and limits of a turn that are kept: more than a
/// signature needs.
const MAX_KEPT: usize = 16;

/// The end of the last message that is searched for error lines, in bytes.
const MAX_PROSE_BYTES: usize = 64 << 10;

/// Tools that ask a person a question. If nobody is there to answer, clients deny them,
/// and the agent may go on with its work all the same. Of Claude Code, Codex,
/// OpenCode, Gemini and Qwen, Copilot, Droid, Cline; without the marks between words.
const QUESTIONS: [&str; 14] = [
    "askuserquestion",
    "askuser",
    "askfollowupquestion",
    "requestuserinput",
    "question",
    "exitplanmode",
    "enterplanmode",
    "exitspecmode",
    "planexit",
    "planenter",
    "planmoderespond",
    "presentplan",
    "submitplan",
    "createplan",
];

/// Watches the turn that may be the final one.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    output: u64,
    acted: bool,
    denied: Vec<String>,
    /// The first failed tool results.
    failures: Vec<String>,
    /// The last errors of the API.
    errors: Vec<AtLine<String>>,
    /// The last limits.
    limits: Vec<AtLine<LimitNotice>>,
    /// The line on which the agent's last message begins, in plain text.
    message_line: u64,
}

/// A fact with its line of the input.
#[derive(Debug)]
struct AtLine<T> {
    line: u64,
    fact: T,
}

impl Watch {
    /// Takes one event.
    pub(crate) fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Boundary(Boundary::Notification | Boundary::Unanswered, _)
            | Event::Problem(_) => {}
            Event::Boundary(..) | Event::Tail => *self = Self::default(),
            Event::Text(text) if text.role == Role::Assistant => self.agent_text(text),
            Event::Text(text) => self.acted |= matches!(text.role, Role::Thinking | Role::Tool),
            Event::Fact(fact) => self.fact(fact),
        }
    }

    /// Ends the input.
    pub(crate) fn finish(mut self, turn: &FinalTurn) -> Effort {
        let message_line = self.message_line;
        self.errors.retain(|error| error.line >= message_line);
        self.limits.retain(|limit| limit.line >= message_line);
        let word = turn.words().last().map_or("", |word| word.text.as_str());
        let limited = self.last_limit().or_else(|| limit_notice(word));
        // A limit that ended the turn is nobody's error.
        let signature = if limited.is_some() { None } else { self.signature(word) };
        let mut last_errors = self.errors.iter().rev().map(|error| error.fact.as_str());
        let outage = last_errors
            .find(|message| wording::outage_of(message).is_some())
            .or_else(|| Some(word.trim()).filter(|notice| wording::is_outage_notice(notice)));
        Effort {
            signature,
            limited,
            outage: outage.map(str::to_owned),
            acted: self.acted || self.output > 0,
            denied: self.denied,
            output: self.output,
        }
    }

    /// The agent got over the failures before its text. Records come one by one, but the number
    /// of lines of plain text in one piece is chance: there, the line number of a later
    /// message shows it.
    fn agent_text(&mut self, text: &Text<'_>) {
        self.output += text.text.chars().count() as u64;
        if text.multiline && !text.continues {
            self.message_line = text.line;
        } else if !text.multiline && !text.text.trim().is_empty() {
            self.errors.clear();
            self.limits.clear();
        }
    }

    fn fact(&mut self, fact: &Fact) {
        match fact {
            Fact::Error { message, line } => {
                keep_last(&mut self.errors, AtLine { line: *line, fact: message.clone() });
            }
            Fact::Limit { message, resets_at, line } => {
                let notice = LimitNotice { text: message.clone(), resets_at: *resets_at };
                keep_last(&mut self.limits, AtLine { line: *line, fact: notice });
            }
            Fact::Denial { tool, .. } => self.denial(tool),
            Fact::ToolFailure { output, .. } if self.failures.len() < MAX_KEPT => {
                self.failures.push(output.clone());
            }
            _ => {}
        }
    }

    fn denial(&mut self, tool: &str) {
        if !is_question(tool)
            && self.denied.len() < MAX_KEPT
            && !self.denied.iter().any(|denied| denied == tool)
        {
            self.denied.push(tool.to_owned());
        }
    }

    /// The last notice of the limit, and the last time in any of them.
    fn last_limit(&mut self) -> Option<LimitNotice> {
        let resets_at = self.limits.iter().rev().find_map(|limit| limit.fact.resets_at);
        let last_limit = self.limits.pop()?;
        Some(LimitNotice { resets_at, ..last_limit.fact })
    }

    fn signature(&self, word: &str) -> Option<Signature> {
        Signature::from_outputs(self.errors.iter().map(|error| error.fact.as_str()))
            .or_else(|| Signature::from_outputs(self.failures.iter().map(String::as_str)))
            .or_else(|| prose_signature(word))
    }
}

/// The error lines of the agent's last message.
fn prose_signature(word: &str) -> Option<Signature> {
    let end = &word[word.ceil_char_boundary(word.len().saturating_sub(MAX_PROSE_BYTES))..];
    Signature::from_prose(end)
}

/// A client's text output that is nothing but its notice of a limit.
fn limit_notice(word: &str) -> Option<LimitNotice> {
    let text = word.trim();
    wording::is_notice(text)
        .then(|| LimitNotice { text: text.to_owned(), resets_at: resets_at(text) })
}

fn is_question(tool: &str) -> bool {
    let name: String = tool.chars().filter(char::is_ascii_alphanumeric).collect();
    QUESTIONS.contains(&name.to_ascii_lowercase().as_str())
}

fn keep_last<T>(list: &mut Vec<T>, element: T) {
    if list.len() >= MAX_KEPT {
        list.remove(0);
    }
    list.push(element);
}
