//! Chat messages as models' APIs take them, objects with `role` and `content`: an array of them, an
//! object with `messages`, or one on each line. Many harnesses keep them as their transcript.
//!
//! Sources: the chat APIs of OpenAI and Anthropic; SWE-agent/mini-swe-agent 2,
//! `src/minisweagent/agents/default.py` and `models/utils/actions_toolcall.py`, and of version 1
//! `run/utils/save.py` (`.traj.json`); cline/cline, `api_conversation_history.json`. Reasoning in the content, in `<think>`, is not the
//! agent's word. What Cline's agent passes to `attempt_completion` is.

use std::borrow::Cow;

use crate::json::{Json, Records, records};
use crate::loose::{Content, Flag, Leaves, List, Members, Num, Object, Piece, Str};
use crate::out::Out;
use crate::shape::Shape;
use crate::spec::{KnownBy, Spec};
use crate::talk::Talk;
use crate::{Boundary, Ending, Role, Usage};

pub(super) const CHAT_JSON: Spec = Spec {
    name: "chat-json",
    family: &["chat"],
    known_by: KnownBy::Record(|shape| {
        // An agent may print such messages too. A transcript begins with the array or the object,
        // and that with a message to the agent; or it begins with two messages on lines.
        let is_array = shape.in_array && shape.is_first && is_to_agent(shape);
        let messages = shape.inner("messages");
        let is_object =
            shape.is_first && !shape.in_array && messages.in_array && is_to_agent(&messages);
        is_array || is_object || (shape.is_second_alike && !shape.in_array && is_message(shape))
    }),
    open: |_| Box::new(Json::new(Chat::default())),
};

/// The tool with which Cline's agent ends its work.
const COMPLETION: &str = "attempt_completion";

/// Tools of Cline's agent that a person answers.
const ANSWERED_BY_PERSON: [&str; 3] = [COMPLETION, "ask_followup_question", "plan_mode_respond"];

fn is_message(shape: &Shape<'_>) -> bool {
    let roles = ["system", "developer", "user", "assistant", "tool"];
    roles.contains(&shape.text("role")) && shape.has("content") && !shape.has("type")
}

fn is_to_agent(shape: &Shape<'_>) -> bool {
    is_message(shape) && ["system", "developer", "user"].contains(&shape.text("role"))
}

/// Follows the messages.
#[derive(Debug, Default)]
struct Chat {
    talk: Talk,
    usage: Usage,
}

records! {
    /// A message, or an object with all of them.
    struct Message<'a> {
        role: Str<'a>,
        content: Content<'a, Block<'a>>,
        reasoning_content: Str<'a>,
        tool_calls: Leaves<'a>,
        tool_call_id: Str<'a>,
        model: Str<'a>,
        extra: Object<Extra<'a>>,
        messages: List<Object<Message<'a>>>,
        info: Object<Info<'a>>,
        trajectory_format: Str<'a>,
    }

    /// A block of a message, in the form of either API.
    struct Block<'a> {
        "type" => kind: Str<'a>,
        text: Str<'a>,
        thinking: Str<'a>,
        id: Str<'a>,
        name: Str<'a>,
        input: Members<'a>,
        tool_use_id: Str<'a>,
        /// The parts of a tool's result; images have no text.
        content: Content<'a, Block<'a>>,
        is_error: Flag,
    }

    /// Of mini-swe-agent: the commands in a message, or the exit code of one.
    struct Extra<'a> {
        actions: List<Object<Action<'a>>>,
        returncode: Num,
    }

    struct Action<'a> {
        command: Str<'a>,
        tool_call_id: Str<'a>,
    }

    /// The head of mini-swe-agent's trajectory.
    struct Info<'a> {
        exit_status: Str<'a>,
        model_stats: Object<Stats>,
        config: Object<Config<'a>>,
    }

    struct Stats {
        instance_cost: Num,
    }

    struct Config<'a> {
        model: Object<Model<'a>>,
    }

    struct Model<'a> {
        model_name: Str<'a>,
    }
}

impl Piece for Block<'_> {
    fn text(&self) -> &str {
        &self.text
    }
}

impl Records for Chat {
    type Record<'a> = Message<'a>;

    fn take(&mut self, record: Message<'_>, out: &mut Out<'_>) {
        if let Some(info) = &record.info.0 {
            self.info(info, out);
        }
        if !record.role.is_empty() {
            return self.message(&record, out);
        }
        // The number of the message says more than the line of the object.
        let count = record.messages.0.len();
        for (message, number) in record.messages.0.iter().zip(1..) {
            let Some(message) = &message.0 else { continue };
            out.at_line(number as u64);
            match record.output(message, number == count) {
                Some(output) => {
                    let exit_code = exit_code(&output);
                    self.talk.answer("", &output, Ending::Unmarked, exit_code, out);
                }
                None => self.message(message, out),
            }
        }
    }

    fn finish(&mut self, out: &mut Out<'_>) {
        out.usage(self.usage);
    }
}

impl Chat {
    fn info(&mut self, info: &Info<'_>, out: &mut Out<'_>) {
        let model = info.config.0.as_ref().and_then(|config| config.model.0.as_ref());
        out.model(model.map_or("", |model| &model.model_name));
        let cost = info.model_stats.0.as_ref().and_then(|stats| stats.instance_cost.micro());
        self.usage.add(Usage { cost_micro_usd: cost, ..Usage::default() });
    }

    fn message(&mut self, message: &Message<'_>, out: &mut Out<'_>) {
        let extra = message.extra.0.as_ref();
        let exit_code = extra.and_then(|extra| extra.returncode.exit_code());
        let role = match &*message.role {
            "assistant" => Role::Assistant,
            "tool" | "function" => Role::Tool,
            // A command's output comes as the user's if the model takes no tools.
            "user" if exit_code.is_some() => Role::Tool,
            "user" => Role::User,
            // The harness ends the run: nobody speaks to the agent.
            "exit" => return out.say(Role::System, &message.content.text()),
            _ => Role::System,
        };
        self.talk.close();
        out.model(&message.model);
        out.say(Role::Thinking, &message.reasoning_content);
        if role == Role::Tool {
            let (id, text) = (&message.tool_call_id, message.content.text());
            return self.talk.answer(id, &text, Ending::Unmarked, exit_code, out);
        }
        match &message.content {
            Content::Text(text) if text.trim().is_empty() => {}
            Content::Text(text) => self.text(role, text, out),
            Content::Blocks(blocks) => self.blocks(role, blocks, out),
        }
        let actions = extra.map_or(&[][..], |extra| &extra.actions.0);
        for action in actions.iter().filter_map(|action| action.0.as_ref()) {
            let command = action.command.to_string();
            let texts = vec![Cow::Borrowed(&*action.command)];
            let input = Leaves { texts, command: Some(command) };
            self.talk.call(&action.tool_call_id, "bash", &input, out);
        }
        if actions.is_empty() {
            out.say_all(Role::Tool, &message.tool_calls.texts);
        }
    }

    fn blocks(&mut self, role: Role, blocks: &[Block<'_>], out: &mut Out<'_>) {
        let mut answers = blocks.iter().filter(|block| &*block.kind == "tool_result").peekable();
        // Beside an answer, a text is the client's, or more of what the person answers.
        let is_of_client =
            answers.peek().is_some() && !answers.any(|answer| self.is_of_person(answer));
        for block in blocks {
            match &*block.kind {
                "tool_result" => self.tool_answer(block, out),
                "tool_use" => self.tool_call(role, block, out),
                "thinking" => out.say(Role::Thinking, &block.thinking),
                _ if is_of_client => out.say(Role::System, &block.text),
                _ => self.text(role, &block.text, out),
            }
        }
    }

    fn tool_call(&mut self, role: Role, block: &Block<'_>, out: &mut Out<'_>) {
        if ANSWERED_BY_PERSON.contains(&&*block.name) {
            self.talk.calls.started(&block.id, &block.name, None);
        }
        if role == Role::Assistant && &*block.name == COMPLETION {
            self.talk.block("message", block.input.text("result"), out);
        } else {
            self.talk.close();
            out.say_all(Role::Tool, &block.input.leaves.texts);
        }
    }

    /// The block answers a call that a person answers.
    fn is_of_person(&self, block: &Block<'_>) -> bool {
        let tool = self.talk.calls.tool(&block.tool_use_id);
        tool.is_some_and(|tool| ANSWERED_BY_PERSON.contains(&tool))
    }

    /// A tool's answer. Most tools are not known by name.
    fn tool_answer(&mut self, block: &Block<'_>, out: &mut Out<'_>) {
        let text = block.content.text();
        let is_of_person = self.is_of_person(block);
        self.talk.calls.ended(&block.tool_use_id, None, out);
        if is_of_person && block.is_error.0 {
            // The call did not come about, and nor did what it says.
            self.talk.turn(Boundary::Unanswered, out);
        } else if is_of_person && !block.is_silent() {
            return self.talk.prompt(&text, out);
        }
        out.say(Role::Tool, &text);
        if block.is_error.0 {
            out.tool_failed(&text);
        }
    }

    fn text(&mut self, role: Role, text: &str, out: &mut Out<'_>) {
        match role {
            // A block without text is a picture.
            Role::User => self.talk.prompt(text, out),
            _ if text.trim().is_empty() => {}
            Role::Assistant => {
                let (thought, message) = split_thought(text);
                out.say(Role::Thinking, thought);
                let (message, result) = split_completion(message);
                self.talk.block("message", message, out);
                self.talk.block("message", result, out);
            }
            // After the agent has spoken, another conversation begins with it, or
            // the client tells the agent something new.
            Role::System if self.talk.has_text() => {
                self.talk.turn(Boundary::Prompt, out);
                out.say(role, text);
            }
            _ => out.say(role, text),
        }
    }
}

impl Message<'_> {
    /// The output of a command that mini-swe-agent 1 keeps as the user's message. The last message
    /// of a run that was submitted is that of the last command.
    fn output<'m>(&self, message: &'m Message<'_>, is_last: bool) -> Option<Cow<'m, str>> {
        let is_submitted =
            self.info.0.as_ref().is_some_and(|info| &*info.exit_status == "Submitted");
        let is_of_user = &*self.trajectory_format == "mini-swe-agent-1" && &*message.role == "user";
        let text = is_of_user.then(|| message.content.text())?;
        (exit_code(&text).is_some() || (is_last && is_submitted)).then_some(text)
    }
}

/// The exit code before the output of a command, as mini-swe-agent 1 has it.
fn exit_code(output: &str) -> Option<i32> {
    let (code, _) = output.strip_prefix("<returncode>")?.split_once("</returncode>")?;
    code.parse().ok()
}

impl Block<'_> {
    /// An answer without text and picture: the person takes the result as it is.
    fn is_silent(&self) -> bool {
        let mut blocks = self.content.blocks().iter();
        self.content.text().trim().is_empty() && blocks.all(|block| &*block.kind == "text")
    }
}

/// Splits off the thought: the text before the last `</think>`, or after a `<think>` that
/// nothing ends. Returns the thought and the text behind it.
fn split_thought(text: &str) -> (&str, &str) {
    if let Some(end) = text.rfind("</think>") {
        return text.split_at(end + "</think>".len());
    }
    match text.find("<think>") {
        Some(start) if text[..start].trim().is_empty() => (text, ""),
        _ => ("", text),
    }
}

/// Splits off the result that Cline's agent ends its work with, out of the XML of that call.
/// Returns the text before the call, and the result; of a text without it, the text and "".
fn split_completion(text: &str) -> (&str, &str) {
    let call = text.trim_end().strip_suffix("</attempt_completion>");
    let begin = call.and_then(|call| Some((call, call.rfind("<attempt_completion>")?)));
    let Some((call, begin)) = begin else { return (text, "") };
    let result = call[begin..].split_once("<result>").and_then(|(_, result)| {
        let end = result.rfind("</result>")?;
        Some(result[..end].trim())
    });
    result.map_or((text, ""), |result| (&text[..begin], result))
}
