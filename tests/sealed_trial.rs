//! Sealed tests without the work: what `gate seal add` and `gate trust` say of them.

use serde_json::json;

use crate::fooled::tools;
use crate::needs::needs;
use crate::support::{DONE, Run, gate};

const SETTINGS: &str = "[checks.tests]\ncommand = [\"python3\", \"-m\", \"pytest\", \"-q\"]\n";

fn project(words: &str) -> Run {
    tools(gate(words))
        .file("calc.py", "def f(n):\n    return n\n")
        .file("conftest.py", "")
        .file("tests/test_calc.py", "import calc\n\n\ndef test_f():\n    assert calc.f(1) == 1\n")
        .file(
            "../sealed/tests/test_mixed.py",
            "import calc\n\n\ndef test_red():\n    assert calc.f(2) == 3\n\n\n\
             def test_green():\n    assert calc.f(2) == 2\n",
        )
}

#[test]
fn seal_add_tells_red_green_and_lost_ones_apart() {
    if !needs("pytest") {
        return;
    }
    let run = project("seal add tests ../sealed").settings(SETTINGS).committed();
    let ran = run.file("../sealed/more/more.test.js", "it('adds', () => {})\n").code(0);
    let ran =
        ran.says("sealed for tests: 2 files in ").says("\nwithout the work: 1 red, 1 green\n");
    let ran = ran.says("  red       tests/test_mixed.py::test_red\n");
    let green = "  green     tests/test_mixed.py::test_green: passes without the work, and proves ";
    let ran = ran.says(green).says("  not found more/more.test.js: pytest runs no such files\n");
    let ran = ran.says("no work can end as long as a file is not found: ");
    // A file that needs the work does not load without it.
    let new = "from calc import g\n\n\ndef test_g():\n    assert g(1) == 1\n";
    let run = tools(ran.again("seal add tests ../sealed --json")).setup("rm -r ../sealed/*");
    let ran = run.file("../sealed/tests/test_new.py", new).code(0);
    let trial = &ran.json()["trial"];
    assert_eq!(trial["not_loaded"], json!(["tests/test_new.py"]), "{trial}");
    assert_eq!((&trial["red"], &trial["not_found"]), (&json!([]), &json!([])), "{trial}");
    assert_eq!(ran.again("seal list --json").code(0).json()["trial"], json!(null));
}

#[test]
fn they_stay_sealed_where_they_cannot_be_tried_and_trust_tells_of_them() {
    if !needs("pytest") {
        return;
    }
    let run = project("seal add tests ../sealed").unapproved(SETTINGS).committed();
    let ran = run.code(0).says("sealed for tests: 1 file in ");
    let ran = ran.says("  not tried yet: the settings are not approved; `gate trust`");
    let ran = tools(ran.again("trust")).code(0).says("approved; ");
    let ran = ran.says("sealed for tests: 1 file in ").says("without the work: 1 red, 1 green\n");
    let ran = tools(ran.again("trust")).code(0);
    assert!(!ran.out().contains("sealed"), "they were tried: {}", ran.out());
    let edited = "echo '# 2' >>../sealed/tests/test_mixed.py";
    let ran = tools(ran.again("trust")).setup(edited).code(0);
    ran.says("sealed tests of tests: the tests in ")
        .says("changed since they were sealed; if that");
}

#[test]
fn a_test_that_ran_without_the_work_is_not_skipped_by_it() {
    if !needs("pytest") {
        return;
    }
    let run = project("seal add tests ../sealed").settings(SETTINGS);
    let ran = run.file(".gitignore", "__pycache__\n.pytest_cache\nout.log\n").committed().code(0);
    let skipping = "import unittest\n\n\ndef f(n):\n    if __import__('sys')._getframe(1).f_code.co_name \
                    == 'test_red':\n        raise unittest.SkipTest('later')\n    return n\n";
    let ran = tools(ran.again("check --json out.log")).file("out.log", DONE);
    let ran = ran.file("calc.py", skipping).code(1);
    let evidence = &ran.json()["evidence"][0];
    let summary = "a sealed test is skipped now, and ran before the work";
    assert_eq!(
        (&evidence["outcome"], &evidence["summary"]),
        (&json!("inconclusive"), &json!(summary))
    );
}
