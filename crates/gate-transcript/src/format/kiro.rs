//! Kiro CLI's `/chat save`, and that of Amazon Q CLI before it: one object with all turns.
//!
//! Source: aws/amazon-q-developer-cli, `crates/chat-cli/src/cli/chat/conversation.rs` and
//! `message.rs`. The field `transcript` repeats the history as a person sees it, and
//! `tangent_state` keeps a conversation that was left.

use crate::json::{Json, Records, records};
use crate::loose::{Either, Leaves, List, Object, Str};
use crate::out::Out;
use crate::spec::{KnownBy, Spec};
use crate::talk::Talk;
use crate::{Boundary, Ending};

pub(super) const KIRO_JSON: Spec = Spec {
    name: "kiro-json",
    family: &["kiro", "amazon-q"],
    known_by: KnownBy::Record(|shape| {
        ["conversation_id", "next_message", "history"].iter().all(|key| shape.has(key))
    }),
    open: |_| Box::new(Json::new(Kiro::default())),
};

/// The tools that run commands.
const SHELLS: [&str; 3] = ["execute_bash", "execute_cmd", "shell"];

/// Follows the turns.
#[derive(Debug, Default)]
struct Kiro {
    talk: Talk,
    /// A conversation came: the next one begins another run.
    has_conversation: bool,
}

records! {
    struct Conversation<'a> {
        conversation_id: Str<'a>,
        history: List<Turn<'a>>,
        /// A message that the agent has not answered.
        next_message: Object<Message<'a>>,
        /// The model, of older versions.
        model: Str<'a>,
        model_info: Object<Model<'a>>,
    }

    struct Model<'a> {
        model_id: Str<'a>,
    }

    struct Pair<'a> {
        user: Object<Message<'a>>,
        assistant: Object<Message<'a>>,
    }

    /// A message to the agent has a content, the agent's is one of the others.
    struct Message<'a> {
        content: Object<Content<'a>>,
        "Response" => response: Object<Response<'a>>,
        "ToolUse" => tool_use: Object<Response<'a>>,
    }

    struct Content<'a> {
        "Prompt" => prompt: Object<Input<'a>>,
        "CancelledToolUses" => cancelled: Object<Input<'a>>,
        "ToolUseResults" => results: Object<Input<'a>>,
    }

    struct Input<'a> {
        prompt: Str<'a>,
        tool_use_results: List<Object<Answer<'a>>>,
    }

    struct Answer<'a> {
        tool_use_id: Str<'a>,
        content: List<Object<Part<'a>>>,
        status: Str<'a>,
    }

    struct Part<'a> {
        "Text" => text: Str<'a>,
        "Json" => json: Object<Output<'a>>,
    }

    /// The output of a command, or the content that a tool of an MCP server returns.
    struct Output<'a> {
        exit_status: Str<'a>,
        stdout: Str<'a>,
        stderr: Str<'a>,
        content: Leaves<'a>,
    }

    struct Response<'a> {
        content: Str<'a>,
        thinking: Leaves<'a>,
        tool_uses: List<Object<Call<'a>>>,
    }

    struct Call<'a> {
        id: Str<'a>,
        name: Str<'a>,
        args: Leaves<'a>,
    }
}

/// A message with its answer; older versions have the two in an array.
type Turn<'a> = Either<Message<'a>, Pair<'a>>;

impl Records for Kiro {
    type Record<'a> = Conversation<'a>;

    fn take(&mut self, conversation: Conversation<'_>, out: &mut Out<'_>) {
        if std::mem::replace(&mut self.has_conversation, true) {
            self.talk.turn(Boundary::Prompt, out);
        }
        out.session(&conversation.conversation_id);
        out.model(conversation.model_info.0.as_ref().map_or("", |model| &model.model_id));
        out.model(&conversation.model);
        // The number of the turn says more than the line of the object.
        let mut line = 0;
        for turn in &conversation.history.0 {
            line += 1;
            out.at_line(line);
            let messages: Vec<&Message<'_>> = match turn {
                Either::List(messages) => messages.iter().collect(),
                Either::Object(pair) => pair.user.0.iter().chain(&pair.assistant.0).collect(),
            };
            for message in messages {
                self.message(message, out);
            }
        }
        if let Some(message) = &conversation.next_message.0 {
            self.message(message, out.at_line(line + 1));
        }
    }
}

impl Kiro {
    fn message(&mut self, message: &Message<'_>, out: &mut Out<'_>) {
        self.talk.close();
        if let Some(content) = &message.content.0 {
            for input in [&content.results, &content.cancelled, &content.prompt] {
                input.0.iter().for_each(|input| self.input(input, out));
            }
        }
        for response in [&message.response, &message.tool_use] {
            response.0.iter().for_each(|response| self.response(response, out));
        }
    }

    fn input(&mut self, input: &Input<'_>, out: &mut Out<'_>) {
        for answer in input.tool_use_results.0.iter().filter_map(|answer| answer.0.as_ref()) {
            let ending = Ending::failed_if(answer.status.eq_ignore_ascii_case("error"));
            let parts = || answer.content.0.iter().filter_map(|part| part.0.as_ref());
            let texts: Vec<&str> = parts().flat_map(Part::texts).collect();
            let exit_code = parts().find_map(Part::exit_code);
            self.talk.answer(&answer.tool_use_id, &texts.join("\n"), ending, exit_code, out);
        }
        if !input.prompt.is_empty() {
            self.talk.prompt(&input.prompt, out);
        }
    }

    fn response(&mut self, response: &Response<'_>, out: &mut Out<'_>) {
        response.thinking.texts.iter().for_each(|text| self.talk.thought(text, out));
        self.talk.block("", &response.content, out);
        for call in response.tool_uses.0.iter().filter_map(|call| call.0.as_ref()) {
            // The tool that edits files has a `command`, too.
            let is_shell = SHELLS.contains(&&*call.name);
            let command = if is_shell { call.args.command.clone() } else { None };
            let input = Leaves { texts: call.args.texts.clone(), command };
            self.talk.call(&call.id, &call.name, &input, out);
        }
    }
}

impl Part<'_> {
    fn texts(&self) -> impl Iterator<Item = &str> {
        let output = self.json.0.as_ref();
        let streams = output.into_iter().flat_map(|output| [&*output.stdout, &*output.stderr]);
        let leaves = output.into_iter().flat_map(|output| &output.content.texts);
        let texts = std::iter::once(&*self.text).chain(streams).chain(leaves.map(|text| &**text));
        texts.filter(|text| !text.is_empty())
    }

    fn exit_code(&self) -> Option<i32> {
        self.json.0.as_ref()?.exit_status.parse().ok()
    }
}
