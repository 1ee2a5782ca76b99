//! The messages of kimi-cli, each in an envelope that names its type.

use super::Kimi;
use super::record::{Function, Message, Payload};
use crate::loose::{Leaves, Object};
use crate::out::Out;
use crate::{Boundary, Role};

impl Kimi {
    pub(super) fn message(&mut self, message: &Message<'_>, line: u64, out: &mut Out<'_>) {
        let Some(payload) = &message.payload.0 else { return };
        match &*message.kind {
            "TurnBegin" | "SteerInput" => {
                self.prompt(Boundary::Prompt, &payload.user_input, line, out);
            }
            // The text comes as it is written, or in parts that were joined.
            "ContentPart" => match &*payload.kind {
                "text" => self.speech.delta("", &payload.text, line, out),
                _ => out.say(Role::Thinking, &payload.think, line),
            },
            "ToolCall" => self.tool_call(&payload.id, &payload.function, line, out),
            "ToolResult" => self.tool_result(payload, line, out),
            "SubagentEvent" => {
                for text in &payload.event.texts {
                    out.say(Role::Tool, text, line);
                }
            }
            "HookResolved" if &*payload.action == "block" => {
                if payload.event.texts.iter().any(|event| event == "Stop") {
                    self.turn(Boundary::HookFeedback, line, out);
                    out.say(Role::User, &payload.reason, line);
                }
            }
            "CompactionBegin" => self.turn(Boundary::Compaction, line, out),
            "StepBegin" | "StepInterrupted" | "StepRetry" => self.speech.close(),
            "StatusUpdate" => {
                if let Some(used) = payload.token_usage.0.and_then(|usage| usage.total()) {
                    self.tokens.count(&payload.message_id, used);
                }
            }
            _ => out.say(Role::System, &payload.body, line),
        }
    }

    /// A call whose arguments are JSON in a string.
    pub(super) fn tool_call(
        &mut self,
        id: &str,
        function: &Object<Function<'_>>,
        line: u64,
        out: &mut Out<'_>,
    ) {
        let Some(function) = &function.0 else { return };
        let input = serde_json::from_str::<Leaves<'_>>(&function.arguments);
        let input = input.unwrap_or_else(|_| Leaves {
            texts: vec![function.arguments.0.clone()],
            command: None,
        });
        self.call(id, &function.name, &input, line, out);
    }

    fn tool_result(&mut self, payload: &Payload<'_>, line: u64, out: &mut Out<'_>) {
        let Some(result) = &payload.return_value.0 else { return };
        let output = result.output.texts.iter().map(|text| &**text);
        let texts = output.chain([&*result.message]).filter(|text| !text.is_empty());
        let text = texts.collect::<Vec<_>>().join("\n");
        self.answer(&payload.tool_call_id, &text, result.failed(), line, out);
    }
}
