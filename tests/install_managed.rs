//! `gate install --managed`: gate's hooks in the settings for all users of a machine.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::Value;

use crate::needs::needs;
use crate::support::clients::{agents, facts, text};
use crate::support::{Ran, gate};

/// The file of a client for all users; none if it has no such file.
fn managed_file(agent: &str) -> Option<&'static str> {
    Some(text(facts(agent)["settings"].get("managed")?, "linux"))
}

/// Settings that somebody else has put there.
fn others_settings(agent: &str) -> &'static str {
    match agent {
        "claude-code" => "{\"permissions\": {\"deny\": []}}\n",
        "codex" => "{\n\t\"description\": \"ours\"\n}",
        "gemini" => "{ // ours\n  \"ui\": {}\n}\n",
        "copilot" => "{\"version\": 1, \"hooks\": {}}",
        "cursor" => "{\"version\": 1, \"hooks\": {\"stop\": []}}\n",
        "droid" => "{\"hooks\": {\"Stop\": []},\n}\n",
        _ => "{}",
    }
}

/// The program that the hooks call: no user may replace it.
const PROGRAM: &str = "/var/lib/gate/bin/gate";

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o7777
}

fn exists(ran: &Ran, name: &str) -> bool {
    ran.path(name).exists()
}

#[test]
fn the_settings_of_each_client_are_written_and_put_back() {
    if !needs("namespaces") {
        return;
    }
    for agent in agents() {
        let Some(file) = managed_file(agent) else { continue };
        let (file, settings) = (format!("..{file}"), others_settings(agent));
        let install = format!("install {agent} --managed");
        let uninstall = format!("uninstall {agent} --managed");
        let ran = gate(&install).on_own_machine().code(0).stderr("");
        let ran = ran.says(&format!("undo: sudo gate uninstall {agent} --managed"));
        let text = ran.file(&file);
        assert!(text.contains(&format!("{PROGRAM} hook {agent} ")), "{agent}: {text}");
        assert!(serde_json::from_str::<Value>(&text).is_ok(), "{agent}: {text}");
        assert!(exists(&ran, "../var/gate/bin/gate"), "{agent}");
        assert!(!exists(&ran, "../home/.local/share/gate/bin"), "{agent}: nothing is the user's");
        let ran = ran.again_there(&install).code(0).says("nothing was changed");
        let ran = ran.again_there(&uninstall).code(0).says("removed ");
        let folder = ran.path(&file).parent().unwrap().to_owned();
        assert!(!folder.exists() && !exists(&ran, "../var/gate"), "{agent}");

        let ran = ran.again_there(&install).file(&file, settings).code(0);
        assert_ne!(ran.file(&file), settings, "{agent}");
        let ran = ran.again_there(&uninstall).code(0);
        assert_eq!(ran.file(&file), settings, "{agent}");
        ran.again_there(&uninstall).code(0).says("gate is not in /etc/");
    }
}

#[test]
fn what_others_write_since_stays() {
    if !needs("namespaces") {
        return;
    }
    let file = "../etc/claude-code/managed-settings.json";
    let ran = gate("install claude-code --managed").on_own_machine().file(file, "{}").code(0);
    let edited = ran.file(file).replacen('{', "{\n  \"model\": \"x\",", 1);
    let ran = ran.again_there("uninstall claude-code --managed").file(file, &edited).code(0);
    let left: Value = serde_json::from_str(&ran.file(file)).unwrap();
    assert_eq!(left, serde_json::json!({"model": "x"}));
}

#[test]
fn all_users_can_read_it_whatever_the_mask_of_root_is() {
    if !needs("namespaces") {
        return;
    }
    let run =
        gate("install claude-code --managed").under(["sh", "-c", "umask 077; exec \"$@\"", "sh"]);
    let ran = run.on_own_machine().code(0);
    for (path, expected) in [
        ("../etc/claude-code/managed-settings.json", 0o644),
        ("../etc/claude-code", 0o755),
        ("../var/gate", 0o755),
        ("../var/gate/bin", 0o755),
        ("../var/gate/bin/gate", 0o755),
        ("../var/gate/installed", 0o700),
    ] {
        assert_eq!(mode(&ran.path(path)), expected, "{path}");
    }
}

#[test]
fn it_is_for_root_alone_and_says_so() {
    if !needs("namespaces") {
        return;
    }
    for words in ["install claude-code --managed", "uninstall claude-code --managed"] {
        // A user without a name in a namespace of its own is not root there.
        let ran = gate(words).under(["unshare", "-U"]).code(2).stdout("");
        ran.tells("root's to change").tells("sudo");
    }
}

#[test]
fn a_client_without_such_settings_is_named() {
    if !needs("namespaces") {
        return;
    }
    for agent in agents().filter(|agent| managed_file(agent).is_none()) {
        let ran = gate(&format!("install {agent} --managed")).on_own_machine().code(2);
        let ran = ran.tells(&format!("{agent} has no hooks in settings for all users"));
        let ran = ran.tells(&format!("gate install {agent}"));
        let ran = ran.again_there(&format!("uninstall {agent} --managed")).code(2);
        assert!(!exists(&ran, "../var/gate"));
    }
    gate("install codex --managed --trust").code(2).tells("--managed");
}

#[test]
fn a_user_needs_no_hook_beside_it() {
    if !needs("namespaces") {
        return;
    }
    let ran = gate("install claude-code --managed").on_own_machine().code(0);
    let told = "by the settings of the machine, /etc/claude-code/managed-settings.json";
    let ran = ran.again_there("install claude-code").code(0).says(told);
    let ran = ran.again_there("install claude-code --shared").code(0).says(told);
    let ran = ran.again_there("setup claude-code").file("go.mod", "module shop\n").run();
    assert!(ran.stdout.contains("has gate by the settings of the machine"), "{}", ran.stdout);
    assert!(!exists(&ran, "../home/.claude") && !exists(&ran, ".claude"));
    let ran = ran.again_there("uninstall claude-code --managed").code(0);
    ran.again_there("install claude-code").code(0).says("wrote ");
}

#[test]
fn the_doctor_sees_it_and_lets_it_refuse_a_stop() {
    if !needs("namespaces") {
        return;
    }
    for (agent, file) in [
        ("claude-code", "/etc/claude-code/managed-settings.json"),
        ("codex", "/etc/codex/hooks.json"),
    ] {
        let ran = gate(&format!("install {agent} --managed")).on_own_machine().code(0);
        let ran = ran.again_there(&format!("doctor --agent {agent} --json")).run();
        let json = ran.json();
        let place = &json["installs"][0];
        assert_eq!((&place["scope"], &place["file"]), (&"managed".into(), &file.into()), "{json}");
        assert_eq!((&place["trusted"], &place["this_program"]), (&Value::Null, &true.into()));
        let findings = json["findings"].as_array().unwrap();
        let codes: Vec<_> = findings.iter().map(|one| one["code"].as_str().unwrap()).collect();
        assert!(codes.contains(&"installed") && codes.contains(&"stop-blocked"), "{codes:?}");
        assert!(!codes.contains(&"untrusted") && !codes.contains(&"not-installed"), "{codes:?}");
    }
}

/// A user cannot switch it off, and the doctor does not say so.
#[test]
fn a_switch_of_the_user_does_not_count() {
    if !needs("namespaces") {
        return;
    }
    let off = "{\"disableAllHooks\": true}";
    let ran = gate("install claude-code --managed").on_own_machine().code(0);
    let ran =
        ran.again_there("doctor --agent claude-code").file("../home/.claude/settings.json", off);
    let ran = ran.run();
    assert!(!ran.stdout.contains("the hook is not run"), "{}", ran.stdout);
    let file = "../etc/claude-code/managed-settings.json";
    let text = ran.file(file).replacen('{', "{\"disableAllHooks\": true,", 1);
    let ran = ran.again_there("doctor --agent claude-code").file(file, &text).run();
    assert!(ran.stdout.contains("the hook is not run"), "{}", ran.stdout);
}
