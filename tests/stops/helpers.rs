//! Stops of helpers, with `[hook] subagents = "always"`.

use super::*;

const ALWAYS: &str = "[hook]\nsubagents = \"always\"\n";

/// A helper's transcript in which these tools are called, long after all files were written.
fn helper(tools: &[&str], time: &str) -> String {
    let record = |kind: &str, content: Value| {
        json!({ "type": kind, "isSidechain": true, "agentId": "a2", "timestamp": time,
            "message": { "role": kind, "content": content } })
    };
    let call = |tool: &&str| {
        let call =
            json!({ "type": "tool_use", "id": "t", "name": tool, "input": { "name": "Edit" } });
        record("assistant", json!([call]))
    };
    let mut lines = vec![record("user", "Look where prices are.".into())];
    lines.extend(tools.iter().map(call));
    lines.push(record("assistant", json!([{ "type": "text", "text": "In total." }])));
    jsonl(&lines)
}

/// The reply to the stop of a helper with this transcript.
fn stops_with(ran: Ran, transcript: &str) -> Ran {
    let (mut event, _) = event("claude-code", &ran, "In total.");
    event["hook_event_name"] = "SubagentStop".into();
    event["agent_id"] = "a2".into();
    event["agent_transcript_path"] = ran.path("../helper.jsonl").display().to_string().into();
    let run = ran.again("hook claude-code").file("../helper.jsonl", transcript);
    hooked(run, &event)
}

/// A project with a red check that the parent's turn has touched.
fn parents() -> Ran {
    let ran = at_rest(ALWAYS);
    let prompt = json!({ "session_id": "s1", "cwd": ran.path("").display().to_string(),
        "hook_event_name": "UserPromptSubmit", "prompt": "Go.", "prompt_id": "p1" });
    let ran = hooked(ran.again("hook claude-code").setup("touch fixed"), &prompt);
    ran.again("status").setup("rm fixed; echo >>work").code(0)
}

const LATER: &str = "2099-01-01T00:00:00.000Z";
const EARLIER: &str = "2001-01-01T00:00:00.000Z";

#[test]
fn a_helper_that_only_looked_is_let_go_and_the_parent_is_judged_all_the_same() {
    for (tools, time) in [
        (&["Grep", "Read", "Glob", "WebFetch"][..], EARLIER),
        (&[], EARLIER),
        (&["Bash", "Read"], LATER),
        (&["read_file", "run_shell_command"], LATER),
    ] {
        let ran = stops_with(parents(), &helper(tools, time));
        assert_eq!(ran.out(), "", "{tools:?}");
        let ran = ran.again("log").code(0).says("a sub-agent stopped that changed nothing");
        let ran = stops("claude-code", ran, "All is done.");
        assert!(refused("claude-code", &ran).is_some(), "{tools:?}");
    }
}

#[test]
fn a_helper_that_may_have_changed_something_is_judged() {
    for transcript in [
        helper(&["Read", "Edit"], EARLIER),
        helper(&["mcp__files__write"], EARLIER),
        helper(&["Task"], EARLIER),
        helper(&["Bash"], EARLIER),
        "no transcript".to_owned(),
        String::new(),
    ] {
        let ran = stops_with(parents(), &transcript);
        assert!(refused("claude-code", &ran).is_some(), "{transcript}");
    }
}
