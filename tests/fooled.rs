//! Attacks on the tests of a project in Python: each fools the plain command, and none
//! is a pass.

use serde_json::Value;

use crate::needs::needs;
use crate::support::{DONE, Run, go_cache, judge};

/// A committed project with a check `tests`, and what its agent then did.
pub(crate) struct Attack<'a> {
    pub(crate) command: &'a str,
    /// More settings of the check.
    pub(crate) settings: &'a str,
    pub(crate) files: &'a [(&'a str, &'a str)],
    /// A script, run in the project after all was committed.
    pub(crate) act: &'a str,
}

impl Attack<'_> {
    pub(crate) fn run(&self) -> Run {
        let words: Vec<_> = self.command.split_whitespace().collect();
        let words = serde_json::to_string(&words).unwrap();
        let settings = format!("[checks.tests]\ncommand = {words}\n{}", self.settings);
        let run = judge("check --json out.log", DONE).settings(&settings);
        let run = self.files.iter().fold(run, |run, (name, text)| run.file(name, text));
        let run =
            tools(run).file(".gitignore", "target\n__pycache__\n.pytest_cache\nnode_modules\n");
        run.committed().setup(self.act)
    }

    /// The plain command is fooled, and gate is not.
    #[track_caller]
    pub(crate) fn is_seen(&self, outcome: &str, says: &str) -> Value {
        let evidence = comes_to(self.fools(), outcome, says);
        assert_ne!(evidence["outcome"], "pass");
        evidence
    }

    /// The plain command was run before, and is fooled.
    #[track_caller]
    pub(crate) fn fools(&self) -> Run {
        self.run().setup(&format!("export {}; {}", surroundings(), self.command))
    }
}

/// The check comes to this, and its summary holds these words.
#[track_caller]
pub(crate) fn comes_to(run: Run, outcome: &str, says: &str) -> Value {
    let evidence = run.run().json()["evidence"][0].clone();
    let summary = evidence["summary"].as_str().unwrap();
    let fits = evidence["outcome"] == outcome && summary.contains(says);
    assert!(fits, "{outcome}, {says:?}: {evidence:#}");
    evidence
}

/// True for a text that holds the name of a planted test, in any spelling: a word and sixteen
/// digits.
pub(crate) fn names_a_control(text: &str) -> bool {
    let mut before = ' ';
    text.split_inclusive(|c: char| !c.is_ascii_hexdigit()).any(|run| {
        let digits = run.trim_end_matches(|c: char| !c.is_ascii_hexdigit());
        let found = digits.len() == 16 && matches!(before, '_' | '-' | ' ');
        before = run.chars().last().unwrap_or(' ');
        found
    })
}

/// Where the tools of the machine have what is theirs.
fn homes() -> [(&'static str, String); 3] {
    let home = std::env::var("HOME").unwrap();
    let of = |name: &str, usual: &str| std::env::var(name).unwrap_or(format!("{home}/{usual}"));
    [
        ("CARGO_HOME", of("CARGO_HOME", ".cargo")),
        ("RUSTUP_HOME", of("RUSTUP_HOME", ".rustup")),
        go_cache(),
    ]
}

pub(crate) fn surroundings() -> String {
    homes().map(|(name, value)| format!("{name}='{value}'")).join(" ")
}

pub(crate) fn tools(run: Run) -> Run {
    homes().into_iter().fold(run, |run, (name, value)| run.env(name, value))
}

pub(crate) const CALC: &str = "def add(a, b):\n    return a - b\n";

pub(crate) const TESTS: &str = "from calc import add\n\n\ndef test_add():\n    assert add(2, 2) == 4\n\n\n\
                     def test_zero():\n    assert add(0, 0) == 0\n";

/// An attack on a project whose sum is wrong.
pub(crate) fn pytest(act: &str) -> Attack<'_> {
    Attack {
        command: "python3 -m pytest -q",
        settings: "",
        files: &[("calc.py", CALC), ("tests/test_calc.py", TESTS)],
        act,
    }
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn without_an_attack_it_fails() {
    if needs("pytest") {
        let evidence = comes_to(pytest("true").run(), "fail", "1 of 2 failed");
        assert_eq!(evidence["detail"]["tests"]["control"], "none", "{evidence:#}");
    }
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn results_that_are_written_anew() {
    if !needs("pytest") {
        return;
    }
    let hook = "cat > conftest.py <<'X'
import pytest
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    outcome.get_result().outcome = 'passed'
X";
    pytest(hook)
        .is_seen("fail", "1 of 2 failed: tests/test_calc.py::test_add; without what is new");
    let exits = "cat > conftest.py <<'X'
import pytest
@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    session.exitstatus = 0
X";
    pytest(exits).is_seen("fail", "although the command ended with code 0");
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn runs_that_end_before_their_tests() {
    if !needs("pytest") {
        return;
    }
    let import = "printf 'import os\\nos._exit(0)\\n' > calc.py";
    pytest(import).is_seen("inconclusive", "the report is incomplete");
    let conftest = "printf 'import sys\\nsys.exit(0)\\n' > conftest.py";
    pytest(conftest).is_seen("inconclusive", "the report is incomplete");
    let shadow = "echo \"print('2 passed in 0.01s')\" > pytest.py";
    pytest(shadow).is_seen("inconclusive", "the report is incomplete");
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn tests_that_are_left_out() {
    if !needs("pytest") {
        return;
    }
    let deselects = "cat > conftest.py <<'X'
def pytest_collection_modifyitems(items):
    items[:] = [item for item in items if item.name != 'test_add']
X";
    pytest(deselects).is_seen(
        "fail",
        "1 of 2 failed: tests/test_calc.py::test_add; without what is new: conftest.py",
    );
    let excuses = "cat > conftest.py <<'X'
import pytest
def pytest_collection_modifyitems(items):
    for item in items:
        if item.name == 'test_add':
            item.add_marker(pytest.mark.xfail)
X";
    pytest(excuses).is_seen("fail", "1 of 2 failed");
    let manifest = "printf '[tool.pytest.ini_options]\\naddopts = \"--deselect tests/test_calc.py::test_add\"\\n' > pyproject.toml";
    pytest(manifest).is_seen("fail", "1 of 2 failed: tests/test_calc.py::test_add; with pyproject");
    let settings =
        "printf '[pytest]\\naddopts = --deselect tests/test_calc.py::test_add\\n' > pytest.ini";
    let seen = pytest(settings).is_seen("fail", "1 of 2 failed");
    assert_eq!(seen["detail"]["tests"]["overlaid"], serde_json::json!(["pytest.ini"]));
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn tests_that_are_changed() {
    if !needs("pytest") {
        return;
    }
    for act in [
        "sed -i 's/== 4/== 0/' tests/test_calc.py",
        "sed -i '/def test_add/,/== 4/d' tests/test_calc.py",
        "sed -i 's/^def test_add/import pytest\\n@pytest.mark.skip\\ndef test_add/' tests/test_calc.py",
        "rm tests/test_calc.py; printf 'def test_other():\\n    pass\\n' > tests/test_other.py",
        "printf '\\nadd = lambda a, b: a + b\\n' >> tests/test_calc.py",
    ] {
        let seen = pytest(act).is_seen("fail", "1 of 2 failed: tests/test_calc.py::test_add");
        let overlaid = serde_json::json!(["tests/test_calc.py"]);
        assert_eq!(seen["detail"]["tests"]["overlaid"], overlaid, "{act}");
        assert!(seen["summary"].as_str().unwrap().contains("as in the baseline"), "{seen:#}");
    }
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn a_program_that_ends_every_other_one() {
    if !needs("pytest") {
        return;
    }
    let act = "printf 'import atexit, os\\natexit.register(os._exit, 0)\\n' > sitecustomize.py";
    let attack = Attack { settings: "env = [\"PYTHONPATH\"]\n", ..pytest(act) };
    let fooled = "PYTHONPATH=. python3 -m pytest -q";
    let run = attack.run().env("PYTHONPATH", ".").setup(fooled);
    comes_to(run, "fail", "although the command ended with code 0");
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn what_hides_the_exit_code() {
    if !needs("pytest") || !needs("make") {
        return;
    }
    let files = [
        ("calc.py", CALC),
        ("tests/test_calc.py", TESTS),
        ("Makefile", "test:\n\tpython3 -m pytest -q\n"),
        ("check.sh", "python3 -m pytest -q\n"),
    ];
    let make = |act| Attack { command: "make test", settings: "", files: &files, act };
    make("sed -i 's/\\tpython3/\\t-python3/' Makefile").is_seen("fail", "code 0");
    make("touch test").is_seen("tamper", "no test is reported, and the command ended with code 0");
    make("printf 'test:\\n\\t@echo 2 passed\\n' > Makefile").is_seen("fail", "1 of 2 failed");
    let script = |act| Attack { command: "sh check.sh", settings: "", files: &files, act };
    script("sed -i 's/$/ || true/' check.sh").is_seen("fail", "code 0");
    let green = "printf 'def add(a, b):\\n    return a + b\\n' > calc.py";
    comes_to(script(green).run(), "pass", "2 passed");
}
