//! Prompts and documents that hold a signal, as what an agent wrote: none ends a loop.
#![allow(clippy::disallowed_methods, reason = "the samples are files")]

use std::fs;
use std::path::Path;

use super::{Signal, Status, policy, turn};
use crate::decide::policy::Policy;
use crate::scan::scan;

/// The ways in which a document comes to be the agent's words.
fn embedded(text: &str) -> [(&'static str, String); 5] {
    let result = serde_json::json!({
        "type": "result", "subtype": "success", "is_error": false, "num_turns": 3,
        "result": text, "session_id": "0d9fb0c4-2a8d-4f5e-9d1a-6a1f4f1f2d10",
    });
    let error = "API Error: 529 {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}";
    let answer = "I have fixed the date parser and committed the change.";
    [
        ("plain text", text.to_owned()),
        ("before an API error", format!("{text}\n\n{error}\n")),
        ("before another answer", format!("{text}\n\n{answer}\n")),
        ("a JSON result", format!("{result}\n")),
        ("in a fence", format!("Here is the prompt file:\n\n````markdown\n{text}````\n")),
    ]
}

#[test]
fn no_prompt_opens_the_gate() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/prompts");
    let policy = Policy { signal: policy(), ..Policy::default() };
    let mut count = 0;
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        for (place, bytes) in embedded(&text) {
            let signal = scan(bytes.as_bytes(), &policy).unwrap().signal;
            assert_ne!(signal.status, Status::Complete, "{} {place}", path.display());
            assert!(!signal.near_misses.is_empty(), "{} {place}", path.display());
        }
        count += 1;
    }
    assert!(count >= 40, "only {count} documents");
}

#[track_caller]
fn check(message: &str, status: Status) {
    let signal = Signal::read(&turn(&[message]), &policy()).without_token();
    assert_eq!(signal.status, status, "{message}: {:?}", signal.near_misses);
}

#[test]
fn an_agent_that_speaks_of_the_prompt_and_then_ends_is_believed() {
    let said = "The prompt says: if all stories pass, reply with `<promise>COMPLETE</promise>`.\n\
                I checked each of them: they pass.\n\n";
    check(&format!("{said}<promise>COMPLETE</promise>\n"), Status::Complete);
    check(
        &format!("{said}<promise>COMPLETE</promise>\n\nThe tag ends the loop.\n"),
        Status::Absent,
    );
}

#[test]
fn a_report_in_items_is_no_prompt() {
    let report = "- Use the new parser in all callers\n- Run the migration at start\n\
                  - Keep the old table for a week\n- Write both formats\n\n\
                  I ran the suite: it is green.\n\n<promise>COMPLETE</promise>\n";
    check(report, Status::Complete);
}

#[test]
fn criteria_that_are_ticked_are_a_report() {
    check(
        "## Acceptance Criteria\n- [x] the store is gone\n- [x] it builds\n\n<promise>COMPLETE</promise>\n",
        Status::Complete,
    );
    check(
        "## Acceptance Criteria\n- the store is gone\n- it builds\n\n<promise>COMPLETE</promise>\n",
        Status::Absent,
    );
}
