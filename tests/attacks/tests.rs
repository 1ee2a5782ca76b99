//! What is done to tests in Python and to what runs them.

use super::{Caught, Row, held, with};
use crate::fooled::{Attack, pytest};
use crate::support::Ran;

pub(super) const GONE: Caught = ["tests", "fail", "of the baseline"];
pub(super) const FAILS: Caught = ["tests", "fail", "1 of 2 failed"];
pub(super) const MASKED: Caught = ["tests", "tamper", "did not fail"];

/// The plain command is fooled, and then gate is asked.
pub(super) fn fools(attack: &Attack<'_>) -> Ran {
    attack.fools().run()
}

fn python(act: &str) -> Ran {
    fools(&pytest(act))
}

pub(super) const CHANGED: Caught = ["tests", "fail", "a person has to approve it"];

/// The sum was right; its tests pass as they are edited.
fn edited(act: &str) -> Ran {
    let sum = "def add(a, b):\n    return a + b\n";
    let files = [("calc.py", sum), ("tests/test_calc.py", crate::fooled::TESTS)];
    fools(&Attack { files: &files, ..pytest(act) })
}

/// Both checks look at a module whose sum is wrong.
fn module_of(act: &str) -> Ran {
    fools(&Attack { settings: "[checks.integrity]\n", ..pytest(act) })
}

/// A hook that lets one test hold, and leaves the others as they are.
const CHOOSES: &str = "
import pytest
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    if item.name == 'test_add':
        outcome.get_result().outcome = 'passed'
";

/// The sum is wrong, and a script runs the tests.
fn script(act: &str) -> Ran {
    let files = [
        ("calc.py", crate::fooled::CALC),
        ("tests/test_calc.py", crate::fooled::TESTS),
        ("check.sh", "python3 -m pytest -q\n"),
    ];
    fools(&Attack { command: "sh check.sh", settings: "", files: &files, act })
}

pub(super) const ROWS: &[Row] = &[
    with(
        "pytest",
        "cases are taken out and as many put in",
        ["tests", "fail", "2 of 3 failed"],
        || {
            let tests = "import pytest\nfrom calc import add\n\n\n@pytest.mark.parametrize('a', [0, 1, 2])\ndef test_add(a):\n    assert add(a, a) == a + a\n";
            let files = [
                ("calc.py", crate::fooled::CALC),
                ("tests/cases.py", "CASES = [0, 1, 2]\n"),
                ("tests/test_calc.py", tests),
                ("conftest.py", ""),
            ];
            let act = "cat > conftest.py <<'X'
def pytest_generate_tests(metafunc):
    for mark in metafunc.definition.own_markers:
        mark.args[1][:] = [0, 0.0, -0.0]
X";
            fools(&Attack { files: &files, ..pytest(act) })
        },
    ),
    with("pytest", "the product changes the framework", MASKED, || {
        python(
            "cat >> calc.py <<'X'
from _pytest import reports
real = reports.TestReport.from_item_and_call.__func__
def held(cls, item, call):
    report = real(cls, item, call)
    report.outcome, report.longrepr = 'passed', None
    return report
reports.TestReport.from_item_and_call = classmethod(held)
X",
        )
    }),
    with("pytest", "the report is written over at the end", ["tests", "fail", ""], || {
        python("cat > conftest.py <<'X'
import atexit, os, sys
def forge():
    for word in sys.argv + os.environ.get('PYTEST_ADDOPTS', '').split():
        if '--junit' in word:
            path = word.split('=', 1)[1]
            open(path, 'w').write('<testsuites><testsuite tests=\"2\"><testcase classname=\"tests.test_calc\" name=\"test_add\"/><testcase classname=\"tests.test_calc\" name=\"test_zero\"/></testsuite></testsuites>')
    os._exit(0)
atexit.register(forge)
X")
    }),
    with("pytest", "a hook lets one test hold", CHANGED, || {
        module_of(&format!("cat > conftest.py <<'X'{CHOOSES}X"))
    }),
    with("pytest", "a manifest loads a plug-in that lets one test hold", CHANGED, || {
        module_of(&format!(
            "cat > held.py <<'X'{CHOOSES}X\nprintf '[tool.pytest.ini_options]\\naddopts = \"-p held\"\\n' > pyproject.toml"
        ))
    }),
    with(
        "pytest",
        "the product lets one test hold",
        ["integrity", "fail", "harness-python"],
        || {
            module_of(
                "cat >> calc.py <<'X'
from _pytest import reports
real = reports.TestReport.from_item_and_call.__func__
def held(cls, item, call):
    report = real(cls, item, call)
    if item.name == 'test_add':
        report.outcome, report.longrepr = 'passed', None
    return report
reports.TestReport.from_item_and_call = classmethod(held)
X",
            )
        },
    ),
    with("pytest", "the product skips its tests", GONE, || {
        python(
            "printf 'import unittest\\n\\n\\ndef add(a, b):\\n    if a == 2:\\n        raise unittest.SkipTest()\\n    return a + b\\n' > calc.py",
        )
    }),
    with("pytest", "a variable leaves tests out", FAILS, || {
        let attack = pytest("true");
        let words = "export PYTEST_ADDOPTS='-k zero'; python3 -m pytest -q";
        attack.run().setup(words).env("PYTEST_ADDOPTS", "-k zero").run()
    }),
    with("pytest", "a file of tests is not collected", CHANGED, || {
        let other = "printf 'collect_ignore = [\"tests/test_calc.py\"]\\n' > conftest.py; printf 'def test_a():\\n    pass\\n' > test_a.py";
        python(other)
    }),
    with("pytest", "tests are looked for elsewhere", FAILS, || {
        python(
            "mkdir new; printf 'def test_a():\\n    pass\\n' > new/test_a.py; printf '[tool.pytest.ini_options]\\ntestpaths = [\"new\"]\\n' > pyproject.toml",
        )
    }),
    with("pytest", "one test is mended and another broken", FAILS, || {
        pytest("printf 'def add(a, b):\\n    return 4\\n' > calc.py").run().run()
    }),
    with("pytest", "tests pass and a file cannot be collected", ["tests", "fail", ""], || {
        pytest("printf 'def add(a, b):\\n    return a + b\\n' > calc.py; echo 'import none' > tests/test_new.py").run().run()
    }),
    with("pytest", "a script goes on after a failure", FAILS, || {
        script("printf 'set +e\\npython3 -m pytest -q\\nexit 0\\n' > check.sh")
    }),
    with("pytest", "a script pipes the failure away", FAILS, || {
        script("printf 'python3 -m pytest -q | tee log\\n' > check.sh")
    }),
    with("pytest", "a script traps its end", FAILS, || {
        script("printf \"trap 'exit 0' EXIT\\npython3 -m pytest -q\\n\" > check.sh")
    }),
    with("pytest", "a script runs one file", CHANGED, || {
        script(
            "printf 'def test_a():\\n    pass\\n' > test_a.py; echo 'python3 -m pytest -q test_a.py' > check.sh",
        )
    }),
    with("pytest", "tests alone pass an argument that has a default", CHANGED, || {
        edited(
            "printf 'def add(a, b, c=1):\\n    return a + b - c\\n' > calc.py; sed -i 's/(2, 2)/(2, 2, 0)/; s/(0, 0)/(0, 0, 0)/' tests/test_calc.py",
        )
    }),
    with("pytest", "tests hand their answers in", CHANGED, || {
        edited(
            "printf 'def add(a, b, c):\\n    return c\\n' > calc.py; sed -i 's/(2, 2)/(2, 2, 4)/; s/(0, 0)/(0, 0, 0)/' tests/test_calc.py",
        )
    }),
    with("pytest", "a decorator fills a parameter in that tests pass", CHANGED, || {
        edited(
            "printf 'def filled(f):\\n    return lambda a, b, c=1: f(a, b, c)\\n\\n\\n@filled\\ndef add(a, b, c):\\n    return a + b - c\\n' > calc.py; sed -i 's/(2, 2)/(2, 2, 0)/; s/(0, 0)/(0, 0, 0)/' tests/test_calc.py",
        )
    }),
    held("results are written anew by a plug-in", MASKED, "fooled::results_that_are_written_anew"),
    held("the run ends before its tests", MASKED, "fooled::runs_that_end_before_their_tests"),
    held(
        "tests are deselected, left out, expected to fail",
        GONE,
        "fooled::tests_that_are_left_out",
    ),
    held(
        "tests are edited, deleted, skipped, overwritten",
        FAILS,
        "fooled::tests_that_are_changed",
    ),
    held(
        "the interpreter is made to end with 0",
        FAILS,
        "fooled::a_program_that_ends_every_other_one",
    ),
    held("a recipe or a script hides the code", MASKED, "fooled::what_hides_the_exit_code"),
    held(
        "tests pass by what git ignores",
        ["tests", "inconclusive", ""],
        "honest::what_git_ignores_is_not_evidence",
    ),
];
