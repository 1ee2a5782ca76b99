//! Claude Code's `user` records: prompts, texts that the client injects, and answers
//! of tools.

use super::record::Record;
use super::{Claude, is_sub_agent};
use crate::claude_like::Block;
use crate::loose::Content;
use crate::out::Out;
use crate::{Boundary, Role, Wording};

/// Beginning of a compaction's summary; older versions set no flag.
const SUMMARY: &str = "This session is being continued from a previous conversation";

/// Tags around texts that the client injects as the user although no turn begins.
const INJECTED: [Tag; 7] = [
    Tag { open: "<bash-input>", close: "</bash-input>" },
    Tag { open: "<local-command-stdout>", close: "</local-command-stdout>" },
    Tag { open: "<local-command-stderr>", close: "</local-command-stderr>" },
    Tag { open: "<local-command-caveat>", close: "</local-command-caveat>" },
    Tag { open: "<bash-stdout>", close: "</bash-stdout>" },
    Tag { open: "<bash-stderr>", close: "</bash-stderr>" },
    Tag { open: "<system-reminder>", close: "</system-reminder>" },
];

/// Commands that the client carries out itself (Claude Code 2.1); the agent hears nothing of them.
const LOCAL_COMMANDS: [&str; 24] = [
    "add-dir",
    "agents",
    "bug",
    "config",
    "context",
    "cost",
    "doctor",
    "exit",
    "export",
    "feedback",
    "help",
    "hooks",
    "ide",
    "login",
    "logout",
    "mcp",
    "memory",
    "model",
    "permissions",
    "quit",
    "release-notes",
    "stats",
    "status",
    "usage",
];

struct Tag {
    open: &'static str,
    close: &'static str,
}

/// The meaning of a text that was sent to the agent.
struct Meaning {
    /// The boundary that it is, if it may change the agent's mind.
    boundary: Option<Boundary>,
    /// Its speaker.
    role: Role,
}

impl Claude {
    pub(super) fn user(&mut self, record: &Record<'_>, out: &mut Out<'_>) {
        let Some(message) = &record.message.0 else {
            return;
        };
        match &message.content {
            Content::Text(text) => self.user_text(text, record, false, out),
            Content::Blocks(blocks) => {
                // A person may send a picture and no word.
                let is_wordless = |block: &Block<'_>| matches!(&*block.kind, "image" | "document");
                if !blocks.is_empty() && blocks.iter().all(is_wordless) {
                    self.cross(meaning("", record, false).boundary, out);
                }
                let beside_result = blocks.iter().any(|block| &*block.kind == "tool_result");
                for block in blocks {
                    match &*block.kind {
                        "tool_result" => self.tool_result(block, record, out),
                        _ => self.user_text(&block.text, record, beside_result, out),
                    }
                }
            }
        }
    }

    /// A text sent to the agent; beside a tool's result it is no prompt.
    fn user_text(
        &mut self,
        text: &str,
        record: &Record<'_>,
        beside_result: bool,
        out: &mut Out<'_>,
    ) {
        if text.is_empty() {
            return;
        }
        let Meaning { boundary, role } = meaning(text, record, beside_result);
        self.cross(boundary, out);
        out.say(role, text);
    }

    fn cross(&mut self, boundary: Option<Boundary>, out: &mut Out<'_>) {
        let Some(boundary) = boundary else { return };
        if boundary == Boundary::Notification {
            self.wakes.event_answered();
        }
        self.turn(boundary, out);
    }

    /// A prompt that was typed while the agent worked.
    pub(super) fn attachment(&mut self, record: &Record<'_>, out: &mut Out<'_>) {
        if let Some(attachment) = &record.attachment.0
            && &*attachment.kind == "queued_command"
        {
            self.user_text(&attachment.prompt, record, false, out);
        }
    }

    /// A tool's answer does not begin a turn, but a text after it is a new one.
    pub(super) fn tool_result(
        &mut self,
        block: &Block<'_>,
        record: &Record<'_>,
        out: &mut Out<'_>,
    ) {
        self.talk.close();
        out.answered(&block.tool_use_id, self.shell.ending(block.is_error.0));
        for text in block.content.texts() {
            out.say(Role::Tool, text);
        }
        let first_text = block.content.texts().next().unwrap_or_default();
        self.wakes.tool_answered(first_text);
        if block.is_error.0 {
            self.denied_or_failed(block, record, out);
        }
        let code = (self.shell.exit_code)(first_text, block.is_error.0);
        self.talk.calls.ended(&block.tool_use_id, code, out);
    }

    /// A call did not succeed: it was denied, or it failed.
    fn denied_or_failed(&self, block: &Block<'_>, record: &Record<'_>, out: &mut Out<'_>) {
        let text = block.content.text();
        if !record.tool_denial_kind.is_empty() || out.has_wording(Wording::Denial, &text) {
            if let Some(tool) = self.talk.calls.tool(&block.tool_use_id) {
                out.denied(tool, &block.tool_use_id);
            }
        } else {
            out.tool_failed(without_code(&text));
        }
    }
}

fn meaning(text: &str, record: &Record<'_>, beside_result: bool) -> Meaning {
    let text = text.trim_start();
    let origin = record.origin.0.as_ref().map_or("", |origin| &*origin.kind);
    let is_notification = text.starts_with("<task-notification>") || origin == "task-notification";
    let is_marked = record.is_meta.0 || record.is_synthetic.0 || beside_result;
    let (boundary, role) = if is_sub_agent(record) {
        (None, Role::Tool)
    } else if record.is_compact_summary.0 || text.starts_with(SUMMARY) {
        (Some(Boundary::Compaction), Role::System)
    } else if is_notification || &*record.prompt_source == "system" {
        (Some(Boundary::Notification), Role::Tool)
    } else if text.starts_with("Stop hook feedback:") {
        (Some(Boundary::HookFeedback), Role::User)
    } else if is_marked || is_injected(text) || is_local_command(text) {
        (None, Role::System)
    } else {
        (Some(Boundary::Prompt), Role::User)
    };
    Meaning { boundary, role }
}

/// A text that the client injected as a whole. A person's words may stand below its note.
fn is_injected(text: &str) -> bool {
    let mut below = text;
    while let Some(tag) = INJECTED.iter().find(|tag| below.starts_with(tag.open)) {
        below = below.split_once(tag.close).map_or("", |(_, below)| below.trim_start());
    }
    below.is_empty() && !text.is_empty()
}

/// A command that the client itself carries out, without arguments and with nothing below. Any other
/// one may give the agent work.
fn is_local_command(text: &str) -> bool {
    let Some((name, below)) = tagged(text, "command-name") else { return false };
    let (message, below) = tagged(below, "command-message").unwrap_or(("", below));
    let (arguments, below) = tagged(below, "command-args").unwrap_or(("", below));
    let name = name.trim().trim_start_matches('/');
    let is_bare = arguments.trim().is_empty() && below.trim().is_empty();
    is_bare && LOCAL_COMMANDS.contains(&name) && [name, ""].contains(&message.trim())
}

/// The text between a tag and its end, and the text below.
fn tagged<'t>(text: &'t str, tag: &str) -> Option<(&'t str, &'t str)> {
    let text = text.trim_start().strip_prefix(&format!("<{tag}>"))?;
    text.split_once(&format!("</{tag}>"))
}

/// The exit code of a Bash call as its result words it. A result without code
/// is success unless marked as an error; a background command has none yet.
pub(super) fn exit_code(result: &str, is_error: bool) -> Option<i32> {
    if let Some(code) = result.strip_prefix("Exit code ") {
        let code_end = code.find(|char: char| !char.is_ascii_digit()).unwrap_or(code.len());
        return code[..code_end].parse().ok();
    }
    let has_no_code = is_error || result.starts_with("Command running in background");
    (!has_no_code).then_some(0)
}

/// A failed result without the line that says its exit code.
fn without_code(result: &str) -> &str {
    match result.split_once('\n') {
        Some((first_line, output)) if first_line.starts_with("Exit code ") => output,
        None if result.starts_with("Exit code ") => "",
        _ => result,
    }
}
