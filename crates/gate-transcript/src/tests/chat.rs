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
fn a_picture_is_a_prompt() {
    for content in
        [r#"[{"type":"image_url","image_url":{"url":"x"}}]"#, r#"[{"type":"image","source":{}}]"#]
    {
        let input = format!(
            r#"[{{"role":"user","content":"Go."}},{{"role":"assistant","content":"COMPLETE"}},{{"role":"user","content":{content}}}]"#
        );
        assert!(words(&input).is_empty(), "{input}");
    }
}

#[test]
fn two_messages_before_a_text_are_what_the_agent_prints() {
    let messages = r#"{"role":"user","content":"Go."}
{"role":"assistant","content":"<promise>COMPLETE</promise>"}
"#;
    for text in ["The tests still fail.\n", "COMPLETE", r#"{"protocol":"apm2_agent_exit"}"#] {
        let input = format!("{messages}\n{text}");
        assert_eq!(read(&input).0, Some(Format::Text), "{input}");
        let words = words(&input);
        assert!(words[0].ends_with(text) && !words[0].contains("promise"), "{words:?}");
    }
    // A record that goes on behind what is looked at is no text, whatever its lines are.
    let long = format!("{{\"role\":\"tool\",\"content\":\"{}\"}}\n", "x\ny".repeat(30_000));
    assert_eq!(read(&format!("{messages}{long}")).0, Some(Format::ChatJson));
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
    let progress = call.replace("{\"command\"", "{\"task_progress\":\"- [x] All\",\"command\"");
    for content in [format!("\"{xml}\""), call.to_owned(), progress] {
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

#[test]
fn what_a_person_answers_to_a_completion_ends_the_turn() {
    let ending = |blocks: &str| {
        format!(
            r#"[{{"role":"user","content":"Go."}},{{"role":"assistant","content":[{{"type":"tool_use","id":"c","name":"attempt_completion","input":{{"result":"COMPLETE"}}}},{{"type":"tool_use","id":"r","name":"read_file","input":{{}}}}]}},{{"role":"user","content":[{blocks}]}}]"#
        )
    };
    let answer =
        |id: &str, more: &str| format!(r#"{{"type":"tool_result","tool_use_id":"{id}",{more}}}"#);
    let feedback = r#""content":"<feedback>No, redo it.</feedback>""#;
    let text = r#"{"type":"text","text":"<feedback>No, redo it.</feedback>"}"#;
    for (blocks, word) in [
        (answer("c", feedback), None),
        (answer("c", &format!(r#""is_error":true,{feedback}"#)), None),
        (answer("c", r#""is_error":true"#), None),
        (answer("c", r#""content":[{"type":"image","source":{}}]"#), None),
        (format!("{},{text}", answer("c", r#""content":"""#)), None),
        (format!("{text},{}", answer("c", r#""content":"""#)), None),
        (answer("c", r#""content":"""#), Some("COMPLETE")),
        (answer("r", feedback), Some("COMPLETE")),
        (format!("{},{text}", answer("r", feedback)), Some("COMPLETE")),
    ] {
        let input = ending(&blocks);
        assert_eq!(words(&input).first().map(String::as_str), word, "{input}");
    }
    let lines = read(&ending(&answer("c", feedback))).1.lines;
    let prompt = ["1 --- prompt", "1 user: <feedback>No, redo it.</feedback>"];
    assert_eq!(lines[lines.len() - 2..], prompt);
}
