//! `gate install` and `gate uninstall`, with Claude Code: the files, the output and the refusals.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use serde_json::{Value, json};

use crate::support::{GATE, Ran, Run, gate};

const SETTINGS: &str = "../home/.claude/settings.json";

/// The installation for the user, over these settings.
fn over(settings: &str) -> Run {
    gate("install claude-code").file(SETTINGS, settings)
}

fn settings(ran: &Ran) -> Value {
    serde_json::from_str(&ran.file(SETTINGS)).unwrap()
}

fn entry(command: &str) -> Value {
    json!({"type": "command", "command": command, "timeout": 600, "statusMessage": STATUS})
}

/// The text that a person reads while the checks run.
const STATUS: &str = "gate: running checks…";

/// Settings that hold gate's entries, and nothing else.
fn whole(command: &str) -> Value {
    let short = |command: &str| json!({"type": "command", "command": command, "timeout": 30});
    let event = |entry| json!([{"hooks": [entry]}]);
    let prompt = format!("{} || true", command.split(" || ").next().unwrap());
    json!({"hooks": {
        "Stop": event(entry(command)),
        "SessionStart": event(short(command)),
        "UserPromptSubmit": event(short(&prompt)),
        "SessionEnd": event(short(&prompt)),
    }})
}

/// The part of the command that calls the program by its whole path.
fn direct(ran: &Ran) -> String {
    format!("exec {} hook claude-code --deadline 540s", ran.copy_of_gate().display())
}

/// The whole command.
fn command(ran: &Ran) -> String {
    let text = "gate is not installed: nothing checks whether this work is done";
    let message = json!({"systemMessage": text});
    let program = ran.copy_of_gate().display().to_string();
    format!("command -v {program} >/dev/null 2>&1 && {} || echo '{message}'", direct(ran))
}

#[test]
fn the_entry_calls_a_program_that_stays_and_the_way_back_is_told() {
    let ran = gate("install claude-code").without_gate_in_path().code(0).stderr("");
    let ran = ran.says("wrote ").says("/home/.claude/settings.json\n--- /dev/null\n");
    let ran = ran.says("/home/.local/share/gate/bin/gate\n  a copy of this program, for the hooks");
    let ran = ran.says("+  \"hooks\": {\n").says("test: gate doctor --agent claude-code\n");
    let ran = ran.says("undo: gate uninstall claude-code --user\n");
    let ran =
        ran.says("in a script (code 0: done): id=$(uuidgen); claude -p --session-id \"$id\" ");
    assert_eq!(settings(&ran), whole(&command(&ran)));
    let ran = ran.again("uninstall claude-code --user").code(0).says("removed ");
    assert!(!ran.path("../home/.claude").exists());
    for folder in ["installed", "bin"] {
        assert!(!ran.path("../home/.local/share/gate").join(folder).exists(), "{folder}");
    }
}

#[test]
fn comments_order_and_bytes_of_others_stay() {
    let old_text = "{\n\t// mine\n\t\"model\": \"x\", /* why */\n\t\"env\": {\"B\": \"1\", \"A\": \"2\"},\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]},\n\t\t],\n\t},\n}";
    let file = "../home/.factory/settings.json";
    let ran = gate("install droid").file(file, old_text).code(0).says("backup: ");
    let new_text = ran.file(file);
    let entry_start = new_text.find("\n\t\t\t{\n").expect(&new_text);
    assert!(
        old_text.starts_with(&new_text[..entry_start])
            && new_text.contains("\n\t\t\t\t\"hooks\": [\n"),
        "{new_text}"
    );
    let ran = ran.again("install droid").code(0).says("has gate in front of its stop already");
    assert_eq!(ran.file(file), new_text);
    assert_eq!(ran.again("uninstall droid").code(0).file(file), old_text);
}

#[test]
fn a_hook_is_not_put_into_a_file_that_the_client_ignores_but_with_fix() {
    let message = |agent: &str, file: &str, text: &str| {
        let ran = gate(&format!("install {agent}")).file(file, text).run();
        let message = ran.stderr.clone();
        let is_read = message.is_empty();
        assert_eq!(ran.file(file) == text, !is_read, "{message}");
        assert_eq!(message.contains("--user --fix` takes that out"), !is_read, "{message}");
        let ran = ran.again(&format!("install {agent} --fix")).code(0).stderr("");
        let ran = ran.again(&format!("doctor --agent {agent}")).run();
        assert!(!ran.stdout.contains("does not read such a file"), "{}", ran.stdout);
        let ran = ran.again(&format!("uninstall {agent}")).code(0);
        assert_eq!(ran.file(file), text);
        message
    };
    let line =
        "settings.json, line 1: comments are not allowed: claude-code does not read such a file";
    assert!(message("claude-code", SETTINGS, "{ // mine\n}\n").contains(line));
    assert_eq!(message("claude-code", SETTINGS, "\u{feff}{}"), "");
    let gemini = "../home/.gemini/settings.json";
    assert_eq!(message("gemini", gemini, "{ // mine\n}\n"), "");
    assert!(
        message("gemini", gemini, "{\n\"a\": 1,\n}").contains("railing commas are not allowed")
    );
    assert!(
        message("qwen", "../home/.qwen/settings.json", "\u{feff}{}").contains("byte order mark")
    );
    assert!(message("codex", "../home/.codex/hooks.json", "{} /* x */").contains("comments"));
    assert_eq!(message("droid", "../home/.factory/settings.json", "{} // mine"), "");
}

#[test]
fn a_dry_run_shows_and_touches_nothing() {
    let ran = over("{}\n").args(["--dry-run"]).code(0).says("would change ").says("+  \"hooks\"");
    assert_eq!(ran.file(SETTINGS), "{}\n");
    assert!(!ran.path("../home/.local").exists() && !ran.stdout.contains("undo"));
    let ran = ran.again("install claude-code").code(0);
    let installed = ran.file(SETTINGS);
    let ran = ran.again("uninstall claude-code --dry-run").code(0).says("-  \"hooks\"");
    assert_eq!(ran.file(SETTINGS), installed);
}

#[test]
fn each_scope_has_its_file_and_its_command() {
    let ran = gate("install claude-code --project").file("sub/a", "").committed().code(0);
    assert!(ran.file(".claude/settings.local.json").contains(&direct(&ran)));
    let ran = ran.again("-C sub install claude-code --shared").code(0);
    let shared = ran.file(".claude/settings.json");
    assert!(shared.contains("exec gate hook") && !shared.contains(GATE), "{shared}");
    assert!(!ran.path("../home/.claude").exists());
    let ran = ran.again("uninstall claude-code --project").code(0);
    let ran = ran.again("uninstall claude-code --shared").code(0);
    assert!(!ran.path(".claude").exists());
    ran.again("install claude-code --user --shared").code(2).tells("cannot be used with");
}

#[test]
fn a_colleague_without_gate_reads_so_at_the_start_and_at_each_stop_and_is_let_go() {
    let ran = gate("install claude-code --shared").code(0);
    let settings: Value = serde_json::from_str(&ran.file(".claude/settings.json")).unwrap();
    let without = |event: &str| {
        let command = &settings["hooks"][event][0]["hooks"][0]["command"];
        Run::new("sh").args(["-c", command.as_str().unwrap()]).without_gate_in_path().code(0)
    };
    for event in ["Stop", "SessionStart"] {
        let shown = without(event).stderr("").json();
        let message = shown["systemMessage"].as_str().unwrap();
        assert!(message.starts_with("gate is not installed"), "{message}");
        assert_eq!(shown.as_object().unwrap().len(), 1);
    }
    without("UserPromptSubmit").stdout("").stderr("");
}

#[test]
fn a_program_that_was_removed_is_told_to_the_person_who_installed_it() {
    let ran = gate("install claude-code").without_gate_in_path().code(0);
    let stop = settings(&ran)["hooks"]["Stop"][0]["hooks"][0]["command"].clone();
    let copy = ran.copy_of_gate().display().to_string();
    let gone = stop.as_str().unwrap().replace(&copy, "/gone/gate");
    let shown = Run::new("sh").args(["-c", &gone]).code(0).stderr("").json();
    assert!(shown["systemMessage"].as_str().unwrap().starts_with("gate is not installed"));
}

#[test]
fn an_entry_of_another_path_is_brought_up_to_date_in_its_place() {
    let others = [json!({"hooks": [entry("a")]}), json!({"hooks": [entry("b")]})];
    let old = json!({"hooks": [{"type": "command", "command": "/old/gate hook claude-code", "timeout": 60}]});
    let before = json!({"hooks": {"Stop": [others[0], old, others[1]]}});
    let ran = over(&before.to_string()).without_gate_in_path().code(0);
    let stop = [others[0].clone(), json!({"hooks": [entry(&command(&ran))]}), others[1].clone()];
    assert_eq!(settings(&ran)["hooks"]["Stop"], json!(stop));
}

#[test]
fn a_link_that_an_upgrade_renews_is_preferred_to_what_it_leads_to() {
    let link = format!("mkdir -p ../home/.local/bin && ln -s {GATE} ../home/.local/bin/gate");
    let ran = gate("install claude-code").setup(&link).code(0);
    let link = ran.home().join(".local/bin/gate");
    let text = ran.file(SETTINGS);
    assert!(text.contains(&format!("exec {} hook claude-code", link.display())), "{text}");
    assert!(!text.contains(GATE) && !ran.copy_of_gate().exists());
}

#[test]
fn broken_settings_are_told_and_left_alone() {
    let refused = |text: &str, line: u64, key: Value, part: &str| {
        let ran = over(text).code(2).stdout("").tells("settings.json").tells(part);
        let ran = ran.tells(&format!("line {line}")).tells("nothing was changed");
        assert_eq!(ran.file(SETTINGS), text);
        assert!(!ran.path("../home/.local").exists());
        key
    };
    refused("{\n  \"a\": 1\n  \"b\": 2\n}", 2, Value::Null, "expected comma");
    refused(
        "{\n  \"hooks\": []\n}",
        2,
        json!("hooks"),
        "hooks is an array, and an object is expected",
    );
    refused("{\"hooks\": {\"Stop\": {}}}", 1, json!("hooks.Stop"), "an array is expected");
    refused("[]", 1, Value::Null, "an object is expected");
    let ran = gate("install claude-code").file(SETTINGS, b"{\n\xff}").code(2);
    ran.tells("settings.json, line 2: it is not UTF-8");
}

#[test]
fn links_are_followed_and_permissions_kept() {
    let run = gate("install claude-code").file("../dotfiles/claude.json", "{}");
    let run = run.file("../home/.claude/keep", "");
    let run = run.setup("chmod 640 ../dotfiles/claude.json; ln -s ../../dotfiles/claude.json ../home/.claude/settings.json");
    let ran = run.code(0);
    let mode =
        |ran: &Ran| fs::metadata(ran.path("../dotfiles/claude.json")).unwrap().permissions().mode();
    assert!(ran.path(SETTINGS).symlink_metadata().unwrap().is_symlink());
    assert!(ran.file("../dotfiles/claude.json").contains("hook claude-code"));
    assert_eq!(mode(&ran) & 0o777, 0o640);
    let ran = ran.again("uninstall claude-code").code(0);
    assert!(ran.path(SETTINGS).symlink_metadata().unwrap().is_symlink());
    assert_eq!((ran.file("../dotfiles/claude.json").as_str(), mode(&ran) & 0o777), ("{}", 0o640));
}

#[test]
fn a_link_that_leads_nowhere_is_refused() {
    let run = gate("install claude-code").file("../home/.claude/keep", "");
    symlink("gone.json", run_path(&run)).unwrap();
    run.code(2).tells("settings.json");
}

fn run_path(run: &Run) -> std::path::PathBuf {
    run.at("../home/.claude/settings.json")
}

#[test]
fn the_backup_is_for_the_users_eyes_alone() {
    let ran = over("{\"env\": {\"KEY\": \"secret\"}}").code(0);
    let folder = ran.path("../home/.local/share/gate/installed");
    assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
    let files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 2);
    for file in files {
        assert_eq!(fs::metadata(file).unwrap().mode() & 0o777, 0o600);
    }
}

#[test]
fn what_is_not_there_is_not_taken_away() {
    let ran = gate("uninstall claude-code").code(0).says("gate is not in ");
    let own = "{\"hooks\": {\"Stop\": [{\"hooks\": []}]}}";
    let ran = ran.again("uninstall claude-code").file(SETTINGS, own).code(0);
    assert_eq!(ran.file(SETTINGS), own);
}

#[test]
fn a_changed_file_loses_the_entry_alone() {
    let ran = over("{\"a\": 1}\n").code(0);
    let edited = ran.file(SETTINGS).replace("\"a\": 1", "\"a\": 2");
    let ran = ran.again("uninstall claude-code").file(SETTINGS, edited).code(0);
    assert_eq!(ran.file(SETTINGS), "{\"a\": 2}\n");
}
