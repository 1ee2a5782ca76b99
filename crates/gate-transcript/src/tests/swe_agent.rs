//! SWE-agent's trajectories.

use super::{Format, check, words};

/// A trajectory with these steps.
fn with(steps: &str) -> String {
    format!(
        r#"{{"trajectory":[{steps}],"history":[{{"role":"system","content":"You code."}},{{"role":"user","content":"COMPLETE","is_demo":true}},{{"role":"user","content":[{{"type":"text","text":"Go."}}]}},{{"role":"assistant","content":"COMPLETE"}},{{"role":"user","content":"COMPLETE"}}],"info":{{"exit_status":"submitted","submission":"COMPLETE","model_stats":{{"instance_cost":0.5,"tokens_sent":100,"tokens_received":9,"api_calls":2}}}},"replay_config":"{{\"agent\":{{\"model\":{{\"name\":\"m\"}}}}}}","environment":"main"}}"#
    )
}

fn step(thought: &str, action: &str, observation: &str) -> String {
    format!(
        r#"{{"action":"{action}","observation":"{observation}","response":"{thought}\n{action}","thought":"{thought}","query":[{{"role":"user","content":"COMPLETE"}}]}}"#
    )
}

#[test]
fn a_whole_run() {
    let reasoning = r#""reasoning_content":"Hm.","action":"make"#;
    let make = step("I build.", "make\\n", "bad").replacen(r#""action":"make"#, reasoning, 1);
    check(
        Format::SweAgentJson,
        &with(&[make, step("Done.", "submit", "diff")].join(",\n ")),
        &[
            "model m",
            "1 system: You code.",
            "1 --- prompt",
            "1 user: Go.",
            "1 thinking: Hm.",
            "1 assistant: I build.",
            "1 tool: make⏎",
            "1 tool: bad",
            "2 assistant: Done.",
            "2 tool: submit",
            "2 tool: diff",
            "usage 109 tokens, 500000 µ$, - ms",
        ],
    );
}

#[test]
fn only_the_agent_speaks_for_itself() {
    let exit = |action: &str, query: &str| {
        format!(
            r#"{{"action":"{action}","observation":"","response":"COMPLETE","thought":"COMPLETE"{query}}}"#
        )
    };
    for (end, word) in [
        (step("COMPLETE", "submit", ""), "COMPLETE"),
        (step("", "COMPLETE", ""), "Not yet."),
        (step("", "submit", "COMPLETE"), "Not yet."),
        (exit("", r#","query":[{"role":"user"}]"#), "COMPLETE"),
        // The harness ended the run.
        (exit("", r#","query":[{}]"#), "Not yet."),
        (exit("exit_cost", ""), "Not yet."),
    ] {
        let input = with(&[step("Not yet.", "make", ""), end].join(",\n "));
        assert_eq!(words(&input).first().map(String::as_str), Some(word), "{input}");
        for cut in 0..input.len() - 1 {
            assert!(!words(&input[..cut]).concat().contains("COMPLETE"), "{}", &input[..cut]);
        }
    }
}
