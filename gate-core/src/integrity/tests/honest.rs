//! Changes that are nobody's business.

use super::*;

/// Added lines that mean nothing where they stand.
const FREE: &[(&str, &str)] = &[
    ("src/a.py", "# TO-DO: raise NotImplementedError when x\nx = 'raise NotImplementedError'\n"),
    ("src/a.py", "skip_list = ['pytest']\n"),
    ("src/a.py", "DOC = \"\"\"\nif 'pytest' in sys.modules: pass\n\"\"\"\n"),
    ("src/lib.rs", "/// Never `process::exit(0)`, see `#[ignore]`.\npub fn only() {}\n"),
    ("src/lib.rs", "const HELP: &str = \"#[should_panic] || true\";\n"),
    ("src/a.ts", "const text = `it.only('a')`; // process.exit(0)\n"),
    ("src/main.js", "process.exit(0)\n"),
    ("README.md", "Run `make test || true`; TO-DO; it.skip(); # noqa\n"),
    ("docs/a.md", "@pytest.mark.skip\n"),
    ("scripts/deploy.sh", "rm -f a || true\nset +e\n"),
    ("cmd/main.go", "func main() { os.Exit(0) }\n"),
    ("src/testing/fake.py", "from unittest.mock import Mock\n"),
    ("rollup.config.js", "module.exports = process.env.NODE_ENV === 'test' ? a : b\n"),
    ("tests/test_new.py", "def test_skip_list():\n    assert skip([1]) == []\n"),
    ("src/new/mod.rs", "pub fn eq(a: u8, b: u8) -> bool { a == b }\n"),
    ("Cargo.lock", "skip\n"),
];

#[test]
fn what_only_looks_like_it_is_free() {
    for (path, line) in FREE {
        let found = examine(&[(path, None, Some(line))], &Around::default());
        let deciding: Vec<_> = found.iter().filter(|found| found.1 != Severity::Warn).collect();
        assert!(deciding.is_empty(), "{path}: {deciding:?}");
    }
}

#[test]
fn a_line_that_only_moves_is_none_that_was_added() {
    let line = "import a  # noqa\n";
    let files = [("src/a.py", Some(line), Some("")), ("src/b.py", None, Some(line))];
    assert_eq!(examine(&files, &Around::default()), []);
    let twice = format!("{line}x = 1\n{line}");
    let files = [("src/a.py", Some(line), Some("")), ("src/b.py", None, Some(twice.as_str()))];
    let expected = [("suppress-python".to_owned(), Severity::Budget)];
    assert_eq!(examine(&files, &Around::default()), expected);
}

#[test]
fn somebody_else_s_code_only_warns() {
    let stub = format!("func a() {{ panic(\"not {}\") }}\n", "implemented");
    for (path, expected) in [("vendor/x/a.go", Severity::Warn), ("x/a.go", Severity::Block)] {
        let found = examine(&[(path, None, Some(stub.as_str()))], &Around::default());
        assert_eq!(found, [("stub-go".to_owned(), expected)], "{path}");
    }
}
