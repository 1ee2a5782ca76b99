//! What a command becomes so that it reports.

use std::path::Path;

use gate_core::decide::evidence::Outcome::{Fail, Inconclusive, Pass};

use crate::{Format, Prepared, Request, Stream, judge, prepare};

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

fn prepared(line: &str, shell: bool, demanded: Option<Format>, folder: &Path) -> Prepared {
    let argv = if shell { vec![line.to_owned()] } else { words(line) };
    let cwd = Path::new("/project");
    prepare(&Request { argv: &argv, shell, demanded, folder, cwd, keep_going: false })
}

/// The command that this one becomes; `DIR` is the private folder.
#[track_caller]
fn check(line: &str, demanded: Option<Format>, expected: &str) {
    let folder = tempfile::tempdir().unwrap();
    let argv = prepared(line, false, demanded, folder.path()).argv.join(" ");
    assert_eq!(argv.replace(&folder.path().display().to_string(), "DIR"), expected, "{line}");
}

#[test]
fn runners_are_told_to_report() {
    let check = |line: &str, expected: &str| check(line, None, expected);
    let xml = "--junitxml=DIR/pytest.xml -o junit_family=xunit1 -o junit_logging=no -o cache_dir=DIR/pytest-cache";
    check("pytest -q", &format!("pytest -q {xml}"));
    check(
        "uv run pytest --junitxml=a.xml -- b",
        &format!("uv run pytest --junitxml=a.xml {xml} -- b"),
    );
    check("npx jest a", "npx jest a --json --outputFile=DIR/jest.json");
    check("jest --json --outputFile a b", "jest b --json --outputFile=DIR/jest.json");
    check("npm exec jest a", "npm exec -- jest a --json --outputFile=DIR/jest.json");
    check("npm exec -- jest", "npm exec -- jest --json --outputFile=DIR/jest.json");
    let json = "--reporter=json --outputFile.json=DIR/vitest.json";
    check("vitest run", &format!("vitest run --reporter=default {json}"));
    check("vitest --reporter dot --outputFile=a", &format!("vitest --reporter dot {json}"));
    check("go test ./...", "go test -json ./...");
    check("go test -run x ./... -args -json=false", "go test -json -run x ./... -args -json=false");
    check("cargo test -- --nocapture", "cargo test -- --nocapture");
    let ours = "--message-format=libtest-json-plus --no-tests=fail";
    check("cargo nextest run -p a", &format!("cargo nextest run {ours} -p a"));
    check(
        "cargo nextest run --no-tests=pass --message-format human a",
        &format!("cargo nextest run {ours} a"),
    );
}

#[test]
fn node_is_given_a_reporter_of_ours_and_one_to_read() {
    let check = |line: &str, expected: &str| check(line, None, expected);
    let ours = "--test-reporter=DIR/node-events.mjs --test-reporter-destination=DIR/node.jsonl";
    let stdout = "--test-reporter-destination=stdout";
    check("node --test a", &format!("node {ours} --test-reporter=spec {stdout} --test a"));
    check(
        "node --test-reporter=dot --test",
        &format!("node {ours} {stdout} --test-reporter=dot --test"),
    );
    let both = "--test-reporter dot --test-reporter-destination x --test";
    check(&format!("node {both}"), &format!("node {ours} {both}"));
}

#[test]
fn others_stay_as_they_are() {
    for line in ["make test", "npm test", "bats a.bats", "node a.mjs", "./test.sh --json"] {
        check(line, None, line);
    }
}

#[test]
fn the_place_of_a_report_is_filled_in() {
    check("gradle -Pout={report} test", Some(Format::Junit), "gradle -Pout=DIR/report test");
    check("x {report}.xml", None, "x DIR/report.xml");
    check("npm test", Some(Format::Jest), "npm test -- --json --outputFile=DIR/jest.json");
    check("yarn test", Some(Format::Jest), "yarn test --json --outputFile=DIR/jest.json");
}

#[test]
fn pytest_is_reached_through_others_by_a_variable() {
    let folder = tempfile::tempdir().unwrap();
    let (name, value) = prepared("make test", true, None, folder.path()).env_added.remove(0);
    assert_eq!(name, "PYTEST_ADDOPTS");
    assert!(value.starts_with(&format!("'--junitxml={}/pytest.xml'", folder.path().display())));
}

/// What a run comes to that leaves this file and writes nothing.
fn left(line: &str, demanded: Option<Format>, file: &str, content: &str) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let command = prepared(line, false, demanded, folder.path());
    let path = folder.path().join(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
    let judged = judge(command.reader.finish().as_ref(), Some(0), demanded);
    (format!("{:?}", judged.outcome), judged.summary)
}

#[test]
fn reports_are_found_where_the_command_was_told() {
    let check = |line, demanded, file, content, outcome: &str| {
        let (found, summary) = left(line, demanded, file, content);
        assert_eq!(found, outcome, "{line}: {summary}");
    };
    let xml = "<testsuite><testcase name='a'/></testsuite>";
    let junit = Some(Format::Junit);
    check("x {report}", junit, "report", xml, "Pass");
    check("x {report}", None, "report", xml, "Pass");
    check("x {report}.xml", junit, "report.xml", xml, "Pass");
    check("x {report}", junit, "report/deep/TEST-a.xml", xml, "Pass");
    check("x {report}", junit, "report/deep/TEST-a.txt", xml, "Inconclusive");
    check("x", junit, "report", xml, "Inconclusive");
    check("x {report}", Some(Format::Tap), "report", "1..1\nok 1", "Pass");
    check("x {report}", Some(Format::Tap), "report", "1..2\nok 1", "Inconclusive");
    check("x {report}", Some(Format::Nextest), "report", "", "Inconclusive");
    check("pytest", junit, "pytest.xml", xml, "Inconclusive");
    check("pytest", None, "elsewhere.xml", xml, "Inconclusive");
    check("make test", None, "pytest.log", "", "Inconclusive");
    check("make test", None, "pytest.xml", xml, "Inconclusive");
}

/// Two silent runs of pytest leave one report and one cache.
#[test]
fn runs_of_pytest_whose_report_was_replaced_are_noticed() {
    let check = |selected: &str, failed: Option<&str>, outcome| {
        let folder = tempfile::tempdir().unwrap();
        let command = prepared("make test", false, None, folder.path());
        let cache = folder.path().join("pytest-cache/v/cache");
        std::fs::create_dir_all(&cache).unwrap();
        let xml = "<testsuites><testsuite><testcase name='a'/></testsuite></testsuites>";
        std::fs::write(folder.path().join("pytest.xml"), xml).unwrap();
        std::fs::write(cache.join("nodeids"), selected).unwrap();
        failed.iter().for_each(|ids| std::fs::write(cache.join("lastfailed"), ids).unwrap());
        let judged = judge(command.reader.finish().as_ref(), Some(0), None);
        assert_eq!(judged.outcome, outcome, "{selected}: {}", judged.summary);
    };
    let (one, two) = (r#"["t.py::a"]"#, r#"["t.py::a", "u.py::b"]"#);
    check(one, None, Pass);
    check(two, None, Inconclusive);
    check(one, Some("{}"), Pass);
    check(two, Some(r#"{"u.py::b": true}"#), Fail);
    check("[]", None, Inconclusive);
    check("[", None, Inconclusive);
}

#[test]
fn what_is_missing_is_said() {
    let (_, summary) = left("gradle test", Some(Format::Junit), "x", "");
    assert!(summary.contains("{report}"), "{summary}");
    let (_, summary) = left("make test", Some(Format::Node), "x", "");
    assert!(summary.contains("node --test"), "{summary}");
}

#[test]
fn unknown_commands_are_read_by_content() {
    let check = |text: &str, demanded, outcome| {
        let folder = tempfile::tempdir().unwrap();
        let mut reader = prepared("x", true, demanded, folder.path()).reader;
        text.lines().for_each(|line| reader.line(Stream::Stdout, line));
        let judged = judge(reader.finish().as_ref(), Some(0), demanded);
        assert_eq!(judged.outcome, outcome, "{}\n{text}", judged.summary);
    };
    let libtest = include_str!("../fixtures/libtest/quiet.txt");
    let tap = include_str!("../fixtures/tap/bats-fail.txt");
    check(libtest, None, Pass);
    check(tap, None, Fail);
    check(&format!("{libtest}{tap}"), None, Fail);
    check(include_str!("../fixtures/go/fail.txt"), None, Fail);
    for masked in [
        include_str!("../fixtures/text/go.txt"),
        include_str!("../fixtures/text/node-fail.txt"),
        include_str!("../fixtures/text/unittest-fail.txt"),
        include_str!("../fixtures/text/mocha-fail.txt"),
        "not ok 1 - a",
    ] {
        check(masked, None, Fail);
    }
    check("all good", None, Pass);
    check("all good", Some(Format::Tap), Inconclusive);
    check(libtest, Some(Format::Tap), Inconclusive);
    check(libtest, Some(Format::Libtest), Pass);
}
