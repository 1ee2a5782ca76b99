//! Changes of whole files: what is found in them, and what is not.

use super::*;

mod directions;
mod guards;
mod honest;
mod marks;

/// What is found in a change of some files: rule and severity.
fn examine(
    files: &[(&str, Option<&str>, Option<&str>)],
    around: &Around,
) -> Vec<(String, Severity)> {
    let mut examiner = Examiner::new(around);
    for (path, before, now) in files {
        examiner.file(&Changed {
            path,
            guarded: guarded(path),
            before: before.map(str::as_bytes),
            now: now.map(str::as_bytes),
            ..Changed::default()
        });
    }
    examiner.finish().into_iter().map(|finding| (finding.rule, finding.severity)).collect()
}

/// The rules that decide over a change of one file, without an overlay.
fn deciding(path: &str, before: &str, now: &str) -> Vec<String> {
    let found = examine(&[(path, Some(before), Some(now))], &Around::default());
    found.into_iter().filter(|(_, it)| *it != Severity::Warn).map(|(rule, _)| rule).collect()
}

const PYTHON: &str = "from app import f\n\n\ndef helper():\n    return 1\n\n\ndef test_a():\n    assert f(2) == 4\n\n\ndef test_b():\n    assert f(helper()) == 1\n";
const RUST: &str = "pub fn f(a: u8) -> u8 { a }\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn a() {\n        assert_eq!(f(2), 4);\n    }\n}\n";

#[test]
fn a_test_is_what_it_says() {
    for (path, before, from, to, expected) in [
        ("tests/test_a.py", PYTHON, "== 4", "is not None", &["test-edited"][..]),
        (
            "tests/test_a.py",
            PYTHON,
            "    assert f(2) == 4",
            "    try:\n        assert f(2) == 4\n    except AssertionError:\n        pass",
            &["test-edited"],
        ),
        ("tests/test_a.py", PYTHON, "def test_a():\n    assert f(2) == 4\n", "", &["test-removed"]),
        ("tests/test_a.py", PYTHON, "test_a", "atest_a", &["test-removed"]),
        ("tests/test_a.py", PYTHON, "return 1", "return 2", &["support-edited"]),
        ("src/lib.rs", RUST, "f(2), 4", "f(2), 2", &["test-edited"]),
        ("src/lib.rs", RUST, "#[test]\n", "", &["support-edited", "test-removed"]),
    ] {
        let found = deciding(path, before, &before.replace(from, to));
        assert!(
            !found.is_empty() && found.iter().all(|found| expected.contains(&found.as_str())),
            "{to}: {found:?}"
        );
    }
}

#[test]
fn how_a_test_is_laid_out_and_where_it_stands_is_free() {
    for (path, before, now) in [
        (
            "tests/test_a.py",
            PYTHON,
            PYTHON.replace("f(2) == 4", "f(\n        2,\n    ) == 4  # two"),
        ),
        (
            "tests/test_a.py",
            PYTHON,
            PYTHON.replace("import f", "import f, g") + "\n\ndef test_c():\n    assert g() == 2\n",
        ),
        (
            "src/lib.rs",
            RUST,
            RUST.replace(
                "assert_eq!(f(2), 4);",
                "assert_eq!(\n            f(2),\n            4,\n        );",
            ),
        ),
        ("src/lib.rs", RUST, RUST.replace("{ a }", "{\n    let b = a;\n    b\n}")),
        ("src/lib.rs", RUST, RUST.replace("pub fn f", "/// Doc.\npub fn g() {}\n\npub fn f")),
    ] {
        assert_eq!(deciding(path, before, &now), [""; 0], "{now}");
    }
    let (first, second) = PYTHON.split_at(PYTHON.find("def test_b").unwrap());
    let moved =
        [("tests/test_a.py", Some(PYTHON), Some(first)), ("tests/test_b.py", None, Some(second))];
    assert_eq!(examine(&moved, &Around::default()), []);
    let away = [
        (
            "src/lib.rs",
            Some(RUST),
            Some("pub fn f(a: u8) -> u8 { a }\n\n#[cfg(test)]\nmod tests;\n"),
        ),
        (
            "src/tests.rs",
            None,
            Some("use super::*;\n\n#[test]\nfn a() {\n    assert_eq!(f(2), 4);\n}\n"),
        ),
    ];
    assert_eq!(examine(&away, &Around::default()), []);
}

#[test]
fn an_edit_only_warns_where_the_baseline_s_tests_are_run() {
    let around = Around { overlaid: vec![Language::Python, Language::Rust], ..Around::default() };
    let now = PYTHON.replace("== 4", "== 5");
    let found = examine(&[("tests/test_a.py", Some(PYTHON), Some(&now))], &around);
    assert_eq!(found, [("test-edited".to_owned(), Severity::Warn)]);
    // What stands in the product's own file cannot be laid over.
    let now = RUST.replace("f(2), 4", "f(2), 5");
    let found = examine(&[("src/lib.rs", Some(RUST), Some(&now))], &around);
    assert_eq!(found, [("test-edited".to_owned(), Severity::Block)]);
    // Nor is a test in another language run.
    let other = Around { overlaid: vec![Language::Go], ..Around::default() };
    let now = PYTHON.replace("== 4", "== 5");
    let found = examine(&[("tests/test_a.py", Some(PYTHON), Some(&now))], &other);
    assert_eq!(found, [("test-edited".to_owned(), Severity::Block)]);
    let found = examine(&[("tests/test_a.py", Some(PYTHON), None)], &around);
    let removed = ("test-removed".to_owned(), Severity::Warn);
    assert_eq!(found, [removed.clone(), removed]);
    let found = examine(&[("tests/test_a.py", Some(PYTHON), None)], &other);
    assert_eq!(found.iter().filter(|found| found.1 == Severity::Block).count(), 2, "{found:?}");
}

#[test]
fn files_that_nobody_but_the_operator_changes() {
    for (path, rule) in [
        ("pytest.ini", "runner-settings"),
        (".cargo/config.toml", "runner-settings"),
        (".config/nextest.toml", "runner-settings"),
        (".claude/hooks/a.sh", "hook-settings"),
        (".husky/pre-commit", "hook-settings"),
    ] {
        let (one, other) = ("[pytest]\naddopts = -a\n", "[pytest]\naddopts = -b\n");
        for (before, now) in [(None, Some(one)), (Some(one), None), (Some(one), Some(other))] {
            let found = examine(&[(path, before, now)], &Around::default());
            assert_eq!(found, [(rule.to_owned(), Severity::Tamper)], "{path}");
        }
    }
    assert_eq!(examine(&[("gate.toml", Some("a"), Some("b"))], &Around::default()), []);
}

#[test]
fn data_that_tests_rest_on_may_grow() {
    let snap = "tests/__snapshots__/a.snap";
    let found = |path, now| examine(&[(path, Some("a\nb\n"), now)], &Around::default());
    assert_eq!(found(snap, Some("a\nc\n")), [("support-edited".to_owned(), Severity::Block)]);
    assert_eq!(found(snap, None), [("support-removed".to_owned(), Severity::Block)]);
    assert_eq!(found(snap, Some("a\nb\nc\n")), []);
    assert_eq!(found("tests/README.md", Some("c")), []);
}

#[test]
fn new_files_that_hide_something() {
    let around = Around {
        commands: vec![("app".to_owned(), vec!["pytest".to_owned()])],
        dependencies: vec!["pandas".to_owned()],
        targets: vec![(String::new(), "test".to_owned())],
        ..Around::default()
    };
    for (path, expected) in [
        ("pytest.py", Some("shadows-tool")),
        ("app/unittest/__init__.py", Some("shadows-tool")),
        ("pandas/__init__.py", Some("shadows-dependency")),
        ("app/src/pandas.py", Some("shadows-dependency")),
        ("test", Some("shadows-target")),
        ("lib/pandas.py", None),
        ("app/models.py", None),
    ] {
        let found = examine(&[(path, None, Some("x = 1\n"))], &around);
        let found: Vec<_> = found.iter().map(|found| found.0.as_str()).collect();
        assert_eq!(found, expected.into_iter().collect::<Vec<_>>(), "{path}");
    }
}
