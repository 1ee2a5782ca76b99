//! Antigravity's transcripts, `~/.gemini/antigravity…/brain/ID/.system_generated/logs/transcript.jsonl`.
//!
//! Sources: public transcripts and readers of such files (2026). A line is a step, with its source. The
//! agent's steps are `PLANNER_RESPONSE`; the other steps of the model answer its calls, in their order.
//! A command that takes long goes on as a task, and a system message brings its answer.

use std::borrow::Cow;
use std::collections::VecDeque;

use crate::json::{Json, Records, records};
use crate::loose::{Leaves, List, Num, Object, Str};
use crate::out::{Out, clip};
use crate::spec::{KnownBy, Spec};
use crate::talk::Talk;
use crate::{Boundary, Ending, Role};

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

/// The beginning of an answer in which the client reports a command's end, in bytes.
const MAX_HEAD: usize = 1024;

/// The client's words before the exit code of a command.
const EXIT_WORDS: [&str; 2] =
    ["The command failed with exit code: ", "The command exited with code "];

/// Follows the steps.
#[derive(Debug, Default)]
struct Session {
    talk: Talk,
    /// The number of calls, from which their ids are made.
    call_count: u64,
    /// The ids of the calls without an answer.
    awaited_calls: VecDeque<String>,
    /// The tasks that go on.
    tasks: VecDeque<Task>,
    /// The last step of the agent: it may be written again when it has ended.
    last_step: Option<u64>,
    /// The context was compacted. That matters only if the agent goes on: a checkpoint may also
    /// follow its last word.
    compacted: bool,
}

/// A command that goes on after the step that would have answered its call.
#[derive(Debug)]
struct Task {
    id: String,
    call_id: String,
}

records! {
    struct Record<'a> {
        step_index: Num,
        source: Str<'a>,
        status: Str<'a>,
        "type" => kind: Str<'a>,
        model: Str<'a>,
        /// A string, or an object with a text.
        content: Leaves<'a>,
        thinking: Str<'a>,
        tool_calls: List<Object<Call<'a>>>,
    }

    struct Call<'a> {
        name: Str<'a>,
        args: Leaves<'a>,
    }
}

impl Records for Session {
    type Record<'a> = Record<'a>;

    fn take(&mut self, record: Record<'_>, out: &mut Out<'_>) {
        let content = record.content.texts.join("\n");
        match (&*record.kind, &*record.source) {
            ("PLANNER_RESPONSE", _) => self.response(&record, &content, out),
            // A task, a timer or another agent writes to the agent.
            ("SYSTEM_MESSAGE", _) => {
                self.turn(Boundary::HookFeedback, out);
                self.message(&content, out);
            }
            ("USER_INPUT", _) | (_, "USER_EXPLICIT") => {
                self.turn(Boundary::Prompt, out);
                out.say(Role::User, &content);
            }
            ("ERROR_MESSAGE", _) => {
                self.talk.close();
                out.fail(&content, None);
            }
            ("CHECKPOINT", _) => {
                self.compacted = true;
                out.say(Role::System, &content);
            }
            (_, "SYSTEM") => out.say(Role::System, &content),
            _ => self.answer(&record.status, &content, out),
        }
    }
}

impl Session {
    fn turn(&mut self, boundary: Boundary, out: &mut Out<'_>) {
        self.compacted = false;
        self.talk.turn(boundary, out);
    }

    fn response(&mut self, record: &Record<'_>, content: &str, out: &mut Out<'_>) {
        out.model(&record.model);
        let step = record.step_index.whole();
        let is_same_step = step.is_some() && step == self.last_step;
        self.last_step = step;
        if is_same_step && self.talk.is_last_message(content) {
            return;
        }
        if self.compacted {
            self.turn(Boundary::Compaction, out);
        }
        self.talk.close();
        self.awaited_calls.clear();
        out.say(Role::Thinking, &record.thinking);
        self.talk.block("", content, out);
        for call in record.tool_calls.0.iter().filter_map(|call| call.0.as_ref()) {
            self.call(&call.name, &call.args, out);
        }
    }

    fn call(&mut self, tool: &str, args: &Leaves<'_>, out: &mut Out<'_>) {
        let texts = args.texts.iter().map(|text| unquoted(text)).collect();
        let command = args.command.as_deref().map(|command| unquoted(command).into_owned());
        let args = Leaves { texts, command };
        self.call_count += 1;
        let id = self.call_count.to_string();
        self.talk.call(&id, tool, &args, out);
        push_bounded(&mut self.awaited_calls, id);
    }

    /// A step of the model that answers the first call without an answer.
    fn answer(&mut self, status: &str, content: &str, out: &mut Out<'_>) {
        self.talk.close();
        match (self.awaited_calls.pop_front(), task_id(content)) {
            (Some(call_id), Some(task_id)) if status == "RUNNING" => {
                push_bounded(&mut self.tasks, Task { id: task_id.to_owned(), call_id });
                out.say(Role::Tool, content);
            }
            (Some(call_id), _) => self.end_call(&call_id, status == "ERROR", content, out),
            (None, _) => out.say(Role::Tool, content),
        }
    }

    /// A message to the agent, which may be the answer of a task.
    fn message(&mut self, content: &str, out: &mut Out<'_>) {
        let task_id = task_id(content);
        let at = self.tasks.iter().position(|task| Some(&*task.id) == task_id);
        match at.and_then(|at| self.tasks.remove(at)) {
            Some(task) => self.end_call(&task.call_id, false, content, out),
            None => out.say(Role::User, content),
        }
    }

    fn end_call(&mut self, call_id: &str, has_failed: bool, content: &str, out: &mut Out<'_>) {
        let ending = Ending::failed_if(has_failed);
        self.talk.answer(call_id, content, ending, exit_code(content), out);
    }
}

fn push_bounded<T>(queue: &mut VecDeque<T>, element: T) {
    if queue.len() == MAX_AWAITED {
        queue.pop_front();
    }
    queue.push_back(element);
}

/// An argument without the quotes of JSON, in which older versions write each.
fn unquoted(text: &str) -> Cow<'_, str> {
    let content = text.starts_with('"').then(|| serde_json::from_str(text).ok()).flatten();
    content.map_or(Cow::Borrowed(text), Cow::Owned)
}

/// The id of the task that an answer or a message names, a path: `…/task-12`.
fn task_id(content: &str) -> Option<&str> {
    let head = clip(content, MAX_HEAD);
    let number = head.find("/task-")? + "/task-".len();
    let digits = head[number..].find(|char: char| !char.is_ascii_digit());
    let end = digits.map_or(head.len(), |length| number + length);
    let is_border = |char: char| char.is_ascii_whitespace() || char == '=' || char == '"';
    let border = head[..number].rfind(is_border);
    Some(&head[border.map_or(0, |at| at + 1)..end])
}

/// The exit code of a command as its answer words it, above the command's output.
fn exit_code(content: &str) -> Option<i32> {
    clip(content, MAX_HEAD).lines().find_map(|line| {
        let line = line.trim();
        let code = EXIT_WORDS.iter().find_map(|words| line.strip_prefix(words));
        match code {
            Some(code) => code.trim_end_matches('.').parse().ok(),
            None => line.starts_with("The command completed successfully").then_some(0),
        }
    })
}
