//! `gate doctor --agent`: installed, trusted, called, and able to block.

use crate::support::{Ran, Run, each, gate};

/// A program in the place of gate's hook, that answers so.
fn stand_in(words: &str, answer: &str) -> Run {
    let run = gate(words).script("bin/gate", &format!("#!/bin/sh\ncat >/dev/null\n{answer}\n"));
    let path = format!("{}:/usr/bin:/bin", run.at("bin").display());
    run.env("PATH", path)
}

const BLOCK: &str = r#"echo '{"decision":"block","reason":"a check fails"}'"#;

/// Settings with gate from PATH, as this gate writes them.
fn settings(agent: &str) -> String {
    let file = match agent {
        "claude-code" => ".claude/settings.json",
        "codex" => ".codex/hooks.json",
        "gemini" => ".gemini/settings.json",
        other => panic!("{other}"),
    };
    gate(&format!("install {agent} --shared")).code(0).file(file)
}

/// Settings that a gate wrote which knew of stops alone.
fn older_settings(agent: &str) -> String {
    let entry = format!(
        r#"{{"type":"command","command":"gate hook {agent} --deadline 540s","timeout":600}}"#
    );
    format!(r#"{{"hooks":{{"Stop":[{{"hooks":[{entry}]}}]}}}}"#)
}

fn claude(answer: &str) -> Run {
    let run = stand_in("doctor --agent claude-code --json", answer);
    run.file("../home/.claude/settings.json", settings("claude-code"))
}

fn codes(ran: &Ran, level: &str) -> Vec<String> {
    let findings = ran.json()["findings"].as_array().unwrap().clone();
    let of_level = findings.iter().filter(|finding| finding["level"] == level);
    of_level.map(|of_level| of_level["code"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn what_is_not_installed_is_a_problem() {
    let ran =
        gate("doctor --agent codex").code(1).says("codex does not ask gate: it is not installed");
    ran.says("do: gate install codex").says("1 problem");
}

#[test]
fn what_blocks_is_well() {
    let ran = claude(BLOCK).code(0);
    assert_eq!(codes(&ran, "ok"), ["installed", "stop-blocked"]);
    assert_eq!(codes(&ran, "note"), ["other-program"]);
    let install = &ran.json()["installs"][0];
    assert_eq!((&install["scope"], &install["this_program"]), (&"user".into(), &false.into()));
    assert_eq!(install["test_stop"]["blocked"], true);
    assert_eq!(install["test_stop"]["exit_code"], 0);
    let card = stand_in("doctor --agent claude-code", BLOCK);
    let card = card.file("../home/.claude/settings.json", settings("claude-code")).code(0);
    card.says("a test stop was blocked, in ").says("no problem found\n");
}

#[test]
fn what_lets_go_is_a_problem() {
    for (answer, part) in [
        ("true", "it let the agent go"),
        ("echo '{\"decision\":\"approve\"}'", "its reply is no block"),
        ("echo no >&2; exit 2", "it ended with code 2: no"),
        ("echo words", "its reply is no JSON"),
    ] {
        let ran = claude(answer).code(1);
        assert_eq!(codes(&ran, "problem"), ["stop-not-blocked"]);
        assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
    }
}

#[test]
fn a_program_that_is_gone_is_a_problem() {
    let gone = settings("claude-code").replace(" gate ", " /gone/gate ");
    let run = gate("doctor --agent claude-code --json").file("../home/.claude/settings.json", gone);
    let ran = run.code(1);
    assert_eq!(codes(&ran, "problem"), ["program-missing"]);
    assert!(ran.json()["installs"][0]["test_stop"].is_null());
}

#[test]
fn hooks_that_are_switched_off_are_a_problem() {
    let off = "{\"disableAllHooks\": true}";
    let ran = claude(BLOCK).file(".claude/settings.local.json", off).code(1);
    assert_eq!(codes(&ran, "problem"), ["hooks-off"]);
    let hooks = settings("gemini");
    for off in ["{\"enabled\": false}", "{\"disabled\": [\"gate\"]}"] {
        let run = stand_in("doctor --agent gemini --json", BLOCK);
        let text = hooks.replacen('{', &format!("{{\"hooksConfig\": {off},"), 1);
        let ran = run.file("../home/.gemini/settings.json", text).code(1);
        assert_eq!(codes(&ran, "problem"), ["hooks-off"], "{}", ran.stdout);
    }
}

#[test]
fn an_installation_that_does_not_ask_where_a_session_begins_is_told() {
    assert_eq!(claude(BLOCK).code(0).json()["installs"][0]["session_start"], true);
    let older = settings("claude-code").replace("SessionStart", "PreCompact");
    let ran = claude(BLOCK).file("../home/.claude/settings.json", older).code(0);
    assert_eq!(codes(&ran, "note"), ["other-program", "session-start-missing"]);
    assert_eq!(ran.json()["installs"][0]["session_start"], false);
    let ran = ran.says("compared with history");
    let ran = ran.again("install claude-code").code(0).again("doctor --agent claude-code --json");
    assert_eq!(ran.code(0).json()["installs"][0]["session_start"], true);
}

#[test]
fn an_installation_of_a_gate_that_was_not_told_of_prompts_is_found() {
    assert_eq!(claude(BLOCK).code(0).json()["installs"][0]["prompt"], true);
    let older = settings("claude-code").replace("UserPromptSubmit", "SubagentStop");
    let ran = claude(BLOCK).file("../home/.claude/settings.json", older).code(0);
    assert_eq!(codes(&ran, "note"), ["other-program", "prompt-missing"]);
    assert_eq!(ran.json()["installs"][0]["prompt"], false);
    let oldest = claude(BLOCK).file("../home/.claude/settings.json", older_settings("claude-code"));
    let notes = codes(&oldest.code(0), "note");
    assert_eq!(notes[1..], ["entry-outdated", "prompt-missing", "session-start-missing"]);
}

#[test]
fn two_installations_and_an_old_entry_are_told() {
    let old = settings("claude-code").replace("600", "60");
    let ran = claude(BLOCK).file(".claude/settings.json", old).code(0);
    let notes = ["other-program", "other-program", "entry-outdated", "installed-twice"];
    assert_eq!(codes(&ran, "note"), notes);
    assert_eq!(each(&ran.json(), "installs", "scope"), ["user", "shared"]);
}

#[test]
fn broken_settings_are_a_problem() {
    let ran = claude(BLOCK).file(".claude/settings.json", "{").code(1);
    assert_eq!(codes(&ran, "problem"), ["settings-broken"]);
}

#[test]
fn codex_has_to_trust_the_hook_as_it_is() {
    let hooks = "../home/.codex/hooks.json";
    let look = |ran: Ran| {
        let run = ran.again("doctor --agent codex --json");
        let path = format!("{}:/usr/bin:/bin", run.at("bin").display());
        run.env("PATH", path)
    };
    let script = format!("#!/bin/sh\ncat >/dev/null\n{BLOCK}\n");
    let ran =
        gate("install codex").script("bin/gate", &script).file(hooks, settings("codex")).code(0);
    // The stand-in is called, not the program that was installed.
    let ran = look(ran.again("--version").file(hooks, settings("codex")).code(0)).code(1);
    assert_eq!(codes(&ran, "problem"), ["untrusted"]);
    assert!(ran.stdout.contains("present but untrusted"));
    assert_eq!(ran.json()["installs"][0]["trusted"], false);
    let ran = ran.again("install codex --trust").code(0);
    let trusted = ran.file("../home/.codex/config.toml");
    let ran = look(ran);
    let problems = codes(&ran.run(), "problem");
    assert!(!problems.contains(&"untrusted".to_owned()), "{problems:?}");
    let off = format!("{trusted}\n[features]\nhooks = false\n");
    let run = stand_in("doctor --agent codex --json", BLOCK).file(hooks, settings("codex"));
    let ran = run.file("../home/.codex/config.toml", off).code(1);
    assert_eq!(codes(&ran, "problem"), ["untrusted", "hooks-off"]);
}

#[test]
fn cursor_answers_in_its_own_words() {
    let hooks = gate("install cursor --shared").code(0).file(".cursor/hooks.json");
    let look = |answer: &str| {
        let run = stand_in("doctor --agent cursor --json", answer);
        run.file("../home/.cursor/hooks.json", hooks.as_str())
    };
    look(BLOCK).code(1);
    let ran = look(r#"echo '{"followup_message":"a check fails"}'"#).code(0);
    assert_eq!(codes(&ran, "ok"), ["installed", "stop-blocked"]);
}

#[test]
fn the_plug_in_of_opencode_is_looked_into() {
    let ran = gate("install opencode --shared").code(0);
    let run = stand_in("doctor --agent opencode --json", BLOCK);
    let ran = run.file(".opencode/plugins/gate.js", ran.file(".opencode/plugins/gate.js")).code(0);
    assert_eq!(codes(&ran, "ok"), ["installed", "stop-blocked"]);
    assert_eq!(each(&ran.json(), "installs", "scope"), ["shared"]);
}

#[test]
fn it_looks_at_one_thing() {
    gate("doctor --agent codex --self-test").code(2).tells("cannot be used with");
}
