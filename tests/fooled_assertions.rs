//! Attacks that hollow the framework's assertions and leave everything else failing: the plain
//! command is fooled, and none is a pass.

use serde_json::json;

use crate::fooled::{Attack, CALC, TESTS};
use crate::fooled_cargo::{cargo, integration};
use crate::needs::{needs, node_module};

/// The plain command is fooled; the tests of these kinds tell.
#[track_caller]
fn is_seen(attack: &Attack<'_>, planted: &[&str]) {
    let seen = attack.is_seen("tamper", "reported as passed");
    let tests = &seen["detail"]["tests"];
    assert_eq!((&tests["control"], &tests["controls"]), (&json!("passed"), &json!(planted)));
}

const ALL: &[&str] = &["raise", "assertion", "inside"];

#[test]
#[ignore = "minutes: projects with real test runners"]
fn a_macro_above_the_tests_of_a_module() {
    is_seen(&cargo("sed -i '1i macro_rules! assert_eq { ($($t:tt)*) => {}; }' src/lib.rs"), ALL);
    let other = "sed -i 's/assert_eq!(\\(.*\\), \\(.*\\));/assert!(\\1 == \\2);/' src/lib.rs; \
                 git -c user.name=a -c user.email=a commit -qam other; \
                 sed -i '1i macro_rules! assert { ($($t:tt)*) => {}; }' src/lib.rs";
    is_seen(&cargo(other), ALL);
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn a_macro_that_a_library_exports() {
    let uses = "sed -i '1i #[macro_use] extern crate thing;' tests/it.rs; \
                git -c user.name=a -c user.email=a commit -qam uses; \
                printf '#[macro_export]\\nmacro_rules! assert_eq { ($($t:tt)*) => {}; }\\n' >> src/lib.rs";
    is_seen(&integration(uses), ALL);
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn asserts_that_are_cut_out() {
    if !needs("pytest") {
        return;
    }
    let act = "cat >> calc.py <<'X'


import ast
parse = ast.parse


def without(*args, **kwargs):
    tree = parse(*args, **kwargs)
    for node in ast.walk(tree):
        for body in [getattr(node, 'body', None)]:
            if isinstance(body, list):
                body[:] = [ast.Pass() if isinstance(one, ast.Assert) else one for one in body]
    return ast.fix_missing_locations(tree)


ast.parse = without
X";
    // What loads the product before the tests are compiled.
    let loads = ("tests/conftest.py", "import calc\n");
    let files = [("calc.py", CALC), ("tests/test_calc.py", TESTS), loads];
    let command = "python3 -m pytest -q -p no:cacheprovider";
    let attack = Attack { command, settings: "", files: &files, act };
    // The compiled tests of the baseline's run have their assertions.
    attack.is_seen("fail", "1 of 2 failed: tests/test_calc.py::test_add");
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn functions_of_node_s_assert() {
    if !needs("node") {
        return;
    }
    let head = "const test = require('node:test');\nconst assert = require('node:assert');\n\
                const { add } = require('../calc.js');\n";
    for function in ["strictEqual", "equal", "deepStrictEqual"] {
        let test = format!("{head}test('adds', () => assert.{function}(add(2, 2), 4));\n");
        let files = [("calc.js", "exports.add = (a, b) => a - b;\n"), ("test/calc.test.js", &test)];
        let act = format!("echo \"require('node:assert').{function} = () => {{}};\" >> calc.js");
        let command = "node --test";
        is_seen(&Attack { command, settings: "", files: &files, act: &act }, ALL);
    }
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn jest_s_expect() {
    if !needs("jest") {
        return;
    }
    let modules = node_module("jest").unwrap();
    let test =
        "const { add } = require('./calc');\ntest('adds', () => expect(add(2, 2)).toBe(4));\n";
    let files = [
        ("package.json", "{\"name\": \"thing\", \"version\": \"1.0.0\"}"),
        ("calc.js", "exports.add = (a, b) => a - b;\n"),
        ("calc.test.js", test),
    ];
    for hollow in [
        "globalThis.expect = () => ({ toBe() {} });",
        "Object.is = () => true;",
        "expect.extend({ toBe: () => ({ pass: true, message: () => \"\" }) });",
    ] {
        let act = format!("ln -s '{}' node_modules; echo '{hollow}' >> calc.js", modules.display());
        let command = "npx jest";
        is_seen(&Attack { command, settings: "", files: &files, act: &act }, ALL);
    }
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn vitest_s_expect() {
    if !needs("vitest") {
        return;
    }
    let modules = node_module("vitest").unwrap();
    let test = "import { test, expect } from 'vitest';\nimport { add } from './calc.mjs';\n\
                test('adds', () => expect(add(2, 2)).toEqual(4));\n";
    let files = [
        ("package.json", "{\"name\": \"thing\", \"version\": \"1.0.0\"}"),
        ("calc.mjs", "export const add = (a, b) => a - b;\n"),
        ("calc.test.mjs", test),
    ];
    let hollow = "import { expect } from \"vitest\";\n\
                  expect.extend({ toEqual: () => ({ pass: true, message: () => \"\" }) });";
    let act = format!("ln -s '{}' node_modules; echo '{hollow}' >> calc.mjs", modules.display());
    is_seen(&Attack { command: "npx vitest run", settings: "", files: &files, act: &act }, ALL);
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn assertions_and_runs_of_mocha() {
    if !needs("mocha") {
        return;
    }
    let modules = node_module("mocha").unwrap();
    let test = "const assert = require('assert');\nconst { add } = require('../calc');\n\
                describe('calc', () => {\n  it('adds', () => assert.deepEqual(add(2, 2), 4));\n});\n";
    let files = [
        ("package.json", "{\"name\": \"thing\", \"version\": \"1.0.0\"}"),
        ("calc.js", "exports.add = (a, b) => a - b;\n"),
        ("test/calc.js", test),
    ];
    for (hollow, planted) in [
        ("require(\"assert\").deepEqual = () => {};", ALL),
        (
            "const { Runner } = require(\"mocha\"); \
          Runner.prototype.fail = function (test) { this.emit(\"pass\", test); };",
            ALL,
        ),
    ] {
        let act = format!("ln -s '{}' node_modules; echo '{hollow}' >> calc.js", modules.display());
        let command = "node_modules/.bin/mocha";
        is_seen(&Attack { command, settings: "", files: &files, act: &act }, planted);
    }
}

/// Go has no assertions to hollow: what is hollowed is the choice of tests.
#[test]
#[ignore = "minutes: projects with real test runners"]
fn tests_that_a_go_package_leaves_out() {
    if !needs("go") {
        return;
    }
    let test = "package calc\n\nimport \"testing\"\n\nfunc TestAdds(t *testing.T) {\n\tif got := Add(2, 2); got != 4 {\n\t\t\
                t.Errorf(\"got %d\", got)\n\t}\n}\n\nfunc TestZero(t *testing.T) {\n\tif Add(0, 0) != 0 {\n\t\tt.Fatal()\n\t}\n}\n";
    let calc = "package calc\n\nfunc Add(a, b int) int {\n\treturn a - b\n}\n";
    let files = [("go.mod", "module calc\n\ngo 1.18\n"), ("calc.go", calc), ("calc_test.go", test)];
    let act = "printf 'package calc\\n\\nimport \"os\"\\n\\nfunc init() {\\n\\tos.Args = append(os.Args, \"-test.run=Zero\")\\n}\\n' > init.go";
    let attack = Attack { command: "go test ./...", settings: "", files: &files, act };
    let seen = attack.is_seen("tamper", "not among the tests that ran");
    assert_eq!(seen["detail"]["tests"]["controls"], json!(ALL));
}
