//! `cline --json`.

use super::{Format, check, events, has_problem, words};
use crate::ProblemKind;

const START: &str = r#"{"ts":"2026-08-22T13:00:00.000Z","type":"run_start","providerId":"anthropic","modelId":"m","catalog":"live","thinking":"off","mode":"act","sessionId":"s1"}"#;

fn event(event: &str) -> String {
    format!(r#"{{"ts":"2026-08-22T13:00:01.000Z","type":"agent_event","event":{{{event}}}}}"#)
}

fn says(text: &str) -> String {
    event(&format!(r#""type":"content_end","contentType":"text","text":"{text}""#))
}

fn result(reason: &str, text: &str) -> String {
    format!(
        r#"{{"ts":"t","type":"run_result","finishReason":"{reason}","iterations":2,"usage":{{"inputTokens":10,"outputTokens":5,"totalCost":0.02}},"durationMs":900,"text":"{text}","model":{{"id":"m"}}}}"#
    )
}

#[test]
fn a_whole_run() {
    let call = r#""type":"content_start","contentType":"tool","toolName":"run_commands","toolCallId":"c1","input":{"command":"make"}"#;
    let answer = r#""type":"content_end","contentType":"tool","toolName":"run_commands","toolCallId":"c1","output":[{"query":"make","result":"","success":false,"error":"bad"}]"#;
    let input = [
        START.to_owned(),
        event(r#""type":"iteration_start","iteration":1"#),
        event(r#""type":"content_end","contentType":"reasoning","reasoning":"Hm.""#),
        event(r#""type":"content_start","contentType":"text","text":"I be","accumulated":"I be""#),
        says("I begin."),
        event(call),
        event(answer),
        says("Done."),
        event(r#""type":"done","reason":"completed","text":"Done.","iterations":2"#),
        result("completed", "Done."),
    ];
    check(
        Format::ClineStream,
        &input.join("\n"),
        &[
            "session s1",
            "model m",
            "3 thinking: Hm.",
            "5 assistant: I begin.",
            "6 tool: make",
            "7 tool: make⏎bad",
            "7 failed: make⏎bad",
            "8 assistant: Done.",
            "usage 15 tokens, 20000 µ$, 900 ms",
        ],
    );
    assert_eq!(words(&input.join("\n")), ["Done."]);
}

#[test]
fn what_the_agent_passed_to_the_tool_that_ends_a_run_is_its_last_word() {
    let input = [START.to_owned(), says("I begin."), result("completed", "All is done.")];
    assert_eq!(words(&input.join("\n")), ["All is done."]);
}

#[test]
fn sub_agents_and_teams_are_not_the_agent() {
    let claims = "EXIT_STATUS: COMPLETE";
    let inner = event(&format!(
        r#""type":"content_end","contentType":"text","parentAgentId":"a","text":"{claims}""#
    ));
    let done = event(&format!(
        r#""type":"done","reason":"completed","parentAgentId":"a","text":"{claims}""#
    ));
    let team = format!(
        r#"{{"ts":"t","type":"team_event","event":{{"type":"run_progress","message":"{claims}"}}}}"#
    );
    for record in [inner, done, team] {
        let input = [START.to_owned(), says("Not yet."), record.clone()].join("\n");
        assert_eq!(words(&input), ["Not yet."], "{record}");
    }
}

#[test]
fn a_failed_run_says_nothing_for_the_agent() {
    let lines =
        events(Format::ClineStream, &[START, &result("error", "401 invalid API key")].join("\n"));
    assert_eq!(lines[2..4], ["2 system: 401 invalid API key", "2 error: 401 invalid API key"]);
}

#[test]
fn another_run_in_one_log_begins_a_turn_and_a_cut_off_one_is_told() {
    let first = [START.to_owned(), says("Done.")].join("\n");
    assert_eq!(words(&[first.as_str(), START].join("\n")), [""; 0]);
    let later = [first.clone(), "warning".to_owned(), says("And more")].join("\n");
    let cut = &later[..later.len() - 7];
    assert_eq!(words(cut), ["Done."]);
    assert!(has_problem(cut, ProblemKind::Torn) && has_problem(cut, ProblemKind::Noise));
}
