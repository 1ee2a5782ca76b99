//! Claude Code's `user` records: prompts, what the client injects, and what
//! tools answer.

use super::record::Record;
use super::{Claude, is_sub_agent};
use crate::claude_like::Block;
use crate::loose::Content;
use crate::out::Out;
use crate::{Boundary, Role, Wording};

/// Beginning of a compaction's summary; older versions set no flag.
const SUMMARY: &str = "This session is being continued from a previous conversation";

/// Tags around texts that the client injects as the user although no turn begins.
const INJECTED: [(&str, &str); 6] = [
    ("<local-command-stdout>", "</local-command-stdout>"),
    ("<local-command-stderr>", "</local-command-stderr>"),
    ("<local-command-caveat>", "</local-command-caveat>"),
    ("<bash-stdout>", "</bash-stdout>"),
    ("<bash-stderr>", "</bash-stderr>"),
    ("<system-reminder>", "</system-reminder>"),
];

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
                    self.cross(meaning("", record, false).0, out);
                }
                let with_result = blocks.iter().any(|block| &*block.kind == "tool_result");
                for block in blocks {
                    match &*block.kind {
                        "tool_result" => self.tool_result(block, record, out),
                        _ => self.user_text(&block.text, record, with_result, out),
                    }
                }
            }
        }
    }

    /// A text sent to the agent; beside a tool's result it is no prompt.
    fn user_text(&mut self, text: &str, record: &Record<'_>, with_result: bool, out: &mut Out<'_>) {
        if text.is_empty() {
            return;
        }
        let (boundary, role) = meaning(text, record, with_result);
        self.cross(boundary, out);
        out.say(role, text);
    }

    fn cross(&mut self, boundary: Option<Boundary>, out: &mut Out<'_>) {
        let Some(boundary) = boundary else { return };
        if boundary == Boundary::Notification {
            self.wakes.answered();
        }
        self.turn(boundary, out);
    }

    /// A prompt that was typed while the agent worked.
    pub(super) fn attachment(&mut self, record: &Record<'_>, out: &mut Out<'_>) {
        let queued = record.attachment.0.as_ref();
        if let Some(queued) = queued.filter(|attachment| &*attachment.kind == "queued_command") {
            self.user_text(&queued.prompt, record, false, out);
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
        let first = block.content.texts().next().unwrap_or_default();
        self.wakes.tool(first);
        if block.is_error.0 {
            self.no_success(block, record, out);
        }
        let code = (self.shell.exit_code)(first, block.is_error.0);
        self.talk.calls.ended(&block.tool_use_id, code, out);
    }

    /// A call that did not succeed was denied, or it failed.
    fn no_success(&self, block: &Block<'_>, record: &Record<'_>, out: &mut Out<'_>) {
        let text = block.content.text();
        if !record.tool_denial_kind.is_empty() || out.says(Wording::Denial, &text) {
            if let Some(tool) = self.talk.calls.tool(&block.tool_use_id) {
                out.denied(tool, &block.tool_use_id);
            }
        } else {
            out.tool_failed(without_code(&text));
        }
    }
}

fn meaning(text: &str, record: &Record<'_>, with_result: bool) -> (Option<Boundary>, Role) {
    let start = text.trim_start();
    let origin = record.origin.0.as_ref().map_or("", |origin| &*origin.kind);
    let notification = start.starts_with("<task-notification>") || origin == "task-notification";
    let injected = record.is_meta.0 || record.is_synthetic.0 || with_result;
    if is_sub_agent(record) {
        (None, Role::Tool)
    } else if record.is_compact_summary.0 || start.starts_with(SUMMARY) {
        (Some(Boundary::Compaction), Role::System)
    } else if notification || &*record.prompt_source == "system" {
        (Some(Boundary::Notification), Role::Tool)
    } else if start.starts_with("Stop hook feedback:") {
        (Some(Boundary::HookFeedback), Role::User)
    } else if injected || is_injected(start) {
        (None, Role::System)
    } else {
        (Some(Boundary::Prompt), Role::User)
    }
}

/// True if the client injected the whole text. A person's words may stand below its note.
fn is_injected(text: &str) -> bool {
    let mut rest = text;
    while let Some((inner, close)) =
        INJECTED.iter().find_map(|(open, close)| Some((rest.strip_prefix(open)?, close)))
    {
        rest = inner.split_once(close).map_or("", |(_, rest)| rest.trim_start());
    }
    rest.is_empty() && !text.is_empty()
}

/// The exit code of a Bash call as its result words it. A result without code
/// is success unless marked as an error; a background command has none yet.
pub(super) fn exit_code(result: &str, is_error: bool) -> Option<i32> {
    if let Some(code) = result.strip_prefix("Exit code ") {
        let digits = code.find(|c: char| !c.is_ascii_digit()).unwrap_or(code.len());
        return code[..digits].parse().ok();
    }
    let unfinished = is_error || result.starts_with("Command running in background");
    (!unfinished).then_some(0)
}

/// A failed result without the line that says its exit code.
fn without_code(result: &str) -> &str {
    match result.split_once('\n') {
        Some((first, rest)) if first.starts_with("Exit code ") => rest,
        None if result.starts_with("Exit code ") => "",
        _ => result,
    }
}
