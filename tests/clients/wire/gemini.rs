//! Gemini's generateContent.

use serde_json::{Value, json};

use super::Said;

pub(super) fn message(said: &Said) -> Value {
    let text = json!({"text": said.text});
    let call = said
        .call
        .iter()
        .map(|(name, input)| json!({"functionCall": {"name": name, "args": input}}));
    let parts: Vec<_> = [text].into_iter().chain(call).collect();
    json!({
        "candidates": [{
            "index": 0,
            "content": {"role": "model", "parts": parts},
            "finishReason": "STOP",
        }],
        "usageMetadata":
            {"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120},
        "modelVersion": "fake",
    })
}
