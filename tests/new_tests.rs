//! `fail_to_pass`: what new tests show of the work.

use serde_json::Value;

use crate::fooled::{Attack, comes_to, pytest};
use crate::fooled_cargo::cargo;
use crate::needs::needs;

const REQUIRED: &str = "fail_to_pass = true\n";
const AUTO: &str = "fail_to_pass = \"auto\"\n";

/// The sum is repaired, and these tests are new.
fn work(tests: &str) -> String {
    format!(
        "sed -i 's/a - b/a + b/' calc.py; mkdir -p tests; \
         printf 'from calc import add\\n\\n\\n{tests}' > tests/test_new.py"
    )
}

const GUARD: &str = "def test_guard():\\n    assert add(0, 0) == 0\\n";
const NEEDS_IT: &str = "\\n\\ndef test_need():\\n    assert add(1, 2) == 3\\n";

#[track_caller]
#[allow(clippy::needless_pass_by_value, reason = "each is made for one call")]
fn check(attack: Attack<'_>, settings: &str, outcome: &str, says: &str) -> Value {
    let evidence = comes_to(Attack { settings, ..attack }.run(), outcome, says);
    evidence["detail"]["tests"]["without_work"].clone()
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn one_that_needs_the_work_is_enough() {
    if !needs("pytest") {
        return;
    }
    let act = work(&[GUARD, NEEDS_IT].concat());
    let shown = check(pytest(&act), REQUIRED, "pass", "4 passed");
    assert_eq!(shown["outcome"], "shown");
    assert_eq!(shown["failed"][0], "tests/test_new.py::test_need");
    let shown = check(pytest(&work(GUARD)), REQUIRED, "fail", "1 new test passes without the work");
    assert_eq!(shown["outcome"], "not-needed");
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn auto_warns_and_refuses_nothing() {
    if !needs("pytest") {
        return;
    }
    let warning = "warning: 1 new test passes without the work: tests/test_new.py::test_guard";
    let green = [
        ("conftest.py", ""),
        ("calc.py", "def add(a, b):\n    return a + b\n"),
        ("tests/test_a.py", "from calc import add\n\n\ndef test_a():\n    assert add(1, 1) == 2\n"),
    ];
    let act = work(GUARD).replace("a - b/a + b", "a + b/b + a");
    check(Attack { files: &green, ..pytest(&act) }, AUTO, "pass", warning);
    // A test that was red shows the work, and so does a new one that needs it.
    for tests in [GUARD.to_owned(), [GUARD, NEEDS_IT].concat()] {
        assert_eq!(check(pytest(&work(&tests)), AUTO, "pass", "passed")["outcome"], "shown");
    }
    // Work that is tests alone needs none.
    let act = work(GUARD).replace("sed -i 's/a - b/a + b/' calc.py; ", "");
    let shown = check(Attack { files: &green, ..pytest(&act) }, AUTO, "pass", "2 passed");
    assert_eq!(
        (&shown["outcome"], &shown["why"]),
        (&"no-effect".into(), &"no code is changed".into())
    );
    // Where a runner cannot be told to run new files alone, nothing is run.
    let node = Attack {
        command: "node --test",
        files: &[("a.test.mjs", "import t from 'node:test'\nt('a', () => {})\n")],
        act: "printf 'import t from \"node:test\"\\nt(\"b\", () => {})\\n' > b.test.mjs",
        settings: "",
    };
    assert_eq!(check(node, AUTO, "pass", "")["outcome"], "no-effect");
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn a_baseline_whose_tests_are_not_known_is_no_baseline_without_tests() {
    if !needs("pytest") {
        return;
    }
    let broken = [
        ("calc.py", "def add(a, b):\n    return a - b\n"),
        ("tests/test_a.py", "import soon\n\n\ndef test_a():\n    pass\n"),
    ];
    let act = format!("touch soon.py; {}", work(NEEDS_IT));
    let attack = || Attack { files: &broken, ..pytest(&act) };
    check(attack(), REQUIRED, "inconclusive", "which tests are new is not known");
    assert_eq!(check(attack(), AUTO, "pass", "")["outcome"], "no-effect");
    let none = [("calc.py", "def add(a, b):\n    return a - b\n")];
    let act = work(NEEDS_IT);
    let shown = check(Attack { files: &none, ..pytest(&act) }, REQUIRED, "pass", "");
    assert_eq!(shown["outcome"], "shown");
    let act = work(GUARD);
    check(Attack { files: &none, ..pytest(&act) }, REQUIRED, "fail", "passes without the work");
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn where_it_has_no_effect_it_says_so() {
    let files = [("run.sh", "true\n")];
    let attack = |act| Attack { command: "sh run.sh", settings: "", files: &files, act };
    let says = "`fail_to_pass` had no effect: no report that names the tests is recognised";
    check(attack("mkdir tests; touch tests/test_a.py"), REQUIRED, "pass", says);
    if needs("pytest") {
        let act = "sed -i 's/a - b/a + b/' calc.py";
        check(pytest(act), REQUIRED, "pass", "had no effect: no test file is new or edited");
        let open = "control = false\nfail_to_pass = true\n";
        check(pytest(act), open, "pass", "had no effect: `control = false`");
    }
}

/// The tests of a module that was moved, with `act` after it.
fn moved(act: &str) -> String {
    format!(
        "sed 's/a - b/a + b/' src/lib.rs > src/sums.rs; \
         printf 'mod sums;\\npub use sums::add;\\n' > src/lib.rs; {act}"
    )
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn tests_move_with_their_module() {
    let whole = moved("true");
    let evidence = comes_to(cargo(&whole).run(), "pass", "2 passed");
    assert_eq!(evidence["detail"]["tests"]["baseline"]["missing"], Value::from([0; 0]));
    // The old text of a weaker test passes on a product that is right.
    let weaker = moved("sed -i 's/add(2, 2), 4/4, 4/' src/sums.rs");
    comes_to(cargo(&weaker).run(), "pass", "2 passed");
    let wrong = moved("sed -i 's/a + b/a - b/; s/add(2, 2), 4/4, 4/' src/sums.rs");
    comes_to(cargo(&wrong).run(), "fail", "thing::tests::adds");
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn tests_move_with_their_package() {
    if !needs("go") {
        return;
    }
    let files = [
        ("go.mod", "module example.com/m\n\ngo 1.20\n"),
        ("sum.go", "package sum\n\nfunc Add(a, b int) int { return a - b }\n"),
        (
            "sum_test.go",
            "package sum\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(2, 2) != 4 {\n\t\tt.Fatal()\n\t}\n}\n",
        ),
    ];
    let act = "sed -i 's/a - b/a + b/' sum.go; mkdir sum; mv sum.go sum_test.go sum/";
    let attack = Attack { command: "go test ./...", settings: "", files: &files, act };
    let evidence = comes_to(attack.run(), "pass", "1 passed");
    assert_eq!(evidence["detail"]["tests"]["baseline"]["moved"][0], "example.com/m.TestAdd");
}
