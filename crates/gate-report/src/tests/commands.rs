//! Commands as people write them: prefixes, options of their own, places of reports.

use std::fs;
use std::path::Path;

use crate::runners::is_runner;
use crate::{Format, Prepared, Request, prepare, with_options};

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

/// The prepared command in a private folder of this name.
fn prepared(line: &str, demanded: Option<Format>, keep_going: bool, folder: &Path) -> Prepared {
    let argv = words(line);
    let cwd = Path::new("/project");
    prepare(&Request { argv: &argv, shell: false, demanded, folder, cwd, keep_going })
}

/// The command that this one becomes; `DIR` is the private folder.
#[track_caller]
fn check(line: &str, demanded: Option<Format>, expected: &str) {
    let folder = tempfile::tempdir().unwrap();
    let argv = prepared(line, demanded, false, folder.path()).argv.join(" ");
    assert_eq!(argv.replace(&folder.path().display().to_string(), "DIR"), expected, "{line}");
}

/// The command with `--ours` where the runner's own options begin.
#[track_caller]
fn check_options(line: &str, expected: Option<&str>) {
    let found = with_options(&words(line), words("--ours")).map(|argv| argv.join(" "));
    assert_eq!(found.as_deref(), expected, "{line}");
    assert_eq!(is_runner(&words(line)), expected.is_some(), "{line}");
}

#[test]
fn a_runner_is_found_behind_several_prefixes() {
    check_options(
        "env A=1 timeout 60 uv run pytest -q",
        Some("env A=1 timeout 60 uv run pytest --ours -q"),
    );
    check_options("nice -n 5 cargo test", Some("nice -n 5 cargo test --ours"));
    check_options(
        "env -u A -C app B=1 go test ./...",
        Some("env -u A -C app B=1 go test --ours ./..."),
    );
    check_options("conda run -n test pytest", Some("conda run -n test pytest --ours"));
    check_options("uv tool run pytest", Some("uv tool run pytest --ours"));
    check_options("uv tool install pytest", None);
    check_options("pnpm -C web exec -- jest a", Some("pnpm -C web exec -- jest --ours a"));
    check_options("yarn --cwd web run vitest", Some("yarn --cwd web run vitest --ours"));
    check_options("bun run jest", Some("bun run jest --ours"));
    check_options("bun install jest", None);
    check_options("timeout 60", None);
    check_options("env A=1", None);
    check_options("npx --", None);
}

#[test]
fn a_program_is_known_by_its_name_in_any_folder() {
    check_options(".venv/bin/python3.12 -m pytest", Some(".venv/bin/python3.12 -m pytest --ours"));
    check_options("python -m unittest -k a", Some("python -m unittest --ours -k a"));
    check_options("python -m", None);
    check_options("pypy3 -W error -m pytest", Some("pypy3 -W error -m pytest --ours"));
    check_options("python3x -m pytest", None);
    check_options("pytest.exe -q", Some("pytest.exe --ours -q"));
    check_options("./pytest.py", None);
    check_options("coverage run -m pytest", Some("coverage run -m pytest --ours"));
    check_options("coverage report -m pytest", None);
}

#[test]
fn options_of_the_tool_itself_are_passed_over() {
    check_options(
        "cargo --color always --config net.offline=true t",
        Some("cargo --color always --config net.offline=true t --ours"),
    );
    check_options(
        "cargo +1.90 --manifest-path a/Cargo.toml nextest r",
        Some("cargo +1.90 --manifest-path a/Cargo.toml nextest r --ours"),
    );
    check_options("cargo test-all", None);
    check_options("cargo", None);
    check_options("go -C=sub test", Some("go -C=sub test --ours"));
    check_options("go -C sub vet test", None);
    check_options(
        "node --import tsx --test-timeout 5 --test a.js",
        Some("node --ours --import tsx --test-timeout 5 --test a.js"),
    );
    check_options(
        "node -r esm node_modules/vitest/vitest.mjs run",
        Some("node -r esm node_modules/vitest/vitest.mjs --ours run"),
    );
    check_options("node", None);
}

#[test]
fn a_demanded_format_that_the_runner_does_not_write_leaves_its_command_alone() {
    check("pytest -q", Some(Format::Tap), "pytest -q");
    check("go test ./...", Some(Format::Junit), "go test ./...");
    check("go test ./...", Some(Format::Go), "go test -json ./...");
    check("npx jest", Some(Format::Tap), "npx jest");
}

#[test]
fn a_script_hands_its_reporter_over_as_its_manager_does() {
    let jest = "--json --outputFile=DIR/jest.json";
    check("npm run unit -- --ci", Some(Format::Jest), &format!("npm run unit -- --ci {jest}"));
    check("npm t", Some(Format::Jest), &format!("npm t -- {jest}"));
    check("bun run unit", Some(Format::Jest), &format!("bun run unit {jest}"));
    let vitest = "--reporter=default --reporter=json --outputFile.json=DIR/vitest.json";
    check("pnpm test", Some(Format::Vitest), &format!("pnpm test {vitest}"));
    check("npm install", Some(Format::Jest), "npm install");
    check("make test", Some(Format::Jest), "make test");
    check("npm", Some(Format::Jest), "npm");
}

#[test]
fn the_place_of_a_report_is_filled_in_wherever_it_stands() {
    check("run {report} --copy={report}", Some(Format::Junit), "run DIR/report --copy=DIR/report");
    check("go test -coverprofile={report} .", None, "go test -json -coverprofile=DIR/report .");
}

#[test]
fn a_reporter_of_jest_that_the_caller_asked_for_gives_way_to_gates() {
    let ours = "--json --outputFile=DIR/jest.json";
    check("jest --json --outputFile=a -- b", None, &format!("jest {ours} -- b"));
    check(
        "npx vitest run --outputFile a.json",
        None,
        "npx vitest run --reporter=default --reporter=json --outputFile.json=DIR/vitest.json",
    );
    check(
        "npm x -- vitest",
        None,
        "npm x -- vitest --reporter=default --reporter=json --outputFile.json=DIR/vitest.json",
    );
}

#[test]
fn a_reporter_of_mocha_that_the_caller_asked_for_gives_way_to_gates() {
    let ours = "--reporter=DIR/mocha/results.cjs";
    check("mocha -R dot --reporter-option a=b test", None, &format!("mocha test {ours}"));
    check("npx nyc -r lcov mocha --exit", None, &format!("npx nyc -r lcov mocha --exit {ours}"));
    check("npm exec mocha", None, &format!("npm exec -- mocha {ours}"));
    check("npm test", Some(Format::Mocha), "npm test");
    check("mocha -O output={report}", Some(Format::Tap), "mocha -O output=DIR/report");
}

#[test]
fn a_runner_goes_on_after_a_failure_only_where_that_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let argv =
        |line: &str, keep_going| prepared(line, None, keep_going, folder.path()).argv.join(" ");
    assert_eq!(argv("cargo test -q", false), "cargo test -q");
    assert_eq!(argv("cargo test -q", true), "cargo test --no-fail-fast -q");
    assert_eq!(argv("go test -failfast .", true), "go test -json -count=1 .");
    let ours = "--message-format=libtest-json-plus --no-tests=fail";
    assert_eq!(
        argv("cargo nextest run --max-fail=1", true),
        format!("cargo nextest run {ours} --no-fail-fast")
    );
    assert_eq!(argv("make test", true), "make test");
}

#[test]
fn nextest_is_allowed_its_events_by_a_variable() {
    let folder = tempfile::tempdir().unwrap();
    let variable = ("NEXTEST_EXPERIMENTAL_LIBTEST_JSON".to_owned(), "1".to_owned());
    assert_eq!(prepared("cargo nextest run", None, false, folder.path()).env, [variable]);
    assert_eq!(prepared("cargo test", None, false, folder.path()).env, []);
}

#[test]
fn the_variables_for_runners_are_quoted_as_they_split_them() {
    let folder = tempfile::tempdir().unwrap();
    let odd = folder.path().join("it's here");
    fs::create_dir(&odd).unwrap();
    let added = prepared("make test", None, false, &odd).env_added;
    let shown = odd.display().to_string().replace('\'', r"'\''");
    let expected = format!(
        "'--junitxml={shown}/pytest.xml' '-o' 'junit_family=xunit1' '-o' 'junit_logging=no' '-o' \
         'cache_dir={shown}/pytest-cache' '-o' 'log_file={shown}/pytest.log'"
    );
    let reporter = format!("--reporter=\"{}/mocha/results.cjs\"", odd.display());
    let mocha = ("MOCHA_OPTIONS".to_owned(), reporter);
    assert_eq!(added, [("PYTEST_ADDOPTS".to_owned(), expected), mocha]);
    let demanded = prepared("make test", Some(Format::Tap), false, &odd).env_added;
    assert_eq!(demanded, []);
}

#[test]
fn a_reporter_for_node_that_cannot_be_written_is_a_problem() {
    let reader = prepared("node --test", None, false, Path::new("/no/such/folder")).reader;
    let problems = reader.finish().unwrap().problems;
    assert!(problems[0].starts_with("the reporter for node could not be written"), "{problems:?}");
}

#[test]
fn what_several_report_files_hold_is_put_together() {
    let folder = tempfile::tempdir().unwrap();
    let command = prepared("x {report}", Some(Format::Junit), false, folder.path());
    let place = folder.path().join("report");
    fs::create_dir_all(place.join("core")).unwrap();
    let suite = |case: &str| format!("<testsuite name='s'><testcase name='{case}'/></testsuite>");
    fs::write(place.join("core/TEST-b.xml"), suite("b")).unwrap();
    fs::write(place.join("TEST-a.xml"), suite("a")).unwrap();
    fs::write(place.join("TEST-c.xml"), "<testsuite>").unwrap();
    let report = command.reader.finish().unwrap();
    let ids: Vec<_> = report.tests.iter().map(|test| test.id.as_str()).collect();
    assert_eq!((ids, report.problems.len()), (vec!["s::a", "s::b"], 1));
}
