//! Codex: the stream of `codex exec --json`, and its session file.

use crate::lines::{dressed, noise};
use crate::ways::Format;
use crate::{Item, json};

pub(crate) const EXEC: Format = Format {
    head: "{\"type\":\"thread.started\",\"thread_id\":\"t0\"}\n{\"type\":\"turn.started\"}\n",
    record: |item| any(&exec(item), item),
    idle: |words| {
        let item = format!(
            r#"{{"id":"i","type":"command_execution","command":"ls","aggregated_output":{words:?},"exit_code":0}}"#
        );
        format!("{{\"type\":\"item.completed\",\"item\":{item}}}\n")
    },
};

pub(crate) const ROLLOUT: Format = Format {
    head: "{\"type\":\"session_meta\",\"payload\":{\"id\":\"s\"}}\n",
    record: |item| if item.kind < 50 { any(&rollout(item), item) } else { twice(item) },
    idle: |words| {
        format!(
            "{{\"type\":\"response_item\",\"payload\":{{\"type\":\"function_call_output\",\"call_id\":\"c0\",\"output\":{words:?}}}}}\n"
        )
    },
};

fn any(record: &str, item: &Item) -> Vec<u8> {
    if record.is_empty() { noise(item) } else { dressed(&format!("{{{record}}}"), item) }
}

fn exec(item: &Item) -> String {
    let (text, more) = (json(item.text, item.vary), json(item.more, 1));
    let completed = |item: &str| format!(r#""type":"item.completed","item":{{{item}}}"#);
    match item.kind % 21 {
        0..6 => completed(&format!(r#""id":"i","type":"agent_message","text":{text}"#)),
        6 => completed(&format!(r#""type":"agent_messag\u0065","text":{text}"#)),
        7 => completed(&format!(r#""type":"reasoning","text":{text}"#)),
        8 => completed(&format!(r#""type":"error","message":{text}"#)),
        9 | 10 => completed(&format!(
            r#""id":"i{}","type":"command_execution","command":{more},"aggregated_output":{text},"exit_code":{},"status":"{}""#,
            item.id,
            item.vary % 3,
            ["completed", "declined", "failed"][item.id]
        )),
        11 => completed(&format!(
            r#""type":"mcp_tool_call","arguments":{{"a":{text}}},"error":{{"message":{more}}}"#
        )),
        12 => format!(r#""type":"item.started","item":{{"type":"agent_message","text":{text}}}"#),
        13 => format!(
            r#""type":"item.updated","item":{{"type":"todo_list","items":[{{"text":{text}}}]}}"#
        ),
        14 => r#""type":"turn.started""#.to_owned(),
        15 => format!(r#""type":"turn.completed","usage":{{"input_tokens":{}}}"#, item.vary),
        16 => format!(r#""type":"turn.failed","error":{{"message":{text}}}"#),
        17 => format!(r#""type":"error","message":{text}"#),
        18 => format!(r#""type":"thread.started","thread_id":"t{}""#, item.id),
        19 => completed(&format!(r#""type":null,"text":{text}"#)),
        _ => String::new(),
    }
}

/// A text in both of its places, or in what looks like them.
fn twice(item: &Item) -> Vec<u8> {
    let Item { text, more, id, vary, .. } = *item;
    let model = |text: &str, escaped: usize| {
        let text = json(text, escaped);
        format!(
            r#"{{"type":"response_item","payload":{{"type":"message","role":"assistant","content":[{{"type":"output_text","text":{text}}}]}}}}"#
        )
    };
    let screen = |text: &str, escaped: usize| {
        let text = json(text, escaped);
        let shown = match vary & 2 {
            0 => format!(r#""type":"agent_message","message":{text}"#),
            _ => format!(
                r#""type":"item_completed","item":{{"type":"AgentMessage","content":[{{"type":"Text","text":{text}}}]}}"#
            ),
        };
        format!(r#"{{"type":"event_msg","payload":{{{shown}}}}}"#)
    };
    let padded = format!("\t {text}\r\n\n");
    let other = match item.kind - 50 {
        0..5 => text,
        5..8 => &padded,
        8 => text.trim(),
        9 => text.trim_end_matches(['\\', 'n']),
        10 => more,
        11 => return format!("{}\n", model(text, 1)).repeat(40).into(),
        12 => return format!("{}\n{}\n", model(text, id), model(text, 1)).into(),
        _ => return format!("{}\n{}\n", screen(text, id), screen(&padded, 1)).into(),
    };
    let (one, two) = match vary & 1 {
        0 => (model(text, id), screen(other, vary & 4)),
        _ => (screen(text, id), model(other, vary & 4)),
    };
    let between = match vary & 8 {
        0 => String::new(),
        _ => (ROLLOUT.idle)("words of a tool"),
    };
    format!("{one}\n{between}{two}\n").into()
}

fn rollout(item: &Item) -> String {
    let (text, more) = (json(item.text, item.vary), json(item.more, 1));
    let response = |payload: &str| {
        format!(r#""timestamp":"t","type":"response_item","payload":{{{payload}}}"#)
    };
    let event =
        |payload: &str| format!(r#""timestamp":"t","type":"event_msg","payload":{{{payload}}}"#);
    let message = |role: &str, parts: &str| {
        response(&format!(r#""type":"message","role":"{role}","content":[{parts}]"#))
    };
    let part = |text: &str| format!(r#"{{"type":"output_text","text":{text}}}"#);
    match item.kind % 25 {
        0..4 => message("assistant", &part(&text)),
        4..8 => event(&format!(r#""type":"agent_message","message":{text}"#)),
        8 => message("assistant", &format!("{},{}", part(&text), part(&more))),
        9 => message("user", &part(&text)),
        10 => event(&format!(r#""type":"user_message","message":{text}"#)),
        11 => message("user", &part(r#""<hook_prompt>go on""#)),
        12 => message("user", &part(r#""<subagent_notification>ended""#)),
        13 => message("developer", &part(&text)),
        14 => response(&format!(
            r#""type":"function_call","name":"shell","call_id":"c{}","arguments":{}"#,
            item.id,
            json(&format!("{{\"command\":{more}}}"), 1)
        )),
        15 | 16 => response(&format!(
            r#""type":"function_call_output","call_id":"c{}","output":{text}"#,
            item.id
        )),
        17 => response(&format!(r#""type":"reasoning","summary":[{{"text":{text}}}]"#)),
        18 => event(&format!(
            r#""type":"exec_command_end","call_id":"c{}","exit_code":{}"#,
            item.id,
            item.vary % 2
        )),
        19 => event(&format!(
            r#""type":"token_count","info":{{"total_token_usage":{{"input_tokens":{}}}}}"#,
            item.vary
        )),
        20 => event(&format!(r#""type":"task_complete","last_agent_message":{text}"#)),
        21 => event(&format!(
            r#""type":"item_completed","item":{{"type":"AgentMessage","content":[{}]}}"#,
            part(&text)
        )),
        22 => event(&format!(r#""type":"error","message":{text}"#)),
        23 => format!(r#""type":"compacted","payload":{{"message":{text}}}"#),
        _ => String::new(),
    }
}
