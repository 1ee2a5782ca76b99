//! Codex's session file (`rollout-….jsonl`).
//!
//! Source: captures of 0.169.0, public files of 0.77 to 0.112, and of August 2025. Texts
//! are in it twice, as what went to and from the model (`response_item`) and as what
//! was shown (`event_msg`); each comes once here. Until September 2025 it had the items
//! alone, without a wrapper, below a head and among marks of the state. A sub-agent has a file of its
//! own beside the main agent's: a caller that picks the newest file may get that one,
//! so that nothing in it counts as the main agent's word.

mod record;
mod script;

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::calls::Calls;
use crate::json::{Json, Records, ends_as_object};
use crate::loose::Num;
use crate::out::Out;
use crate::spec::{KnownBy, Spec};
use crate::{Boundary, Ending, Role, Usage, Wording};
use record::{Item, Payload, exit_code};

pub(super) const CODEX_ROLLOUT: Spec = Spec {
    name: "codex-rollout",
    family: &["codex", "codex-cli"],
    known_by: KnownBy::Record(|shape| {
        let kinds = [
            "session_meta",
            "response_item",
            "event_msg",
            "turn_context",
            "compacted",
            "world_state",
        ];
        // The head of an old file has no type. Other data may look alike, but not first.
        let is_old_head = shape.is_first
            && !shape.has("type")
            && ["id", "timestamp", "instructions"].iter().all(|key| shape.has(key));
        is_old_head || shape.has("payload") && kinds.contains(&shape.text("type"))
    }),
    open: |_| Box::new(Json::new(CodexRollout::default())),
};

/// Beginnings of texts that the client sends as the user although no turn begins.
const INJECTED: [&str; 8] = [
    "<environment_context>",
    "<user_instructions>",
    "<permissions instructions>",
    "<turn_aborted>",
    "<user_shell_command>",
    "<skill",
    "<INSTRUCTIONS>",
    "# AGENTS.md instructions",
];

/// The beginning of a payload, up to its type.
static PAYLOAD: LazyLock<Finder<'static>> =
    LazyLock::new(|| Finder::new(br#""payload":{"type":""#));

/// Types of payloads in which neither the agent nor a person speaks.
const TOOLS: [&[u8]; 8] = [
    b"reasoning\"",
    b"function_call\"",
    b"function_call_output\"",
    b"custom_tool_call\"",
    b"custom_tool_call_output\"",
    b"exec_command_begin\"",
    b"exec_command_output_delta\"",
    b"exec_command_end\"",
];

/// The phase of a text that answers the prompt; others comment on the work.
const FINAL: &str = "final_answer";

/// The client's own message after a compaction (0.45).
const COMPACTED: &str = "Compact task completed";

/// Follows a session file of Codex.
#[derive(Debug, Default)]
struct CodexRollout {
    /// The head of the file was read.
    has_head: bool,
    sub_agent: bool,
    /// The turn has a text of the agent.
    has_agent_text: bool,
    /// The turn's last text is marked as its answer.
    has_answer: bool,
    /// The line of the turn's last text, if that is marked as a comment.
    comment_line: Option<u64>,
    agent_texts: Unpaired,
    user_texts: Unpaired,
    calls: Calls,
    tokens: Option<u64>,
}

impl Records for CodexRollout {
    type Record<'a> = Payload<'a>;

    fn take(&mut self, record: Payload<'_>, out: &mut Out<'_>) {
        match &record.payload.0 {
            Some(payload) => self.wrapped(&record.kind, payload, out),
            None => self.bare(&record, out),
        }
    }

    fn finish(&mut self, out: &mut Out<'_>) {
        // A comment is no answer, also if the file ends behind it.
        if let Some(line) = self.comment_line {
            out.at_line(line).boundary(Boundary::Unanswered);
        }
        out.usage(Usage { tokens: self.tokens, ..Usage::default() });
    }

    fn can_skip(&self) -> bool {
        true
    }

    /// Calls with their output, and reasoning, by the type of the payload, which the client
    /// writes as its first member.
    fn is_skippable(&mut self, line: &[u8]) -> bool {
        let Some(start) = PAYLOAD.find(line) else { return false };
        let payload = &line[start + PAYLOAD.needle().len()..];
        ends_as_object(line) && TOOLS.iter().any(|kind| payload.starts_with(kind))
    }

    fn tail(&mut self) {
        self.agent_texts = Unpaired::default();
        self.user_texts = Unpaired::default();
        self.calls = Calls::default();
    }
}

impl CodexRollout {
    fn wrapped(&mut self, kind: &str, payload: &Payload<'_>, out: &mut Out<'_>) {
        match kind {
            "session_meta" => self.meta(payload, out),
            "turn_context" => out.model(&payload.model),
            "response_item" => self.response(payload, out),
            "event_msg" => self.event(payload, out),
            "compacted" => {
                self.turn(Boundary::Compaction, out);
                out.say(Role::System, &payload.message);
            }
            _ => {}
        }
    }

    /// A record without a wrapper: the head of the file, or an item.
    fn bare(&mut self, item: &Payload<'_>, out: &mut Out<'_>) {
        match item.kind.is_empty() {
            true => self.meta(item, out),
            false => self.response(item, out),
        }
    }

    /// The head of the file. The first one counts; a fork carries its parent's behind it.
    fn meta(&mut self, payload: &Payload<'_>, out: &mut Out<'_>) {
        out.session(&payload.id);
        if !std::mem::replace(&mut self.has_head, true) {
            let source = payload.source.0.as_ref();
            self.sub_agent = source.is_some_and(|source| !source.subagent.texts.is_empty())
                || &*payload.thread_source == "subagent";
        }
    }

    fn response(&mut self, payload: &Payload<'_>, out: &mut Out<'_>) {
        match &*payload.kind {
            "message" => self.message(payload, out),
            "reasoning" => {
                for part in &payload.summary.0 {
                    out.say(Role::Thinking, &part.text);
                }
            }
            "function_call" | "custom_tool_call" | "local_shell_call" => {
                self.call(payload, out);
            }
            "function_call_output" | "custom_tool_call_output" => {
                self.call_output(payload, out);
            }
            _ => {}
        }
    }

    fn message(&mut self, payload: &Payload<'_>, out: &mut Out<'_>) {
        let text = payload.content.text();
        match &*payload.role {
            "assistant" => {
                self.speak(&text, Source::Model, out);
                self.phase(&payload.phase, out);
            }
            "user" => self.user(&text, Source::Model, out),
            _ => out.say(Role::System, &text),
        }
    }

    fn event(&mut self, payload: &Payload<'_>, out: &mut Out<'_>) {
        match &*payload.kind {
            "agent_message" if &*payload.message == COMPACTED => {
                out.say(Role::System, COMPACTED);
            }
            "agent_message" => self.speak(&payload.message, Source::Screen, out),
            "user_message" => self.user(&payload.message, Source::Screen, out),
            "item_completed" => {
                if let Some(item) = &payload.item.0 {
                    self.item(item, out);
                }
            }
            "exec_command_end" => self.ran(&payload.call_id, payload.exit_code, out),
            "task_complete" => self.end(&payload.last_agent_message, out),
            "token_count" => {
                let total = payload.info.0.as_ref().and_then(|info| info.total_token_usage.0);
                self.tokens = total.map(super::codex_exec::CodexTokens::total).or(self.tokens);
            }
            "turn_aborted" => self.turn(Boundary::Unanswered, out),
            "error" => {
                out.fail(&payload.message, None);
            }
            _ => {}
        }
    }

    /// Notes if the last text is the answer, or a comment on the work.
    fn phase(&mut self, phase: &str, out: &Out<'_>) {
        self.has_answer = phase == FINAL;
        self.comment_line = (!phase.is_empty() && !self.has_answer).then_some(out.line());
    }

    /// The end of a turn, with its answer once more. Without an answer, the texts of the turn
    /// stay comments.
    fn end(&mut self, answer: &str, out: &mut Out<'_>) {
        if !self.has_agent_text {
            self.speak(answer, Source::Screen, out);
        } else if answer.is_empty() && !self.has_answer {
            self.turn(Boundary::Unanswered, out);
        }
    }

    fn item(&mut self, item: &Item<'_>, out: &mut Out<'_>) {
        match &*item.kind {
            "AgentMessage" => {
                self.speak(&item.content.text(), Source::Screen, out);
                self.phase(&item.phase, out);
            }
            "UserMessage" => self.user(&item.content.text(), Source::Screen, out),
            "CommandExecution" => self.ran(&item.id, item.exit_code, out),
            _ => {}
        }
    }

    fn speak(&mut self, text: &str, source: Source, out: &mut Out<'_>) {
        if text.trim().is_empty() || self.agent_texts.pairs(text, source) {
            return;
        }
        self.has_agent_text = true;
        let role = if self.sub_agent { Role::Tool } else { Role::Assistant };
        out.say(role, text);
    }

    fn user(&mut self, text: &str, source: Source, out: &mut Out<'_>) {
        if self.user_texts.pairs(text, source) {
            return;
        }
        let start = text.trim_start();
        let (boundary, role) = if start.starts_with("<hook_prompt") {
            (Some(Boundary::HookFeedback), Role::User)
        } else if start.starts_with("<subagent_notification>") {
            (Some(Boundary::Notification), Role::Tool)
        } else if INJECTED.iter().any(|tag| start.starts_with(tag)) {
            (None, Role::System)
        } else {
            (Some(Boundary::Prompt), Role::User)
        };
        if let Some(boundary) = boundary {
            self.turn(boundary, out);
        }
        out.say(role, text);
    }

    fn turn(&mut self, boundary: Boundary, out: &mut Out<'_>) {
        self.has_agent_text &= boundary == Boundary::Notification;
        self.comment_line = None;
        out.boundary(boundary);
    }

    fn call(&mut self, payload: &Payload<'_>, out: &mut Out<'_>) {
        out.say(Role::Tool, &payload.arguments);
        out.say(Role::Tool, &payload.input);
        let mut input = record::arguments(&payload.arguments);
        let tool = if payload.name.is_empty() { &payload.kind } else { &payload.name };
        self.calls.started(&payload.call_id, tool, input.command.as_deref());
        let calls =
            if **tool == *script::TOOL { script::calls(&payload.input) } else { Vec::new() };
        for (tool, input) in &calls {
            out.called(&payload.call_id, tool, input);
        }
        if calls.is_empty() {
            // The arguments as one text, too: they may name a run by its number.
            input.texts.extend([&payload.arguments, &payload.input].map(|text| text.0.clone()));
            out.called(&payload.call_id, tool, &input);
        }
    }

    fn call_output(&mut self, payload: &Payload<'_>, out: &mut Out<'_>) {
        let texts = &payload.output.texts;
        out.answered(&payload.call_id, Ending::Unmarked);
        let code = texts.first().and_then(|text| exit_code(text));
        if let Some(text) = texts.first() {
            self.denied_or_failed(text, code, &payload.call_id, out);
        }
        self.calls.ended(&payload.call_id, code, out);
        for text in texts {
            out.say(Role::Tool, text);
        }
    }

    /// A call may not have succeeded: it was denied, or its command failed.
    fn denied_or_failed(&self, text: &str, code: Option<i32>, call: &str, out: &mut Out<'_>) {
        match (code, self.calls.tool(call)) {
            (Some(0), _) => {}
            (Some(_), _) => out.tool_failed(&record::output(text)),
            (None, Some(tool)) if out.has_wording(Wording::Denial, text) => out.denied(tool, call),
            (None, _) => {}
        }
    }

    /// A command's end as shown, which comes before its output goes to the
    /// model: the first of the two is reported.
    fn ran(&mut self, call: &str, code: Num, out: &mut Out<'_>) {
        out.answered(call, Ending::Unmarked);
        self.calls.ran(call, code.exit_code(), out);
    }
}

/// The two places of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// As it went to or from the model.
    Model,
    /// As it was shown.
    Screen,
}

/// The texts that have come from one source and not yet from the other.
#[derive(Debug, Default)]
struct Unpaired {
    texts: VecDeque<UnpairedText>,
}

#[derive(Debug)]
struct UnpairedText {
    /// A digest, since texts may be long.
    digest: u64,
    source: Source,
}

/// Texts that may come from one source before they come from the other.
const MAX_UNPAIRED: usize = 32;

impl Unpaired {
    /// Pairs a text with the same text from the other source; false if that has not come. White
    /// space around it does not count: one of the two places may have lost it.
    fn pairs(&mut self, text: &str, source: Source) -> bool {
        let mut hasher = DefaultHasher::new();
        text.trim().hash(&mut hasher);
        let digest = hasher.finish();
        let is_pair = |text: &UnpairedText| text.digest == digest && text.source != source;
        if let Some(at) = self.texts.iter().position(is_pair) {
            self.texts.remove(at);
            return true;
        }
        if self.texts.len() == MAX_UNPAIRED {
            self.texts.pop_front();
        }
        self.texts.push_back(UnpairedText { digest, source });
        false
    }
}
