//! Claude Code: `json`, `stream-json` and the session file, which share their
//! records.
//!
//! Sources: captures of 2.1.197 and 2.1.330, public logs of 1.0 to 2.1. What
//! is not the main agent's word although it is in an `assistant` or
//! `result` record: a sub-agent's text, the client's own error and limit
//! messages, and `result`, which repeats the last text.

mod record;
mod result;
mod spent;
mod user;
mod wakes;

use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::claude_like::{Block, Message, is_event, is_result};
use crate::json::{Decode, Json, Records, ends_as_object};
use crate::loose::{Content, Maybe};
use crate::out::Out;
use crate::spec::{KnownBy, Spec};
use crate::talk::Talk;
use crate::{Boundary, Ending, Role, Wording};
use record::{Call, Record};
use result::{client, rate_limit};
use spent::Spent;
use wakes::Wakes;

const FAMILY: &[&str] = &["claude-code", "claude"];

pub(super) const JSON: Spec = Spec {
    name: "claude-json",
    family: FAMILY,
    known_by: KnownBy::Record(|shape| is_result(shape) || (shape.in_array && is_event(shape))),
    open: |_| Box::new(Json::new(Claude::default())),
};

pub(super) const SESSION: Spec = Spec {
    name: "claude-session",
    known_by: KnownBy::Record(|shape| {
        let marks = ["parentUuid", "isSidechain", "sessionId", "leafUuid"];
        let is_record = is_event(shape) || is_session_kind(shape.text("type"));
        is_record && marks.iter().any(|key| shape.has(key))
    }),
    ..JSON
};

pub(super) const STREAM: Spec = Spec {
    name: "claude-stream",
    known_by: KnownBy::Record(|shape| is_event(shape) || is_result(shape)),
    ..JSON
};

fn is_session_kind(kind: &str) -> bool {
    matches!(
        kind,
        "queue-operation" | "last-prompt" | "summary" | "attachment" | "file-history-snapshot"
    )
}

/// The key of a message's role, which its content follows.
static ROLE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(br#""role":""#));

/// The text behind the role's key if a user's message begins with the answer to a tool's call.
const ANSWER: &[u8] = br#"user","content":[{"tool_use_id":""#;

/// The text behind the role's key if an agent's message begins with a tool's call.
const CALL: &[u8] = br#"assistant","content":[{"type":"tool_use","id":""#;

/// The members between the call's id and the text of a tool's answer.
const ANSWER_TEXT: &[u8] = br#"","type":"tool_result","content":""#;

/// A member that all blocks of text have. Within a string its quotes would be escaped.
static TEXT_BLOCK: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(br#""text":""#));

/// A member that all blocks of thinking have.
static THINKING_BLOCK: LazyLock<Finder<'static>> =
    LazyLock::new(|| Finder::new(br#""thinking":""#));

/// A message begins within the first bytes of a record.
const RECORD_BEGINNING: usize = 1024;

/// In a stream the session's id is within the last bytes of a record.
const RECORD_END: usize = 256;

/// Follows a conversation of Claude Code.
#[derive(Debug, Default)]
struct Claude {
    talk: Talk,
    session: String,
    /// Finds the session's id as a value of JSON, in quotes.
    session_value: Option<Finder<'static>>,
    /// A result came, and no turn began since.
    after_result: bool,
    wakes: Wakes,
    spent: Spent,
    shell: Shell,
}

/// A client's shell tool, and how its results show exit codes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shell {
    /// The tool's name.
    pub(super) tool: &'static str,
    /// The exit code, from the result's text and its mark as an error.
    pub(super) exit_code: fn(&str, bool) -> Option<i32>,
    /// The client marks each command that fails.
    pub(super) marks_failures: bool,
    /// The client wakes the agent after a result when a command that runs in the background
    /// has ended.
    pub(super) wakes_agent: bool,
}

impl Default for Shell {
    fn default() -> Self {
        Self { tool: "Bash", exit_code: user::exit_code, marks_failures: true, wakes_agent: true }
    }
}

impl Shell {
    fn ending(&self, is_error: bool) -> Ending {
        match self.marks_failures {
            true => Ending::from_mark(is_error),
            false => Ending::failed_if(is_error),
        }
    }
}

/// A reader for a client with another shell that writes Claude Code's records.
pub(super) fn open(shell: Shell) -> Box<dyn Decode> {
    let wakes = Wakes::new(shell.wakes_agent);
    Box::new(Json::new(Claude { shell, wakes, ..Claude::default() }))
}

impl Records for Claude {
    type Record<'a> = Record<'a>;

    fn take(&mut self, record: Record<'_>, out: &mut Out<'_>) {
        self.session(&record, out);
        match &*record.kind {
            "assistant" => self.assistant(&record, out),
            "user" => self.user(&record, out),
            "system" => self.system(&record, out),
            "attachment" => self.attachment(&record, out),
            "result" => self.result(&record, out),
            "" if !record.result.is_empty() => self.result(&record, out),
            "rate_limit_event" => rate_limit(&record, out),
            "cost-state" => {
                self.spent.cost(record.total_cost_on_disk.micro());
                self.spent.duration(record.total_duration_on_disk.whole());
            }
            _ => {}
        }
    }

    fn finish(&mut self, out: &mut Out<'_>) {
        self.spent.send(out);
    }

    /// Without the session's id a new session in the next records would go unseen, and the
    /// answer to an event has to be seen together with the event.
    fn can_skip(&self) -> bool {
        !self.session.is_empty() && !self.is_answer_due()
    }

    /// Tools' calls or answers alone, in the spelling of the client itself (1.0 to 2.1.330).
    /// Words beside them matter, and so do another session and a task that runs on.
    fn is_skippable(&mut self, line: &[u8]) -> bool {
        let beginning = &line[..line.len().min(RECORD_BEGINNING)];
        let Some(role) = ROLE.find(beginning) else { return false };
        let (head, message) = (&line[..role], &line[role + ROLE.needle().len()..]);
        let is_skippable = ends_as_object(line)
            && self.is_same_session(head, message)
            && TEXT_BLOCK.find(message).is_none()
            && if let Some(answer) = message.strip_prefix(ANSWER) {
                is_answer_in_text(answer)
            } else {
                message.starts_with(CALL)
                    && THINKING_BLOCK.find(message).is_none()
                    && self.count_call(line)
            };
        if is_skippable {
            self.talk.close();
        }
        is_skippable
    }

    fn skip(&mut self) {
        self.spent.lose();
    }

    fn tail(&mut self) {
        self.talk = Talk::default();
    }
}

impl Claude {
    /// A record, up to its message and from there on, of the session that was read so far.
    fn is_same_session(&self, head: &[u8], message: &[u8]) -> bool {
        let end = &message[message.len().saturating_sub(RECORD_END)..];
        let session = self.session_value.as_ref();
        session.is_some_and(|session| [head, end].iter().any(|part| session.find(part).is_some()))
    }

    /// Counts the tokens of a message that is not read otherwise, and returns if it is one.
    fn count_call(&mut self, line: &[u8]) -> bool {
        let json = std::str::from_utf8(line).unwrap_or_default();
        let Ok(Call { message: Maybe(Some(message)) }) = serde_json::from_str(json) else {
            return false;
        };
        if let Some(tokens) = message.usage.0 {
            self.spent.message(&message.id, tokens);
        }
        true
    }

    /// A log may hold several runs: another session is a new prompt's.
    fn session(&mut self, record: &Record<'_>, out: &mut Out<'_>) {
        // On the disk a record may have both: the other one is that of the process.
        let ids = [&record.session_id_on_disk, &record.session_id];
        let Some(id) = ids.into_iter().find(|id| !id.is_empty()) else {
            return;
        };
        out.session(id);
        if !self.session.is_empty() && **id != *self.session {
            self.spent.next_session();
            self.wakes = Wakes::new(self.shell.wakes_agent);
            self.turn(Boundary::Prompt, out);
        }
        let id: &str = id;
        if *id != *self.session {
            id.clone_into(&mut self.session);
            self.session_value = Some(Finder::new(&format!("\"{id}\"")).into_owned());
        }
    }

    fn assistant(&mut self, record: &Record<'_>, out: &mut Out<'_>) {
        let Some(message) = &record.message.0 else {
            return;
        };
        if let Some(tokens) = message.usage.0 {
            self.spent.message(&message.id, tokens);
        }
        let voice = Voice::new(record, message);
        if voice == Voice::Agent {
            out.model(&message.model);
        }
        match &message.content {
            Content::Text(text) => self.text(text, voice, record, out),
            Content::Blocks(blocks) => {
                for block in blocks {
                    self.block(block, voice, record, out);
                }
            }
        }
    }

    fn block(&mut self, block: &Block<'_>, voice: Voice, record: &Record<'_>, out: &mut Out<'_>) {
        match &*block.kind {
            "text" => self.text(&block.text, voice, record, out),
            "thinking" if voice == Voice::SubAgent => out.say(Role::Tool, &block.thinking),
            "thinking" => out.say(Role::Thinking, &block.thinking),
            "tool_result" => self.tool_result(block, record, out),
            _ => self.tool_use(block, out),
        }
    }

    fn text(&mut self, text: &str, voice: Voice, record: &Record<'_>, out: &mut Out<'_>) {
        match voice {
            Voice::SubAgent => out.say(Role::Tool, text),
            Voice::Client => client(text, record, out),
            Voice::Agent if out.has_wording(Wording::Notice, text) => client(text, record, out),
            Voice::Agent => {
                let id = record.message.0.as_ref().map_or("", |message| &message.id);
                self.speak(text, id, out);
            }
        }
    }

    /// The main agent's text. Blocks of one API message are one text, each
    /// block on lines of its own, until a tool is called.
    fn speak(&mut self, text: &str, id: &str, out: &mut Out<'_>) {
        if text.trim().is_empty() {
            return;
        }
        self.begin_answer(out);
        self.talk.block(id, text, out);
    }

    /// A text after a result without a prompt between them answers an event, or a prompt
    /// that the format does not show.
    fn begin_answer(&mut self, out: &mut Out<'_>) {
        if self.after_result {
            let boundary =
                if self.is_answer_due() { Boundary::Notification } else { Boundary::Prompt };
            self.turn(boundary, out);
        }
    }

    /// The next text answers an event: each of such texts may be the last word.
    fn is_answer_due(&self) -> bool {
        self.after_result && self.wakes.is_due()
    }

    /// After a result the client begins anew if an event wakes the agent, or
    /// if another run goes on with the session.
    fn begin(&mut self, out: &mut Out<'_>) {
        if self.after_result {
            self.wakes.begin();
            if !self.wakes.is_due() {
                self.turn(Boundary::Prompt, out);
            }
        }
    }

    fn tool_use(&mut self, block: &Block<'_>, out: &mut Out<'_>) {
        self.talk.close();
        let is_shell = &*block.name == self.shell.tool;
        let command = if is_shell { block.input.command.as_deref() } else { None };
        if !block.name.is_empty() {
            self.talk.calls.started(&block.id, &block.name, command);
            out.called(&block.id, &block.name, &block.input);
        }
        out.say_all(Role::Tool, &block.input.texts);
    }

    fn system(&mut self, record: &Record<'_>, out: &mut Out<'_>) {
        match &*record.subtype {
            "init" => {
                out.model(&record.model);
                self.begin(out);
            }
            "task_notification" => self.wakes.event_announced(),
            "permission_denied" => out.denied(&record.tool_name, &record.tool_use_id),
            "compact_boundary" => self.turn(Boundary::Compaction, out),
            _ => {}
        }
        out.say(Role::System, &record.content);
        out.say(Role::Tool, &record.summary);
    }

    /// Something came that may change the agent's mind.
    fn turn(&mut self, boundary: Boundary, out: &mut Out<'_>) {
        self.after_result = false;
        self.wakes.turn(boundary);
        self.talk.turn(boundary, out);
    }
}

/// A tool's answer, from the call's id on, whose text ends the tool's work.
fn is_answer_in_text(answer: &[u8]) -> bool {
    let id_end = memchr::memchr(b'"', answer).unwrap_or(answer.len());
    let text = answer[id_end..].strip_prefix(ANSWER_TEXT);
    text.is_some_and(|text| !wakes::has_running_task(text))
}

/// The speaker of an `assistant` record.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Voice {
    Agent,
    SubAgent,
    /// The client, after the API failed.
    Client,
}

impl Voice {
    fn new(record: &Record<'_>, message: &Message<'_>) -> Self {
        let is_api_error = record.is_api_error_message.0 || record.is_api_error_on_disk.0;
        if is_sub_agent(record) {
            Self::SubAgent
        } else if is_api_error || !record.error.is_empty() || &*message.model == "<synthetic>" {
            Self::Client
        } else {
            Self::Agent
        }
    }
}

fn is_sub_agent(record: &Record<'_>) -> bool {
    record.is_sidechain.0 || !record.parent_tool_use_id.is_empty()
}
