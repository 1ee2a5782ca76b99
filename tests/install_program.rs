//! The program that hooks call: it outlives the cache that gate came from, and an upgrade.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::support::{GATE, Ran, Run, gate};

const SETTINGS: &str = "../home/.claude/settings.json";

/// The cache of npx with gate in it, as a run of `npx exit-gate` leaves it.
const CACHED: &str = "../home/.npm/_npx/ab12/node_modules/@exit-gate/linux-x64/bin/gate";

/// Gate in that cache.
fn in_cache(run: Run) -> Run {
    let make = "mkdir -p $(dirname CACHED); ln GATE CACHED 2>/dev/null || cp GATE CACHED";
    run.setup(&make.replace("CACHED", CACHED).replace("GATE", GATE))
}

/// What a look at Claude Code's hooks finds, apart from what is well.
#[track_caller]
fn found(ran: Ran, code: i32, expected: &[&str]) -> Ran {
    let ran = ran.again("doctor --agent claude-code --json").without_gate_in_path().code(code);
    let findings = ran.json()["findings"].as_array().unwrap().clone();
    let wrong: Vec<_> = findings.iter().filter(|finding| finding["level"] != "ok").collect();
    let codes: Vec<_> = wrong.iter().map(|finding| finding["code"].as_str().unwrap()).collect();
    let codes: Vec<_> = codes.into_iter().filter(|code| *code != "client-missing").collect();
    assert_eq!(codes, expected, "{}", ran.stdout);
    ran
}

#[test]
fn a_stop_is_refused_after_the_packages_cache_was_deleted() {
    let run = in_cache(gate("install claude-code")).without_gate_in_path();
    let cached = run.at(CACHED).display().to_string();
    let ran = run.program(cached).code(0);
    let settings = ran.file(SETTINGS);
    assert!(!settings.contains("_npx"), "{settings}");
    let mode = fs::metadata(ran.copy_of_gate()).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o755);
    fs::remove_dir_all(ran.path("../home/.npm")).unwrap();
    let ran = found(ran, 0, &[]);
    let place = &ran.json()["installs"][0];
    assert_eq!(place["program"], ran.copy_of_gate().display().to_string());
    assert_eq!(
        (&place["this_program"], &place["test_stop"]["blocked"]),
        (&true.into(), &true.into())
    );
}

#[test]
fn a_copy_of_another_build_is_told_and_renewed() {
    let older = "#!/bin/sh\ncat >/dev/null\necho '{\"decision\":\"block\",\"reason\":\"red\"}'\n";
    let age = |ran: &Ran| fs::write(ran.copy_of_gate(), older).unwrap();
    let is_new = |ran: &Ran| fs::read(ran.copy_of_gate()).unwrap() == fs::read(GATE).unwrap();
    let ran = gate("install claude-code").without_gate_in_path().code(0);
    let settings = ran.file(SETTINGS);
    age(&ran);
    let ran = found(ran, 0, &["copy-outdated"]);
    let ran = ran.again("doctor").without_gate_in_path().run();
    let ran = ran.says("the hooks for claude-code are not as").says("gate doctor --fix");
    let ran = ran.again("doctor --fix").without_gate_in_path().run().says("wrote ");
    assert!(is_new(&ran));
    age(&ran);
    let ran = ran.again("install claude-code").without_gate_in_path().code(0);
    let ran = ran.says("a copy of this program");
    assert!(is_new(&ran) && ran.file(SETTINGS) == settings, "the hooks stay as they are");
    fs::remove_file(ran.copy_of_gate()).unwrap();
    let ran = found(ran, 1, &["program-missing"]);
    let ran = ran.again("doctor --fix --agent claude-code").without_gate_in_path().code(0);
    assert!(is_new(&ran));
    ran.again("install claude-code").without_gate_in_path().code(0).says("nothing was changed");
}

#[test]
fn the_copy_stays_until_no_client_calls_it() {
    let ran = gate("install claude-code").without_gate_in_path().code(0);
    let ran = ran.again("install codex --project").without_gate_in_path().code(0);
    let ran = ran.again("uninstall claude-code").code(0);
    assert!(ran.copy_of_gate().exists() && !ran.stdout.contains("no hook"), "{}", ran.stdout);
    let ran = ran.again("uninstall codex --project --dry-run").code(0).says("would remove ");
    let ran = ran.says("/gate/bin/gate: no hook calls it any more\n");
    assert!(ran.copy_of_gate().exists());
    let ran = ran.again("uninstall codex --project").code(0).says("bin/gate: no hook calls it");
    assert!(!ran.copy_of_gate().parent().unwrap().exists());
}

#[test]
fn a_copy_in_path_that_shared_settings_call_is_renewed() {
    let ran = gate("install claude-code --shared").without_gate_in_path().code(0);
    for words in ["doctor --fix", "setup --no-run"] {
        fs::create_dir_all(ran.copy_of_gate().parent().unwrap()).unwrap();
        fs::write(ran.copy_of_gate(), "older").unwrap();
        let run = gate(words).without_gate_in_path().file("Makefile", "test:\n\ttrue\n");
        run.env("HOME", ran.home()).run();
        assert!(fs::read(ran.copy_of_gate()).unwrap() == fs::read(GATE).unwrap(), "{words}");
    }
}

#[test]
fn the_copy_goes_when_hooks_call_a_gate_that_stays_but_not_from_path() {
    let ran = gate("install claude-code").without_gate_in_path().code(0);
    let folder = ran.copy_of_gate().parent().unwrap().display().to_string();
    let ran = ran.again("uninstall claude-code").env("PATH", format!("{folder}:/usr/bin:/bin"));
    let ran = ran.code(0);
    assert!(ran.copy_of_gate().exists(), "a person calls it");
    let ran = ran.again("install claude-code").without_gate_in_path().code(0);
    let link = format!("mkdir -p ../home/.local/bin && ln -s {GATE} ../home/.local/bin/gate");
    let ran = ran.again("install claude-code").without_gate_in_path().setup(&link).code(0);
    let ran = ran.says("bin/gate: no hook calls it any more");
    assert!(!ran.copy_of_gate().exists());
    found(ran, 0, &[]);
}

#[test]
fn shared_settings_call_gate_from_path_and_nothing_is_copied() {
    let ran = gate("install claude-code --shared").without_gate_in_path().code(0);
    assert!(!ran.copy_of_gate().exists());
}

#[test]
fn hooks_into_a_cache_that_an_older_gate_wrote_are_told_and_moved() {
    let run = in_cache(gate("install claude-code")).without_gate_in_path();
    let cached = run.at(CACHED).canonicalize().unwrap().display().to_string();
    let ran = run.code(0);
    let copy = ran.copy_of_gate().display().to_string();
    let moved = ran.file(SETTINGS);
    fs::write(ran.path(SETTINGS), moved.replace(&copy, &cached)).unwrap();
    let ran = found(ran, 0, &["program-fleeting"]);
    let ran = ran.again("doctor --agent claude-code --fix").without_gate_in_path().code(0);
    assert_eq!(ran.file(SETTINGS), moved);
}

#[test]
fn a_copy_that_cannot_be_written_leaves_the_settings_alone() {
    let before = json!({"model": "x"}).to_string();
    let run = gate("install claude-code").without_gate_in_path().file(SETTINGS, &before);
    let ran = run.file("../home/.local/share/gate/bin", "no folder").run();
    assert_eq!(ran.ended(), Some(5));
    let ran = ran.tells("/gate/bin/gate: ");
    assert_eq!(ran.file(SETTINGS), before);
}
