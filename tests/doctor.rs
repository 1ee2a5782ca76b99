//! `gate doctor`: what is missing or wrong is named, and what cannot fail is
//! found out.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use crate::needs::needs;
use crate::support::{Ran, Run, each, gate};

/// An examination under these settings.
fn doctor(settings: &str) -> Run {
    gate("doctor --json").settings(settings)
}

/// The codes of the findings of this level.
fn codes(ran: &Ran, level: &str) -> Vec<String> {
    let found = ran.json()["findings"].as_array().unwrap().clone();
    let of_level = found.into_iter().filter(|finding| finding["level"] == level);
    of_level.map(|finding| finding["code"].as_str().unwrap().to_owned()).collect()
}

#[track_caller]
fn problem(settings: &str, code: &str, part: &str) {
    let ran = doctor(settings).committed().code(1);
    assert_eq!(codes(&ran, "problem"), [code], "{}", ran.stdout);
    assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
    assert_eq!(ran.json()["ok"], false);
}

#[test]
fn a_missing_tool_is_named_with_what_to_do() {
    let settings = "[checks.tests]\ncommand = [\"no-such-tool\", \"test\"]\n";
    problem(settings, "program-missing", "no-such-tool is not in PATH");
    let card = gate("doctor").settings(settings).code(1);
    let card = card.says("  missing     no-such-tool is not in PATH\n");
    card.says("do: install no-such-tool").says("\n1 problem\n");
}

#[test]
fn what_is_wrong_with_settings_is_told() {
    problem("[checks.a]\ncommand = [\"true\"]\ncwd = \"gone\"\n", "folder-missing", "gone");
    problem(
        "[checks.a]\nshell = true\ncommand = [\"ls || true\"]\n",
        "exit-code-masked",
        "|| true",
    );
    problem("[checks.tests]\n", "command-missing", "the project shows none");
    problem("[checks.acceptance_criteria]\nfiles = [\"T.md\"]\n", "criteria-unknown", "T.md");
    problem(
        "[exit_gate]\nindicator_threshold = 9000\n[checks.a]\ncommand = [\"true\"]\n",
        "threshold-unreachable",
        "9000",
    );
}

#[test]
fn what_is_only_worth_knowing_is_no_problem() {
    let ran = gate("doctor --json").code(0);
    assert_eq!(codes(&ran, "note"), ["no-repository", "settings-default", "no-checks"]);
    assert_eq!(ran.json()["ok"], true);
    assert_eq!(ran.json()["self_test"], serde_json::json!([]));
}

#[test]
fn nothing_of_the_projects_is_run_without_being_asked() {
    let settings = "[checks.tests]\nshell = true\ncommand = [\"echo x > trace\"]\n";
    let ran = gate("doctor").settings(settings).committed().code(0);
    assert_eq!(ran.file("trace"), "");
}

#[test]
fn a_card_is_grouped_and_says_it_in_words() {
    let settings = "[checks.clean_git]\n[checks.tests]\ncommand = [\"true\"]\n";
    gate("doctor").settings(settings).committed().code(0).stdout(
        "\
gate
  ok          git version [..]
  ok          the repository is [..]
  ok          the state folder [..]
  [..]child processes of checks [..]
  ok          the settings are those of [..]gate.toml
  ok          decision log of [..]: readable

check clean_git
  ok          built-in: looks for what is not committed

check tests
  ok          true is [..]

no problem found
",
    );
}

#[test]
fn state_that_others_can_read_or_that_the_agent_can_write_is_told() {
    let open =
        doctor("").setup("mkdir -p ../home/.local/state/gate; chmod 755 ../home/.local/state/gate");
    assert_eq!(codes(&open.code(1), "problem"), ["state-not-private"]);
    let inside = doctor("").env("GATE_STATE_DIR", ".state").code(1);
    assert_eq!(codes(&inside, "problem"), ["state-in-tree"]);
}

#[test]
fn what_cannot_be_examined_is_no_answer() {
    doctor("[checks\n").code(2);
    gate("doctor --only x").settings("[checks.a]\ncommand = [\"true\"]\n").code(2).tells("are a");
    gate("doctor --config missing").code(2);
}

/// The self-test of a committed project: standings by check.
#[track_caller]
fn proofs(run: Run, code: i32) -> BTreeMap<String, (String, String)> {
    let temporary = tempfile::tempdir().unwrap();
    let ran = run.env("TMPDIR", temporary.path()).committed().code(code);
    let left = fs::read_dir(temporary.path()).unwrap().count();
    assert_eq!(left, 0, "something is left in the temporary folder");
    let all = ran.json();
    let text = |proof: &Value, key: &str| proof[key].as_str().unwrap().to_owned();
    let proofs = all["self_test"].as_array().unwrap().iter();
    proofs
        .map(|proof| (text(proof, "check"), (text(proof, "standing"), text(proof, "how"))))
        .collect()
}

/// A project with these checks, each a command line, about to be self-tested.
fn project(checks: &[(&str, &str)], sources: &[(&str, &str)]) -> Run {
    let settings: String = checks.iter().map(|(name, line)| check(name, line)).collect();
    let run = gate("doctor --self-test --json").settings(&settings);
    sources.iter().fold(run, |run, (name, text)| run.file(name, text))
}

/// A check's settings; a line with a `|` or a `;` is a script.
fn check(name: &str, line: &str) -> String {
    let words: Vec<_> = line.split_whitespace().collect();
    let shell = line.contains(['|', ';']);
    let command = if shell { vec![line] } else { words };
    format!("[checks.{name}]\nshell = {shell}\ncommand = {command:?}\n")
}

#[track_caller]
fn stands(proofs: &BTreeMap<String, (String, String)>, check: &str, standing: &str, part: &str) {
    let (found, how) = &proofs[check];
    assert_eq!(found, standing, "{check}: {how}");
    assert!(how.contains(part), "{check}: {how}");
}

const MANIFEST: &str = "[package]\nname = \"thing\"\nedition = \"2024\"\n";

fn rust(manifest: &str, checks: &[(&str, &str)]) -> Run {
    let home = |name: &str, folder: &str| {
        std::env::var(name).or_else(|_| Ok(std::env::var("HOME")? + folder))
    };
    let lib = "#[test]\nfn adds() {\n    assert_eq!(1 + 1, 2);\n}\n";
    let sources = [("Cargo.toml", manifest), ("src/lib.rs", lib), ("own/t.rs", lib)];
    let homes: [Result<String, std::env::VarError>; 2] =
        [home("CARGO_HOME", "/.cargo"), home("RUSTUP_HOME", "/.rustup")];
    let [cargo, rustup] = homes.map(Result::unwrap);
    project(checks, &sources).env("CARGO_HOME", cargo).env("RUSTUP_HOME", rustup)
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn cargo() {
    let checks = [
        ("build", "cargo check --offline"),
        ("lib", "cargo test --offline --lib"),
        ("nothing", "cargo test --offline zzz"),
        ("tests", "cargo test --offline"),
        ("unheard", "cargo test --offline || true"),
    ];
    let proofs = proofs(rust(MANIFEST, &checks), 1);
    stands(&proofs, "tests", "can_fail", "named the control test ");
    stands(&proofs, "lib", "can_fail", "named the control test ");
    stands(&proofs, "build", "can_fail", "with a syntax error in 2 source files");
    stands(&proofs, "nothing", "not_shown", "fails as it is: no test was executed");
    stands(&proofs, "unheard", "cannot_fail", "did not fail the check");
}

#[test]
fn a_package_that_leaves_its_tests_out_cannot_fail() {
    let deaf =
        "autotests = false\n[lib]\ntest = false\n[[test]]\nname = \"t\"\npath = \"own/t.rs\"\n";
    let checks = [("tests", "cargo test --offline")];
    let proofs = proofs(rust(&format!("{MANIFEST}{deaf}"), &checks), 1);
    stands(&proofs, "tests", "cannot_fail", "did not fail the check");
}

#[test]
fn nextest() {
    if needs("nextest") {
        let checks = [("tests", "cargo nextest run --offline")];
        stands(&proofs(rust(MANIFEST, &checks), 0), "tests", "can_fail", "named the control");
    }
}

#[test]
fn pytest() {
    if needs("pytest") {
        let checks = [
            ("part", "python3 -m pytest -k adds"),
            ("tests", "python3 -m pytest -q"),
            ("piped", "python3 -m pytest -q | tee log"),
        ];
        let sources = [("tests/test_a.py", "def test_adds():\n    assert 1 + 1 == 2\n")];
        let proofs = proofs(project(&checks, &sources), 0);
        stands(&proofs, "tests", "can_fail", "named the control test ");
        stands(&proofs, "part", "can_fail", "left the control out; with a syntax error");
        stands(&proofs, "piped", "can_fail", "passed without");
    }
}

#[test]
fn unittest() {
    if needs("python3") {
        let checks = [("tests", "python3 -m unittest"), ("unheard", "python3 -m unittest || true")];
        let test = "import unittest\nclass A(unittest.TestCase):\n    def test_a(self): pass\n";
        let proofs = proofs(project(&checks, &[("test_a.py", test)]), 1);
        stands(&proofs, "tests", "can_fail", "with a syntax error");
        stands(&proofs, "unheard", "cannot_fail", "passed all the same");
    }
}

#[test]
fn node() {
    if needs("node") {
        let checks = [("file", "node --test test/a.test.js"), ("tests", "node --test")];
        let test = "require('node:test')('adds', () => {});\n";
        let proofs = proofs(project(&checks, &[("test/a.test.js", test)]), 0);
        stands(&proofs, "tests", "can_fail", "named the control test ");
        stands(&proofs, "file", "can_fail", "named the control test ");
    }
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn go() {
    if needs("go") {
        let checks = [("lint", "go vet ./..."), ("tests", "go test ./...")];
        let test = "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {}\n";
        let sources =
            [("go.mod", "module a\n\ngo 1.19\n"), ("a.go", "package a\n"), ("a_test.go", test)];
        let proofs = proofs(project(&checks, &sources).with_go_cache(), 0);
        stands(&proofs, "tests", "can_fail", "named the control test ");
        stands(&proofs, "lint", "can_fail", "with a syntax error");
    }
}

#[test]
fn bats() {
    if needs("bats") {
        let checks = [("file", "bats test/a.bats"), ("tests", "bats test")];
        let sources = [("test/a.bats", "@test \"a\" {\n  true\n}\n")];
        let proofs = proofs(project(&checks, &sources), 0);
        stands(&proofs, "tests", "can_fail", "with a syntax error");
        stands(&proofs, "file", "can_fail", "with a syntax error");
    }
}

#[test]
fn clean_git_has_to_see_what_is_not_committed() {
    let clean_git = |ignore: &str, code| {
        let settings = format!("[checks.clean_git]\nignore = {ignore}\n");
        proofs(project(&[], &[("a.txt", "a\n")]).settings(&settings), code)
    };
    stands(&clean_git("[]", 0), "clean_git", "can_fail", "gate-self-test-untracked.txt and a.txt");
    stands(&clean_git("[\"**\"]", 1), "clean_git", "cannot_fail", "look at `ignore`");
}

#[test]
fn what_cannot_fail_is_a_problem_and_what_is_not_shown_is_none() {
    let run = gate("doctor --self-test").settings("[checks.a]\ncommand = [\"true\"]\n");
    run.file("a.sh", "true\n").code(1).says("  cannot fail").says("1 problem\n");
    let run = gate("doctor --self-test").settings("[checks.a]\ncommand = [\"true\"]\n");
    run.code(0).says("  not shown").says("no problem found");
}

#[test]
fn one_check_alone_can_be_examined() {
    let settings = format!("{}{}", check("a", "true"), check("b", "no-such-tool"));
    let ran = gate("doctor --json --self-test --only a").settings(&settings).code(0);
    assert_eq!(each(&ran.json(), "self_test", "check"), ["a"]);
    assert!(!ran.stdout.contains("no-such-tool"), "{}", ran.stdout);
}

#[test]
fn the_real_tree_is_left_as_it_is() {
    let sums = |to: &str| format!("find . -type f | sort | xargs cksum > ../{to}");
    let writes = "echo x > made; echo x >> a.sh; echo x > cache/y";
    let run = project(&[("writes", writes)], &[("a.sh", "true\n"), (".gitignore", "cache\n")]);
    let ran = run.file("cache/x", "kept").committed().setup(&sums("before")).run();
    let ran = ran.again("--version").setup(&sums("after")).code(0);
    assert!(ran.file("../before").contains("cache/x"));
    assert_eq!(ran.file("../before"), ran.file("../after"));
}

#[test]
fn a_held_loop_is_told() {
    let ran = gate("breaker isolate --reason maintenance").code(0);
    ran.again("doctor").code(0).says("the breaker stopped a loop: maintenance");
}

#[test]
fn a_required_check_that_fails_already_is_a_problem_of_the_self_test() {
    let run = |mode: &str| {
        let settings = format!("[checks.a]\ncommand = [\"false\"]\nmode = \"{mode}\"\n");
        gate("doctor --self-test").settings(&settings)
    };
    run("require").code(1).says("  problem     it fails as it is").says("1 problem\n");
    run("warn").code(0).says("  not shown");
}
