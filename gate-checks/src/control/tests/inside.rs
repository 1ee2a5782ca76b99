//! Files of the baseline that take a test, and those that do not.

use std::path::PathBuf;

use super::{ChangedFiles, PACKAGE, Runner, check_inside, drafted};

#[test]
fn modules_and_files_of_tests_of_a_package() {
    let tests = "\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() {}\n}\n";
    let lib = format!("mod a;\n#[cfg(unix)]\nmod b;\n{tests}");
    let files = [
        ("Cargo.toml", PACKAGE),
        ("src/lib.rs", lib.as_str()),
        ("src/a.rs", tests),
        ("src/b.rs", tests),
        ("src/unused.rs", tests),
        ("tests/it.rs", "#[test]\nfn a() {}\n"),
        ("tests/common/mod.rs", "#[test]\nfn a() {}\n"),
    ];
    let asserts = " #[test] fn order_4() {     assert_eq!(\"order 4\", \"order\"); } ";
    let own = "#[test]\nfn order_6()";
    let all = [("src/lib.rs", asserts), ("src/a.rs", "fn order_5"), ("tests/it.rs", own)];
    check_inside(Runner::Cargo, "", &files, &all);
    check_inside(Runner::Nextest, "", &files, &all);
    check_inside(Runner::Cargo, "--lib", &files, &all[..2]);
    check_inside(Runner::Cargo, "--test it", &files, &[("tests/it.rs", "fn order_4")]);
    let manifest =
        format!("{PACKAGE}[lib]\ntest = false\n[[test]]\nname = \"it\"\nharness = false\n");
    let files = [&[("Cargo.toml", manifest.as_str())], &files[1..]].concat();
    check_inside(Runner::Cargo, "", &files, &[]);
}

#[test]
fn modules_below_the_first_module_of_a_library() {
    let tests = "\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() {}\n}\n";
    let files = [
        ("Cargo.toml", PACKAGE),
        ("src/lib.rs", "mod a;\n"),
        ("src/a.rs", "mod b;\n"),
        ("src/a/b.rs", tests),
    ];
    check_inside(Runner::Cargo, "", &files, &[("src/a/b.rs", "fn order_4")]);
}

#[test]
fn packages_that_were_worked_on() {
    let lib = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() {}\n}\n";
    let files = [
        ("Cargo.toml", "[workspace]\nmembers = [\"a\", \"b\"]\n"),
        ("a/Cargo.toml", PACKAGE),
        ("a/src/lib.rs", lib),
        ("b/Cargo.toml", "[package]\nname = \"b\"\n"),
        ("b/src/lib.rs", lib),
    ];
    check_inside(Runner::Cargo, "", &files, &[("a/src/lib.rs", "order_4")]);
    let edited = [PathBuf::from("b/src/lib.rs")];
    let drafts = drafted(Runner::Cargo, "", &files, ChangedFiles { added: &[], edited: &edited });
    let places: Vec<_> = drafts.iter().map(|(file, _)| file.as_str()).collect();
    assert_eq!(places, ["a/tests/order_1.rs", "b/src/lib.rs", "a/src/lib.rs"]);
}

#[test]
fn files_that_the_baseline_lacks_take_none() {
    let test = "def test_a():\n    pass\n";
    let files = [("test_a.py", test), ("test_b.py", test), ("test_c.py", test)];
    let (added, edited) = ([PathBuf::from("test_a.py")], [PathBuf::from("test_c.py")]);
    let changed = ChangedFiles { added: &added, edited: &edited };
    let drafts = drafted(Runner::Pytest, "", &files, changed);
    let places: Vec<_> = drafts.iter().map(|(file, _)| file.as_str()).collect();
    assert_eq!(places, ["test_order_1.py", "test_c.py", "test_b.py"]);
}

#[test]
fn python() {
    let files = [
        ("app.py", "def test_a(): pass\n"),
        ("tests/test_a.py", "def test_a():\n    pass"),
        ("tests/test_class.py", "class TestA:\n    def test_a(self): pass\n"),
        ("tests/test_skipped.py", "pytestmark = skip\ndef test_a(): pass\n"),
        ("tests/test_imports.py", "a = importorskip('a')\ndef test_a(): pass\n"),
        ("tests/test_nothing.py", "a = 1\n"),
    ];
    let asserts = "\n\n\ndef test_order_3():\n    assert \"order 3\".lower() == \"order\"\n";
    let all = [("tests/test_a.py", asserts), ("tests/test_class.py", "def test_order_4")];
    check_inside(Runner::Pytest, "-q", &files, &all);
    check_inside(Runner::Pytest, "tests", &files, &all);
    check_inside(Runner::Pytest, "--flake8", &files, &[]);
    let set = ("pytest.ini", "[pytest]\naddopts = --ruff\n");
    check_inside(Runner::Pytest, "", &[&files[..], &[set]].concat(), &[]);
    let set = ("pytest.ini", "[pytest]\npython_functions = check_*\n");
    let all = [("tests/test_class.py", "def check_order_3")];
    check_inside(Runner::Pytest, "", &[&files[..], &[set]].concat(), &all);
}

#[test]
fn jest_and_vitest() {
    let body = "describe('a', () => {\n  it('b', () => expect(1).toBe(1));\n});";
    let globals = format!("const a = require('./a');\n{body}");
    let imports = format!("import {{\n  describe, it as spec, expect,\n}} from 'vitest';\n{body}");
    let chai = format!("import {{ expect }} from 'chai';\n{body}");
    let only = format!("{body}\nit.only('c', () => {{}});\n");
    let wrapped = "(function () {\n  test('a', () => expect(1).toBe(1));\n})();\n";
    let files = [
        ("a.js", body),
        ("a.test.js", globals.as_str()),
        ("b.test.ts", imports.as_str()),
        ("c.test.js", chai.as_str()),
        ("d.test.js", only.as_str()),
        ("e.test.js", wrapped),
    ];
    let asserts = "\n\nit(\"order_3\", () => {\n  expect(\"order 3\").toBe(\"order\");\n});\n";
    let imported = ("b.test.ts", "\n\nspec(\"order_4\", () => {");
    check_inside(Runner::Vitest, "run", &files, &[("a.test.js", asserts), imported]);
    let jest = [files[0], files[1], files[3], files[4], files[5]];
    check_inside(Runner::Jest, "", &jest, &[("a.test.js", asserts)]);
    let named = "const { test, expect } = require('@jest/globals');\ntest('a', () => {});\n";
    let own = "test(\"order_3\", () => {";
    check_inside(Runner::Jest, "", &[("a.test.js", named)], &[("a.test.js", own)]);
}

#[test]
fn node() {
    let common = "const test = require('node:test');\nconst assert = require('assert').strict;\n";
    let module =
        "import { describe, it } from 'node:test';\nimport { equal } from 'node:assert';\n";
    let strict = "import test from 'node:test';\nimport { strict as a } from 'node:assert';\n";
    let files = [
        ("test/a.js", common),
        ("test/b.test.mjs", module),
        ("lib/c.test.mjs", strict),
        ("lib/d.js", common),
        ("lib/e.test.mjs", "import * as test from 'node:test';\nimport a from 'assert';\n"),
        ("lib/f.test.mjs", "import test from 'node:test';\nimport { expect } from 'chai';\n"),
    ];
    let asserts =
        "\ntest(\"order_3\", () => {\n  assert.strictEqual(\"order 3\", \"order\");\n});\n";
    let all = [
        ("test/a.js", asserts),
        ("test/b.test.mjs", "it(\"order_4\", () => {\n  equal(\"order 4\", \"order\");"),
        ("lib/c.test.mjs", "a.strictEqual(\"order 5\", \"order\");"),
    ];
    check_inside(Runner::Node, "", &files, &all);
    check_inside(Runner::Node, "lib/c.test.mjs", &files, &[("lib/c.test.mjs", "a.strictEqual")]);
    check_inside(Runner::Node, "lib/*.test.mjs", &files, &[("lib/c.test.mjs", "a.strictEqual")]);
}

#[test]
fn mocha() {
    let files = [
        (
            "a.js",
            "const assert = require('assert');\nit('a', () => { assert.deepEqual(1, 1); });\n",
        ),
        (
            "b.js",
            "const { assert: is } = require('chai');\nsuite('a', () => test('b', () => is(1)));\n",
        ),
        ("c.mjs", "import { strictEqual } from 'node:assert';\nit('a', () => {});\n"),
        (
            "d.js",
            "require('should');\nit('a', () => { a.should.equal(1); });\nit.only('b', () => {});\n",
        ),
        ("e.js", "require('should');\nspecify('a', () => { a.should.equal(1); });"),
        ("f.js", "it('a', () => { expect(a).toEqual(1); expect(b).to.be.ok(); });\n"),
    ];
    let all = [
        (
            "a.js",
            "\nit(\"order_3\", function () {\n  assert.deepEqual(\"order 3\", \"order\");\n});\n",
        ),
        ("b.js", "\ntest(\"order_4\", function () {\n  is.strictEqual(\"order 4\", \"order\");"),
        ("c.mjs", "strictEqual(\"order 5\", \"order\");"),
        (
            "e.js",
            "\n\nspecify(\"order_6\", function () {\n  (\"order 6\").should.equal(\"order\");",
        ),
    ];
    check_inside(Runner::Mocha, "", &files[..5], &all);
    check_inside(
        Runner::Mocha,
        "",
        &files[5..],
        &[("f.js", "expect(\"order 3\").toEqual(\"order\");")],
    );
}

#[test]
fn go() {
    let test = "package a_test\n\nimport (\n\t\"testing\"\n)\n\nfunc TestA(t *testing.T) {}\n";
    let tagged = format!("//go:build slow\n\n{test}");
    let files = [
        ("a.go", "package a\n"),
        ("a_test.go", test),
        ("b_linux_test.go", test),
        ("c_test.go", tagged.as_str()),
        ("d_test.go", "package a\n\nimport check \"testing\"\n\nfunc TestA(t *check.T) {}\n"),
        ("deep/a.go", "package deep\n"),
        ("deep/a_test.go", test),
    ];
    let own = ("a_test.go", "\nfunc Test_order_3(t *testing.T) {");
    check_inside(Runner::Go, "./...", &files, &[own]);
    let edited = [PathBuf::from("deep/a.go")];
    let drafts = drafted(Runner::Go, "./...", &files, ChangedFiles { added: &[], edited: &edited });
    let places: Vec<_> = drafts.iter().map(|(file, _)| file.as_str()).collect();
    assert_eq!(places, ["order_1_test.go", "a_test.go", "deep/a_test.go"]);
}

#[test]
fn a_module_with_brackets_in_texts_takes_a_test() {
    let lib = "#![deny(warnings, missing_docs, clippy::all)]\n//! A thing.\nmod inner;\n#[cfg(test)]\nmod tests;\n";
    let inner = "#[cfg(test)]\nmod tests {\n    macro_rules! same {\n        ($a:expr) => {\n            assert!($a, \"}}\")\n        };\n    }\n\n    #[test]\n    fn holds() {\n        same!('}' == '}');\n    }\n}\n";
    let files = [("Cargo.toml", PACKAGE), ("src/lib.rs", lib), ("src/inner.rs", inner)];
    check_inside(Runner::Cargo, "", &files, &[("src/inner.rs", "order_4")]);
}
