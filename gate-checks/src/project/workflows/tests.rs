//! Commands of tests in workflows.

use std::fs;

use crate::project::detect_with;
use crate::project::tests::{folder, lines};

const PYTEST: (&str, &str) = ("tests/test_a.py", "import pytest\n");

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
fn the_command_of_a_workflows_tests_comes_before_a_guess() {
    let steps = "    - uses: actions/checkout@v4
    - run: |
        cargo clippy --all-targets -- -D warnings
        cargo test --all-features --locked
";
    let files = [("Cargo.toml", "[package]\n"), (".github/workflows/ci.yml", &workflow(steps))];
    let expected = [
        "tests: cargo test --all-features --locked",
        "build: cargo build",
        "lint?: cargo clippy --all-targets -- -D warnings",
    ];
    check(&files, &expected);
    check_without(&["cargo-nextest"], &files, &expected);
}

#[test]
fn tests_that_a_step_runs_without_naming_their_runner_stay() {
    let ci = workflow("    - run: npm test\n    - run: cargo test --locked\n");
    let package = r#"{"scripts":{"test":"node --test"}}"#;
    let files = [
        ("Cargo.toml", "[package]\n"),
        ("package.json", package),
        (".github/workflows/ci.yml", ci.as_str()),
    ];
    let expected = [
        "tests: cargo test --locked",
        "tests-node: node --test",
        "build: cargo build",
        "lint?: cargo clippy --all-targets -- -D warnings",
    ];
    check(&files, &expected);
}

#[test]
fn a_command_of_python_runs_in_the_environment_that_is_here() {
    let ci = workflow("    - run: python -m pytest -x\n");
    let ci = (".github/workflows/ci.yml", ci.as_str());
    check(&[PYTEST, ci], &["tests: python3 -m pytest -x"]);
    check(&[PYTEST, ("uv.lock", ""), ci], &["tests: uv run pytest -x"]);
    let files = [PYTEST, ("!.venv/bin/python", ""), ci];
    check(&files, &["tests: .venv/bin/python -m pytest -x"]);
    let uv = workflow("    - run: uv run pytest -q\n");
    let files = [PYTEST, (".github/workflows/ci.yml", uv.as_str())];
    check_without(&["uv"], &files, &["tests: python3 -m pytest"]);
}

#[test]
fn a_step_in_another_folder_runs_there() {
    let steps = "    - run: npx vitest run --coverage\n      working-directory: web\n\
                 \x20   - run: go test -race ./...\n      working-directory: api\n";
    let ci = workflow(steps);
    let package = r#"{"scripts":{"test":"vitest run"}}"#;
    let files = [
        ("web/package.json", package),
        ("api/go.mod", ""),
        (".github/workflows/ci.yml", ci.as_str()),
    ];
    let expected = [
        "tests: (web) npx vitest run --coverage",
        "tests-api: (api) go test -race ./...",
        "build: (api) go build -o /dev/null ./...",
        "lint: (api) go vet ./...",
    ];
    check(&files, &expected);
}

#[test]
fn what_may_not_run_or_only_a_shell_reads_leaves_the_guess() {
    for text in [
        &workflow("    - run: pytest -k nightly\n      if: github.ref == 'x'\n"),
        &workflow("    - run: pytest -k slow\n      continue-on-error: true\n"),
        &workflow("    - run: pytest ${{ matrix.arguments }}\n"),
        &workflow("    - run: |\n        cd deep\n        pytest -q\n"),
        &workflow("    - run: tox -e py\n"),
        "on: [push\n",
        "",
        "on: push\njobs: *a\n",
    ] {
        check(&[PYTEST, (".github/workflows/a.yml", text)], &["tests: python3 -m pytest"]);
    }
}

/// A workflow with these lines below its name.
fn jobs(text: &str) -> String {
    format!("name: CI\n{text}")
}

/// Of a project with pytest and these workflows, the command of its tests.
#[track_caller]
fn takes(workflows: &[&str], expected: &str) {
    let names: Vec<_> =
        (0..workflows.len()).map(|number| format!(".github/workflows/{number}.yml")).collect();
    let texts = names.iter().map(String::as_str).zip(workflows.iter().copied());
    let files: Vec<_> =
        [PYTEST, ("python/tests/test_b.py", "import pytest\n")].into_iter().chain(texts).collect();
    check(&files, &[&format!("tests: {expected}")]);
}

#[test]
fn a_line_of_another_tool_gives_no_command() {
    for step in [
        "sed -i 's/deps =/deps =\n          pytest -k nothing\n          /' tox.ini",
        "docker run --rm -v .:/w sagemath/sagemath:9 \\\n          pytest -x sympy",
        "docker compose exec web \\\n          pytest -x",
        "tox -e py311 -- \\\n          pytest -x",
        "nox -s tests -- \\\n          pytest -x",
        "sage -python -m pytest -x",
        "pip install \\\n          pytest -U",
        "cat >run.sh <<END\n        pytest -x\n        END",
        "if [ -n \"$X\" ]; then\n          pytest -x\n        fi",
    ] {
        takes(&[&workflow(&format!("    - run: |\n        {step}\n"))], "python3 -m pytest");
    }
    let python =
        workflow("    - shell: python\n      run: |\n        import pytest\n        pytest -x\n");
    takes(&[&python], "python3 -m pytest");
}

#[test]
fn a_job_about_another_source_gives_no_command() {
    let checkout =
        |options: &str| format!("    - uses: actions/checkout@v4\n{options}    - run: pytest -x\n");
    let with = |option: &str| workflow(&checkout(&format!("      with:\n        {option}\n")));
    takes(&[&workflow(&checkout(""))], "pytest -x");
    takes(&[&with("fetch-depth: 0")], "pytest -x");
    takes(&[&with("repository: ${{ github.repository }}")], "pytest -x");
    takes(&[&with("repository: ${{ env.SAGE_REPO }}")], "python3 -m pytest");
    takes(&[&with("path: build/pkgs/src")], "python3 -m pytest");
}

#[test]
fn a_run_by_the_clock_or_of_slow_tests_gives_no_command() {
    let steps = "jobs:\n  check:\n    steps:\n    - run: pytest -x\n";
    for event in
        ["schedule:\n  - cron: '0 3 * * *'", "workflow_dispatch:", "push:\n    tags: ['v*']"]
    {
        takes(&[&jobs(&format!("on:\n  {event}\n{steps}"))], "python3 -m pytest");
    }
    for events in ["on: push", "on: [schedule, pull_request]", "on:\n  push:\n    branches: [main]"]
    {
        takes(&[&jobs(&format!("{events}\n{steps}"))], "pytest -x");
    }
    let slow = "jobs:\n  slow:\n    steps:\n    - run: pytest -x\n  tests:\n    steps:\n    \
                - name: Nightly tests\n      run: pytest -v\n    - run: pytest -m slow --durations=0\n    \
                - run: pytest --benchmark-skip\n";
    takes(&[&jobs(slow)], "pytest --benchmark-skip");
}

#[test]
fn folder_and_time_of_a_job_hold_for_its_steps() {
    let ci = "defaults:\n  run:\n    working-directory: ./python/\njobs:\n  tests:\n    \
              timeout-minutes: 60\n    steps:\n    - run: pytest -v\n";
    let folder =
        folder(&[("python/tests/test_b.py", "import pytest\n"), (".github/workflows/ci.yml", ci)]);
    let detected = detect_with(folder.path(), true, &|_| true);
    assert_eq!(lines(&detected), ["tests: (python) pytest -v"]);
    assert_eq!(detected.proposals[0].ci_minutes, Some(60));
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
