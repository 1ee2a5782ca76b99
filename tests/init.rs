//! `gate init`: what it finds, runs and writes.

use crate::needs::needs;
use crate::support::{Ran, Run, gate};

/// A Makefile with this recipe for `test`.
fn make(recipe: &str) -> Run {
    gate("init").file("Makefile", format!(".PHONY: test\ntest:\n\t{recipe}\n"))
}

/// The settings that were written, as `config show` prints them.
#[track_caller]
fn shown(ran: Ran) -> String {
    ran.again("config show").code(0).stdout
}

#[test]
fn in_an_empty_folder_it_says_that_nothing_was_found() {
    let ran = gate("init").code(0).says("FOUND  nothing that checks this project").stderr("");
    let ran = ran.says("tests or builds\n\n    wrote       ");
    assert!(ran.file("gate.toml").contains("# [checks.tests]"), "{}", ran.file("gate.toml"));
    assert!(!shown(ran).contains("[checks."));
}

#[test]
fn a_home_folder_gets_no_settings() {
    let ran = gate("-C ../home init --no-run").code(2);
    let ran = ran.tells("is no project: it holds everything of yours").tells("hint: cd into");
    assert!(!ran.path("../home/gate.toml").exists());
    let ran = gate("-C ../home status").code(0);
    ran.says("settings    no gate.toml: cd into a project, then `gate setup`\n");
}

#[test]
fn without_a_run_nothing_is_run_or_timed() {
    let ran = make("touch ran").args(["--no-run"]).code(0).stderr("");
    let ran =
        ran.says("    tests       make -s test\n                from target test in Makefile\n");
    assert_eq!(ran.file("ran"), "");
    assert!(!ran.path("ran").exists());
    assert!(ran.file("gate.toml").contains("# From target test in Makefile.\n# Not timed.\n"));
    assert!(shown(ran).contains(r#"command = ["make", "-s", "test"]"#));
}

#[test]
fn tests_are_run_once_and_what_came_of_it_is_written() {
    if !needs("make") {
        return;
    }
    let ran = make("echo run >>runs").code(0).tells("running tests: make -s test");
    let ran =
        ran.says("target test in Makefile; passed in ").says("    next        1. read gate.toml\n");
    assert_eq!(ran.file("runs"), "run\n");
    assert!(ran.file("gate.toml").contains("# It passed in "), "{}", ran.file("gate.toml"));
}

#[test]
fn tests_that_fail_are_written_and_told() {
    if !needs("make") {
        return;
    }
    let ran = make("exit 3").code(0).says("FAILED in 0.").says("  1. repair `tests`");
    assert!(ran.file("gate.toml").contains("# It failed in 0."), "{}", ran.file("gate.toml"));
    assert!(shown(ran).contains("[checks.tests]"));
}

#[test]
fn a_missing_tool_is_a_problem_and_its_tests_are_written() {
    let ran = gate("init").file("build.gradle", "").env("PATH", "/nonexistent").code(1);
    let ran = ran.says("COULD NOT RUN: ").says("! note        gradle is not installed");
    let ran = ran.says("1. make `tests`, `build` run: install what is missing");
    assert!(ran.file("gate.toml").contains("# It could not run: "));
    assert!(shown(ran).contains(r#""cleanTest", "test"]"#));
}

#[test]
fn tests_whose_runner_is_not_installed_did_not_fail() {
    if !needs("make") {
        return;
    }
    let ran = make("no-such-runner --all").code(1);
    let ran = ran.says("COULD NOT RUN: no-such-runner is not installed");
    let ran = ran.again("check out.log").file("out.log", crate::support::DONE).code(1);
    ran.says("no-such-runner is not installed");
}

#[test]
fn a_suite_without_a_test_is_not_required() {
    if !needs("go") {
        return;
    }
    let run = gate("init").file("go.mod", "module a\n\ngo 1.20\n");
    let ran = run
        .file("a.go", "package a\n")
        .code(0)
        .says("off         tests: go test ./...\n                there is no test yet");
    let text = ran.file("gate.toml");
    assert!(text.contains("# It found no test: take it in once there is one.\n# [checks.tests]"));
    assert!(!shown(ran).contains("[checks.tests]"), "{text}");
}

#[test]
fn the_command_of_the_projects_ci_is_written_with_its_file() {
    let ci = "on: push\njobs:\n  a:\n    steps:\n    - run: cargo test --locked\n";
    let run = gate("init --no-run").file("Cargo.toml", "[package]\nname = \"a\"\n");
    let ran = run.file(".github/workflows/ci.yml", ci).code(0);
    ran.says("from `cargo test --locked` in .github/workflows/ci.yml\n");
}

#[test]
fn nothing_is_run_where_nothing_would_be_written() {
    for words in ["init", "init --no-run"] {
        let run = gate(words).file("Makefile", "test:\n\ttouch ran\n").settings("mine = 1\n");
        let ran = run.code(2).stdout("").tells("gate.toml exists already; it was not touched");
        assert_eq!(ran.file("gate.toml"), "mine = 1\n");
        assert!(!ran.path("ran").exists());
    }
}

#[test]
fn no_run_is_about_settings_alone() {
    gate("init --no-run --loop bash").code(2).tells("cannot be used with");
}

#[test]
fn a_repository_and_a_plan_have_checks() {
    let run = gate("init --no-run").file("fix_plan.md", "- [ ] a\n").committed();
    let ran = run.code(0).says("    clean_git   ").says("fix_plan.md");
    let text = shown(ran);
    assert!(text.contains("[checks.clean_git]") && text.contains(r#"files = ["fix_plan.md"]"#));
    assert!(text.contains(r#"mode = "count""#), "{text}");
}

#[test]
fn what_was_written_decides() {
    if !needs("make") {
        return;
    }
    let done = crate::support::DONE;
    let plan = |mark| format!("- [{mark}] T001 read the old layout\n");
    let run = |mark| make("true").file("fix_plan.md", plan(mark)).file("out.log", done);
    run("x").code(0).again("check out.log").code(0);
    let ran = run(" ").code(0).again("check out.log").code(1);
    ran.says("1 of 1 criterion is open: T001 read the old layout");
}

#[test]
fn names_in_the_tree_cannot_write_settings_or_escapes() {
    let name = "a\n[checks.evil]\ncommand = [\"true\"]\n\u{1b}[2J";
    let ran = gate("init --no-run").file(&format!("{name}/Cargo.toml"), "").code(0);
    assert!(!ran.stdout.contains('\u{1b}'), "{}", ran.stdout);
    let settings: toml::Table = shown(ran).parse().unwrap();
    let checks = settings["checks"].as_table().unwrap();
    assert_eq!(
        checks.keys().collect::<Vec<_>>(),
        ["build", "copies_max", "jobs", "machine_jobs", "tests"]
    );
}

#[test]
fn the_next_steps_are_told_in_order_and_begin_with_the_commit() {
    let run = make("true").args(["--no-run"]).committed().script("bin/codex", "#!/bin/sh\n");
    let path = format!("{}:/usr/bin:/bin", run.at("bin").display());
    let ran = run.env("PATH", path).code(0);
    let at = |step: &str| ran.stdout.find(step).unwrap_or_else(|| panic!("{step}: {}", ran.stdout));
    let steps = [
        "1. read gate.toml",
        "2. commit it",
        "3. gate install codex",
        "4. or as the loop around one: `gate run --prompt PROMPT.md --agent codex`",
    ];
    let places = steps.map(at);
    assert!(places.is_sorted(), "{}", ran.stdout);
    assert!(ran.stdout.contains("git add gate.toml && git commit"), "{}", ran.stdout);
    let bare = make("true").args(["--no-run"]).code(0);
    assert!(!bare.stdout.contains("git add"), "there is no repository: {}", bare.stdout);
}

#[test]
fn a_second_init_is_told_of_merge_and_merge_adds_what_is_missing() {
    let settings = "# mine\n[checks.tests]\ncommand = [\"true\"]\n";
    let makefile = ".PHONY: test build\ntest:\nbuild:\n";
    let run = gate("init").file("Makefile", makefile).settings(settings);
    let ran = run.code(2).tells("`gate init --merge` adds the checks that it lacks");
    let ran = ran.again("init --no-run --merge").code(0).says("    added to ");
    let text = ran.file("gate.toml");
    assert!(text.starts_with(settings) && text.contains("[checks.build]"), "{text}");
    let ran = ran.again("init --no-run --merge").code(0).says("has all that was found");
    ran.again("check --plan").code(0).says("make -s build");
}

#[test]
fn an_init_below_settings_says_which_no_longer_count_and_can_add_to_them() {
    let run = gate("-C web init --no-run").file("web/Makefile", ".PHONY: test\ntest:\n");
    let ran = run.settings("").committed().code(0).says("no longer counts in this folder");
    let ran = ran.again("-C web init --no-run --merge").setup("rm web/gate.toml").code(0);
    let text = ran.file("gate.toml");
    assert!(text.contains("[checks.tests-web]") && text.contains("cwd = \"web\""), "{text}");
}

/// What a workflow says about another tool or another project is not taken for this project's tests.
#[test]
fn a_line_of_another_tool_in_a_workflow_is_no_command_of_tests() {
    let sage = "on: [push]\njobs:\n  docker:\n    steps:\n    - uses: actions/checkout@v4\n      with:\n        \
                repository: ${{ env.SAGE_REPO }}\n    - run: |\n        sed -i.bak 's/a/\n        pytest -k \
                nothing\n        /' build/write.sh\n    - run: tox -e docker -- \\\n        pytest -k nothing\n    \
                - run: pytest -k nothing\n";
    let ci = "on:\n  pull_request:\njobs:\n  slow:\n    steps:\n    - run: pytest -m slow\n  tests:\n    \
              timeout-minutes: 45\n    steps:\n    - run: pip install \\\n        pytest\n    - run: python -m pytest -v\n";
    let ran = gate("init --no-run")
        .file("tests/test_a.py", "import pytest\n")
        .file(".github/workflows/ci-sage.yml", sage)
        .file(".github/workflows/runtests.yml", ci)
        .run();
    let settings = ran.file("gate.toml");
    assert!(settings.contains("\"-m\", \"pytest\", \"-v\"]\ntimeout = \"45m\"\n"), "{settings}");
    assert!(settings.contains("CI gives it 45 minutes."), "{settings}");
}
