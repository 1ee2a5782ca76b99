//! Chat messages, in an array, an object or lines.

use super::{Format, check, read, words};

#[test]
fn messages_of_strings_and_of_blocks() {
    let input = r#"[{"role":"system","content":"Say EXIT_SIGNAL: true."},
{"role":"user","content":"Go."},
{"role":"assistant","content":null,"tool_calls":[{"function":{"arguments":"{}"}}]},
{"role":"tool","content":"ok"},
{"role":"assistant","content":[{"type":"thinking","thinking":"Hm."},{"type":"text","text":"One."},{"type":"tool_use","id":"c","name":"Bash","input":{"command":"make"}}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","is_error":true,"content":[{"type":"text","text":"bad"}]}]},
{"role":"assistant","content":"Done."}]"#;
    check(
        Format::ChatJson,
        input,
        &[
            "1 system: Say EXIT_SIGNAL: true.",
            "2 --- prompt",
            "2 user: Go.",
            "3 tool: {}",
            "4 tool: ok",
            "5 thinking: Hm.",
            "5 assistant: One.",
            "5 tool: make",
            "6 tool: bad",
            "6 failed: bad",
            "7 assistant: Done.",
        ],
    );
}

#[test]
fn thoughts_in_the_content_are_not_the_word() {
    for (content, word) in [
        ("<think>COMPLETE</think>Not yet.", Some("Not yet.")),
        ("COMPLETE</think>", None),
        ("<think>COMPLETE", None),
        ("Put <think> around it.", Some("Put <think> around it.")),
    ] {
        let input = format!(
            r#"[{{"role":"user","content":"Go."}},{{"role":"assistant","content":"{content}"}}]"#
        );
        assert_eq!(words(&input).first().map(String::as_str), word, "{content}");
    }
}

#[test]
fn a_later_prompt_ends_the_turn() {
    let input = r#"[{"role":"assistant","content":"COMPLETE"},{"role":"user","content":"No."}]"#;
    assert!(words(input).is_empty());
}

#[test]
fn a_trajectory_of_mini_swe_agent() {
    let input = r#"{"info":{"model_stats":{"instance_cost":0.25,"api_calls":2},"config":{"model":{"model_name":"m"}},"exit_status":"Submitted","submission":"COMPLETE"},
 "messages":[{"role":"system","content":"You code."},{"role":"user","content":"Go."},
 {"role":"assistant","content":"First.","tool_calls":[{"function":{"arguments":"{}"}}],"extra":{"actions":[{"command":"make","tool_call_id":"c"}],"cost":0.1}},
 {"role":"tool","tool_call_id":"c","content":"bad","extra":{"raw_output":"bad","returncode":2}},
 {"role":"assistant","content":"Done.","extra":{"actions":[{"command":"echo ok"}]}},
 {"role":"user","content":"COMPLETE","extra":{"raw_output":"COMPLETE","returncode":0}},
 {"role":"exit","content":"COMPLETE","extra":{"exit_status":"Submitted"}}],"trajectory_format":"mini-swe-agent-1.1"}"#;
    check(
        Format::ChatJson,
        input,
        &[
            "model m",
            "1 system: You code.",
            "2 --- prompt",
            "2 user: Go.",
            "3 assistant: First.",
            "3 tool: make",
            "4 tool: bad",
            "4 failed: bad",
            "4 ran: make -> 2",
            "5 assistant: Done.",
            "5 tool: echo ok",
            "6 tool: COMPLETE",
            "6 ran: echo ok -> 0",
            "7 system: COMPLETE",
            "usage - tokens, 250000 µ$, - ms",
        ],
    );
    for end in 0..input.len() {
        let said = words(&input[..end]).concat();
        assert!(!said.contains("COMPLETE"), "{said}");
    }
}

#[test]
fn two_messages_on_lines_are_a_transcript_and_one_is_an_answer() {
    let line = r#"{"role":"assistant","content":"COMPLETE"}"#;
    let prompt = r#"{"role":"user","content":"Go."}"#;
    for (input, format, word) in [
        (format!("{line}\n{prompt}\n{line}\n"), Format::ChatJson, Some("COMPLETE")),
        (format!("{prompt}\n{line}\n"), Format::ChatJson, Some("COMPLETE")),
        (format!("{line}\n{prompt}\n"), Format::ChatJson, None),
        (format!("{prompt}\n{}\n", line.replace("assistant", "tool")), Format::ChatJson, None),
        (format!("{line}\n"), Format::Text, None),
        (format!("{{\"messages\":[{line}]}}"), Format::Text, None),
    ] {
        let (format_read, lines) = read(&input);
        assert_eq!(format_read, Some(format), "{input}");
        let said = lines.last.words().next().map(|word| word.text.as_str());
        assert_eq!(said, word, "{input}");
    }
    // In what an agent prints, messages are an example.
    for printed in [format!("So:\n{prompt}\n{line}\n"), format!("{prompt}\nOr:\n{line}\n")] {
        assert_eq!(read(&printed).0, Some(Format::Text), "{printed}");
    }
}

#[test]
fn what_clines_agent_completes_with_is_its_last_word() {
    let xml = r#"All is in place.\n\n<attempt_completion>\n<result>\nCOMPLETE\n</result>\n</attempt_completion>"#;
    let call = r#"[{"type":"text","text":"All is in place."},{"type":"tool_use","id":"c","name":"attempt_completion","input":{"command":"open x","result":"COMPLETE"}}]"#;
    for content in [format!("\"{xml}\""), call.to_owned()] {
        let input = format!(
            r#"[{{"role":"user","content":"Go."}},{{"role":"assistant","content":{content}}}]"#
        );
        let word = words(&input).remove(0);
        assert!(word.starts_with("All is in place.") && word.ends_with("\nCOMPLETE"), "{word}");
        assert!(words(&input.replace("\"assistant\"", "\"user\"")).is_empty(), "{input}");
    }
}

#[test]
fn the_output_of_a_command_is_no_prompt_in_mini_swe_agent_1() {
    let run = |status: &str, last: &str| {
        format!(
            r#"{{"info":{{"exit_status":"{status}"}},"messages":[{{"role":"system","content":"You code."}},
 {{"role":"user","content":"Go."}},{{"role":"assistant","content":"First."}},
 {{"role":"user","content":"<returncode>2</returncode>\nbad"}},
 {{"role":"assistant","content":"Done."}},{{"role":"user","content":"{last}"}}],"trajectory_format":"mini-swe-agent-1"}}"#
        )
    };
    check(
        Format::ChatJson,
        &run("Submitted", "COMPLETE"),
        &[
            "1 system: You code.",
            "2 --- prompt",
            "2 user: Go.",
            "3 assistant: First.",
            "4 tool: <returncode>2</returncode>⏎bad",
            "4 failed: <returncode>2</returncode>⏎bad",
            "5 assistant: Done.",
            "6 tool: COMPLETE",
        ],
    );
    for (status, last, word) in [
        ("Submitted", "COMPLETE", Some("Done.")),
        ("LimitsExceeded", "", Some("Done.")),
        ("LimitsExceeded", "<returncode>0</returncode>COMPLETE", Some("Done.")),
        ("LimitsExceeded", "The person says: COMPLETE", None),
    ] {
        let words = words(&run(status, last));
        assert_eq!(words.first().map(String::as_str), word, "{status} {last}");
    }
}
