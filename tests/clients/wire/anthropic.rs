//! Anthropic's Messages.

use serde_json::{Value, json};

use super::{Said, Sent, typed};

pub(super) fn message(asked: &Value, number: usize, said: &Said) -> Value {
    let text = json!({"type": "text", "text": said.text});
    let call = said.call.iter().map(|(name, input)| {
        json!({"type": "tool_use", "id": format!("toolu_{number}"), "name": name, "input": input})
    });
    let content: Vec<_> = [text].into_iter().chain(call).collect();
    json!({
        "id": format!("msg_{number}"),
        "type": "message",
        "role": "assistant",
        "model": asked["model"],
        "content": content,
        "stop_reason": if said.call.is_some() { "tool_use" } else { "end_turn" },
        "stop_sequence": null,
        "usage": {"input_tokens": 100, "output_tokens": 20},
    })
}

pub(super) fn stream(asked: &Value, number: usize, said: &Said) -> Sent {
    let whole = message(asked, number, said);
    let mut begun = whole.clone();
    begun["content"] = json!([]);
    begun["stop_reason"] = Value::Null;
    let mut list = vec![json!({"type": "message_start", "message": begun})];
    for (index, block) in whole["content"].as_array().unwrap().iter().enumerate() {
        let (start, delta) = pieces(block);
        list.extend([
            json!({"type": "content_block_start", "index": index, "content_block": start}),
            json!({"type": "content_block_delta", "index": index, "delta": delta}),
            json!({"type": "content_block_stop", "index": index}),
        ]);
    }
    let end = json!({"stop_reason": whole["stop_reason"], "stop_sequence": null});
    list.extend([
        json!({"type": "message_delta", "delta": end, "usage": {"output_tokens": 20}}),
        json!({"type": "message_stop"}),
    ]);
    typed(&list)
}

/// How a block begins, and what it is then.
fn pieces(block: &Value) -> (Value, Value) {
    let mut start = block.clone();
    if block["type"] == "text" {
        start["text"] = json!("");
        (start, json!({"type": "text_delta", "text": block["text"]}))
    } else {
        start["input"] = json!({});
        let input = block["input"].to_string();
        (start, json!({"type": "input_json_delta", "partial_json": input}))
    }
}
