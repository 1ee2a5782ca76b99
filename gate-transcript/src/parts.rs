//! Conversations as Google's API words them: messages of `parts`, which are
//! text, thought, call or answer. Gemini CLI and Qwen Code keep them so.
//!
//! Sources: captures of Gemini CLI 0.61.0 and Qwen Code 0.15.10.

use serde::Deserialize;

use super::calls::Calls;
use super::loose::{Flag, Leaves, Object, Str};
use super::out::Out;
use super::utterance::Utterance;
use super::{Boundary, Ending, Role, Wording};

/// The tool that runs commands, in both clients.
const SHELL: &str = "run_shell_command";

/// Beginning of the text in which the clients describe the environment, as if a user
/// wrote it.
const CONTEXT: &str = "<session_context>";

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Part<'a> {
    #[serde(borrow)]
    pub(super) text: Str<'a>,
    thought: Flag,
    #[serde(borrow, rename = "functionCall")]
    call: Object<Call<'a>>,
    #[serde(borrow, rename = "functionResponse")]
    response: Object<Response<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Call<'a> {
    #[serde(borrow)]
    id: Str<'a>,
    #[serde(borrow)]
    name: Str<'a>,
    #[serde(borrow)]
    args: Leaves<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Response<'a> {
    #[serde(borrow)]
    id: Str<'a>,
    #[serde(borrow)]
    name: Str<'a>,
    #[serde(borrow)]
    response: Object<Answer<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Answer<'a> {
    #[serde(borrow)]
    output: Str<'a>,
    #[serde(borrow)]
    error: Str<'a>,
}

impl<'a> Part<'a> {
    pub(super) fn response(&self) -> Option<&Response<'a>> {
        self.response.0.as_ref()
    }
}

/// Follows such a conversation.
#[derive(Debug, Default)]
pub(super) struct Talk {
    pub(super) speech: Utterance,
    calls: Calls,
    /// True for a sub-agent's file: no text in it is the main agent's.
    pub(super) sub_agent: bool,
}

impl Talk {
    /// Something that may change the main agent's mind.
    pub(super) fn turn(&mut self, boundary: Boundary, line: u64, out: &mut Out<'_>) {
        if !self.sub_agent {
            self.speech.forget();
            out.boundary(boundary, line);
        }
    }

    /// A text of the agent.
    pub(super) fn text(&mut self, id: &str, text: &str, line: u64, out: &mut Out<'_>) {
        if self.sub_agent {
            out.say(Role::Tool, text, line);
        } else {
            self.speech.block(id, text, line, out);
        }
    }

    pub(super) fn thought(&self, text: &str, line: u64, out: &mut Out<'_>) {
        let role = if self.sub_agent { Role::Tool } else { Role::Thinking };
        out.say(role, text, line);
    }

    /// A message of the agent.
    pub(super) fn agent(&mut self, id: &str, parts: &[Part<'_>], line: u64, out: &mut Out<'_>) {
        for part in parts {
            if let Some(call) = &part.call.0 {
                self.call(&call.id, &call.name, &call.args, line, out);
            } else if part.thought.0 {
                self.thought(&part.text, line, out);
            } else {
                self.text(id, &part.text, line, out);
            }
        }
    }

    pub(super) fn call(
        &mut self,
        id: &str,
        tool: &str,
        input: &Leaves<'_>,
        line: u64,
        out: &mut Out<'_>,
    ) {
        self.speech.close();
        let command = if tool == SHELL { input.command.as_deref() } else { None };
        self.calls.started(id, tool, command);
        out.called(id, tool, input, line);
        for text in &input.texts {
            out.say(Role::Tool, text, line);
        }
    }

    /// A message to the agent; beside a tool's answer a text is no prompt.
    pub(super) fn user(&mut self, parts: &[Part<'_>], line: u64, out: &mut Out<'_>) {
        let answers = parts.iter().any(|part| part.response.0.is_some());
        for part in parts {
            if let Some(response) = &part.response.0 {
                self.answer(response, "", line, out);
            } else {
                self.user_text(&part.text, answers, line, out);
            }
        }
    }

    pub(super) fn user_text(&mut self, text: &str, injected: bool, line: u64, out: &mut Out<'_>) {
        if injected || text.trim_start().starts_with(CONTEXT) {
            out.say(Role::System, text, line);
        } else if !text.trim().is_empty() {
            self.turn(Boundary::Prompt, line, out);
            let role = if self.sub_agent { Role::Tool } else { Role::User };
            out.say(role, text, line);
        }
    }

    /// A tool's answer; `status` is the client's word for how the call ended.
    pub(super) fn answer(
        &mut self,
        response: &Response<'_>,
        status: &str,
        line: u64,
        out: &mut Out<'_>,
    ) {
        self.speech.close();
        let Some(answer) = &response.response.0 else {
            return;
        };
        let failed_call = !answer.error.is_empty() || status == "error";
        out.answered(&response.id, Ending::failed_if(failed_call), line);
        out.say(Role::Tool, &answer.output, line);
        out.say(Role::Tool, &answer.error, line);
        let code = if &*response.name == SHELL { exit_code(&answer.output) } else { None };
        if code.is_some_and(|code| code != 0) {
            out.tool_failed(output(&answer.output), line);
        } else if failed_call {
            let cause = if answer.error.is_empty() { &answer.output } else { &answer.error };
            failed(&response.name, &response.id, cause, line, out);
        }
        self.calls.ended(&response.id, code, line, out);
    }
}

/// A call that did not succeed was denied, or it failed.
pub(super) fn failed(tool: &str, id: &str, cause: &str, line: u64, out: &mut Out<'_>) {
    if out.says(Wording::Denial, cause) {
        out.denied(tool, id, line);
    } else {
        out.tool_failed(cause, line);
    }
}

/// The exit code of a command as its answer words it: in a line behind what
/// the command has written. Gemini CLI leaves a zero out.
fn exit_code(answer: &str) -> Option<i32> {
    let mut lines = answer.lines().rev();
    match lines.find_map(|line| line.strip_prefix("Exit Code: ")) {
        Some(code) => code.trim().parse().ok(),
        None => answer.contains("\nProcess Group PGID: ").then_some(0),
    }
}

/// The command's output, out of the report that answers the call.
fn output(answer: &str) -> &str {
    let from = answer.find("Output: ").map_or(0, |at| at + "Output: ".len());
    let end = ["\nError: ", "\nExit Code: "].iter().filter_map(|mark| answer.rfind(mark)).min();
    &answer[from..end.filter(|end| *end >= from).unwrap_or(answer.len())]
}
