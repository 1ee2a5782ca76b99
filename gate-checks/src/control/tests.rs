//! Where controls are planted, for projects of all kinds.

use std::fs;
use std::path::PathBuf;

use super::{Draft, Place, Runner, draft, plant};

/// Where the control for these arguments would stand, relative to the tree,
/// and its text. The id is `x`.
fn drafted(runner: Runner, line: &str, files: &[(&str, &str)]) -> Option<(String, String)> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let args: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
    let names: Vec<_> = files.iter().map(|(name, _)| PathBuf::from(name)).collect();
    let (root, cwd) = (folder.path(), folder.path());
    let Draft { file, text } =
        draft(runner, &Place { root, cwd, files: &names, args: &args }, "x")?;
    let inside = file.strip_prefix(folder.path()).unwrap().display().to_string();
    Some((inside.trim_start_matches("./").replace("/./", "/"), text))
}

#[track_caller]
fn check(runner: Runner, line: &str, files: &[(&str, &str)], expected: &str, part: &str) {
    let (file, text) = drafted(runner, line, files).expect("no place");
    assert_eq!(file, expected, "{line}");
    assert!(text.contains(part), "{line}: {text}");
}

const PACKAGE: &str = "[package]\nname = \"a\"\n";

#[test]
fn cargo() {
    let one =
        [("Cargo.toml", PACKAGE), ("src/lib.rs", ""), ("src/main.rs", ""), ("tests/t.rs", "")];
    check(Runner::Cargo, "", &one, "tests/x.rs", "fn x()");
    check(Runner::Nextest, "--profile ci", &one, "tests/x.rs", "#[test]");
    check(Runner::Cargo, "--lib", &one, "src/lib.rs", "mod x");
    check(Runner::Cargo, "--bins", &one, "src/main.rs", "mod x");
    check(Runner::Cargo, "--test t", &one, "tests/t.rs", "mod x");
    assert_eq!(drafted(Runner::Cargo, "--doc", &one), None);
    assert_eq!(drafted(Runner::Cargo, "", &[("src/lib.rs", "")]), None);
    let lib = "[package]\nname = \"a\"\nautotests = false\n[lib]\npath = \"lib.rs\"\n";
    check(Runner::Cargo, "", &[("Cargo.toml", lib), ("lib.rs", "")], "lib.rs", "mod x");
}

#[test]
fn a_cargo_workspace() {
    let files = [
        ("Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]\n"),
        ("other/Cargo.toml", "[package]\nname = \"other\"\n"),
        ("crates/a/Cargo.toml", PACKAGE),
        ("crates/b/Cargo.toml", "[package]\nname = \"b\"\n"),
    ];
    check(Runner::Cargo, "--workspace", &files, "crates/a/tests/x.rs", "fn x()");
    check(Runner::Cargo, "-p b", &files, "crates/b/tests/x.rs", "fn x()");
    check(Runner::Cargo, "--manifest-path other/Cargo.toml", &files, "other/tests/x.rs", "fn x()");
    assert_eq!(drafted(Runner::Cargo, "-p none", &files), None);
}

#[test]
fn python() {
    let files = [("app.py", ""), ("src/pkg/test_a.py", ""), ("tests/unit/b_test.py", "")];
    check(Runner::Pytest, "-q", &files, "src/pkg/test_x.py", "def test_x");
    check(Runner::Pytest, "tests", &files, "tests/unit/test_x.py", "def test_x");
    check(Runner::Pytest, "tests/unit/b_test.py", &files, "tests/unit/b_test.py", "def test_x");
    check(Runner::Pytest, "", &[("app.py", "")], "test_x.py", "def test_x");
    check(Runner::Unittest, "", &files, "test_x.py", "def test_x");
    check(Runner::Unittest, "discover -s tests", &files, "tests/test_x.py", "TestCase");
    check(Runner::Unittest, "src.pkg.test_a", &files, "src/pkg/test_a.py", "TestCase");
}

#[test]
fn javascript() {
    let files = [("a.ts", ""), ("src/a.spec.ts", "import { test } from '@jest/globals'")];
    check(Runner::Jest, "", &files, "src/x.spec.ts", "@jest/globals");
    check(Runner::Vitest, "run", &files, "src/x.spec.ts", "from \"vitest\"");
    check(Runner::Jest, "", &[("__tests__/a.js", "")], "__tests__/x.test.js", "test(\"x\"");
    check(Runner::Jest, "", &[("package.json", "{}")], "x.test.js", "test(\"x\"");
    let files = [("test/a.test.cjs", "require('node:test')"), ("lib/b.mjs", "")];
    check(Runner::Node, "", &files, "x.test.mjs", "import test");
    check(Runner::Node, "test", &files, "test/x.test.mjs", "import test");
    check(Runner::Node, "test/*.test.cjs", &files, "test/x.test.cjs", "require(");
    check(Runner::Node, "test/a.test.cjs", &files, "test/a.test.cjs", "import(");
    assert_eq!(drafted(Runner::Node, "test/*.ts", &files), None);
}

#[test]
fn go() {
    let files = [
        ("a/vendor/v.go", "package v"),
        ("a/deep/b.go", "// b\npackage deep // b\n"),
        ("m.go", "package main"),
    ];
    check(Runner::Go, "", &files, "x_test.go", "package main\n");
    check(Runner::Go, "-race ./...", &files, "x_test.go", "func Test_x(");
    check(Runner::Go, "./a/...", &files, "a/deep/x_test.go", "package deep\n");
    assert_eq!(drafted(Runner::Go, "./a", &files), None);
}

#[test]
fn bats_and_junit() {
    let files = [("test/a.bats", "")];
    check(Runner::Bats, "--recursive test", &files, "test/x.bats", "@test \"x\"");
    check(Runner::Bats, "test/a.bats", &files, "test/a.bats", "@test \"x\"");
    assert_eq!(drafted(Runner::Bats, "", &files), None);
    let five = "package com.a;\nimport org.junit.jupiter.api.Test;\n";
    let files = [("src/test/java/com/a/ATest.java", five)];
    let place = "src/test/java/com/a/x_Test.java";
    check(Runner::Maven, "test", &files, place, "package com.a;\n\npublic class x_Test");
    check(Runner::Gradle, "test", &files, place, "@org.junit.jupiter.api.Test");
    let files = [("src/test/java/ATest.java", "import org.junit.Test;\n")];
    check(Runner::Maven, "test", &files, "src/test/java/x_Test.java", "@org.junit.Test");
}

#[test]
fn a_control_leaves_no_trace() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("test_a.py"), "a = 1\n").unwrap();
    for line in ["", "test_a.py"] {
        let args: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
        let (root, cwd) = (folder.path(), folder.path());
        let place = Place { root, cwd, files: &[PathBuf::from("test_a.py")], args: &args };
        let control = plant(Runner::Pytest, &place).unwrap().unwrap();
        assert!(fs::read_to_string(&control.file).unwrap().contains(&control.id));
        control.remove().unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert_eq!(fs::read_to_string(folder.path().join("test_a.py")).unwrap(), "a = 1\n");
    }
}

#[test]
fn nothing_is_planted_outside_of_the_tree() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::os::unix::fs::symlink(other.path(), folder.path().join("tests")).unwrap();
    fs::write(other.path().join("test_a.py"), "").unwrap();
    let out = other.path().display().to_string();
    for args in ["tests", "tests/test_a.py", &out] {
        let (root, cwd) = (folder.path(), folder.path());
        let place = Place { root, cwd, files: &[], args: &[args.to_owned()] };
        assert!(plant(Runner::Pytest, &place).unwrap().is_none(), "{args}");
    }
    assert_eq!(fs::read_dir(other.path()).unwrap().count(), 1);
    assert_eq!(fs::read_to_string(other.path().join("test_a.py")).unwrap(), "");
}
