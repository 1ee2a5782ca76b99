//! Right projects of several layouts: each passes, and every planted test fails in it as it must.

use serde_json::json;

use crate::fooled::{Attack, comes_to};
use crate::needs::{needs, node_module};

/// The project passes, with tests of these kinds planted.
#[track_caller]
fn passes(command: &str, files: &[(&str, &str)], planted: &[&str]) {
    let work = Attack { command, settings: "", files, act: "true" };
    let evidence = comes_to(work.run(), "pass", "passed");
    let tests = &evidence["detail"]["tests"];
    assert_eq!(tests["control"], "failed-as-it-must", "{evidence:#}");
    assert_eq!(tests["controls"], json!(planted), "{evidence:#}");
}

const ALL: &[&str] = &["raise", "assertion", "inside"];

const OUTSIDE: &[&str] = &["raise", "assertion"];

const MANIFEST: &str =
    "[package]\nname = \"thing\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n";

#[test]
#[ignore = "minutes: projects with real test runners"]
fn cargo() {
    let strict = "#![deny(warnings, missing_docs, clippy::all)]\n//! A thing.\nmod inner;\n\
                  #[cfg(test)]\nmod tests;\n";
    let inner = "#[cfg(test)]\nmod tests {\n    macro_rules! same {\n        ($a:expr) => {\n            \
                 assert!($a, \"}}\")\n        };\n    }\n\n    #[test]\n    fn holds() {\n        \
                 same!('}' == '}');\n    }\n}\n";
    let elsewhere = "#[test]\nfn holds() {}\n";
    let files = [
        ("Cargo.toml", MANIFEST),
        ("src/lib.rs", strict),
        ("src/inner.rs", inner),
        ("src/tests.rs", elsewhere),
    ];
    passes("cargo test --offline", &files, ALL);
    let program = [
        ("Cargo.toml", MANIFEST),
        ("src/main.rs", "fn main() {}\nmod a;\n"),
        ("src/a.rs", elsewhere),
    ];
    passes("cargo test --offline", &program, OUTSIDE);
    let no_std = "#![no_std]\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn holds() {}\n}\n";
    passes("cargo test --offline", &[("Cargo.toml", MANIFEST), ("src/lib.rs", no_std)], ALL);
    if needs("nextest") {
        passes("cargo nextest run --offline", &files, ALL);
    }
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn pytest() {
    if !needs("pytest") {
        return;
    }
    let settings = "[pytest]\npython_files = check_*.py test_*.py\npython_functions = check_*\n";
    let plain = "def check_a():\n    assert 1 + 1 == 2";
    let files = [("pytest.ini", settings), ("tests/check_a.py", plain), ("tests/test_b.py", plain)];
    passes("python3 -m pytest -q", &files, ALL);
    let class = "class TestA:\n    def test_a(self):\n        assert True\n";
    let skips =
        "import pytest\n\npytestmark = pytest.mark.skip\n\n\ndef test_a():\n    assert False\n";
    let files = [("src/a/test_a.py", class), ("src/a/__init__.py", ""), ("tests/test_b.py", skips)];
    passes("python3 -m pytest -q -W error", &files, ALL);
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn node() {
    if !needs("node") {
        return;
    }
    let module = "import { describe, it } from 'node:test';\nimport { strictEqual } from 'node:assert/strict';\n\
                  describe('a', () => {\n  it('b', () => strictEqual(1, 1));\n});";
    let common = "'use strict';\nconst { test } = require('node:test');\nconst assert = require('assert');\n\
                  test('a', () => assert.deepEqual([1], [1])) // at the end";
    let package = ("package.json", "{\"name\": \"thing\", \"type\": \"module\"}");
    passes("node --test", &[package, ("test/a.test.js", module)], ALL);
    passes("node --test", &[("test/a.js", common), ("lib/b.test.mjs", module)], ALL);
    passes("node --test test/a.js", &[("test/a.js", common)], ALL);
}

/// The modules of the machine, linked into a project.
#[track_caller]
fn passes_with(name: &str, command: &str, files: &[(&str, &str)], planted: &[&str]) {
    let modules = node_module(name).unwrap();
    let act = format!("ln -s '{}' node_modules", modules.display());
    let work = Attack { command, settings: "", files, act: &act };
    let evidence = comes_to(work.run(), "pass", "passed");
    let tests = &evidence["detail"]["tests"];
    assert_eq!(tests["control"], "failed-as-it-must", "{evidence:#}");
    assert_eq!(tests["controls"], json!(planted), "{evidence:#}");
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn jest() {
    if !needs("jest") {
        return;
    }
    let package = |more: &str| format!("{{\"name\": \"thing\", \"version\": \"1.0.0\"{more}}}");
    let plain = package("");
    let test =
        "describe('a', () => {\n  it('b', () => {\n    expect([1]).toEqual([1]);\n  });\n});";
    let files = [("package.json", plain.as_str()), ("src/__tests__/a.js", test)];
    passes_with("jest", "npx jest", &files, ALL);
    let named = format!("const {{ describe, it, expect }} = require('@jest/globals');\n{test}");
    let only = "test.only('a', () => expect(1).toBe(1));\ntest('b', () => expect(1).toBe(2));\n";
    let settings = package(", \"jest\": {\"injectGlobals\": false}");
    let files = [("package.json", settings.as_str()), ("a.spec.js", named.as_str())];
    passes_with("jest", "npx jest", &files, ALL);
    let files = [("package.json", plain.as_str()), ("a.test.js", only)];
    passes_with("jest", "npx jest", &files, OUTSIDE);
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn mocha() {
    if !needs("mocha") {
        return;
    }
    let package = |more: &str| format!("{{\"name\": \"thing\", \"version\": \"1.0.0\"{more}}}");
    let plain = package("");
    let test = "const assert = require('assert');\n\
                describe('a', function () {\n  it('b', () => assert.equal(1, 1));\n});";
    let files = [("package.json", plain.as_str()), ("test/a.js", test)];
    passes_with("mocha", "npx mocha --exit", &files, ALL);
    let module = package(
        ", \"type\": \"module\", \"mocha\": {\"spec\": \"src/**/*.spec.js\", \"ui\": \"tdd\"}",
    );
    let imports = "import { strictEqual } from 'node:assert';\nimport { expect } from 'chai';\n\
                   suite('a', () => {\n  test('b', () => expect(1).to.equal(1));\n  test('c', () => strictEqual(1, 1));\n});";
    let files = [("package.json", module.as_str()), ("src/deep/a.spec.js", imports)];
    passes_with("mocha", "npx mocha", &files, ALL);
    let script = package(", \"scripts\": {\"test\": \"mocha 'lib/*-test.js'\"}");
    let files = [("package.json", script.as_str()), ("lib/a-test.js", test)];
    passes_with("mocha", "npm test", &files, ALL);
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn vitest() {
    if !needs("vitest") {
        return;
    }
    let package = ("package.json", "{\"name\": \"thing\", \"version\": \"1.0.0\"}");
    let test =
        "describe('a', () => {\n  it('b', () => {\n    expect([1]).toStrictEqual([1]);\n  });\n});";
    let globals = ("vitest.config.mjs", "export default { test: { globals: true } };\n");
    passes_with("vitest", "npx vitest run", &[package, globals, ("a.test.js", test)], ALL);
    let typed = format!(
        "import {{\n  describe,\n  expect,\n  it,\n}} from 'vitest';\nconst a: number = 1;\nvoid a;\n{test}"
    );
    passes_with("vitest", "npx vitest run", &[package, ("src/a.spec.ts", typed.as_str())], ALL);
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn go() {
    if !needs("go") {
        return;
    }
    let module = ("go.mod", "module a\n\ngo 1.18\n");
    let source = ("a.go", "package a\n\nfunc One() int {\n\treturn 1\n}\n");
    let outside = "package a_test\n\nimport (\n\t\"testing\"\n\n\t\"a\"\n)\n\nfunc TestA(t *testing.T) {\n\tif a.One() != 1 {\n\t\t\
                   t.Fatal()\n\t}\n}\n";
    let tagged = "//go:build never\n\npackage a\n\nimport \"testing\"\n\nfunc TestB(t *testing.T) {\n\tt.Fatal()\n}\n";
    let files = [module, source, ("a_test.go", outside), ("b_test.go", tagged)];
    passes("go test ./...", &files, ALL);
    let deep = "package deep\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {}";
    let files = [module, source, ("deep/deep.go", "package deep\n"), ("deep/deep_test.go", deep)];
    passes("go test ./...", &files, ALL);
}
