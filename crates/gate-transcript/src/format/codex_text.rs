//! The log of `codex exec` in text mode, with or without its final answer.
//!
//! Source: captures of 0.169.0, public logs of 0.111 and 0.125. The log
//! (stderr) introduces whatever follows by a line of its own: `user`, `codex`,
//! `exec`, `tokens used`, …; the final answer (stdout) follows it once more. The
//! first other line after that is no word of the agent's: a script that called Codex
//! goes on in the same log.
//!
//! Not recognised: a command whose output has a line that is exactly such
//! a mark, as when a command prints another log of Codex. Diffs cannot (their
//! lines begin with a sign), and if the log is complete the final answer
//! still comes last. Reasoning may come without a mark of its own; it then
//! belongs to the section before it, which is never the agent's.

mod section;

use std::hash::{DefaultHasher, Hash, Hasher};

use super::text::decode;
use crate::blocks::{Block, Lines, Plain, skip_blank};
use crate::out::{Out, clip, ends};
use crate::spec::{KnownBy, Spec};
use crate::{Role, Text, Usage, calls::MAX_COMMAND};
use section::{Mark, Section};

pub(super) const CODEX_TEXT: Spec = Spec {
    name: "codex-text",
    family: &["codex", "codex-cli"],
    known_by: KnownBy::Lines(is_log),
    open: |start| Box::new(Plain::new(Log { header: start.header, ..Log::default() })),
};

/// Lines that are kept of a message: where the answer to a longer one ends is not known.
const MAX_MESSAGE_LINES: usize = 1 << 16;

/// Longest end of a failed command's output that is kept, in bytes.
const LONGEST_OUTPUT: usize = 16 << 10;

/// A header, or a prompt first and the agent's answer later.
fn is_log(lines: &[&str]) -> bool {
    let mut text = lines.iter().skip_while(|line| line.trim().is_empty());
    lines.windows(2).any(|pair| section::is_header(pair[0]) && pair[1].starts_with("----"))
        || (text.next() == Some(&"user") && text.any(|line| *line == "codex"))
}

/// Follows the sections of the log, line by line.
#[derive(Debug, Default)]
struct Log {
    header: u64,
    section: Section,
    /// True once a part of the section's text was handed on.
    begun: bool,
    /// The first line of the command that runs, and how many run.
    command: String,
    running: u32,
    /// The line in which the failed command ended, and its output so far.
    failed: Option<(u64, String)>,
    tokens: Option<u64>,
    last: LastMessage,
}

/// The lines of the log from the last message to its end, as hashes. The final answer
/// repeats the message, and also what follows if a mark was a line of the message.
#[derive(Debug, Default)]
struct LastMessage {
    lines: Vec<u64>,
    /// The number of lines up to the first mark.
    spoken: usize,
    repeated: usize,
}

impl LastMessage {
    fn add(&mut self, line: &str, section: Section) {
        let is_spoken = section == Section::Codex;
        let follows = self.spoken > 0 && section != Section::Tokens;
        if (is_spoken || follows) && !line.is_empty() && self.lines.len() < MAX_MESSAGE_LINES {
            self.lines.push(hash(line));
            self.spoken += usize::from(is_spoken && self.spoken + 1 == self.lines.len());
        }
    }

    /// True if the line is none of the answer's. The answer may leave out lines of the
    /// message, since a remark of the client can stand among them. Where no message was
    /// seen, the log's beginning is lost, and each line may belong to the answer.
    fn is_over(&mut self, line: &str) -> bool {
        if line.is_empty() || self.spoken == 0 || self.repeated == MAX_MESSAGE_LINES {
            return false;
        }
        let end = self.spoken.max(self.repeated + 1).min(self.lines.len());
        let line = hash(line);
        match self.lines[self.repeated..end].iter().position(|known| *known == line) {
            Some(left_out) => self.repeated += left_out + 1,
            None => return true,
        }
        false
    }
}

fn hash(line: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    line.hash(&mut hasher);
    hasher.finish()
}

impl Lines for Log {
    fn block(&mut self, block: Block<'_>, out: &mut Out<'_>) {
        let text = decode(&block, out);
        let (mut from, mut first, mut at) = (0, block.line, 0);
        for (line, number) in text.split_inclusive('\n').zip(block.line..) {
            let begins = block.starts_line || number != block.line;
            let bare = line.trim_end();
            let mark = section::mark(bare, self.section);
            let is_answer = self.section == Section::Answer && begins && mark != Mark::Aside;
            if is_answer && self.last.is_over(bare) {
                self.say(&text[from..at], first, out);
                (from, first) = (at, number);
                self.begin(Section::Driver);
            }
            if begins && mark != Mark::Aside && !is_answer {
                self.keep(bare, mark);
            }
            match mark {
                mark if mark == Mark::None || !begins || number <= self.header => {
                    self.look(bare, number, out);
                }
                mark => {
                    self.say(&text[from..at], first, out);
                    out.at(number).say(Role::System, bare);
                    // After a remark its line break stays with the section,
                    // whose lines would be miscounted otherwise.
                    let aside = mark == Mark::Aside;
                    from = at + if aside { line.trim_end_matches('\n').len() } else { line.len() };
                    first = number + u64::from(!aside);
                    if mark != Mark::Aside {
                        self.failure(out);
                    }
                    self.apply(mark, number, out);
                }
            }
            at += line.len();
        }
        self.say(&text[from..], first, out);
    }

    fn finish(&mut self, out: &mut Out<'_>) {
        self.failure(out);
        out.usage(Usage { tokens: self.tokens, ..Usage::default() });
    }
}

impl Log {
    /// Keeps a line that the final answer may repeat.
    fn keep(&mut self, line: &str, mark: Mark) {
        let ends = matches!(self.section, Section::Answer | Section::Driver);
        let section = match mark {
            Mark::None if !ends => self.section,
            Mark::Begin(section) => section,
            _ => return,
        };
        self.last.add(line, section);
    }

    fn say(&mut self, text: &str, line: u64, out: &mut Out<'_>) {
        let continues = self.begun;
        let (text, line) = if continues { (text, line) } else { skip_blank(text, line) };
        if !text.is_empty() {
            self.begun = true;
            let role = self.section.role();
            out.text(Text { role, text, line, multiline: true, continues });
        }
    }

    fn apply(&mut self, mark: Mark, line: u64, out: &mut Out<'_>) {
        match mark {
            Mark::None | Mark::Aside => {}
            Mark::Begin(section) => self.begin(section),
            Mark::Turn(boundary, section) => {
                out.at(line).boundary(boundary);
                self.begin(section);
            }
            Mark::Tokens(count) => {
                self.tokens = Some(self.tokens.unwrap_or(0).saturating_add(count));
                self.begin(Section::Answer);
            }
        }
    }

    fn begin(&mut self, section: Section) {
        self.section = section;
        self.begun = false;
        self.command.clear();
        if matches!(section, Section::Codex | Section::Header | Section::User) {
            self.last = LastMessage::default();
        }
        self.running = match section {
            Section::Exec => self.running + 1,
            Section::Header => 0,
            _ => self.running,
        };
    }

    /// Reads the facts beside the conversation from a line.
    fn look(&mut self, line: &str, number: u64, out: &mut Out<'_>) {
        match self.section {
            Section::Header => self.header_line(line, out),
            Section::Exec => self.exec_line(line, number, out),
            Section::Codex | Section::Client => {
                if let Some(message) = line.strip_prefix("ERROR: ") {
                    out.at(number).failure(message, None);
                }
            }
            _ => {}
        }
    }

    /// The section ends, and with it what a failed command has written.
    fn failure(&mut self, out: &mut Out<'_>) {
        if let Some((line, output)) = self.failed.take() {
            out.at(line).tool_failed(&output);
        }
    }

    fn header_line(&self, line: &str, out: &mut Out<'_>) {
        if let Some(id) = line.strip_prefix("session id: ") {
            out.session(id);
        } else if let Some(model) = line.strip_prefix("model: ") {
            out.model(model);
        }
    }

    /// With several commands at once the log does not say whose end it shows.
    fn exec_line(&mut self, line: &str, number: u64, out: &mut Out<'_>) {
        let outcome = section::outcome(line);
        let command = outcome.map_or(line, |(command, _)| command);
        if self.command.is_empty() {
            let command = command.rsplit_once(" in /").map_or(command, |(command, _)| command);
            clip(command, MAX_COMMAND).clone_into(&mut self.command);
        }
        if let Some((_, exit_code)) = outcome {
            let command = std::mem::take(&mut self.command);
            if self.running == 1 && !command.is_empty() {
                out.at(number).ran(command, exit_code);
            }
            self.running = self.running.saturating_sub(1);
            self.failure(out);
            self.failed = (exit_code != 0).then(|| (number, String::new()));
        } else if let Some((_, output)) = &mut self.failed {
            output.push_str(line);
            output.push('\n');
            shorten(output);
        }
    }
}

/// Keeps the beginning and the end of what a command has written.
fn shorten(output: &mut String) {
    if output.len() > LONGEST_OUTPUT {
        *output = ends(output, LONGEST_OUTPUT / 4).into_owned();
    }
}
