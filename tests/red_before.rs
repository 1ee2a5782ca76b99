//! Tests that are red before an agent begins: a person reads which, and the line that leaves them out.

use crate::fooled::tools;
use crate::needs::needs;
use crate::support::{DONE, Run, gate, judge};

const TESTS: &str = "def test_new():\n    assert 1 == 1\n\n\ndef test_old():\n    assert 1 == 2\n";

const REMEDY: &str = "gate approve tests/test_a.py::test_old --reason";

/// A project with a test that fails.
fn project(run: Run) -> Run {
    tools(run)
        .file("tests/test_a.py", TESTS)
        .file(".gitignore", "__pycache__\n.pytest_cache\nout.log\nruns\n")
}

const SETTINGS: &str = "[checks.tests]\ncommand = [\"python3\", \"-m\", \"pytest\", \"-q\"]\n";

#[test]
fn init_lists_them() {
    if !needs("pytest") {
        return;
    }
    let ran = project(gate("init")).file("pytest.ini", "[pytest]\n").committed().code(0);
    assert!(ran.stderr.contains("red before the agent begins: tests/test_a.py::test_old\n"));
    assert!(ran.stderr.contains(REMEDY), "{}", ran.stderr);
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn a_baseline_lists_them_and_an_approval_leaves_them_out() {
    if !needs("pytest") {
        return;
    }
    let ran = project(judge("baseline", DONE)).settings(SETTINGS).committed().code(0);
    assert!(ran.stderr.contains("red before the agent begins: tests/test_a.py::test_old\n"));
    assert!(ran.stderr.contains(REMEDY), "{}", ran.stderr);
    let work = "echo '*.tmp' >> .gitignore; git add -A; git commit -qm work";
    let ran = ran.again("check --json out.log").setup(work).code(1);
    let feedback = ran.json()["feedback"].to_string();
    assert!(feedback.contains("red before you began"), "{feedback}");
    let approve = "approve tests/test_a.py::test_old --reason later";
    let ran = ran.again(approve).code(0).again("check --json --new-run out.log").code(0);
    assert_eq!(ran.json()["verdict"], "exit");
    let ran = tools(ran.again("baseline")).code(0);
    assert!(!ran.stderr.contains("red before"), "{}", ran.stderr);
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn an_approval_outlives_exits_as_long_as_its_test_fails() {
    if !needs("pytest") {
        return;
    }
    let approve = "approve tests/test_a.py::test_old --reason later";
    let mut ran = project(judge(approve, DONE)).settings(SETTINGS).committed().code(0);
    for name in ["one", "two"] {
        let commit = format!("echo 'x = 1' > {name}.py; git add -A; git commit -qm {name}");
        ran = tools(ran.again("check --json out.log")).setup(&commit).code(0);
        let decision = ran.json();
        assert_eq!(decision["approved"][0]["test"], "tests/test_a.py::test_old", "{name}");
        let left_out = &decision["evidence"][0]["detail"]["tests"]["left_out"];
        assert_eq!(left_out[0], "tests/test_a.py::test_old", "{name}");
        assert!(!ran.stdout.contains("otherwise in a fresh folder"), "{}", ran.stdout);
    }
}
