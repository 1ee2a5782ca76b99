//! Amp's `--stream-json`.

use super::{Format, check};

#[test]
fn a_whole_run() {
    let input = r#"{"type":"system","subtype":"init","cwd":"/w","session_id":"T-1","tools":["Bash"]}
{"type":"user","message":{"role":"user","content":[{"type":"text","text":"Go."}]},"parent_tool_use_id":null,"session_id":"T-1"}
{"type":"assistant","message":{"type":"message","role":"assistant","content":[{"type":"tool_use","id":"c1","name":"Bash","input":{"cmd":"make"}}],"usage":{"input_tokens":10,"output_tokens":5}},"parent_tool_use_id":null,"session_id":"T-1"}
{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"{\"output\":\"bad\",\"exitCode\":2}","is_error":false}]},"parent_tool_use_id":null,"session_id":"T-1"}
{"type":"assistant","message":{"type":"message","role":"assistant","content":[{"type":"text","text":"Look."}]},"parent_tool_use_id":"c0","session_id":"T-1"}
{"type":"assistant","message":{"type":"message","role":"assistant","content":[{"type":"text","text":"Done."}]},"parent_tool_use_id":null,"session_id":"T-1"}
{"type":"result","subtype":"success","duration_ms":12,"is_error":false,"num_turns":2,"result":"Done.","session_id":"T-1"}
"#;
    check(
        Format::AmpStream,
        input,
        &[
            "session T-1",
            "2 --- prompt",
            "2 user: Go.",
            "3 tool: make",
            r#"4 tool: {"output":"bad","exitCode":2}"#,
            "4 ran: make -> 2",
            "5 tool: Look.",
            "6 assistant: Done.",
            "usage 15 tokens, - µ$, 12 ms",
        ],
    );
}
