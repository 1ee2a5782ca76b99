//! Sessions that begin, by what their clients say: the tree as it is then is what
//! their stops are compared with.

use gate_checks::baseline::Origin;

use super::*;
use crate::support::before::{changes, kept};

/// The agents whose clients say that a session begins, or send its first prompt.
fn agents_that_begin() -> impl Iterator<Item = &'static str> {
    agents().filter(|agent| {
        ["start", "prompt"].iter().any(|at| agents_with(at).any(|known| known == *agent))
    })
}

/// What the agent's client says when a session begins.
fn beginning(agent: &str, ran: &Ran, source: &str) -> Value {
    let cwd = ran.path("").display().to_string();
    let start = |more: Value| {
        let mut all = json!({ "session_id": "s1", "cwd": cwd, "hook_event_name": "SessionStart",
            "transcript_path": "/nowhere.jsonl", "source": source });
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        all
    };
    match agent {
        "codex" => start(json!({ "model": "m", "permission_mode": "bypassPermissions" })),
        "gemini" => start(json!({ "timestamp": "2026-11-02T10:00:00Z" })),
        "copilot" => start(json!({ "source": "new", "initial_prompt": "Go.",
            "timestamp": "2026-11-02T10:00:00Z" })),
        "droid" => start(json!({ "permission_mode": "default" })),
        "qwen" => json!({ "session_id": "s1", "cwd": cwd, "hook_event_name": "UserPromptSubmit",
            "transcript_path": "/nowhere.jsonl", "prompt": "Go.",
            "timestamp": "2026-11-02T10:00:00Z" }),
        "cursor" => json!({ "conversation_id": "s1", "generation_id": "g", "model": "m",
            "hook_event_name": "beforeSubmitPrompt", "workspace_roots": [cwd], "prompt": "Go.",
            "attachments": [] }),
        "goose" => json!({ "event": "SessionStart", "session_id": "s1" }),
        "opencode" => json!({ "hook_event_name": "chat.message", "session_id": "s1", "cwd": cwd,
            "client": "opencode" }),
        _ => start(json!({ "hook_event_name": facts(agent)["hook"]["events"]["start"].as_str() })),
    }
}

/// A session begins, and nobody hears of it.
#[track_caller]
fn begins(agent: &str, ran: Ran, source: &str) -> Ran {
    let event = beginning(agent, &ran, source);
    hooked(ran.again(&format!("hook {agent}")), &event).stdout("").stderr("")
}

/// Something is done in the work tree.
fn does(ran: Ran, script: &str) -> Ran {
    ran.again("prompt").setup(script).code(0)
}

/// The baseline that the last decision was compared with.
fn compared(ran: Ran) -> (Ran, String) {
    let ran = ran.again("last --json").run();
    let baseline = ran.json()["baseline"].as_str().unwrap().to_owned();
    (ran, baseline)
}

#[test]
#[ignore = "minutes: many sessions"]
fn what_was_there_before_is_no_change_and_what_is_done_later_is_one() {
    for agent in agents_that_begin() {
        let ran = does(project(""), "echo 'echo checked' >> check.sh; echo mine > mine.txt");
        let ran = begins(agent, ran, "startup");
        let taken = kept(&ran, "s1").unwrap_or_else(|| panic!("{agent} has none"));
        assert_eq!(taken.origin(), Origin::Session, "{agent}");
        assert_eq!(changes(&ran, "s1"), Vec::<String>::new(), "{agent}");
        let ran = does(ran, "echo 'exit 0' > check.sh");
        assert_eq!(changes(&ran, "s1"), ["check.sh"], "{agent}");
        let ran = stops(agent, ran, CLAIM);
        let (ran, baseline) = compared(ran);
        assert_eq!(baseline, taken.digest(), "{agent}");
        let ran = ran.again("log -n 9 --json").code(0);
        let first = &ran.json_lines()[0];
        assert_eq!((&first["type"], &first["actor"]), (&"hook_baseline".into(), &"gate".into()));
        let body = &first["body"];
        assert_eq!((&body["agent"], &body["session"]), (&agent.into(), &"s1".into()));
        assert_eq!(body["baseline"], taken.digest());
    }
}

#[test]
fn a_session_begins_once() {
    let ran = begins("claude-code", project(""), "startup");
    let first = kept(&ran, "s1").unwrap();
    let mut ran = does(ran, "echo 'exit 0' > check.sh");
    for source in ["resume", "compact", "clear", "startup"] {
        ran = begins("claude-code", ran, source);
        assert_eq!(kept(&ran, "s1").unwrap().digest(), first.digest(), "{source}");
    }
    assert_eq!(types(ran).1, ["hook_baseline"]);
}

#[test]
fn one_that_is_taken_up_again_has_one_unless_its_agent_has_acted() {
    let ran = begins("codex", project(""), "resume");
    assert!(kept(&ran, "s1").is_some());
    let ran = begins("codex", project(""), "compact");
    assert!(kept(&ran, "s1").is_none(), "its agent has acted");
    let ran = stops("codex", project(""), CLAIM);
    let (ran, history) = compared(does(ran, "echo 'exit 0' > check.sh"));
    let ran = begins("codex", ran, "resume");
    assert_eq!(kept(&ran, "s1").unwrap().digest(), history);
}

#[test]
fn a_sub_agent_and_a_session_without_a_name_have_none() {
    let ran = project("");
    let mut event = beginning("claude-code", &ran, "startup");
    event["agent_id"] = "a1".into();
    let ran = hooked(ran.again("hook claude-code"), &event).stdout("").stderr("");
    event.as_object_mut().unwrap().retain(|name, _| name != "agent_id" && name != "session_id");
    let ran = hooked(ran.again("hook claude-code"), &event).stdout("").stderr("");
    let (ran, types) = types(ran);
    assert!(types.is_empty() && kept(&ran, "s1").is_none(), "{types:?}");
}

#[test]
fn a_client_that_an_agent_started_has_none() {
    for (agent, mark) in
        [("claude-code", "CODEX_THREAD_ID"), ("codex", "CLAUDECODE"), ("gemini", "GEMINI_CLI")]
    {
        let ran = project("");
        let event = beginning(agent, &ran, "startup");
        let ran = hooked(ran.again(&format!("hook {agent}")).env(mark, "1"), &event).stdout("");
        let ran = ran.tells("another agent started this client").tells(mark);
        assert!(kept(&ran, "s1").is_none());
        // Nor has it one later: what is there now may be an agent's.
        let (ran, types) = types(begins(agent, ran, "resume"));
        assert_eq!(types, ["hook_no_baseline"], "{agent}");
        assert!(kept(&ran, "s1").is_none());
    }
    let ran = project("");
    let event = beginning("claude-code", &ran, "startup");
    let own = ran.again("hook claude-code").env("CLAUDECODE", "1").env("AI_AGENT", "claude-code");
    let ran = hooked(own, &event).stderr("");
    assert!(kept(&ran, "s1").is_some(), "the client's own marks say nothing");
}

#[test]
#[cfg(target_os = "linux")]
fn a_client_below_an_agents_program_has_none() {
    let call = format!("{} hook claude-code < event.json", crate::support::GATE);
    for (outer, expected) in [("codex", false), ("wrapper", true)] {
        let ran = project("");
        let event = beginning("claude-code", &ran, "startup").to_string();
        let run = ran.again("prompt").file("event.json", event);
        let run = run.script("../bin/claude", &format!("#!/bin/sh\nsh -c '{call}; exit 0'\n"));
        let clean = "env -u CODEX_THREAD_ID ../bin/claude";
        let run = run.script(&format!("../bin/{outer}"), &format!("#!/bin/sh\n{clean}\nexit 0\n"));
        let run = run.setup(&format!("XDG_STATE_HOME=$HOME/.local/state ../bin/{outer}"));
        assert_eq!(kept(&run.code(0), "s1").is_some(), expected, "{outer}");
    }
}

#[test]
fn in_a_loop_the_runs_own_baseline_holds() {
    let ran = project("");
    let event = beginning("claude-code", &ran, "startup");
    let run = ran.again("hook claude-code").env("GATE_RUN", "r1");
    let (ran, types) = types(begins("claude-code", hooked(run, &event).stderr(""), "resume"));
    assert!(types.is_empty() && kept(&ran, "s1").is_none());
}

#[test]
fn where_nothing_compares_or_a_person_took_one_none_is_taken() {
    let ran = gate("prompt").settings("[checks.clean_git]\n").committed().code(0);
    let (ran, none) = types(begins("codex", ran, "startup"));
    assert!(none.is_empty() && kept(&ran, "s1").is_none());
    let outside = gate("prompt").settings(RED).file("check.sh", CHECK).code(0);
    assert_eq!(types(begins("codex", outside, "startup")).1, Vec::<String>::new());
    let ran = project("").again("baseline --json").code(0);
    let by_hand = ran.json()["baseline"].as_str().unwrap().to_owned();
    let ran = does(begins("codex", ran, "startup"), "echo 'exit 0' > check.sh");
    assert_eq!(compared(stops("codex", ran, CLAIM)).1, by_hand);
}

#[test]
fn after_an_exit_the_next_run_is_compared_with_what_was_accepted() {
    for agent in ["claude-code", "gemini", "goose"] {
        let ran = begins(agent, project(STRICT), "startup");
        let ran = stops(agent, does(ran, "touch fixed; echo mine > work.txt"), CLAIM);
        assert_eq!(refused(agent, &ran), None, "{}", ran.stdout);
        assert_eq!(ran.stderr, "", "{agent}");
        let next = kept(&ran, "s1#2").unwrap_or_else(|| panic!("{agent} has none"));
        assert_eq!(
            (next.origin(), changes(&ran, "s1#2")),
            (Origin::Session, Vec::new()),
            "{agent}"
        );
        let ran = stops(agent, does(ran, "rm fixed; echo more >> work.txt"), CLAIM);
        assert!(refused(agent, &ran).is_some());
        assert_eq!(changes(&ran, "s1#2"), ["fixed", "work.txt"]);
        assert_eq!(compared(ran).1, next.digest(), "{agent}");
    }
}

#[test]
fn a_run_that_ended_otherwise_hands_its_baseline_on() {
    let ran = begins("codex", project(STRICT), "startup");
    let first = kept(&ran, "s1").unwrap();
    let ran = stops("codex", does(ran, "echo 'exit 1' > check.sh"), CLAIM);
    let ran = ran.again("breaker reset --session s1 --reason lunch").code(0);
    let (ran, baseline) = compared(stops("codex", ran, CLAIM));
    assert_eq!((ran.json()["run"].as_str(), baseline.as_str()), (Some("s1#2"), first.digest()));
}

#[test]
fn one_that_is_not_ready_in_time_is_none() {
    let git = "#!/bin/sh\ncase \"$*\" in *--stage*) exec sleep 600;; esac\n\
        PATH=$REAL exec git \"$@\"\n";
    let ran = project("");
    let event = beginning("claude-code", &ran, "startup");
    let (slow, real) = (ran.path("../bin"), std::env::var("PATH").unwrap());
    let git = git.replace("$REAL", &format!("'{real}'"));
    let run = ran.again("hook claude-code --deadline 2s").script("../bin/git", &git);
    let run = run.env("PATH", format!("{}:{real}", slow.display()));
    let ran = hooked(run, &event).stdout("").tells("could not be read in time");
    let (ran, types) = types(begins("claude-code", ran, "resume"));
    assert_eq!(types, ["hook_no_baseline"]);
    assert!(kept(&ran, "s1").is_none());
}

/// What the client says where the person sends a prompt.
fn prompt(agent: &str, ran: &Ran) -> Value {
    let cwd = ran.path("").display().to_string();
    match agent {
        "goose" => json!({ "event": "UserPromptSubmit", "session_id": "s1", "prompt": "Go on." }),
        "cursor" | "qwen" | "opencode" => beginning(agent, ran, "startup"),
        _ => json!({ "session_id": "s1", "cwd": cwd, "transcript_path": "/nowhere.jsonl",
            "hook_event_name": facts(agent)["hook"]["events"]["prompt"][0].as_str(),
            "prompt": "Go on.", "timestamp": "2026-11-02T10:00:00Z" }),
    }
}

#[test]
fn a_prompt_is_not_held_up_and_is_not_taken_for_a_stop() {
    for agent in agents_with("prompt") {
        let ran = begins(agent, project(""), "startup");
        let event = prompt(agent, &ran);
        let ran = hooked(ran.again(&format!("hook {agent}")), &event).stdout("").stderr("");
        assert_eq!(types(ran).1, ["hook_baseline"], "{agent}");
    }
}

#[test]
fn a_prompt_in_a_project_with_broken_settings_is_not_refused() {
    let begin_before = |agent: &&str| agents_with("start").any(|known| known == *agent);
    for agent in agents_with("prompt").filter(begin_before) {
        let broken = project("").again("--version");
        let broken = broken.settings("[checks.tests]\ncommand = []\n").code(0);
        let event = prompt(agent, &broken);
        hooked(broken.again(&format!("hook {agent}")), &event).stdout("");
    }
}
