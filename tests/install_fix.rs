//! `gate doctor --fix`: hooks that an older gate wrote are found and brought up to date;
//! and gate as a plug-in of Claude Code's.

use serde_json::{Value, json};

use crate::needs::root;
use crate::support::{Ran, Run, gate};

const CLAUDE: &str = "../home/.claude/settings.json";

/// What an older gate wrote: it was asked at stops alone.
fn older(agent: &str) -> String {
    let command = format!("/old/gate hook {agent} --deadline 540s");
    let entry = json!({"type": "command", "command": command, "timeout": 600});
    json!({"mine": 1, "hooks": {"Stop": [{"hooks": [entry]}]}}).to_string()
}

fn json_of(ran: &Ran, file: &str) -> Value {
    serde_json::from_str(&ran.file(file)).expect(file)
}

/// The codes of what was found, but for what is well.
fn found(ran: &Ran) -> Vec<String> {
    let findings = ran.json()["findings"].as_array().unwrap().clone();
    let wrong = findings.iter().filter(|finding| finding["level"] != "ok");
    wrong.map(|wrong| wrong["code"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn hooks_of_an_older_gate_are_found_and_brought_up_to_date() {
    let run = gate("doctor").without_gate_in_path().file(CLAUDE, older("claude-code"));
    let ran = run.file("../home/.codex/hooks.json", older("codex")).run();
    let ran = ran.says("the hooks for claude-code are not as this version writes them");
    let ran = ran.says("the hooks for codex are not as this version").says("gate doctor --fix");
    let ran = ran.again("doctor --fix").without_gate_in_path().run().says("changed ");
    assert!(!ran.stdout.contains("are not as this version writes them"), "{}", ran.stdout);
    for file in [CLAUDE, "../home/.codex/hooks.json"] {
        let hooks = json_of(&ran, file);
        assert_eq!(hooks["mine"], 1);
        for event in ["Stop", "SessionStart", "UserPromptSubmit"] {
            let list = hooks["hooks"][event].as_array().unwrap();
            let command = list[0]["hooks"][0]["command"].as_str().unwrap();
            let called = format!("exec {} hook", ran.copy_of_gate().display());
            assert!(list.len() == 1 && command.contains(&called), "{command}");
        }
    }
    let ran = ran.again("doctor --agent claude-code --json").without_gate_in_path().code(0);
    assert_eq!(found(&ran), [] as [&str; 0]);
}

#[test]
fn what_is_up_to_date_is_left_alone() {
    let ran = gate("install claude-code --project").code(0);
    let before = ran.file(".claude/settings.local.json");
    let ran = ran.again("doctor --fix --agent claude-code").run();
    assert!(!ran.stdout.contains("changed "), "{}", ran.stdout);
    assert_eq!(ran.file(".claude/settings.local.json"), before);
    assert!(!ran.path(CLAUDE).exists());
}

#[test]
fn what_was_fixed_is_undone_to_the_users_own_bytes() {
    let ran = gate("install codex --trust").file("../home/.codex/config.toml", "a = 1\n").code(0);
    let hooks = "../home/.codex/hooks.json";
    let older = ran.file(hooks).replace("UserPromptSubmit", "SubagentStop");
    let ran = ran.again("doctor --agent codex --fix --json").file(hooks, older).run();
    assert_eq!(found(&ran), [] as [&str; 0], "the trust that gate was told to give is renewed");
    let ran = ran.again("uninstall codex").code(0);
    assert_eq!(ran.file("../home/.codex/config.toml"), "a = 1\n");
}

#[test]
fn settings_that_the_client_ignores_are_mended() {
    let commented = older("claude-code").replacen('{', "{ // mine\n", 1);
    let run = gate("doctor --agent claude-code --fix --json").without_gate_in_path();
    let ran = run.file(CLAUDE, commented).code(0);
    assert_eq!(found(&ran), [] as [&str; 0]);
    assert_eq!(json_of(&ran, CLAUDE)["mine"], 1);
}

#[test]
fn a_client_that_is_not_here_is_not_called_well() {
    for agent in ["cursor", "goose", "copilot"] {
        let ran = gate(&format!("install {agent}")).env("PATH", "/nonexistent").code(0);
        let look = |ran: Ran| ran.again(&format!("doctor --agent {agent} --json"));
        let ran = look(ran).env("PATH", "/usr/bin:/bin").run();
        assert!(found(&ran).contains(&"client-missing".to_owned()), "{agent}: {}", ran.stdout);
        let run = look(ran).file("../home/.cursor/mine", "").file("../home/.copilot/mine", "");
        let ran = run.file("../home/.config/goose/mine", "").env("PATH", "/usr/bin:/bin").run();
        assert!(!found(&ran).contains(&"client-missing".to_owned()), "{agent}: {}", ran.stdout);
    }
}

/// Claude Code with gate's plug-in, as `/plugin install` leaves it.
fn plugged(words: &str) -> Run {
    let folder = root().join("integrations/claude-code-plugin");
    let list = json!({"version": 2, "plugins": {"gate@gate": [
        {"scope": "user", "installPath": folder, "version": "0.1.0"},
    ]}});
    gate(words)
        .with_gate_in_path()
        .file("../home/.claude/plugins/installed_plugins.json", list.to_string())
        .file(CLAUDE, r#"{"enabledPlugins": {"gate@gate": true}}"#)
}

#[test]
fn the_plug_in_is_seen_and_not_doubled() {
    let ran = plugged("doctor --agent claude-code --json").code(0);
    assert_eq!(found(&ran), [] as [&str; 0]);
    let place = &ran.json()["installs"][0];
    assert_eq!((&place["plugin"], &place["prompt"]), (&"gate@gate".into(), &true.into()));
    let ran = plugged("install claude-code").code(0).says("by the plug-in gate@gate: nothing was");
    assert_eq!(ran.file(CLAUDE), r#"{"enabledPlugins": {"gate@gate": true}}"#);
}

#[test]
fn a_plug_in_beside_settings_is_told_and_one_that_is_off_is_not() {
    let shared = gate("install claude-code --shared").code(0).file(".claude/settings.json");
    let run = plugged("doctor --agent claude-code --json").file(".claude/settings.json", shared);
    let ran = run.code(0);
    assert_eq!(found(&ran), ["installed-twice"]);
    assert!(ran.stdout.contains("gate uninstall claude-code --shared"), "{}", ran.stdout);
    let off = r#"{"enabledPlugins": {"gate@gate": false}}"#;
    let run = plugged("doctor --agent claude-code --json").file(".claude/settings.local.json", off);
    assert_eq!(found(&run.code(1)), ["not-installed"]);
}

#[test]
fn the_marketplace_of_the_repository_lists_the_plug_in() {
    let read = |name: &str| -> Value {
        serde_json::from_str(&std::fs::read_to_string(root().join(name)).expect(name)).expect(name)
    };
    let market = read(".claude-plugin/marketplace.json");
    let plugin = &market["plugins"][0];
    let folder = plugin["source"].as_str().unwrap().strip_prefix("./").unwrap();
    let manifest = read(&format!("{folder}/.claude-plugin/plugin.json"));
    assert_eq!((&market["name"], &plugin["name"]), (&"gate".into(), &manifest["name"]));
    assert_eq!(plugin["description"], manifest["description"]);
}
