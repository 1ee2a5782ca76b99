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
use crate::blocks::{Block, Lines, Passage, Pending, Plain};
use crate::out::{Out, both_ends, clip};
use crate::spec::{KnownBy, Spec};
use crate::{Role, Text, Usage, calls::MAX_COMMAND};
use section::{Mark, Outcome, Section};

pub(super) const CODEX_TEXT: Spec = Spec {
    name: "codex-text",
    family: &["codex", "codex-cli"],
    known_by: KnownBy::Lines(is_log),
    open: |start| Box::new(Plain::new(Log { header: start.header, ..Log::default() })),
};

/// Lines that are kept of a message: where the answer to a longer one ends is not known.
const MAX_MESSAGE_LINES: usize = 1 << 16;

/// The longest output of a failed command that is kept whole, in bytes.
const MAX_OUTPUT: usize = 16 << 10;

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
    /// A part of the section's text was handed on: the next part continues it.
    continues: bool,
    /// The first line of the command that runs.
    command: String,
    /// The number of commands that run.
    running: u32,
    failed_command: Option<FailedCommand>,
    tokens: Option<u64>,
    last_message: LastMessage,
}

/// A command that failed, with what it has written.
#[derive(Debug)]
struct FailedCommand {
    /// The line in which it ended.
    line: u64,
    output: String,
}

/// The lines of the log from the last message to its end, as hashes. The final answer repeats
/// the message, and also the lines below if a mark was a line of the message.
#[derive(Debug, Default)]
struct LastMessage {
    hashes: Vec<u64>,
    /// The number of lines up to the first mark.
    message_lines: usize,
    /// The number of lines that the final answer has come to.
    repeated_lines: usize,
}

impl LastMessage {
    fn add(&mut self, line: &str, section: Section) {
        let is_message = section == Section::Codex;
        let is_below = self.message_lines > 0 && section != Section::Tokens;
        let has_room = self.hashes.len() < MAX_MESSAGE_LINES;
        if (is_message || is_below) && !line.is_empty() && has_room {
            self.hashes.push(hash(line));
            let is_before_mark = self.message_lines + 1 == self.hashes.len();
            self.message_lines += usize::from(is_message && is_before_mark);
        }
    }

    /// A line that does not belong to the answer. The answer may leave out lines of the
    /// message, since a remark of the client can stand among them. Where no message was
    /// seen, the log's beginning is lost, and each line may belong to the answer.
    fn is_ended_by(&mut self, line: &str) -> bool {
        let is_full = self.repeated_lines == MAX_MESSAGE_LINES;
        if line.is_empty() || self.message_lines == 0 || is_full {
            return false;
        }
        let end = self.message_lines.max(self.repeated_lines + 1).min(self.hashes.len());
        let line_hash = hash(line);
        let mut next_hashes = self.hashes[self.repeated_lines..end].iter();
        match next_hashes.position(|hash| *hash == line_hash) {
            Some(left_out) => self.repeated_lines += left_out + 1,
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
        let mut pending = Pending::new(&text, block.line);
        let mut line_start = 0;
        for (line, number) in text.split_inclusive('\n').zip(block.line..) {
            let is_line_start = block.starts_line || number != block.line;
            let bare_line = line.trim_end();
            let mark = section::mark(bare_line, self.section);
            let is_remark = mark == Mark::Remark;
            let is_answer = self.section == Section::Answer && is_line_start && !is_remark;
            if is_answer && self.last_message.is_ended_by(bare_line) {
                self.say(pending.take_until(line_start, number), out);
                self.begin(Section::Driver);
            }
            if is_line_start && !is_remark && !is_answer {
                self.keep_for_answer(bare_line, mark);
            }
            if mark == Mark::None || !is_line_start || number <= self.header {
                self.read_facts(bare_line, number, out);
            } else {
                self.say(pending.take_until(line_start, number), out);
                out.at_line(number).say(Role::System, bare_line);
                if is_remark {
                    // Its line break stays with the section, whose lines would be
                    // miscounted otherwise.
                    pending.skip_to(line_start + line.trim_end_matches('\n').len(), number);
                } else {
                    pending.skip_to(line_start + line.len(), number + 1);
                    self.report_failure(out);
                }
                self.apply(mark, number, out);
            }
            line_start += line.len();
        }
        self.say(pending.into_passage(), out);
    }

    fn finish(&mut self, out: &mut Out<'_>) {
        self.report_failure(out);
        out.usage(Usage { tokens: self.tokens, ..Usage::default() });
    }
}

impl Log {
    /// Keeps a line that the final answer may repeat.
    fn keep_for_answer(&mut self, line: &str, mark: Mark) {
        let is_past_message = matches!(self.section, Section::Answer | Section::Driver);
        let section = match mark {
            Mark::None if !is_past_message => self.section,
            Mark::Begin(section) => section,
            _ => return,
        };
        self.last_message.add(line, section);
    }

    fn say(&mut self, passage: Passage<'_>, out: &mut Out<'_>) {
        let continues = self.continues;
        let Passage { text, line } = if continues { passage } else { passage.skip_blank() };
        if !text.is_empty() {
            self.continues = true;
            let role = self.section.role();
            out.text(Text { role, text, line, multiline: true, continues });
        }
    }

    fn apply(&mut self, mark: Mark, line: u64, out: &mut Out<'_>) {
        match mark {
            Mark::None | Mark::Remark => {}
            Mark::Begin(section) => self.begin(section),
            Mark::Turn(boundary, section) => {
                out.at_line(line).boundary(boundary);
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
        self.continues = false;
        self.command.clear();
        if matches!(section, Section::Codex | Section::Header | Section::User) {
            self.last_message = LastMessage::default();
        }
        self.running = match section {
            Section::Exec => self.running + 1,
            Section::Header => 0,
            _ => self.running,
        };
    }

    /// Reads the facts beside the conversation from a line.
    fn read_facts(&mut self, line: &str, number: u64, out: &mut Out<'_>) {
        match self.section {
            Section::Header => self.header_line(line, out),
            Section::Exec => self.exec_line(line, number, out),
            Section::Codex | Section::Client => {
                if let Some(message) = line.strip_prefix("ERROR: ") {
                    out.at_line(number).failure(message, None);
                }
            }
            _ => {}
        }
    }

    /// The section ends, and with it the output of a failed command.
    fn report_failure(&mut self, out: &mut Out<'_>) {
        if let Some(FailedCommand { line, output }) = self.failed_command.take() {
            out.at_line(line).tool_failed(&output);
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
        if self.command.is_empty() {
            let command_and_folder = outcome.map_or(line, |outcome| outcome.command);
            let command = match command_and_folder.rsplit_once(" in /") {
                Some((command, _folder)) => command,
                None => command_and_folder,
            };
            clip(command, MAX_COMMAND).clone_into(&mut self.command);
        }
        if let Some(Outcome { exit_code, .. }) = outcome {
            let command = std::mem::take(&mut self.command);
            if self.running == 1 && !command.is_empty() {
                out.at_line(number).ran(command, exit_code);
            }
            self.running = self.running.saturating_sub(1);
            self.report_failure(out);
            self.failed_command =
                (exit_code != 0).then(|| FailedCommand { line: number, output: String::new() });
        } else if let Some(FailedCommand { output, .. }) = &mut self.failed_command {
            output.push_str(line);
            output.push('\n');
            shorten(output);
        }
    }
}

/// Keeps the beginning and the end of a command's output.
fn shorten(output: &mut String) {
    if output.len() > MAX_OUTPUT {
        *output = both_ends(output, MAX_OUTPUT / 4).into_owned();
    }
}
