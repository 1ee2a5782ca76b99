//! `gate config`, and where settings are found.

use crate::support::{Run, gate, judge};

/// The JSON of the origin, with values of our own.
const ORIGIN: &str = r#"{
  "exit_gate": {
    "enabled": true,
    "indicator_threshold": 2,
    "require_explicit_signal": true,
    "evidence_checks": {"tests": false, "build": false, "acceptance_criteria": false, "clean_git": false},
    "patterns": ["milestone reached", "changelog (is )?written", "nothing to add"]
  }
}"#;

const STRICT: &str = "[exit_gate]\nindicator_threshold = 9\n";

fn imported(json: &str) -> String {
    gate("config import old.json").file("old.json", json).code(0).stdout
}

fn shows(run: Run, line: &str) {
    run.code(0).stderr("").says(&format!("\n{line}\n"));
}

#[test]
fn show_prints_settings_that_mean_the_same_again() {
    let settings = "[exit_gate]\nconsecutive = 3\n[checks.tests]\ncommand = [\"make\", \"test\"]\n\
                    [breaker]\ncooldown = \"2h\"\n[[patterns.custom]]\nid = \"x\"\nliteral = \"y\"\n";
    for settings in ["", settings] {
        let shown = gate("config show").settings(settings).code(0).stderr("").stdout;
        let again = gate("config show").settings(&shown).code(0).stdout;
        assert_eq!(shown, again);
    }
}

#[test]
fn show_follows_flags_and_environment() {
    shows(gate("config show --exit-threshold 7"), "indicator_threshold = 7");
    shows(gate("config show").env("GATE_EXIT_THRESHOLD", "6"), "indicator_threshold = 6");
    shows(gate("config show").settings(STRICT), "indicator_threshold = 9");
    shows(
        gate("config show --config other.toml").file("other.toml", STRICT),
        "indicator_threshold = 9",
    );
    let types = "[task_types.t]\nexit_gate.indicator_threshold = 4\n";
    shows(gate("config show --task-type t").settings(types), "indicator_threshold = 4");
    gate("config show").code(0).says("# indicator_threshold is not set: 1");
}

#[test]
fn origins_are_file_and_line_or_the_name_of_what_set_it() {
    let shown = |run: Run| run.code(0).stdout;
    let line = |text: &str, key: &str| {
        text.lines().find(|line| line.starts_with(key)).unwrap_or_default().to_owned()
    };
    let text = shown(
        gate("config show --origin").settings(STRICT).user_settings("[breaker]\nno_exit = 3\n"),
    );
    assert!(line(&text, "indicator_threshold").ends_with("gate.toml:2"), "{text}");
    assert!(line(&text, "no_exit = 3").ends_with("config.toml:2"), "{text}");
    assert!(line(&text, "consecutive").ends_with("# default"), "{text}");
    let text = shown(gate("config show --origin").env("CUB_EXIT_THRESHOLD", "4"));
    assert!(line(&text, "indicator_threshold").ends_with("# CUB_EXIT_THRESHOLD"), "{text}");
    let text = shown(gate("config show --origin --exit-threshold 4"));
    assert!(line(&text, "indicator_threshold").ends_with("# --exit-threshold"), "{text}");
}

#[test]
fn the_origins_json_becomes_its_formula() {
    let settings = imported(ORIGIN);
    let verdict =
        |output: &str, code| judge("check out.log", output).settings(&settings).code(code);
    let (one, two) = ("milestone reached\n", "milestone reached\nThe changelog is written\n");
    let signal = "\nEXIT_STATUS: COMPLETE\n";
    verdict(&format!("{two}{signal}"), 0);
    verdict(&format!("{one}{signal}"), 1);
    verdict(&format!("{one}{one}{signal}"), 1);
    verdict(signal, 1);
    verdict(two, 1);
    verdict(&format!("{two}\nEXIT_STATUS: CONTINUE\n"), 1);
    verdict(&format!("{two}\n<promise>COMPLETE</promise>\n"), 1);
    verdict(&format!("It is ready for review. All tasks are completed.{signal}"), 1);
    verdict(&format!("MILESTONE REACHED, CHANGELOG WRITTEN{signal}"), 0);
}

#[test]
fn the_origins_threshold_and_evidence_are_kept() {
    let one = imported(&ORIGIN.replace("\"indicator_threshold\": 2", "\"indicator_threshold\": 1"));
    judge("check out.log", "nothing to add\n\nEXIT_STATUS: COMPLETE\n").settings(&one).code(0);
    let json = ORIGIN.replace("\"clean_git\": false", "\"clean_git\": true");
    let with_check = imported(&json);
    let shown = gate("config show").settings(&with_check).code(0);
    shown.says("[checks.clean_git]").says("mode = \"count\"");
}

#[test]
fn import_reads_the_standard_input_and_tells_what_to_do() {
    let run = gate("config import -").stdin(ORIGIN).code(0).says("[exit_gate]");
    assert_eq!(run.stdout, imported(ORIGIN));
    let json = ORIGIN.replace("\"tests\": false", "\"tests\": true");
    gate("config import -").stdin(json).code(0).tells("gate: checks.tests has no command yet");
}

#[test]
fn import_names_the_place_of_what_it_does_not_know() {
    let json = "{\n  \"exit_gate\": {\n    \"indicator_treshold\": 2\n  }\n}\n";
    let ran = gate("config import old.json").file("old.json", json).code(2).stdout("");
    ran.tells("old.json:3:5: ").tells("did you mean `indicator_threshold`?");
    let ran =
        gate("config import old.json").file("old.json", "{\"exit_gate\": ").code(2).stdout("");
    ran.tells("old.json:1:");
    gate("config import missing.json").code(2).tells("missing.json");
}

#[test]
fn an_error_names_file_line_column_and_the_nearest_key() {
    for (settings, place, advice) in [
        ("[exit_gate]\nindicator_treshold = 2\n", "gate.toml:2:1: ", "`indicator_threshold`"),
        ("\n[exit_gat]\nenabled = true\n", "gate.toml:2:2: ", "`exit_gate`"),
        ("[exit_gate]\nconsecutive = 0\n", "gate.toml:2:15: ", "from 1"),
        ("[exit_gate]\nenabled = \"yes\"\n", "gate.toml:2:11: ", "true or false"),
        ("[signal]\naccept = [\"promis\"]\n", "gate.toml:2:", "`promise`"),
        ("[checks.tests]\ncomand = []\n", "gate.toml:2:1: ", "`command`"),
        ("[checks.tests]\ncommand = [\"x\"]\ntimeout = \"soon\"\n", "gate.toml:3:11: ", "timeout"),
        ("[[patterns.custom]]\nid = \"x\"\nregex = \"(\"\n", "gate.toml:3:", "`x`"),
        ("[exit_gate\n", "gate.toml:1:", ""),
        ("indicator_threshold = 2\n", "gate.toml:1:1: ", "[exit_gate]"),
    ] {
        let ran = gate("config show").settings(settings).code(2).stdout("");
        ran.tells(place).tells(advice);
    }
}

#[test]
fn settings_without_a_threshold_and_without_a_signal_are_a_conflict() {
    let settings = "[exit_gate]\nenabled = false\nrequire_explicit_signal = false\n";
    gate("config show").settings(settings).code(2).tells("gate.toml:");
}

#[test]
fn the_projects_file_is_found_up_to_the_repositorys_root() {
    let found = |words: &str| gate(words).folder("repo/.git").folder("repo/a/b");
    let strict = "indicator_threshold = 9";
    shows(found("-C repo/a/b config show").file("repo/gate.toml", STRICT), strict);
    shows(found("-C repo/a/b config show").file("repo/a/gate.toml", STRICT), strict);
    shows(found("-C repo/a/b config show").file("repo/a/b/gate.toml", STRICT), strict);
    let nearest =
        found("-C repo/a/b config show").file("repo/gate.toml", "[exit_gate]\nconsecutive = 5\n");
    let shown = nearest.file("repo/a/gate.toml", STRICT).code(0).says(strict).stdout;
    assert!(!shown.contains("consecutive = 5"), "{shown}");
}

#[test]
fn a_repository_made_inside_of_one_hides_no_settings() {
    let run = || gate("-C sub config show").file("gate.toml", STRICT).file("sub/a.txt", "a\n");
    let strict = "indicator_threshold = 9";
    shows(run().committed(), strict);
    shows(run().committed().setup("git init -q sub"), strict);
    shows(run().committed().setup("mkdir sub/.git"), strict);
    let own = run().setup("git init -q . && git init -q sub").code(0);
    assert!(!own.stdout.contains(strict), "{}", own.stdout);
}

#[test]
fn a_file_above_the_repositorys_root_is_nobodys() {
    let run = gate("-C repo/a config show").folder("repo/.git").folder("repo/a");
    run.settings(STRICT).code(0).says("is not set");
    let worktree = gate("-C repo/a config show").file("repo/.git", "gitdir: elsewhere\n");
    worktree.folder("repo/a").settings(STRICT).code(0).says("is not set");
}

#[test]
fn outside_of_a_repository_only_the_folders_own_file_counts() {
    gate("-C a config show").folder("a").settings(STRICT).code(0).says("is not set");
    shows(gate("-C a config show").file("a/gate.toml", STRICT), "indicator_threshold = 9");
}

#[test]
fn the_users_file_lies_below_the_projects() {
    shows(gate("config show").user_settings(STRICT), "indicator_threshold = 9");
    let both = gate("config show").user_settings(STRICT);
    shows(both.settings("[exit_gate]\nindicator_threshold = 3\n"), "indicator_threshold = 3");
    let ran = gate("config show").user_settings("[exit_gat]\n").code(2);
    ran.tells("config.toml:1:2: ").tells("`exit_gate`");
}

#[test]
fn a_named_file_takes_the_place_of_the_projects() {
    let run = gate("config show --config other.toml").settings(STRICT);
    run.file("other.toml", "[exit_gate]\nconsecutive = 2\n").code(0).says("is not set");
    gate("config show --config other.toml").code(2).tells("other.toml");
    gate("config show --config .").code(2);
}

/// The checks that a settings file configures must not be lost with it.
#[cfg(unix)]
#[test]
fn a_link_that_leads_nowhere_is_no_missing_file() {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("nowhere", folder.path().join("gate.toml")).unwrap();
    std::fs::write(folder.path().join("out.log"), "EXIT_STATUS: COMPLETE\n").unwrap();
    let words = format!("-C {} check out.log", folder.path().display());
    gate(&words).code(2).stops().tells("gate.toml");
}

#[test]
fn another_project_s_settings_are_not_found_on_the_way() {
    let run = gate("-C repo/../other config show")
        .folder("repo/.git")
        .file("repo/gate.toml", "[exit_gate]\nindicator_threshold = 7\n")
        .folder("other");
    assert!(!run.code(0).stdout.contains("indicator_threshold = 7"));
}
