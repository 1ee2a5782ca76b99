//! Telling formats apart.

use super::{read, read_pieces, words};
use crate::read::{Forced, Format};

fn found(input: &str) -> Format {
    read(input).0.unwrap_or(Format::Text)
}

const STREAM: &str =
    r#"{"type":"assistant","message":{"content":[{"type":"text","text":"Hi"}]},"session_id":"s"}"#;
const SESSION: &str = r#"{"type":"user","message":{"content":"Hi"},"sessionId":"s","uuid":"u"}"#;
const RESULT: &str = r#"{"type":"result","subtype":"success","is_error":false,"result":"Hi"}"#;
const EXEC: &str = r#"{"type":"turn.started"}"#;

#[test]
fn the_first_known_record_decides() {
    for (input, format) in [
        (STREAM, Format::ClaudeStream),
        (SESSION, Format::ClaudeSession),
        (RESULT, Format::ClaudeJson),
        (r#"{"type":"summary","summary":"x","leafUuid":"u"}"#, Format::ClaudeSession),
        (r#"{"type":"queue-operation","sessionId":"s"}"#, Format::ClaudeSession),
        (
            r#"{"uuid":"u","subtype":"init","type":"system","tools":"TRIMMED"}"#,
            Format::ClaudeStream,
        ),
        (EXEC, Format::CodexExec),
        (r#"{"timestamp":"t","type":"session_meta","payload":{}}"#, Format::CodexRollout),
        (r#"{"type":"step_start","sessionID":"s","part":{}}"#, Format::OpencodeJson),
        (r#"{"type":"user.message","data":{}}"#, Format::Text),
        (r#"{"type":"result","sessionId":"s","exitCode":0,"usage":{}}"#, Format::Text),
        (r#"{"type":"result","status":"success","stats":{}}"#, Format::Text),
        (r#"{"session_id":"s","response":"x","stats":{}}"#, Format::Text),
        (r#"{"type":"message","role":"user","content":"x"}"#, Format::Text),
    ] {
        assert_eq!(found(input), format, "{input}");
        assert_eq!(
            found(&format!("# Log\n\n(node:1) Warning\n{{\"x\":1}}\n{input}\n{EXEC}\n")),
            match format {
                Format::Text => Format::CodexExec,
                format => format,
            },
            "{input}"
        );
    }
}

#[test]
fn a_record_longer_than_what_is_looked_at() {
    let long = "x".repeat(200_000);
    let input = format!(
        r#"{{"type":"result","subtype":"success","is_error":false,"result":"{long}","num_turns":1}}"#
    );
    assert_eq!(found(&input), Format::ClaudeJson);
    assert_eq!(words(&input), [long]);
}

#[test]
fn an_example_in_a_fence_is_no_record() {
    let input = format!("The format is:\n```json\n{RESULT}\n```\nThat is all.\n");
    assert_eq!(found(&input), Format::Text);
    assert_eq!(
        found(&format!("```\n{RESULT}\n--- RAW OUTPUT ---\n{STREAM}\n")),
        Format::ClaudeStream
    );
}

#[test]
fn a_log_header_before_a_record_decides() {
    let header = "OpenAI Codex v0.1.0\n--------\nuser\nx\nexec\n";
    assert_eq!(found(&format!("{header}{RESULT}\n")), Format::CodexText);
    assert_eq!(found(&format!("{RESULT}\n{header}")), Format::ClaudeJson);
    assert_eq!(found("OpenAI Codex v0.1.0 is out.\nIt is new.\n"), Format::Text);
    assert_eq!(found("user\nname\n"), Format::Text);
}

#[test]
fn an_agents_name_leaves_its_formats_to_choose_from() {
    let forced = |agent: &str, input: &str| {
        let forced = agent.parse::<Forced>().ok();
        assert!(forced.is_some(), "{agent}");
        read_pieces(input.as_bytes(), forced, 10).0.unwrap_or(Format::OpencodeJson)
    };
    assert_eq!(forced("claude", &format!("{EXEC}\n{STREAM}\n")), Format::ClaudeStream);
    assert_eq!(forced("codex", &format!("{STREAM}\n{EXEC}\n")), Format::CodexExec);
    assert_eq!(forced("codex-cli", "Done.\n"), Format::Text);
    assert_eq!(forced("claude-session", "Done.\n"), Format::ClaudeSession);
}
