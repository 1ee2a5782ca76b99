//! Antigravity's transcripts, `~/.gemini/antigravity…/brain/ID/.system_generated/logs/transcript.jsonl`.
//!
//! Sources: public transcripts and readers of such files (2026). A line is a step, with its source. The
//! agent's steps are `PLANNER_RESPONSE`; the other steps of the model answer its calls, in their order.
//! A command that takes long goes on as a task, and a system message brings its answer.

use std::borrow::Cow;
use std::collections::VecDeque;

use serde::Deserialize;

use super::calls::Calls;

use super::json::{Borrowed, Json, Records, read};
use super::loose::{Leaves, List, Num, Object, Str};
use super::out::{Out, clip};
use super::parts::failed;
use super::spec::{KnownBy, Spec};
use super::utterance::Utterance;
use super::{Boundary, Ending, Role};

pub(super) const ANTIGRAVITY_SESSION: Spec = Spec {
    name: "antigravity-session",
    family: &["antigravity", "agy"],
    known_by: KnownBy::Record(|shape| {
        shape.has("step_index") && shape.has("source") && shape.has("type")
    }),
    open: |_| Box::new(Json::new(Session::default())),
};

/// Calls and tasks whose answers are awaited.
const MAX_AWAITED: usize = 256;

/// The longest beginning of an answer in which the client says how a command ended, in bytes.
const MAX_HEAD: usize = 1024;

/// Texts with which the client says how a command ended, up to its exit code.
const ENDED: [&str; 2] = ["The command failed with exit code: ", "The command exited with code "];

/// Follows the steps.
#[derive(Debug, Default)]
struct Session {
    speech: Utterance,
    calls: Calls,
    /// The number of calls, from which their ids are made.
    called: u64,
    /// The calls without an answer.
    awaited: VecDeque<String>,
    /// The tasks that go on, with their calls.
    tasks: VecDeque<(String, String)>,
    /// The last step of the agent: it may be written again when it has ended.
    step: Option<u64>,
    /// The context was compacted. That matters only if the agent goes on: a checkpoint may also
    /// follow its last word.
    compacted: bool,
}

struct Any;

impl Borrowed for Any {
    type Of<'a> = Record<'a>;
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Record<'a> {
    step_index: Num,
    #[serde(borrow)]
    source: Str<'a>,
    #[serde(borrow)]
    status: Str<'a>,
    #[serde(rename = "type", borrow)]
    kind: Str<'a>,
    #[serde(borrow)]
    model: Str<'a>,
    /// A string, or an object with a text.
    #[serde(borrow)]
    content: Leaves<'a>,
    #[serde(borrow)]
    thinking: Str<'a>,
    #[serde(borrow)]
    tool_calls: List<Object<Call<'a>>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Call<'a> {
    #[serde(borrow)]
    name: Str<'a>,
    #[serde(borrow)]
    args: Leaves<'a>,
}

impl Records for Session {
    fn record(&mut self, json: &str, line: u64, out: &mut Out<'_>) -> bool {
        read::<Any>(json, |record| self.take(&record, line, out))
    }

    fn finish(&mut self, _: &mut Out<'_>) {}
}

impl Session {
    fn take(&mut self, record: &Record<'_>, line: u64, out: &mut Out<'_>) {
        let content = record.content.texts.join("\n");
        match (&*record.kind, &*record.source) {
            ("PLANNER_RESPONSE", _) => self.response(record, &content, line, out),
            // A task, a timer or another agent writes to the agent.
            ("SYSTEM_MESSAGE", _) => {
                self.turn(Boundary::HookFeedback, line, out);
                self.message(&content, line, out);
            }
            ("USER_INPUT", _) | (_, "USER_EXPLICIT") => {
                self.turn(Boundary::Prompt, line, out);
                out.say(Role::User, &content, line);
            }
            ("ERROR_MESSAGE", _) => {
                self.speech.close();
                out.say(Role::System, &content, line);
                out.failure(&content, None, line);
            }
            ("CHECKPOINT", _) => {
                self.compacted = true;
                out.say(Role::System, &content, line);
            }
            (_, "SYSTEM") => out.say(Role::System, &content, line),
            _ => self.answer(&record.status, &content, line, out),
        }
    }

    fn turn(&mut self, boundary: Boundary, line: u64, out: &mut Out<'_>) {
        self.compacted = false;
        self.speech.forget();
        out.boundary(boundary, line);
    }

    fn response(&mut self, record: &Record<'_>, content: &str, line: u64, out: &mut Out<'_>) {
        out.model(&record.model);
        let step = record.step_index.whole();
        let again = step.is_some() && step == self.step;
        self.step = step;
        if again && self.speech.equals(content) {
            return;
        }
        if self.compacted {
            self.turn(Boundary::Compaction, line, out);
        }
        self.speech.close();
        self.awaited.clear();
        out.say(Role::Thinking, &record.thinking, line);
        self.speech.block("", content, line, out);
        for call in record.tool_calls.0.iter().filter_map(|call| call.0.as_ref()) {
            self.call(&call.name, &call.args, line, out);
        }
    }

    fn call(&mut self, tool: &str, args: &Leaves<'_>, line: u64, out: &mut Out<'_>) {
        self.speech.close();
        let texts = args.texts.iter().map(|text| plain(text)).collect();
        let command = args.command.as_deref().map(|command| plain(command).into_owned());
        let args = Leaves { texts, command };
        self.called += 1;
        let id = self.called.to_string();
        self.calls.started(&id, tool, args.command.as_deref());
        out.called(&id, tool, &args, line);
        for text in &args.texts {
            out.say(Role::Tool, text, line);
        }
        keep(&mut self.awaited, id);
    }

    /// A step of the model that answers the first call without an answer.
    fn answer(&mut self, status: &str, content: &str, line: u64, out: &mut Out<'_>) {
        self.speech.close();
        match (self.awaited.pop_front(), task(content)) {
            (Some(id), Some(task)) if status == "RUNNING" => {
                keep(&mut self.tasks, (task.to_owned(), id));
                out.say(Role::Tool, content, line);
            }
            (Some(id), _) => self.ended(&id, status == "ERROR", content, line, out),
            (None, _) => out.say(Role::Tool, content, line),
        }
    }

    /// A message to the agent, which may be the answer of a task.
    fn message(&mut self, content: &str, line: u64, out: &mut Out<'_>) {
        let at = task(content).and_then(|task| self.tasks.iter().position(|(id, _)| id == task));
        match at.and_then(|at| self.tasks.remove(at)) {
            Some((_, id)) => self.ended(&id, false, content, line, out),
            None => out.say(Role::User, content, line),
        }
    }

    fn ended(&mut self, id: &str, has_failed: bool, content: &str, line: u64, out: &mut Out<'_>) {
        let code = exit_code(content);
        out.answered(id, Ending::failed_if(has_failed), line);
        out.say(Role::Tool, content, line);
        if has_failed || code.is_some_and(|code| code != 0) {
            failed(self.calls.tool(id).unwrap_or_default(), id, content, line, out);
        }
        self.calls.ended(id, code, line, out);
    }
}

fn keep<T>(all: &mut VecDeque<T>, next: T) {
    if all.len() == MAX_AWAITED {
        all.pop_front();
    }
    all.push_back(next);
}

/// An argument without the quotes of JSON, in which older versions write each.
fn plain(text: &str) -> Cow<'_, str> {
    let quoted = text.starts_with('"').then(|| serde_json::from_str(text).ok()).flatten();
    quoted.map_or(Cow::Borrowed(text), Cow::Owned)
}

/// The task that an answer or a message speaks of.
fn task(content: &str) -> Option<&str> {
    let head = clip(content, MAX_HEAD);
    let number = head.find("/task-")? + "/task-".len();
    let end =
        head[number..].find(|c: char| !c.is_ascii_digit()).map_or(head.len(), |at| number + at);
    let start = head[..number].rfind(|c: char| c.is_ascii_whitespace() || c == '=' || c == '"');
    Some(&head[start.map_or(0, |at| at + 1)..end])
}

/// The exit code of a command as its answer words it, before what the command has written.
fn exit_code(content: &str) -> Option<i32> {
    clip(content, MAX_HEAD).lines().find_map(|line| {
        let line = line.trim();
        let code = ENDED.iter().find_map(|words| line.strip_prefix(words));
        match code {
            Some(code) => code.trim_end_matches('.').parse().ok(),
            None => line.starts_with("The command completed successfully").then_some(0),
        }
    })
}
