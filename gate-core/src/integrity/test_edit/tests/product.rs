//! Arguments for parameters that a function has got: a parameter with a default excuses none.

use super::*;

/// The result of an edit of a test after a change of the product, each with its path and its texts.
fn after(product: (&str, &str, &str), test: (&str, &str, &str)) -> TestEdit {
    let mut changed = ChangedProduct::default();
    let (path, before, now) = product;
    changed.add(path, Some(before.as_bytes()), Some(now.as_bytes()));
    let (path, before, now) = test;
    compare_test_edit(path, (before.as_bytes(), now.as_bytes()), &changed)
}

#[track_caller]
fn python(definition: &str, argument: &str, expected: TestEdit) {
    let test = "from calc import add\n\n\ndef test_a():\n    assert add(1, 2) == 3\n";
    let now = test.replace("2)", &format!("2, {argument})"));
    let product = format!("{definition}\n    return a + b\n");
    let found = after(
        ("calc.py", "def add(a, b):\n    return a + b\n", &product),
        ("tests/test_a.py", test, &now),
    );
    assert_eq!(found, expected, "{definition} {argument}");
}

#[test]
fn a_call_that_cannot_run_any_more_gets_an_argument() {
    python("def add(a, b, c):", "0", TestEdit::Adapted);
    python("def add(a, b, c: int):", "c=0", TestEdit::Adapted);
    python("def add(a, b, /, *, c):", "c=0", TestEdit::Adapted);
    python("async def add(a, b, c, d):", "0, d=1", TestEdit::Adapted);
    python("def add(c, a, b, d=1):", "0", TestEdit::Adapted);
}

#[test]
fn a_call_that_still_runs_keeps_its_arguments() {
    for definition in [
        "def add(a, b):",
        "def add(a, b, c=0):",
        "def add(a, b, c: bool = False):",
        "def add(a, b, *c):",
        "def add(a, b, **c):",
        "def add(*c, **d):",
        "def add(a, b, c, d):",
        "def plus(a, b, c):",
        "@filled\ndef add(a, b, c):",
        // Which of them is called cannot be told.
        "def add(a, b, c=0):\n    return a\n\n\nclass Other:\n    def add(self, a, b, c):",
        "def more(a, b, c):\n    return a\n\n\nadd = partial(more, c=0)\n\n\ndef add(a, b, c):",
        "from more import plus as add\n\n\ndef add(a, b, c):",
    ] {
        for argument in ["0", "c=0", "True"] {
            python(definition, argument, TestEdit::Changed);
        }
    }
}

#[test]
fn a_function_that_was_not_there_has_got_nothing() {
    let test = "from calc import add\n\n\ndef test_a():\n    assert add(1, 2) == 3\n";
    let now = test.replace("2)", "2, 0)");
    let decoy = "class Other:\n    def add(self, a, b, c):\n        return a\n";
    let found = after(("other.py", "x = 1\n", decoy), ("tests/test_a.py", test, &now));
    assert_eq!(found, TestEdit::Changed);
}

#[test]
fn decorators_stay() {
    let test = "from calc import add\n\n\ndef test_a():\n    assert add(1, 2) == 3\n";
    let now = test.replace("2)", "2, 0)");
    let product = "@cached(1)\ndef add(a, b):\n    return a + b\n";
    for (grown, expected) in [
        (product.replace("b)", "b, c)"), TestEdit::Adapted),
        (product.replace("b)", "b, c)").replace("cached", "filled"), TestEdit::Changed),
    ] {
        let found = after(("calc.py", product, &grown), ("tests/test_a.py", test, &now));
        assert_eq!(found, expected, "{grown}");
    }
}

#[test]
fn other_languages_have_their_own_ways_to_leave_an_argument_out() {
    let js = "import { add } from './calc'\nit('a', () => {\n  expect(add(1, 2)).toBe(3)\n})\n";
    let go = "package calc\n\nfunc TestA(t *testing.T) {\n\tif got := Add(1, 2); got != 3 {\n\t\tt.Fatal()\n\t}\n}\n";
    for (test, path, before, now, expected) in [
        (js, "calc.ts", "function add(a, b) {}", "function add(a, b, c: T<U, V>) {}", true),
        (js, "calc.ts", "const add = (a, b) => a + b", "const add = (a, b, c) => a + b", true),
        (js, "calc.js", "exports.add = (a, b) => a", "exports.add = async (a, b, c) => a", true),
        (
            js,
            "calc.js",
            "class A {\n  add(a, b) {\n  }\n}",
            "class A {\n  add(a, b, c) {\n  }\n}",
            true,
        ),
        (js, "calc.ts", "function add(a, b) {}", "function add(a, b, c?: number) {}", false),
        (js, "calc.ts", "function add(a, b) {}", "function add(a, b, c = 0) {}", false),
        (js, "calc.ts", "function add(a, b) {}", "function add(a, b, ...c) {}", false),
        (
            js,
            "calc.js",
            "function add(a, b) {}",
            "function add(a, b, c) { return c ? a : b }",
            false,
        ),
        (
            js,
            "calc.js",
            "function add(a, b) {}",
            "function add(a, b, c) { return a + (c ?? 0) }",
            false,
        ),
        (
            js,
            "calc.js",
            "function add(a, b) {}",
            "function add(a, b, c) { if (c) { return a } }",
            false,
        ),
        (
            js,
            "calc.js",
            "function add(a, b) {}",
            "function add(a, b, c) {}\nadd = fill(add)",
            false,
        ),
        (go, "calc.go", "func Add(a, b int) int {\n}", "func Add(a, b, c int) int {\n}", true),
        (
            go,
            "calc.go",
            "func Add(a, b int) int {\n}",
            "func Add[T any](a, b int, c T) int {\n}",
            true,
        ),
        (
            go,
            "calc.go",
            "func Add(a, b int) int {\n}",
            "func Add(a, b int, c ...int) int {\n}",
            false,
        ),
        (go, "calc.go", "func Add(a, b int) int {\n}", "func (c C) Add(a, b int) int {\n}", false),
    ] {
        let is_js = test == js;
        let path_of_test = if is_js { "calc.test.ts" } else { "calc_test.go" };
        let edited = test.replace("2)", "2, 7)");
        let found = after((path, before, now), (path_of_test, test, &edited));
        assert_eq!(found == TestEdit::Adapted, expected, "{now}: {found:?}");
    }
}

#[test]
fn no_argument_tells_a_call_its_answer() {
    let product =
        ("calc.py", "def add(a, b):\n    return a\n", "def add(a, b, c):\n    return a\n");
    let test = |body: &str| format!("from calc import add\n\n\ndef test_a():\n{body}");
    for (before, now, expected) in [
        // The same argument for another answer: it says nothing of either.
        (
            "    assert add(2, 2) == 4\n\n\ndef test_b():\n    assert add(0, 0) == 0\n",
            "    assert add(2, 2, 0) == 4\n\n\ndef test_b():\n    assert add(0, 0, 0) == 0\n",
            TestEdit::Adapted,
        ),
        ("    assert add(0, 0) == 0\n", "    assert add(0, 0, 0) == 0\n", TestEdit::Changed),
        (
            "    assert add(4, 9) == 9\n    assert add(7, 1) == 7\n",
            "    assert add(4, 9, 9) == 9\n    assert add(7, 1, 7) == 7\n",
            TestEdit::Changed,
        ),
        (
            "    assert add(2, 2) != 5\n    assert add(0, 4) == 4\n",
            "    assert add(2, 2, 4) != 5\n    assert add(0, 4, 4) == 4\n",
            TestEdit::Changed,
        ),
        (
            "    found = add(2, 2)\n    assert found == 4\n",
            "    found = add(2, 2, 4)\n    assert found == 4\n",
            TestEdit::Changed,
        ),
        (
            "    four = 4\n    assert add(2, 2) == four\n",
            "    four = 4\n    assert add(2, 2, 4) == four\n",
            TestEdit::Changed,
        ),
        (
            "    found = add(2, 2)\n    assert found == 4\n",
            "    found = add(2, 2, 0)\n    assert found == 4\n",
            TestEdit::Adapted,
        ),
        ("    assert add(2, 2) == 4\n", "    assert add(2, 2, 5-1) == 4\n", TestEdit::Changed),
        ("    assert add(2, 2) == 4\n", "    assert add(2, 2, -1) == 4\n", TestEdit::Adapted),
    ] {
        let (before, now) = (test(before), test(now));
        assert_eq!(after(product, ("tests/test_a.py", &before, &now)), expected, "{now}");
    }
}

#[test]
fn a_module_that_is_tested_no_more_may_be_broken() {
    let python =
        ("tests/test_a.py", "from calc import add\n\n\ndef test_a():\n    assert add(1, 2) == 3\n");
    let js = (
        "a.test.js",
        "const { add } = require('./calc')\nit('a', () => {\n  expect(add(1, 2)).toBe(3)\n})\n",
    );
    for ((path, test), module, file, now, expected) in [
        (
            python,
            ("calc", "lib.calc"),
            "calc.py",
            "def add(a, b):\n    return 3\n",
            TestEdit::Changed,
        ),
        (
            python,
            ("calc", "lib.calc"),
            "src/calc.py",
            "def add(a, b):\n    return 3\n",
            TestEdit::Changed,
        ),
        (
            python,
            ("calc", "lib.calc"),
            "calc.py",
            "def more(a, b):\n    return 3\n",
            TestEdit::Adapted,
        ),
        (
            python,
            ("calc", "lib.calc"),
            "lib/calc.py",
            "def add(a, b):\n    return 3\n",
            TestEdit::Adapted,
        ),
        (js, ("./calc", "./sums"), "calc.js", "exports.add = (a, b) => 3\n", TestEdit::Changed),
        (
            js,
            ("./calc", "./sums"),
            "calc/index.ts",
            "export function add() {}\n",
            TestEdit::Changed,
        ),
        (js, ("./calc", "./sums"), "calc.js", "exports.more = (a, b) => 3\n", TestEdit::Adapted),
    ] {
        let edited = test.replace(module.0, module.1);
        assert_eq!(after((file, "", now), (path, test, &edited)), expected, "{file}: {now}");
    }
}
