//! OpenAI's chat completions, which others speak too.

use serde_json::{Value, json};

use super::{Said, Sent, events};

pub(super) fn message(number: usize, said: &Said) -> Value {
    let mut whole = envelope("chat.completion", number);
    whole["choices"] = json!([{
        "index": 0,
        "message": spoken(number, said),
        "finish_reason": finish(said),
    }]);
    whole["usage"] = usage();
    whole
}

pub(super) fn stream(number: usize, said: &Said) -> Sent {
    let chunk = |delta: &Value, finish: Value| {
        let mut chunk = envelope("chat.completion.chunk", number);
        chunk["choices"] = json!([{"index": 0, "delta": delta, "finish_reason": finish}]);
        (None, chunk)
    };
    let mut last = envelope("chat.completion.chunk", number);
    last["usage"] = usage();
    last["choices"] = json!([]);
    let list = [
        chunk(&spoken(number, said), Value::Null),
        chunk(&json!({}), json!(finish(said))),
        (None, last),
    ];
    let mut sent = events(list);
    sent.body.push_str("data: [DONE]\n\n");
    sent
}

fn envelope(object: &str, number: usize) -> Value {
    json!({"id": format!("chatcmpl-{number}"), "object": object, "created": 1, "model": "fake"})
}

fn spoken(number: usize, said: &Said) -> Value {
    let mut spoken = json!({"role": "assistant", "content": said.text});
    if let Some((name, input)) = &said.call {
        let function = json!({"name": name, "arguments": input.to_string()});
        let id = format!("call_{number}");
        spoken["tool_calls"] =
            json!([{"index": 0, "id": id, "type": "function", "function": function}]);
    }
    spoken
}

fn finish(said: &Said) -> &'static str {
    if said.call.is_some() { "tool_calls" } else { "stop" }
}

fn usage() -> Value {
    json!({"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120})
}
