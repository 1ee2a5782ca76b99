//! Marks on tests: those of the baseline block, the agent's own warn.

use super::*;

/// A file of one test for a language, the text that a mark is put before, and the
/// mark with the rule that finds it.
const MARKS: &[(&str, &str, &str, &str, &str)] = &[
    (
        "tests/test_a.py",
        "def test_a():\n    assert f() == 1\n",
        "def test_a",
        "@pytest.mark.skip\n",
        "skip-python",
    ),
    (
        "tests/test_a.py",
        "def test_a():\n    assert f() == 1\n",
        "    assert",
        "    pytest.skip('x')\n",
        "skip-python",
    ),
    (
        "tests/test_a.py",
        "def test_a():\n    assert f() == 1\n",
        "def test_a",
        "pytestmark = pytest.mark.xfail\n",
        "skip-python",
    ),
    (
        "tests/a.rs",
        "#[test]\nfn a() {\n    assert_eq!(f(), 1);\n}\n",
        "fn a",
        "#[ignore]\n",
        "skip-rust",
    ),
    (
        "tests/a.rs",
        "#[test]\nfn a() {\n    assert_eq!(f(), 1);\n}\n",
        "#[test]",
        "#[should_panic]\n",
        "flip-rust",
    ),
    (
        "a_test.go",
        "func TestA(t *testing.T) {\n\tif f() != 1 {\n\t\tt.Fatal()\n\t}\n}\n",
        "\tif",
        "\tt.Skip()\n",
        "skip-go",
    ),
    (
        "src/ATest.java",
        "class ATest {\n  @Test\n  void a() {\n    assertEquals(1, f());\n  }\n}\n",
        "  @Test",
        "  @Disabled\n",
        "skip-java",
    ),
    (
        "src/ATest.kt",
        "@Test\nfun a() {\n  assertEquals(1, f())\n}\n",
        "@Test",
        "@Ignore\n",
        "skip-java",
    ),
    (
        "src/ATests.cs",
        "[Fact]\npublic void A()\n{\n  Assert.Equal(1, F());\n}\n",
        "[Fact]",
        "[Ignore(\"x\")]\n",
        "skip-csharp",
    ),
    (
        "spec/a_spec.rb",
        "it 'a' do\n  expect(f).to eq 1\nend\n",
        "  expect",
        "  skip 'x'\n",
        "skip-ruby",
    ),
    (
        "tests/ATest.php",
        "public function testA() {\n  $this->assertSame(1, f());\n}\n",
        "  $this",
        "  $this->markTestSkipped();\n",
        "skip-php",
    ),
    ("tests/a.bats", "@test \"a\" {\n  [ 1 = 1 ]\n}\n", "  [ 1", "  skip\n", "skip-shell"),
    (
        "test_a.c",
        "TEST(A, b) {\n  EXPECT_EQ(1, f());\n}\n",
        "  EXPECT",
        "  GTEST_SKIP();\n",
        "skip-c",
    ),
];

#[test]
fn a_mark_on_a_test_of_the_baseline_blocks_and_on_a_new_one_warns() {
    for (path, before, at, mark, rule) in MARKS {
        let now = before.replacen(at, &format!("{mark}{at}"), 1);
        let has = |found: &[(String, Severity)], severity| {
            found.contains(&((*rule).to_owned(), severity))
        };
        let found = examine(&[(path, Some(before), Some(&now))], &Around::default());
        assert!(has(&found, Severity::Block), "{path}: {mark}: {found:?}");
        let found = examine(&[(path, None, Some(&now))], &Around::default());
        assert!(has(&found, Severity::Warn), "{path}: {mark}: {found:?}");
        // It was there before, and only stands elsewhere.
        let moved = [(*path, Some(now.as_str()), Some(""))];
        let other = format!("other/{path}");
        let files = [moved[0], (other.as_str(), None, Some(now.as_str()))];
        let found = examine(&files, &Around::default());
        if !mark.starts_with("pytestmark") {
            assert!(!has(&found, Severity::Block), "{path}: {mark}: {found:?}");
        }
    }
}

#[test]
fn marks_of_javascript_are_part_of_the_call() {
    let before = "describe('a', () => {\n  it('b', () => {\n    expect(f()).toBe(1)\n  })\n})\n";
    for (from, to, rule) in [
        ("it(", "it.skip(", "skip-js"),
        ("it(", "xit(", "skip-js"),
        ("describe(", "describe.skip(", "skip-js"),
        ("it('b', ", "it('b', { todo: true }, ", "skip-js"),
        ("it(", "it.only(", "only-js"),
        ("    expect", "    this.skip()\n    expect", "skip-js"),
    ] {
        let now = before.replace(from, to);
        let found = deciding("src/a.test.ts", before, &now);
        assert!(found.iter().any(|found| found == rule), "{to}: {found:?}");
    }
    let own = format!("{before}it.skip('c', () => {{ expect(g()).toBe(2) }})\n");
    assert_eq!(deciding("src/a.test.ts", before, &own), [""; 0]);
}

#[test]
fn the_run_is_not_ended_by_a_test() {
    for (path, line, rule) in [
        ("tests/test_a.py", "import os; os._exit(0)", "exit-python"),
        ("tests/a.rs", "fn x() { std::process::exit(0) }", "exit-rust"),
        ("src/a.test.js", "process.exit(0)", "exit-js"),
        ("a_test.go", "func init() { os.Exit(0) }", "exit-go"),
        ("src/ATest.java", "System.exit(0);", "exit-java"),
        ("src/ATests.cs", "Environment.Exit(0);", "exit-csharp"),
        ("spec/a_spec.rb", "exit! 0", "exit-ruby"),
        ("tests/conftest.py", "def pytest_runtest_makereport(item): pass", "deselect-python"),
    ] {
        let found = deciding(path, "", &format!("{line}\n"));
        assert_eq!(found, [rule], "{path}");
    }
}
