//! The messages of kimi-cli, each in an envelope that names its type.

use super::Kimi;
use super::record::{Function, Message, Payload};
use crate::loose::{Leaves, Object};
use crate::out::Out;
use crate::{Boundary, Ending, Role};

impl Kimi {
    pub(super) fn message(&mut self, message: &Message<'_>, out: &mut Out<'_>) {
        let Some(payload) = &message.payload.0 else { return };
        match &*message.kind {
            "TurnBegin" | "SteerInput" => {
                self.prompt(Boundary::Prompt, &payload.user_input, out);
            }
            // The text comes as it is written, or in parts that were joined.
            "ContentPart" => match &*payload.kind {
                "text" => self.talk.delta("", &payload.text, out),
                _ => out.say(Role::Thinking, &payload.think),
            },
            "ToolCall" => self.tool_call(&payload.id, &payload.function, out),
            "ToolResult" => self.tool_result(payload, out),
            "SubagentEvent" => {
                out.say_all(Role::Tool, &payload.event.texts);
            }
            "HookResolved" if &*payload.action == "block" => {
                if payload.event.texts.iter().any(|event| event == "Stop") {
                    self.talk.turn(Boundary::HookFeedback, out);
                    out.say(Role::User, &payload.reason);
                }
            }
            "CompactionBegin" => self.talk.turn(Boundary::Compaction, out),
            "StepBegin" | "StepInterrupted" | "StepRetry" => self.talk.close(),
            "StatusUpdate" => {
                if let Some(tokens) = payload.token_usage.0.and_then(|usage| usage.total()) {
                    self.tokens.count(&payload.message_id, tokens);
                }
            }
            _ => out.say(Role::System, &payload.body),
        }
    }

    /// A call whose arguments are JSON in a string.
    pub(super) fn tool_call(
        &mut self,
        id: &str,
        function: &Object<Function<'_>>,
        out: &mut Out<'_>,
    ) {
        let Some(function) = &function.0 else { return };
        let as_text = |_| Leaves { texts: vec![function.arguments.0.clone()], command: None };
        let input: Leaves<'_> = serde_json::from_str(&function.arguments).unwrap_or_else(as_text);
        self.talk.call(id, &function.name, &input, out);
    }

    fn tool_result(&mut self, payload: &Payload<'_>, out: &mut Out<'_>) {
        let Some(result) = &payload.return_value.0 else { return };
        let output = result.output.texts.iter().map(|text| &**text);
        let texts = output.chain([&*result.message]).filter(|text| !text.is_empty());
        let text = texts.collect::<Vec<_>>().join("\n");
        let ending = Ending::failed_if(result.has_failed());
        self.talk.answer(&payload.tool_call_id, &text, ending, None, out);
    }
}
