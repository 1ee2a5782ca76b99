//! What is done to tests and to what runs them, so that the plain command passes.

use super::{Caught, Row, done, held, with};
use crate::fooled::{Attack, pytest};
use crate::fooled_cargo::cargo;
use crate::support::Ran;

const GONE: Caught = ["tests", "fail", "of the baseline"];
const FAILS: Caught = ["tests", "fail", "1 of 2 failed"];
const MASKED: Caught = ["tests", "tamper", "did not fail"];

/// The plain command is fooled, and then gate is asked.
fn fools(attack: &Attack<'_>) -> Ran {
    attack.fools().run()
}

fn python(act: &str) -> Ran {
    fools(&pytest(act))
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

/// Both checks look at a crate whose sum is wrong.
fn crate_of(act: &str) -> Ran {
    fools(&Attack { settings: "[checks.integrity]\n", ..cargo(act) })
}

fn nextest(act: &str) -> Ran {
    let files = [
        (
            "Cargo.toml",
            "[package]\nname = \"thing\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n",
        ),
        ("src/lib.rs", FLAKY),
    ];
    fools(&Attack { command: "cargo nextest run --offline", settings: "", files: &files, act })
}

/// A test that holds at every second try.
const FLAKY: &str = "#[test]
fn at_the_second_try() {
    let mark = std::env::current_dir().unwrap().join(\"target/tried\");
    if std::fs::remove_file(&mark).is_err() {
        std::fs::write(&mark, \"\").unwrap();
        panic!();
    }
}
#[test]
fn zero() {}
";

fn npm(act: &str) -> Ran {
    let files = [
        ("package.json", "{\"scripts\": {\"test\": \"node --test\"}}\n"),
        ("a.test.js", "require('node:test')('adds', () => { throw new Error('no'); });\n"),
    ];
    fools(&Attack { command: "npm test", settings: "", files: &files, act })
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
    with("pytest", "the report is written over at the end", ["tests", "tamper", ""], || {
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
    with("pytest", "a hook lets one test hold", ["integrity", "fail", "deselect-python"], || {
        module_of(&format!("cat > conftest.py <<'X'{CHOOSES}X"))
    }),
    with(
        "pytest",
        "a manifest loads a plug-in that lets one test hold",
        ["integrity", "fail", "manifest-key"],
        || {
            module_of(&format!(
                "cat > held.py <<'X'{CHOOSES}X\nprintf '[tool.pytest.ini_options]\\naddopts = \"-p held\"\\n' > pyproject.toml"
            ))
        },
    ),
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
    done("a compiler of cargo's own is set", ["integrity", "tamper", "runner-settings"], || {
        crate_of(
            "printf '#!/bin/sh\\ntest \"$2\" != --crate-name || test \"$3\" != thing || set -- \"$@\" --cfg held\\nexec \"$@\"\\n' > wrap.sh; chmod +x wrap.sh; \
                  sed -i 's/    fn adds/    #[cfg_attr(held, ignore)]\\n    fn adds/' src/lib.rs; \
                  mkdir .cargo; printf '[build]\\nrustc-wrapper = \"./wrap.sh\"\\n' > .cargo/config.toml",
        )
    }),
    with("npm", "a script of the package runs one test", MASKED, || {
        let files = [
            ("package.json", "{\"scripts\": {\"test\": \"node --test\"}}\n"),
            (
                "a.test.js",
                "const test = require('node:test');\ntest('adds', () => { throw new Error('no'); });\ntest('zero', () => {});\n",
            ),
        ];
        let act = "echo '{\"scripts\": {\"test\": \"node --test --test-name-pattern=zero\"}}' > package.json";
        fools(&Attack { command: "npm test", settings: "", files: &files, act })
    }),
    with("pytest", "a variable leaves tests out", FAILS, || {
        let attack = pytest("true");
        let words = "export PYTEST_ADDOPTS='-k zero'; python3 -m pytest -q";
        attack.run().setup(words).env("PYTEST_ADDOPTS", "-k zero").run()
    }),
    with("pytest", "a file of tests is not collected", GONE, || {
        let other = "printf 'collect_ignore = [\"tests/test_calc.py\"]\\n' > conftest.py; printf 'def test_a():\\n    pass\\n' > test_a.py";
        python(other)
    }),
    with("pytest", "tests are looked for elsewhere", GONE, || {
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
    with("pytest", "a script runs one file", MASKED, || {
        script(
            "printf 'def test_a():\\n    pass\\n' > test_a.py; echo 'python3 -m pytest -q test_a.py' > check.sh",
        )
    }),
    with("make", "a variable tells make to run nothing", ["tests", "fail", ""], || {
        let files = [("Makefile", "test:\n\t@false\n")];
        let attack = Attack {
            command: "make test",
            settings: "control = false\n",
            files: &files,
            act: "true",
        };
        attack.run().env("MAKEFLAGS", "n").run()
    }),
    with(
        "npm",
        "a script of the package says that tests pass",
        ["tests", "fail", "none of the baseline's"],
        || npm("echo '{\"scripts\": {\"test\": \"echo pass 1\"}}' > package.json"),
    ),
    with(
        "npm",
        "a runner among the modules is another",
        ["tests", "inconclusive", "the report is incomplete"],
        || {
            let files = [
                ("package.json", "{\"name\": \"thing\", \"version\": \"1.0.0\"}\n"),
                ("a.test.js", "test('adds', () => expect(1).toBe(2));\n"),
            ];
            let act = "mkdir -p node_modules/.bin; printf '#!/bin/sh\\necho Tests: 1 passed\\n' > node_modules/.bin/jest; \
                   chmod +x node_modules/.bin/jest; echo node_modules >> .git/info/exclude";
            fools(&Attack { command: "npx jest", settings: "", files: &files, act })
        },
    ),
    done("an inline test says something else", ["integrity", "fail", "test-edited"], || {
        crate_of("sed -i 's/add(2, 2), 4/add(2, 2), 0/' src/lib.rs")
    }),
    done("an inline test is to panic", ["integrity", "fail", "flip-rust"], || {
        crate_of("sed -i 's/    fn adds/    #[should_panic]\\n    fn adds/' src/lib.rs")
    }),
    done("an inline test swallows its failure", ["integrity", "fail", "test-edited"], || {
        crate_of(
            "sed -i 's/assert_eq!(add(2, 2), 4);/let _ = std::panic::catch_unwind(|| assert_eq!(add(2, 2), 4));/' src/lib.rs",
        )
    }),
    with("nextest", "a test is tried until it holds", FAILS, || {
        nextest("mkdir .config; printf '[profile.default]\\nretries = 2\\n' > .config/nextest.toml")
    }),
    with("nextest", "a test that takes too long passes", FAILS, || {
        let slow = "[profile.default]\nslow-timeout = { period = \"1s\", terminate-after = 1, on-timeout = \"pass\" }\n";
        let files = [
            (
                "Cargo.toml",
                "[package]\nname = \"thing\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n",
            ),
            (
                "src/lib.rs",
                "#[test]\nfn slow() { std::thread::sleep(std::time::Duration::from_secs(2)); panic!(); }\n#[test]\nfn zero() {}\n",
            ),
        ];
        let act = format!("mkdir .config; printf '{slow}' > .config/nextest.toml");
        fools(&Attack {
            command: "cargo nextest run --offline",
            settings: "",
            files: &files,
            act: &act,
        })
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
        "inline tests are ignored, deleted, switched off",
        GONE,
        "fooled_cargo::tests_that_are_taken_out_of_the_sources",
    ),
    held("keys of a manifest select tests", GONE, "fooled_cargo::keys_that_select_tests"),
    held("cargo's runner runs nothing", MASKED, "fooled_cargo::a_runner_that_runs_nothing"),
    held(
        "a test ends the others with 0",
        ["tests", "inconclusive", ""],
        "fooled_cargo::a_test_that_ends_the_others",
    ),
    held("a test is ignored under nextest", GONE, "fooled_cargo::nextest"),
    held("node's tests are skipped, put off, ended", FAILS, "fooled_others::node"),
    held("jest's tests are skipped, replaced, ignored", FAILS, "fooled_others::jest"),
    held("vitest's tests are skipped, excluded", FAILS, "fooled_others::vitest"),
    held("Go's tests are skipped, its main ends with 0", FAILS, "fooled_others::go"),
    held("bats' tests are skipped, also by what they load", FAILS, "fooled_others::bats"),
    held(
        "an error outside of the tests is passed over",
        ["tests", "fail", "unhandled"],
        "runners::vitest",
    ),
    held(
        "a filter leaves no test",
        ["tests", "fail", "no test was executed"],
        "runners::cargo_nextest",
    ),
    held(
        "tests pass by what git ignores",
        ["tests", "inconclusive", ""],
        "honest::what_git_ignores_is_not_evidence",
    ),
];
