//! OpenAI's Responses.

use serde_json::{Value, json};

use super::{Said, Sent, typed};

pub(super) fn stream(number: usize, said: &Said) -> Sent {
    let items = items(number, said);
    let response = |status: &str, output: &[Value]| {
        json!({
            "id": format!("resp_{number}"),
            "object": "response",
            "status": status,
            "output": output,
            "usage": {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120},
        })
    };
    let begun = response("in_progress", &[]);
    let mut list = vec![json!({"type": "response.created", "response": begun})];
    for (index, item) in items.iter().enumerate() {
        let event = |what: &str| {
            let kind = format!("response.output_item.{what}");
            json!({"type": kind, "output_index": index, "item": item})
        };
        list.extend([event("added"), event("done")]);
    }
    let ended = response("completed", &items);
    list.push(json!({"type": "response.completed", "response": ended}));
    typed(&list)
}

fn items(number: usize, said: &Said) -> Vec<Value> {
    let content = json!([{"type": "output_text", "text": said.text, "annotations": []}]);
    let text = json!({
        "type": "message",
        "id": format!("msg_{number}"),
        "role": "assistant",
        "status": "completed",
        "content": content,
    });
    let call = said.call.iter().map(|(name, input)| {
        json!({
            "type": "function_call",
            "id": format!("fc_{number}"),
            "call_id": format!("call_{number}"),
            "name": name,
            "arguments": input.to_string(),
            "status": "completed",
        })
    });
    [text].into_iter().chain(call).collect()
}
