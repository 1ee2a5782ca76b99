//! Real projects, tested by their real tools: what passes, fails, executes
//! nothing, does not compile, ends in the middle, and says one thing while it
//! does another.

use serde_json::Value;

use crate::needs::{needs, node_module};
use crate::support::{DONE, Ran, Run, judge};

/// A project whose check `tests` is this command.
pub(crate) fn project(command: &str, files: &[(&str, &str)]) -> Run {
    let words: Vec<_> = command.split_whitespace().collect();
    let settings =
        format!("[checks.tests]\ncommand = {}\n", serde_json::to_string(&words).unwrap());
    let run = judge("check --json out.log", DONE).settings(&settings);
    files.iter().fold(run, |run, (name, text)| run.file(name, text))
}

fn tests(ran: &Ran) -> Value {
    ran.json()["evidence"][0].clone()
}

/// The check comes to this, and its summary holds these words.
#[track_caller]
pub(crate) fn comes_to(run: Run, outcome: &str, says: &str) -> Value {
    let ran = run.run();
    let tests = tests(&ran);
    let summary = tests["summary"].as_str().unwrap();
    assert_eq!(tests["outcome"], outcome, "{tests:#}");
    assert!(summary.contains(says), "{summary:?} without {says:?}: {tests:#}");
    tests
}

const MANIFEST: &str =
    "[package]\nname = \"thing\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n";

pub(crate) fn cargo(command: &str, lib: &str) -> Run {
    let home = std::env::var("CARGO_HOME").or_else(|_| Ok(std::env::var("HOME")? + "/.cargo"));
    let rustup = std::env::var("RUSTUP_HOME").or_else(|_| Ok(std::env::var("HOME")? + "/.rustup"));
    let home: Result<_, std::env::VarError> = home;
    let rustup: Result<_, std::env::VarError> = rustup;
    project(command, &[("Cargo.toml", MANIFEST), ("src/lib.rs", lib)])
        .env("CARGO_HOME", home.unwrap())
        .env("RUSTUP_HOME", rustup.unwrap())
}

const RUST: &str = "#[test]\nfn adds() { assert_eq!(1 + 1, 2); }\n";
const RUST_RED: &str = "#[test]\nfn adds() {}\n#[test]\nfn takes() { assert_eq!(2 - 1, 2); }\n";
const RUST_EXITS: &str = "#[test]
fn adds() { std::process::exit(0); }
#[test]
fn takes() { std::thread::sleep(std::time::Duration::from_secs(9)); panic!(); }
";

#[test]
#[ignore = "minutes: projects with real test runners"]
fn cargo_test() {
    let passed = comes_to(cargo("cargo test --offline", RUST), "pass", "1");
    assert_eq!(
        (&passed["detail"]["tests"]["format"], &passed["detail"]["tests"]["passed"]),
        (&"libtest".into(), &1.into())
    );
    comes_to(cargo("cargo test --offline", RUST_RED), "fail", "takes");
    comes_to(
        cargo("cargo test --offline", "pub fn nothing() {}\n"),
        "fail",
        "no test was executed",
    );
    comes_to(cargo("cargo test --offline no-such-name", RUST), "fail", "no test was executed");
    comes_to(cargo("cargo test --offline", "fn broken( {}\n"), "fail", "");
    comes_to(cargo("cargo test --offline", RUST_EXITS), "inconclusive", "");
    comes_to(
        cargo("cargo test --offline", "#[test]\n#[ignore]\nfn later() { panic!(); }\n"),
        "fail",
        "no test was executed",
    );
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn a_first_run_that_writes_its_lock_file_is_no_trouble() {
    let run = || cargo("cargo test --offline", RUST).setup("echo target > .gitignore");
    let wrote = |run: Run| run.committed().code(0).json()["tree"]["wrote"].clone();
    // It is written where the tests run.
    assert_eq!(wrote(run()), serde_json::json!([]));
    let plain = run().setup("echo 'control = false' >> gate.toml");
    assert_eq!(wrote(plain), serde_json::json!(["Cargo.lock"]));
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn cargo_nextest() {
    if !needs("nextest") {
        return;
    }
    let command = "cargo nextest run --offline";
    let passed = comes_to(cargo(command, RUST), "pass", "1");
    assert_eq!(passed["detail"]["tests"]["format"], "nextest");
    comes_to(cargo(command, RUST_RED), "fail", "takes");
    comes_to(cargo(command, "pub fn nothing() {}\n"), "fail", "no test was executed");
    comes_to(cargo(command, "fn broken( {}\n"), "fail", "");
    let own = "[profile.default]\nretries = 3\n[profile.default.junit]\npath = \"mine.xml\"\n";
    comes_to(cargo(command, RUST_RED).file(".config/nextest.toml", own), "fail", "takes");
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn pytest() {
    if !needs("pytest") {
        return;
    }
    let case = |body: &str| project("python3 -m pytest -q", &[("test_thing.py", body)]);
    let green = "def test_adds():\n    assert 1 + 1 == 2\n";
    let red = "import pytest\n@pytest.mark.parametrize('n', [1, 2])\ndef test_odd(n):\n    assert n % 2\n";
    let passed = comes_to(case(green), "pass", "1");
    assert_eq!(passed["detail"]["tests"]["format"], "pytest");
    comes_to(case(red), "fail", "test_odd[2]");
    comes_to(case("def helper():\n    pass\n"), "fail", "no test was executed");
    comes_to(case("def test_broken(:\n"), "fail", "");
    comes_to(case("import os\nos._exit(0)\n"), "inconclusive", "");
    comes_to(
        case("import pytest\n@pytest.mark.skip\ndef test_later():\n    assert 0\n"),
        "fail",
        "no test was executed",
    );
    comes_to(case(green).file("test_other.py", "import nothing_of_this_name\n"), "fail", "");
    let hides = "import pytest\n@pytest.hookimpl(trylast=True)\ndef pytest_sessionfinish(session):\n    session.exitstatus = 0\n";
    comes_to(case(red).file("conftest.py", hides), "fail", "code 0");
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn a_quick_repair_of_the_same_size_is_seen() {
    if !needs("pytest") {
        return;
    }
    let test = "from calc import add\ndef test_add():\n    assert add(2, 2) == 4\n";
    let files = [("calc.py", "def add(a, b):\n    return a - b\n"), ("test_calc.py", test)];
    // The times of both are the same, as they are within a second.
    let touch = "touch -d '2026-01-01 12:00:00' calc.py";
    let ran = project("python3 -m pytest -q", &files).setup(touch).code(1);
    let repaired = ran.again("check --json out.log").file("calc.py", files[0].1.replace('-', "+"));
    comes_to(repaired.setup(touch), "pass", "1");
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn make_runs_pytest() {
    if !needs("pytest") || !needs("make") {
        return;
    }
    let case = |recipe: &str| {
        let body = "def test_adds():\n    assert 1 + 1 == 3\n";
        project("make test", &[("Makefile", recipe), ("test_thing.py", body)])
    };
    comes_to(case("test:\n\tpython3 -m pytest -q\n"), "fail", "test_adds");
    comes_to(case("test:\n\t-python3 -m pytest -q\n"), "fail", "code 0");
    comes_to(case("test:\n\techo fine\n"), "pass", "no test report");
    comes_to(case("all:\n\techo fine\n"), "fail", "");
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn node() {
    if !needs("node") {
        return;
    }
    let case = |body: &str| project("node --test", &[("thing.test.js", body)]);
    let head = "const test = require('node:test');\nconst assert = require('node:assert');\n";
    let passed = comes_to(
        case(&format!("{head}test('adds', () => assert.equal(1 + 1, 2));\n")),
        "pass",
        "1",
    );
    assert_eq!(passed["detail"]["tests"]["format"], "node");
    comes_to(case(&format!("{head}test('adds', () => assert.equal(1 + 1, 3));\n")), "fail", "adds");
    comes_to(project("node --test", &[("thing.js", "1;\n")]), "fail", "no test was executed");
    comes_to(case("const = 1;\n"), "fail", "");
    comes_to(
        case(&format!("{head}test('later', {{ todo: true }}, () => {{ throw 1; }});\n")),
        "fail",
        "no test was executed",
    );
    let package = r#"{"name": "thing", "version": "1.0.0", "scripts": {"test": "node --test"}}"#;
    let red = format!("{head}test('adds', () => assert.equal(1 + 1, 3));\n");
    if needs("npm") {
        comes_to(
            project("npm test", &[("package.json", package), ("thing.test.js", &red)]),
            "fail",
            "",
        );
    }
}

/// A project with these modules installed.
pub(crate) fn modules(name: &str, command: &str, files: &[(&str, &str)]) -> Run {
    let modules = node_module(name).unwrap();
    // Plain CommonJS needs no transform, and Babel takes longer to start than these tests to run.
    let package = "{\"name\": \"thing\", \"version\": \"1.0.0\", \"jest\": {\"transform\": {}}}";
    let link = format!("ln -s '{}' node_modules", modules.display());
    project(command, &[&[("package.json", package)], files].concat()).setup(&link)
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn jest() {
    if !needs("jest") {
        return;
    }
    // npx takes longer than jest: once is enough.
    let jest = |command: &str, body: &str| modules("jest", command, &[("thing.test.js", body)]);
    let case = |body: &str| jest("node_modules/.bin/jest", body);
    let adds = "test('adds', () => expect(1 + 1).toBe(2));\n";
    let passed = comes_to(jest("npx jest", adds), "pass", "1");
    assert_eq!(passed["detail"]["tests"]["format"], "jest");
    comes_to(
        case("describe('sum', () => test('adds', () => expect(1 + 1).toBe(3)));\n"),
        "fail",
        "adds",
    );
    comes_to(
        modules("jest", "node_modules/.bin/jest --passWithNoTests", &[]),
        "fail",
        "no test was executed",
    );
    comes_to(case("test('adds', () => {\n"), "fail", "");
    comes_to(case("test.skip('adds', () => expect(1).toBe(2));\n"), "fail", "no test was executed");
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn vitest() {
    if !needs("vitest") {
        return;
    }
    let head = "import { test, expect } from 'vitest';\n";
    let vitest = |command: &str, body: &str| {
        modules("vitest", command, &[("thing.test.mjs", &format!("{head}{body}"))])
    };
    let case = |body: &str| vitest("node_modules/.bin/vitest run", body);
    let adds = "test('adds', () => expect(1 + 1).toBe(2));\n";
    let passed = comes_to(vitest("npx vitest run", adds), "pass", "1");
    assert_eq!(passed["detail"]["tests"]["format"], "vitest");
    comes_to(case("test('adds', () => expect(1 + 1).toBe(3));\n"), "fail", "adds");
    comes_to(
        modules("vitest", "node_modules/.bin/vitest run --passWithNoTests", &[]),
        "fail",
        "no test was executed",
    );
    comes_to(case("test('adds', () => {\n"), "fail", "");
    let loose = "test('adds', () => { setTimeout(() => { throw new Error('loose'); }, 0); });\ntest('waits', () => new Promise((done) => setTimeout(done, 50)));\n";
    comes_to(case(loose), "fail", "unhandled");
    let ignores = "node_modules/.bin/vitest run --dangerouslyIgnoreUnhandledErrors";
    comes_to(vitest(ignores, loose), "fail", "");
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn mocha() {
    if !needs("mocha") {
        return;
    }
    let mocha = |command: &str, body: &str| modules("mocha", command, &[("test/sum.js", body)]);
    let case = |body: &str| mocha("node_modules/.bin/mocha", body);
    let adds = "describe('sum', () => {\n  it('adds', () => {});\n  it('more');\n});\n";
    let passed = comes_to(mocha("npx mocha --reporter dot", adds), "pass", "1 passed, 1 skipped");
    assert_eq!(passed["detail"]["tests"]["format"], "mocha");
    let fails = "describe('sum', () => it('adds', () => { throw new Error('no'); }));\n";
    comes_to(case(fails), "fail", "1 of 1 failed: test/sum.js > sum > adds");
    let hook = "describe('sum', () => {\n  before(() => { throw new Error('no'); });\n  it('adds', () => {});\n});\n";
    comes_to(case(hook), "fail", "1 of 1 failed: test/sum.js > sum > \"before all\" hook");
    comes_to(case("it('adds', () => {\n"), "fail", "");
    let leaves = "it('adds', () => {});\nit('leaves', () => process.exit(0));\nit('fails', () => { throw 1; });\n";
    comes_to(case(leaves), "inconclusive", "mocha began a run and did not end it");
    let first = "it('adds', () => { throw 1; });\nit('more', () => { throw 2; });\n";
    comes_to(mocha("node_modules/.bin/mocha --parallel", first), "fail", "2 of 2 failed");
    let twice = "node_modules/.bin/mocha; node_modules/.bin/mocha --reporter json";
    let script = modules("mocha", "sh run.sh", &[("test/sum.js", adds), ("run.sh", twice)]);
    comes_to(script, "pass", "2 passed, 2 skipped");
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn go() {
    if !needs("go") {
        return;
    }
    let case = |body: &str| {
        let test = format!("package thing\n\nimport \"testing\"\n\n{body}");
        let run = project(
            "go test ./...",
            &[("go.mod", "module thing\n\ngo 1.18\n"), ("thing_test.go", &test)],
        );
        run.file("thing.go", "package thing\n").env("GOFLAGS", "-count=1").with_go_cache()
    };
    let passed = comes_to(case("func TestAdds(t *testing.T) {}\n"), "pass", "1");
    assert_eq!(passed["detail"]["tests"]["format"], "go");
    comes_to(
        case("func TestAdds(t *testing.T) { t.Run(\"one\", func(t *testing.T) { t.Fail() }) }\n"),
        "fail",
        "TestAdds/one",
    );
    comes_to(case("func helper(t *testing.T) {}\n"), "fail", "no test was executed");
    comes_to(case("func TestBroken(t *testing.T) { return 1 }\n"), "fail", "");
    comes_to(case("func TestLater(t *testing.T) { t.Skip() }\n"), "fail", "no test was executed");
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn bats() {
    if !needs("bats") {
        return;
    }
    let case = |body: &str| project("bats test", &[("test/thing.bats", body)]);
    let passed = comes_to(case("@test 'adds' {\n  [ $((1 + 1)) -eq 2 ]\n}\n"), "pass", "1");
    assert_eq!(passed["detail"]["tests"]["format"], "tap");
    comes_to(case("@test 'adds' {\n  [ $((1 + 1)) -eq 3 ]\n}\n"), "fail", "adds");
    comes_to(case("helper() { :; }\n"), "fail", "no test was executed");
    comes_to(case("@test 'later' {\n  skip\n}\n"), "fail", "no test was executed");
}
