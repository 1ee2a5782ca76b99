//! Where controls are planted, for projects of all kinds.

mod inside;

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::{
    ChangedFiles, ControlName, FailureKind, FailureKinds, Runner, TestTree, drafts, plant,
};
use crate::report::{Status, Test};

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    folder
}

/// The places of the tests for these arguments, relative to the tree, and their texts. The
/// first name is `order_1`. Each file has a reported test.
fn drafted(
    runner: Runner,
    line: &str,
    files: &[(&str, &str)],
    changed: ChangedFiles<'_>,
) -> Vec<(String, String)> {
    let folder = folder(files);
    let args: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
    let names: Vec<_> = files.iter().map(|(name, _)| PathBuf::from(name)).collect();
    let (root, cwd) = (folder.path(), folder.path());
    let reported: Vec<_> = files
        .iter()
        .map(|(name, _)| Test { id: format!("{name} > a"), status: Status::Passed })
        .collect();
    let tree = TestTree { root, cwd, files: &names, args: &args, reported: &reported, changed };
    let mut number = 0;
    let drafts = drafts(runner, &tree, &mut |kind| {
        number += 1;
        ControlName::numbered(kind, number)
    });
    let inside = |file: &Path| {
        let inside = file.strip_prefix(folder.path()).unwrap().display().to_string();
        inside.trim_start_matches("./").replace("/./", "/")
    };
    drafts.into_iter().map(|draft| (inside(&draft.file), draft.text)).collect()
}

/// Of all drafts, the one with the test that raises.
#[track_caller]
fn check(runner: Runner, line: &str, files: &[(&str, &str)], expected: &str, part: &str) {
    let drafts = drafted(runner, line, files, ChangedFiles::default());
    let (file, text) = drafts.first().expect("no place");
    assert_eq!(file, expected, "{line}");
    assert!(text.contains(part), "{line}: {text}");
}

#[track_caller]
fn check_none(runner: Runner, line: &str, files: &[(&str, &str)]) {
    assert_eq!(drafted(runner, line, files, ChangedFiles::default()), [], "{line}");
}

/// The files that the baseline has and that take a test.
#[track_caller]
fn check_inside(runner: Runner, line: &str, files: &[(&str, &str)], expected: &[(&str, &str)]) {
    let drafts = drafted(runner, line, files, ChangedFiles::default());
    let inside: Vec<_> = drafts.iter().skip(1).collect();
    assert_eq!(inside.len(), expected.len(), "{line}: {inside:?}");
    for ((file, text), (expected, part)) in inside.into_iter().zip(expected) {
        assert_eq!(file, expected, "{line}");
        assert!(text.contains(part), "{line}: {text}");
    }
}

const PACKAGE: &str = "[package]\nname = \"a\"\n";

#[test]
fn cargo() {
    let one =
        [("Cargo.toml", PACKAGE), ("src/lib.rs", ""), ("src/main.rs", ""), ("tests/t.rs", "")];
    check(Runner::Cargo, "", &one, "tests/order_1.rs", "fn order_1()");
    check(Runner::Nextest, "--profile ci", &one, "tests/order_1.rs", "#[test]");
    check(Runner::Cargo, "--lib", &one, "src/lib.rs", "mod order_1");
    check(Runner::Cargo, "--bins", &one, "src/main.rs", "mod order_1");
    check(Runner::Cargo, "--test t", &one, "tests/t.rs", "mod order_1");
    check_none(Runner::Cargo, "--doc", &one);
    check_none(Runner::Cargo, "", &[("src/lib.rs", "")]);
    let lib = "[package]\nname = \"a\"\nautotests = false\n[lib]\npath = \"lib.rs\"\n";
    check(Runner::Cargo, "", &[("Cargo.toml", lib), ("lib.rs", "")], "lib.rs", "mod order_1");
}

#[test]
fn a_cargo_workspace() {
    let files = [
        ("Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]\n"),
        ("other/Cargo.toml", "[package]\nname = \"other\"\n"),
        ("crates/a/Cargo.toml", PACKAGE),
        ("crates/b/Cargo.toml", "[package]\nname = \"b\"\n"),
    ];
    check(Runner::Cargo, "--workspace", &files, "crates/a/tests/order_1.rs", "fn order_1()");
    check(Runner::Cargo, "-p b", &files, "crates/b/tests/order_1.rs", "fn order_1()");
    check(
        Runner::Cargo,
        "--manifest-path other/Cargo.toml",
        &files,
        "other/tests/order_1.rs",
        "fn order_1()",
    );
    check_none(Runner::Cargo, "-p none", &files);
}

#[test]
fn python() {
    let files = [("app.py", ""), ("src/pkg/test_a.py", ""), ("tests/unit/b_test.py", "")];
    check(Runner::Pytest, "-q", &files, "src/pkg/test_order_1.py", "def test_order_1");
    check(Runner::Pytest, "tests", &files, "tests/unit/test_order_1.py", "def test_order_1");
    check(
        Runner::Pytest,
        "tests/unit/b_test.py",
        &files,
        "tests/unit/b_test.py",
        "def test_order_1",
    );
    check(Runner::Pytest, "", &[("app.py", "")], "test_order_1.py", "def test_order_1");
}

#[test]
fn javascript() {
    let files = [("a.ts", ""), ("src/a.spec.ts", "import { test } from '@jest/globals'")];
    check(Runner::Jest, "", &files, "src/order-1.spec.ts", "@jest/globals");
    check(Runner::Vitest, "run", &files, "src/order-1.spec.ts", "from \"vitest\"");
    check(
        Runner::Jest,
        "",
        &[("__tests__/a.js", "")],
        "__tests__/order-1.test.js",
        "test(\"order_1\"",
    );
    check(Runner::Jest, "", &[("package.json", "{}")], "order-1.test.js", "test(\"order_1\"");
    let files = [("test/a.test.cjs", "require('node:test')"), ("lib/b.mjs", "")];
    check(Runner::Node, "", &files, "order-1.test.mjs", "import assert");
    check(Runner::Node, "test", &files, "test/order-1.test.mjs", "import assert");
    check(Runner::Node, "test/*.test.cjs", &files, "test/order-1.test.cjs", "require(");
    check(Runner::Node, "test/a.test.cjs", &files, "test/a.test.cjs", "import(");
    check_none(Runner::Node, "test/*.ts", &files);
}

#[test]
fn mocha() {
    let test = "const { expect } = require('chai');\nconst a = require('./a');\n\
                describe('a', () => it('b', () => expect(a).to.eql(1)));\n";
    let ts = "import { it } from 'mocha';\nimport * as assert from 'assert';\n\
              it('a', () => assert.equal(1, 1));\n";
    let js = [("test/unit/a.spec.js", test), ("b.js", "it.only('a', () => {});\n")];
    check(
        Runner::Mocha,
        "",
        &js,
        "test/unit/order-1.spec.js",
        "= require('chai');\nit(\"order_1\"",
    );
    check(
        Runner::Mocha,
        "",
        &js,
        "test/unit/order-1.spec.js",
        "expect(\"order 2\").to.eql(\"order\");",
    );
    check(
        Runner::Mocha,
        "",
        &[("a-test.ts", ts)],
        "order-1-test.ts",
        "import * as assert from 'assert';",
    );
    let tdd = [("test/a.js", "suite('a', function () {\n  test('b', function () {});\n});\n")];
    check(
        Runner::Mocha,
        "",
        &tdd,
        "test/order-1.js",
        "test(\"order_1\", function () {\n  throw new",
    );
    check_none(Runner::Mocha, "", &[("test/a.coffee", "it 'a', ->"), ("b.js", "")]);
}

#[test]
fn go() {
    let files = [
        ("a/vendor/v.go", "package v"),
        ("a/deep/b.go", "// b\npackage deep // b\n"),
        ("m.go", "package main"),
    ];
    check(Runner::Go, "", &files, "order_1_test.go", "package main\n");
    check(Runner::Go, "-race ./...", &files, "order_1_test.go", "func Test_order_1(");
    check(Runner::Go, "./a/...", &files, "a/deep/order_1_test.go", "package deep\n");
    check_none(Runner::Go, "./a", &files);
}

#[test]
fn every_kind_has_a_test_of_its_own() {
    let rust = [("Cargo.toml", PACKAGE), ("src/lib.rs", "")];
    check(Runner::Cargo, "", &rust, "tests/order_1.rs", "assert_eq!(\"order 2\", \"order\");");
    check(Runner::Cargo, "", &rust, "tests/order_1.rs", "assert!(\"order 3\" == \"order\");");
    check(Runner::Cargo, "--lib", &rust, "src/lib.rs", "panic!(\"order 1\");");
    let python = [("test_a.py", "")];
    let asserts = "assert \"order 2\".lower() == \"order\"";
    check(Runner::Pytest, "", &python, "test_order_1.py", "raise RuntimeError(\"order 1\")");
    check(Runner::Pytest, "", &python, "test_order_1.py", asserts);
    let script = [("a.test.js", "")];
    let asserts = "expect(\"order 2\").toBe(\"order\");";
    check(Runner::Jest, "", &script, "order-1.test.js", asserts);
    let asserts = "assert.strictEqual(\"order 2\", \"order\");";
    check(Runner::Node, "", &script, "order-1.test.mjs", asserts);
    let go = [("a.go", "package a\n")];
    check(Runner::Go, "", &go, "order_1_test.go", "t.Fatal(\"order 1\")");
    check(Runner::Go, "", &go, "order_1_test.go", "got, want := \"order 2\", \"order\"");
}

#[test]
fn a_control_leaves_no_trace() {
    let text = "def test_a():\n    pass";
    let folder = folder(&[("test_a.py", text)]);
    for (line, files) in [("", 2), ("test_a.py", 1)] {
        let args: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
        let (root, cwd) = (folder.path(), folder.path());
        let files_before = [PathBuf::from("test_a.py")];
        let changed = ChangedFiles::default();
        let tree =
            TestTree { root, cwd, files: &files_before, args: &args, reported: &[], changed };
        let control = plant(Runner::Pytest, &tree).unwrap().unwrap();
        assert_eq!(control.names.kinds(), FailureKinds::from(FailureKind::ALL));
        let planted: Vec<_> = fs::read_dir(folder.path()).unwrap().flatten().collect();
        assert_eq!(planted.len(), files);
        let texts: Vec<_> =
            planted.iter().map(|file| fs::read_to_string(file.path()).unwrap()).collect();
        assert!(texts.iter().all(|text| control.names.occur_in(text)), "{texts:?}");
        assert!(!texts.concat().contains("gate") && !texts.concat().contains("control"));
        assert_eq!(texts.concat().matches("\ndef test_").count(), 3, "{texts:?}");
        control.remove().unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert_eq!(fs::read_to_string(folder.path().join("test_a.py")).unwrap(), text);
    }
}

#[test]
fn nothing_is_planted_outside_of_the_tree() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    gate_platform::symlink(other.path(), folder.path().join("tests")).unwrap();
    fs::write(other.path().join("test_a.py"), "").unwrap();
    let out = other.path().display().to_string();
    for args in ["tests", "tests/test_a.py", &out] {
        let (root, cwd) = (folder.path(), folder.path());
        let args = &[args.to_owned()];
        let tree = TestTree {
            root,
            cwd,
            files: &[],
            args,
            reported: &[],
            changed: ChangedFiles::default(),
        };
        assert!(plant(Runner::Pytest, &tree).unwrap().is_none(), "{args:?}");
    }
    assert_eq!(fs::read_dir(other.path()).unwrap().count(), 1);
    assert_eq!(fs::read_to_string(other.path().join("test_a.py")).unwrap(), "");
}
