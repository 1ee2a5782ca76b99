//! `gate install` with each agent: its files, its shape, its traps.

use serde_json::{Value, json};

use crate::needs::root;
use crate::support::{Ran, Run, gate};

/// An installation, without a gate in PATH.
fn install(words: &str) -> Run {
    gate(&format!("install {words}")).without_gate_in_path()
}

fn json_of(ran: &Ran, file: &str) -> Value {
    serde_json::from_str(&ran.file(file)).expect(file)
}

/// The file for the user, and that for the project, hold this: made of the command that
/// tells where gate is gone, and of that which does not.
#[track_caller]
fn holds(agent: &str, files: [&str; 2], expected: &dyn Fn(&str, &str) -> Value) {
    let ran = install(&format!("{agent} --user")).code(0);
    let program = ran.copy_of_gate().display().to_string();
    let call = format!("{program} hook {agent} --deadline 540s");
    let call = match agent {
        "gemini" => call,
        _ => format!("command -v {program} >/dev/null 2>&1 && exec {call}"),
    };
    let missing = "gate is not installed: nothing checks whether this work is done";
    let missing = match agent {
        "cursor" | "goose" => format!("'{missing}' >&2"),
        _ => format!("'{}'", json!({"systemMessage": missing})),
    };
    let expected = expected(&format!("{call} || echo {missing}"), &format!("{call} || true"));
    assert_eq!(json_of(&ran, files[0]), expected);
    let ran = ran.again(&format!("install {agent} --project")).without_gate_in_path().code(0);
    assert_eq!(json_of(&ran, files[1]), expected);
    let ran = ran.again(&format!("install {agent} --shared")).code(0);
    assert!(ran.stdout.contains(&format!("gate hook {agent}")), "{}", ran.stdout);
}

/// Settings in groups with gate's entries, as Claude Code has them.
fn grouped(tells: &str, silent: &str) -> Value {
    let of = |command: &str, timeout: u64| json!([{"hooks": [{"type": "command", "command": command, "timeout": timeout}]}]);
    let (start, prompt) = (of(tells, 30), of(silent, 30));
    json!({"hooks": {"Stop": of(tells, 600), "SessionStart": start, "UserPromptSubmit": prompt}})
}

/// The same with a name, and milliseconds.
fn named(command: &str, timeout: u64) -> Value {
    json!([{"hooks": [
        {"name": "gate", "type": "command", "command": command, "timeout": timeout},
    ]}])
}

#[test]
fn codex() {
    holds("codex", ["../home/.codex/hooks.json", ".codex/hooks.json"], &|tells, silent| {
        let mut expected = grouped(tells, silent);
        expected["hooks"]["Stop"][0]["hooks"][0]["statusMessage"] = "gate: running checks…".into();
        expected
    });
    let ran = install("codex").env("CODEX_HOME", "../codex").code(0);
    assert!(ran.file("../codex/hooks.json").contains("hook codex"));
    ran.says("review the hooks with /hooks");
}

#[test]
fn codex_follows_the_links_of_its_own_variable_alone() {
    let linked = |variable: &str, to: &str| {
        let run = install("codex --trust").file("../real/.codex/x", "");
        let run = run.setup("ln -s real ../link");
        let to = run.at(to);
        run.env(variable, to).code(0).file("../real/.codex/config.toml")
    };
    let trust = linked("CODEX_HOME", "../link/.codex");
    assert!(trust.contains("/real/.codex/hooks.json:stop:0:0"), "{trust}");
    let home = linked("HOME", "../link");
    assert!(home.contains("../link/.codex/hooks.json:stop:0:0"), "{home}");
}

#[test]
fn gemini_and_qwen_count_milliseconds() {
    holds(
        "gemini",
        ["../home/.gemini/settings.json", ".gemini/settings.json"],
        &|tells, silent| {
            json!({"hooks": {
                "AfterAgent": named(tells, 600_000),
                "SessionStart": named(tells, 30_000),
                "BeforeAgent": named(silent, 30_000),
            }})
        },
    );
    holds("qwen", ["../home/.qwen/settings.json", ".qwen/settings.json"], &|tells, silent| {
        let prompt = named(silent, 30_000);
        json!({"hooks": {"Stop": named(tells, 600_000), "UserPromptSubmit": prompt}})
    });
}

#[test]
fn copilot() {
    holds(
        "copilot",
        ["../home/.copilot/hooks/gate.json", ".github/hooks/gate.json"],
        &|tells, silent| {
            let of = |command: &str, timeout: u64| json!([{"type": "command", "bash": command, "timeoutSec": timeout}]);
            let (start, prompt) = (of(tells, 30), of(silent, 30));
            let hooks =
                json!({"Stop": of(tells, 600), "SessionStart": start, "UserPromptSubmit": prompt});
            json!({"version": 1, "hooks": hooks})
        },
    );
}

#[test]
fn cursor() {
    holds("cursor", ["../home/.cursor/hooks.json", ".cursor/hooks.json"], &|tells, silent| {
        let prompt = json!([{"command": silent, "timeout": 30}]);
        let stop = json!([{"command": tells, "loop_limit": 50, "timeout": 600}]);
        json!({"version": 1, "hooks": {"stop": stop, "beforeSubmitPrompt": prompt}})
    });
}

#[test]
fn droid() {
    let files = ["../home/.factory/settings.json", ".factory/settings.local.json"];
    holds("droid", files, &grouped);
}

#[test]
fn goose_is_given_a_plug_in_folder() {
    let files =
        ["../home/.agents/plugins/gate/hooks/hooks.json", ".agents/plugins/gate/hooks/hooks.json"];
    holds("goose", files, &grouped);
    let ran = install("goose").code(0);
    assert_eq!(json_of(&ran, "../home/.agents/plugins/gate/plugin.json")["name"], "gate");
    let ran = ran.again("uninstall goose").code(0);
    assert!(!ran.path("../home/.agents").exists());
}

#[test]
fn the_trust_of_codex_is_given_only_when_asked_for_and_taken_back() {
    let config = "../home/.codex/config.toml";
    let before = "model = \"x\" # mine\r\n\r\n[features]\r\nhooks = true\r\n";
    let ran = install("codex").file(config, before).code(0);
    assert_eq!(ran.file(config), before);
    let ran = ran.again("install codex --trust").without_gate_in_path().code(0);
    let text = ran.file(config);
    let hooks = ran.path("../home").canonicalize().unwrap().join(".codex/hooks.json");
    assert!(text.starts_with(before), "{text}");
    for event in ["stop", "session_start", "user_prompt_submit"] {
        let table = format!("[hooks.state.\"{}:{event}:0:0\"]\r\n", hooks.display());
        assert!(text.contains(&table), "{text}");
    }
    assert!(text.contains("trusted_hash = \"sha256:") && !ran.stdout.contains("next:"));
    let ran = ran.again("uninstall codex").code(0);
    assert_eq!(ran.file(config), before);
    assert!(!ran.path("../home/.codex/hooks.json").exists());
    ran.again("install gemini --trust").code(2).tells("--trust is for codex alone");
}

#[test]
fn what_the_client_still_wants_is_told() {
    install("gemini --project").code(0).says("next: trust this folder in Gemini CLI");
    install("copilot --shared").code(0).says("next: trust this folder in Copilot CLI");
    install("opencode").code(0).says("`opencode run` ends at the first idle moment");
    assert!(!install("gemini").code(0).stdout.contains("next:"));
}

#[test]
fn without_a_name_those_that_are_here_are_listed() {
    let bare = || gate("install").env("PATH", "/nonexistent");
    bare().code(2).tells("no agent is found here").tells("hint: name one: claude-code, codex");
    let ran = bare().file("../home/.gemini/x", "").script("bin/codex", "#!/bin/sh\n");
    let path = ran.at("bin");
    let ran = ran.env("PATH", path).code(2).stdout("");
    ran.tells("found here: codex, gemini").tells("hint: gate install codex --user");
    gate("uninstall").code(2);
    gate("install no-such-agent").code(2).tells("claude-code");
}

/// A file of JSON in the repository.
#[track_caller]
fn committed(name: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(root().join(name)).expect(name)).expect(name)
}

#[test]
fn a_plug_in_has_the_hooks_that_a_shared_installation_writes() {
    for (agent, settings, folder) in [
        ("claude-code", ".claude/settings.json", "integrations/claude-code-plugin"),
        ("gemini", ".gemini/settings.json", "integrations/gemini-extension"),
    ] {
        let ran = gate(&format!("install {agent} --shared")).code(0);
        assert_eq!(committed(&format!("{folder}/hooks/hooks.json")), json_of(&ran, settings));
    }
}

#[test]
fn both_plug_ins_have_one_name_one_version_and_one_skill() {
    let claude_code = committed("integrations/claude-code-plugin/.claude-plugin/plugin.json");
    let gemini = committed("integrations/gemini-extension/gemini-extension.json");
    for plugin in [claude_code, gemini] {
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!((&plugin["name"], &plugin["version"]), (&"gate".into(), &version.into()));
    }
    let skill = |folder: &str| {
        let file = root().join("integrations").join(folder).join("skills/finish/SKILL.md");
        std::fs::read_to_string(file).unwrap()
    };
    assert_eq!(skill("claude-code-plugin"), skill("gemini-extension"));
}
