//! Conversations as Google's API words them: messages of `parts`, which are
//! text, thought, call or answer. Gemini CLI and Qwen Code keep them so.
//!
//! Sources: captures of Gemini CLI 0.61.0 and Qwen Code 0.15.10.

use super::loose::{Flag, Leaves, Object, Piece, Str};
use super::out::Out;
use super::talk::Talk;
use super::{Ending, Role};
use crate::json::records;

/// The tool that runs commands, in both clients.
const SHELL: &str = "run_shell_command";

/// Beginning of the text in which the clients describe the environment, as if a user
/// wrote it.
const CONTEXT: &str = "<session_context>";

records! {
    struct Part<'a> {
        text: Str<'a>,
        thought: Flag,
        "functionCall" => call: Object<Call<'a>>,
        "functionResponse" => response: Object<Response<'a>>,
    }

    struct Call<'a> {
        id: Str<'a>,
        name: Str<'a>,
        args: Leaves<'a>,
    }

    struct Response<'a> {
        id: Str<'a>,
        name: Str<'a>,
        response: Object<Answer<'a>>,
    }

    struct Answer<'a> {
        output: Str<'a>,
        error: Str<'a>,
    }
}

impl<'a> Part<'a> {
    pub(super) fn response(&self) -> Option<&Response<'a>> {
        self.response.0.as_ref()
    }
}

impl Piece for Part<'_> {
    fn text(&self) -> &str {
        &self.text
    }
}

impl Talk {
    /// A message of the agent.
    pub(super) fn agent_parts(&mut self, id: &str, parts: &[Part<'_>], out: &mut Out<'_>) {
        for part in parts {
            if let Some(call) = &part.call.0 {
                self.call(&call.id, &call.name, &call.args, out);
            } else if part.thought.0 {
                self.thought(&part.text, out);
            } else {
                self.block(id, &part.text, out);
            }
        }
    }

    /// A message to the agent; beside a tool's answer a text is no prompt.
    pub(super) fn user_parts(&mut self, parts: &[Part<'_>], out: &mut Out<'_>) {
        let has_answer = parts.iter().any(|part| part.response.0.is_some());
        for part in parts {
            if let Some(response) = &part.response.0 {
                self.response(response, "", out);
            } else {
                self.user_text(&part.text, has_answer, out);
            }
        }
    }

    pub(super) fn user_text(&mut self, text: &str, injected: bool, out: &mut Out<'_>) {
        if injected || text.trim_start().starts_with(CONTEXT) {
            out.say(Role::System, text);
        } else if !text.trim().is_empty() {
            self.prompt(text, out);
        }
    }

    /// A tool's answer; `status` is the client's word for how the call ended.
    pub(super) fn response(&mut self, response: &Response<'_>, status: &str, out: &mut Out<'_>) {
        self.close();
        let Some(answer) = &response.response.0 else {
            return;
        };
        let failed_call = !answer.error.is_empty() || status == "error";
        out.answered(&response.id, Ending::failed_if(failed_call));
        out.say(Role::Tool, &answer.output);
        out.say(Role::Tool, &answer.error);
        let code = if &*response.name == SHELL { exit_code(&answer.output) } else { None };
        if code.is_some_and(|code| code != 0) {
            out.tool_failed(output(&answer.output));
        } else if failed_call {
            let cause = if answer.error.is_empty() { &answer.output } else { &answer.error };
            out.denied_or_failed(&response.name, &response.id, cause);
        }
        self.calls.ended(&response.id, code, out);
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
