//! Commands from the files of CI services.

use std::fs;

use crate::project::detect_with;
use crate::project::tests::{folder, lines};

const PYTEST: (&str, &str) = ("tests/test_a.py", "import pytest\n");
const SCRIPTS: (&str, &str) =
    ("package.json", r#"{"scripts":{"test":"vitest run","lint":"eslint .","build":"vite build"}}"#);

/// The proposals for a project with these files, if these programs are missing.
#[track_caller]
fn check_without(missing: &[&str], files: &[(&str, &str)], expected: &[&str]) {
    let folder = folder(files);
    let detected = detect_with(folder.path(), true, &|program| !missing.contains(&program));
    assert_eq!(lines(&detected), expected, "{:?}", detected.notes);
}

#[track_caller]
fn check(files: &[(&str, &str)], expected: &[&str]) {
    check_without(&[], files, expected);
}

fn workflow(steps: &str) -> String {
    format!("on: [push]\njobs:\n  check:\n    runs-on: ubuntu-latest\n    steps:\n{steps}")
}

#[test]
fn the_commands_of_a_workflow_come_before_guesses() {
    let steps = "    - uses: actions/checkout@v4
    - run: cargo fmt --check
    - run: |
        cargo clippy --all-targets -- -D warnings
        cargo test --all-features --locked
";
    check(
        &[("Cargo.toml", "[package]\n"), (".github/workflows/ci.yml", &workflow(steps))],
        &[
            "tests: cargo test --all-features --locked",
            "build: cargo build",
            "lint: cargo fmt --check",
        ],
    );
}

#[test]
fn each_service_has_its_own_keys() {
    for (file, text) in [
        (".gitlab-ci.yml", "test:\n  script:\n    - pip install -e .\n    - pytest -q tests\n"),
        (
            ".circleci/config.yml",
            "jobs:\n  a:\n    steps:\n    - run:\n        command: pytest -q tests\n",
        ),
        (".travis.yml", "script: pytest -q tests\n"),
        ("azure-pipelines.yml", "steps:\n- script: pytest -q tests\n"),
        (".woodpecker/a.yaml", "steps:\n  a:\n    commands:\n    - pytest -q tests\n"),
        (
            ".github/workflows/a.yaml",
            "on:\n  pull_request:\njobs: {a: {steps: [{run: pytest -q tests}]}}\n",
        ),
    ] {
        check(&[PYTEST, (file, text)], &["tests: pytest -q tests"]);
    }
}

#[test]
fn a_command_of_python_runs_in_the_environment_that_is_here() {
    let ci = workflow("    - run: python -m pytest -x\n    - run: ruff check src\n");
    let ci = (".github/workflows/ci.yml", ci.as_str());
    check(&[PYTEST, ci], &["tests: python3 -m pytest -x", "lint: ruff check src"]);
    let locked = ["tests: uv run pytest -x", "lint: uv run ruff check src"];
    check(&[PYTEST, ("uv.lock", ""), ci], &locked);
    let files = [PYTEST, ("!.venv/bin/python", ""), ("!.venv/bin/ruff", ""), ci];
    check(&files, &["tests: .venv/bin/python -m pytest -x", "lint: .venv/bin/ruff check src"]);
}

#[test]
fn a_script_that_ci_names_is_called_as_it_is_guessed() {
    let ci = workflow("    - run: npm ci\n    - run: npm test\n    - run: npm run lint\n");
    let files = [SCRIPTS, ("package-lock.json", ""), (".github/workflows/ci.yml", &ci)];
    let expected =
        ["tests: npx --no-install vitest run", "build: npm run build", "lint: npm run lint"];
    check(&files, &expected);
}

#[test]
fn a_tool_of_ci_that_is_not_here_leaves_the_guess() {
    let ci = workflow("    - run: cargo nextest run\n");
    let files = [("Cargo.toml", "[package]\n"), (".github/workflows/ci.yml", ci.as_str())];
    check_without(
        &[],
        &files,
        &[
            "tests: cargo nextest run",
            "build: cargo build",
            "lint?: cargo clippy --all-targets -- -D warnings",
        ],
    );
    let tox = workflow("    - run: tox -e py\n");
    check(&[PYTEST, (".github/workflows/ci.yml", &tox)], &["tests: python3 -m pytest"]);
    let uv = workflow("    - run: uv run pytest -q\n");
    let files = [PYTEST, (".github/workflows/ci.yml", uv.as_str())];
    check_without(&["uv"], &files, &["tests: python3 -m pytest"]);
}

#[test]
fn a_step_in_another_folder_runs_there() {
    let steps = "    - run: npm test\n      working-directory: web\n    - run: cd api && go test -race ./...\n";
    let ci = workflow(steps);
    let files = [
        ("web/package.json", SCRIPTS.1),
        ("api/go.mod", ""),
        (".github/workflows/ci.yml", ci.as_str()),
    ];
    let expected = [
        "tests: (web) npx --no-install vitest run",
        "tests-api: (api) go test -race ./...",
        "build: (api) go build -o /dev/null ./...",
        "build-web: (web) npm run build",
        "lint: (api) go vet ./...",
        "lint-web: (web) npm run lint",
    ];
    check(&files, &expected);
}

#[test]
fn workflows_that_no_change_starts_and_steps_that_may_not_run_say_nothing() {
    let release = "on:\n  release:\njobs: {a: {steps: [{run: pytest -k release}]}}\n";
    let conditional = workflow("    - run: pytest -k nightly\n      if: github.ref == 'x'\n");
    let vague = workflow("    - run: pytest ${{ matrix.arguments }}\n");
    let broken = "on: [push\n";
    for text in [release, &conditional, &vague, broken, "", "on: push\njobs: *a\n"] {
        check(&[PYTEST, (".github/workflows/a.yml", text)], &["tests: python3 -m pytest"]);
    }
}

#[test]
fn a_step_that_ci_lets_fail_is_no_required_check() {
    let step = |allowed| {
        workflow(&format!("    - run: pytest -k slow\n      continue-on-error: {allowed}\n"))
    };
    let job = "slow:\n  script: pytest -k slow\n  allow_failure:\n    exit_codes: 137\n";
    let python = ["tests: python3 -m pytest"];
    check(&[PYTEST, (".github/workflows/a.yml", &step("true"))], &python);
    check(&[PYTEST, (".github/workflows/a.yml", &step("${{ matrix.new }}"))], &python);
    check(&[PYTEST, (".gitlab-ci.yml", job)], &python);
    check(&[PYTEST, (".github/workflows/a.yml", &step("false"))], &["tests: pytest -k slow"]);
}

#[test]
fn a_check_without_a_command_never_takes_one_from_a_file_of_ci() {
    let ci = workflow("    - run: pytest -k nothing\n");
    let folder = folder(&[PYTEST]);
    fs::create_dir_all(folder.path().join(".github/workflows")).unwrap();
    fs::write(folder.path().join(".github/workflows/ci.yml"), ci).unwrap();
    let detected = crate::project::detect(folder.path());
    assert!(!detected.proposals[0].command.contains(&"-k".to_owned()), "{detected:?}");
}
