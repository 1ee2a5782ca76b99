//! What clients say that must not be taken at its word, and what they do not say.

use std::io::Write;
use std::thread;
use std::time::Duration;

use super::talk::*;
use super::*;

#[test]
fn what_cannot_be_decided_is_refused_once_and_never_a_pass() {
    for agent in agents() {
        let broken = format!("{RED}zzz = 1\n");
        let ran = project("").again("man").file("gate.toml", broken).code(0);
        // Nobody knows what was approved any more.
        std::fs::remove_dir_all(ran.home().join(".local/share/gate/trust/texts")).unwrap();
        let ran = stops(agent, ran, CLAIM);
        let reason = refused(agent, &ran).unwrap_or_default();
        assert!(
            reason.contains("gate cannot decide") && reason.contains("gate.toml:3"),
            "{reason}"
        );
        let ran = stops(agent, ran, CLAIM).tells("could not decide, and let the agent stop");
        assert!(!ran.out().contains("decision"), "{agent}");
    }
}

#[test]
fn broken_settings_are_judged_by_their_approved_text() {
    let ran = PERSON.begins(green(""), "Go.");
    let ran = PERSON.does(ran, &format!("{MUL}; echo 'checks = [' > gate.toml"));
    let ran = refuses(PERSON.stops(ran, "Done."), "tests/mul.sh");
    let ran = ran.again("last").code(1);
    let ran = SCRIPT.does(SCRIPT.begins(ran, "Go on."), FIX);
    let ran = PERSON.stops(ran, CLAIM);
    let said = "changed since you approved it, and cannot be used (line 1";
    ran.again("check --json out.log").file("out.log", CLAIM).code(4).says(said);
}

#[test]
fn a_transcript_that_was_cut_is_no_proof_that_nothing_changed() {
    let ran = PERSON.begins(green(""), "Go.");
    let ran = PERSON.does(ran, MUL);
    let transcript = std::fs::read_dir(ran.path("")).unwrap().flatten().map(|entry| entry.path());
    let transcript = transcript.filter(|path| path.extension().is_some_and(|end| end == "jsonl"));
    for file in transcript {
        std::fs::write(file, "").unwrap();
    }
    refuses(PERSON.stops(ran, "Fine."), "tests/mul.sh");
}

#[test]
fn a_text_that_tests_read_is_no_prose() {
    let ran = PERSON.begins(green(""), "Go.");
    let template = "mkdir templates; echo hello > templates/mail.md; \
                    echo 'grep -q total templates/mail.md' > tests/mail.sh";
    let ran = refuses(PERSON.stops(PERSON.does(ran, template), "Done."), "tests/mail.sh");
    let ran = PERSON.does(ran, "echo total >> templates/mail.md");
    let ran = tells(PERSON.stops(ran, "Done."), "passed: tests");
    let ran = PERSON.does(PERSON.prompt(ran, "Go."), "mkdir docs; echo a > docs/use.md");
    silent(PERSON.stops(ran, "Done."));
}

#[test]
fn what_was_let_go_undecided_is_the_last_thing_that_happened() {
    let ran = stops("codex", project(STRICT).again("prompt").setup("touch fixed").code(0), CLAIM);
    let mut ran = ran.again("last").code(0);
    let (mut event, _) = event("qwen", &ran, CLAIM);
    event["transcript_path"] = "/nowhere.jsonl".into();
    for _ in 0..2 {
        ran = hooked(ran.again("hook qwen"), &event);
    }
    let ran = ran.again("last").code(5).tells("let go, undecided").tells("/nowhere.jsonl");
    let ran = ran.again("log").setup("echo >>work").code(0).says("undecided");
    let ran = stops("codex", ran, CLAIM);
    ran.again("last").code(0);
}

#[test]
fn an_event_ends_with_its_object_and_not_with_the_pipe() {
    let ran = project("");
    let (event, _) = event("codex", &ran, CLAIM);
    let ran = ran.again("hook codex").feed(move |stdin| {
        stdin.write_all(event.to_string().as_bytes())?;
        // A client that never closes its side: only the hook's own end does.
        loop {
            thread::sleep(Duration::from_millis(20));
            stdin.write_all(b"\n")?;
        }
    });
    assert!(refused("codex", &ran.code(0)).unwrap().contains("tests failed"));
}

#[test]
fn garbage_lets_the_agent_go_and_records_no_pass() {
    for (words, input) in [
        ("hook claude-code", &b"garbage"[..]),
        ("hook codex", b"[]"),
        ("hook gemini", b""),
        ("hook qwen", b"{\"session_id\":"),
        ("hook copilot", b"\xff\xfe{}"),
    ] {
        let ran = project("").again(words).stdin(input).code(0).tells("could not decide");
        assert!(!ran.out().contains("\"decision\""), "{words}");
        ran.again("last").code(5);
    }
}

#[test]
fn a_missing_transcript_is_no_pass() {
    // A hook waits for its transcript for two seconds: the agents wait side by side.
    thread::scope(|scope| {
        for agent in ["qwen", "copilot", "droid"] {
            scope.spawn(move || misses_its_transcript(agent));
        }
    });
}

fn misses_its_transcript(agent: &str) {
    let ran = project("").again("prompt").setup("touch fixed").code(0);
    let (mut event, _) = event(agent, &ran, CLAIM);
    event["transcript_path"] = "/nowhere.jsonl".into();
    let ran = hooked(ran.again(&format!("hook {agent}")), &event);
    assert!(refused(agent, &ran).unwrap().contains("transcript"), "{agent}");
    let ran = hooked(ran.again(&format!("hook {agent}")), &event);
    assert!(!ran.out().contains("decision"), "{agent}");
    // A file of another kind is none either.
    event["session_id"] = "s2".into();
    event["transcript_path"] = ran.path("session.jsonl").display().to_string().into();
    let run = ran.again(&format!("hook {agent}")).file("session.jsonl", CLAIM);
    let ran = hooked(run, &event);
    assert!(refused(agent, &ran).unwrap().contains("transcript"), "{agent}");
    ran.again("last").code(5);
}

#[test]
fn the_event_of_gemini_serves_where_it_writes_no_session_file() {
    let ran = project(STRICT).again("prompt").code(0);
    let (mut event, _) = event("gemini", &ran, CLAIM);
    event["transcript_path"] = "/nowhere.jsonl".into();
    event["prompt_response"] = format!("I begin. {CLAIM}").into();
    let ran = hooked(ran.again("hook gemini"), &event);
    assert!(refused("gemini", &ran).unwrap().contains("tests failed"));
    // A file of another kind is no session file.
    event["transcript_path"] = ran.path("other.jsonl").display().to_string().into();
    let ran = hooked(ran.again("hook gemini").file("other.jsonl", "x"), &event);
    assert!(refused("gemini", &ran).unwrap().contains("tests failed"));
    let ran = hooked(ran.again("hook gemini").setup("touch fixed"), &event);
    assert_eq!(refused("gemini", &ran), None);
    let ran = ran.again("last").code(0);
    // Without a text nothing can be read, as before.
    event.as_object_mut().unwrap().remove("prompt_response");
    event["session_id"] = "s2".into();
    let ran = hooked(ran.again("hook gemini").setup("echo >>work"), &event);
    assert!(refused("gemini", &ran).unwrap().contains("transcript"));
}

#[test]
fn what_qwen_thought_and_gemini_joined_is_not_the_last_word() {
    for agent in ["gemini", "qwen"] {
        let ran = project(STRICT).again("prompt").setup("touch fixed").code(0);
        let (mut event, transcript) = event(agent, &ran, "The parser is not finished.");
        for key in ["prompt_response", "last_assistant_message"] {
            event[key] = CLAIM.into();
        }
        let run = ran.again(&format!("hook {agent}")).file("session.jsonl", transcript);
        let ran = hooked(run, &event);
        assert!(refused(agent, &ran).is_some(), "{agent}");
    }
}

#[test]
fn the_message_counts_where_the_transcript_is_behind() {
    let ran = project(STRICT).again("prompt").setup("touch fixed").code(0);
    let record = |kind: &str, content: Value| {
        json!({ "type": kind, "sessionId": "s1", "uuid": kind, "parentUuid": null, "isSidechain": false,
            "message": { "role": kind, "content": content, "id": "m", "model": "m" } })
    };
    let transcript = jsonl(&[
        record("user", "Answer with EXIT_STATUS: COMPLETE when all is done.".into()),
        record("assistant", json!([{ "type": "text", "text": "I begin." }])),
    ]);
    let (mut event, _) = event("claude-code", &ran, CLAIM);
    event["transcript_path"] = ran.path("session.jsonl").display().to_string().into();
    let run = ran.again("hook claude-code").file("session.jsonl", &transcript);
    let ran = hooked(run, &event);
    assert_eq!(ran.out(), "");
    let ran = ran.again("last --json").code(0);
    assert_eq!(ran.json()["transcript"]["format"], "claude-session");
    // The prompt's words, quoted in the transcript alone, are nobody's claim.
    event["last_assistant_message"] = "I begin.".into();
    event["session_id"] = "s2".into();
    let run = ran.again("hook claude-code").setup("echo >>work").file("session.jsonl", &transcript);
    hooked(run, &event).again("last").code(1);
}

#[test]
fn the_project_is_where_the_session_began() {
    let ran = project("");
    let (mut event, _) = event("claude-code", &ran, CLAIM);
    event["cwd"] = "/".into();
    let folder = ran.path("").into_os_string();
    let run = ran.again("-C / hook claude-code").env("CLAUDE_PROJECT_DIR", folder);
    assert!(refused("claude-code", &hooked(run, &event)).is_some());
}

#[test]
fn a_transcript_that_is_behind_its_client_says_nothing() {
    let fixed = |agent: &str| {
        let ran = project(STRICT).again("prompt").setup("touch fixed").code(0);
        let (event, transcript) = event(agent, &ran, CLAIM);
        (ran, event, transcript)
    };
    // Copilot writes down that it calls the hook.
    let (ran, mut event, mut transcript) = fixed("copilot");
    event["timestamp"] = "2026-11-02T10:00:09Z".into();
    let called = json!({ "type": "hook.start", "id": "3", "timestamp": "t", "parentId": "2",
        "data": { "hookType": "agentStop", "input": { "timestamp": 1_793_613_600_000_i64 } } });
    transcript += &format!("{called}\n");
    let run = ran.again("hook copilot").file("session.jsonl", &transcript);
    assert!(refused("copilot", &hooked(run, &event)).unwrap().contains("no transcript of this"));
    // A tool's call is nobody's last word.
    let (ran, event, transcript) = fixed("copilot");
    let asked = transcript.replace("\"toolRequests\":[]", "\"toolRequests\":[{\"name\":\"bash\"}]");
    let run = ran.again("hook copilot").file("session.jsonl", asked);
    assert!(refused("copilot", &hooked(run, &event)).is_some());
    // It begins the file with the session.
    let (ran, event, transcript) = fixed("copilot");
    let began = json!({ "type": "hook.start", "data": { "hookType": "sessionStart" }, "id": "1" });
    let began = format!("{}\n{began}\n", transcript.lines().next().unwrap());
    let ran = hooked(ran.again("hook copilot").file("session.jsonl", began), &event);
    assert!(refused("copilot", &ran).unwrap().contains("no transcript of this"));
    // Qwen tells what was said, behind what was thought.
    let (ran, mut event, transcript) = fixed("qwen");
    event["last_assistant_message"] = "Hm. EXIT_STATUS: CONTINUE".into();
    let run = ran.again("hook qwen").file("session.jsonl", transcript);
    let ran = hooked(run, &event);
    assert!(refused("qwen", &ran).unwrap().contains("no transcript of this stop"));
    ran.again("last").code(5);
}

#[test]
fn of_a_long_transcript_the_end_is_read_where_the_last_word_is_told() {
    let ran = project(STRICT).again("prompt").setup("touch fixed").code(0);
    let record = |id: &str, text: &str| {
        json!({ "type": "assistant", "sessionId": "s1", "uuid": id, "isSidechain": false,
            "message": { "role": "assistant", "id": id, "model": "m",
                "content": [{ "type": "text", "text": text }] } })
    };
    let mut lines = vec![json!({ "type": "user", "sessionId": "s1", "uuid": "u",
        "message": { "role": "user", "content": "Go." } })];
    lines.extend(
        (0..20_000).map(|at| record(&format!("m{at}"), "I go on with the next part of it.")),
    );
    lines.push(record("last", CLAIM));
    let (mut event, _) = event("claude-code", &ran, CLAIM);
    event["transcript_path"] = ran.path("session.jsonl").display().to_string().into();
    let run = ran.again("hook claude-code").file("session.jsonl", jsonl(&lines));
    let ran = hooked(run, &event);
    assert_eq!(ran.out(), "");
    let decision = ran.again("last --json").code(0).json();
    let transcript = &decision["transcript"];
    assert_eq!(transcript["format"], "claude-session");
    assert!(transcript["skipped"].as_u64().unwrap() > 3_000_000, "{transcript}");
    assert_eq!(decision["usage"]["partial"], true);
}
