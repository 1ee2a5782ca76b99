//! Edits of tests by their direction: what is stronger or the same is nothing.

use super::*;

/// Edits that keep all that a test claimed: the file, its text, and what it becomes.
const KEPT: &[(&str, &str, &str)] = &[
    // A stronger assertion.
    (
        "tests/test_a.py",
        "def test_a():\n    assert f(2) is not None\n",
        "def test_a():\n    assert f(2) == 4\n",
    ),
    (
        "tests/test_a.py",
        "def test_a():\n    assert 'a' in f(2)\n    assert f(3) > 2\n",
        "def test_a():\n    assert f(2) == 'abc'\n    assert f(3) == 9\n",
    ),
    (
        "src/a.test.ts",
        "it('a', () => {\n  expect(f(2)).toBeTruthy()\n  expect(g()).toEqual([1])\n})\n",
        "it('a', () => {\n  expect(f(2)).toBe(4)\n  expect(g()).toStrictEqual([1])\n})\n",
    ),
    (
        "a_test.go",
        "func TestA(t *testing.T) {\n\tassert.Equal(t, 4, f(2))\n}\n",
        "func TestA(t *testing.T) {\n\tt.Parallel()\n\trequire.Equal(t, 4, f(2))\n}\n",
    ),
    (
        "a_test.go",
        "func TestA(t *testing.T) {\n\tif got := f(2); got != 4 {\n\t\tt.Errorf(\"got %d\", got)\n\t}\n}\n",
        "func TestA(t *testing.T) {\n\tt.Parallel()\n\tgot := f(2)\n\tif got != 4 {\n\t\tt.Fatalf(\"f(2) = %d, want 4\", got)\n\t}\n}\n",
    ),
    // A narrower exception.
    (
        "tests/test_a.py",
        "def test_a():\n    with pytest.raises(Exception):\n        f(-1)\n",
        "def test_a():\n    with pytest.raises(ValueError, match='less'):\n        f(-1)\n",
    ),
    (
        "src/a.test.js",
        "it('a', () => {\n  expect(() => f(-1)).toThrow()\n})\n",
        "it('a', () => {\n  expect(() => f(-1)).toThrow(RangeError)\n})\n",
    ),
    (
        "src/ATest.java",
        "class ATest {\n  @Test(expected = IllegalStateException.class)\n  public void a() {\n    f(-1);\n  }\n}\n",
        "class ATest {\n  @Test\n  void a() {\n    assertThrows(IllegalStateException.class, () -> f(-1));\n  }\n}\n",
    ),
    (
        "tests/a.rs",
        "#[test]\n#[should_panic]\nfn a() {\n    f(9);\n}\n",
        "#[test]\n#[should_panic(expected = \"too large\")]\nfn a() {\n    f(9);\n}\n",
    ),
    (
        "tests/test_a.py",
        "class A(TestCase):\n    def test_a(self):\n        self.assertRaises(Exception, f, -1)\n",
        "class A(TestCase):\n    def test_a(self):\n        self.assertRaises(ValueError, f, -1)\n",
    ),
    (
        "src/ATest.java",
        "import org.junit.Before;\n\npublic class ATest {\n  @Before\n  public void begin() {\n    start();\n  }\n\n  @Test\n  public void a() {\n    assertEquals(4, f(2));\n  }\n}\n",
        "import org.junit.jupiter.api.BeforeEach;\n\nclass ATest {\n  @BeforeEach\n  void begin() {\n    start();\n  }\n\n  @Test\n  void a() {\n    assertEquals(4, f(2));\n  }\n}\n",
    ),
    // More of the same.
    (
        "tests/test_a.py",
        "def test_a():\n    assert f(2) == 4\n",
        "def test_a():\n    \"\"\"Doubles.\"\"\"\n    assert f(2) == 4, 'doubles'\n    assert f(3) == 6\n",
    ),
    (
        "tests/test_a.py",
        "@pytest.mark.parametrize('a', [1, 2])\ndef test_a(a):\n    assert f(a) == a + a\n",
        "@pytest.mark.parametrize('a', [1, 2, 3])\ndef test_a(a):\n    assert f(a) == a + a\n",
    ),
    (
        "a_test.go",
        "func TestA(t *testing.T) {\n\tt.Run(\"a\", func(t *testing.T) {\n\t\tif f(2) != 4 {\n\t\t\tt.Fatal()\n\t\t}\n\t})\n}\n",
        "func TestA(t *testing.T) {\n\tt.Run(\"a\", func(t *testing.T) {\n\t\tif f(2) != 4 {\n\t\t\tt.Fatal()\n\t\t}\n\t})\n\tt.Run(\"b\", func(t *testing.T) {\n\t\tif f(3) != 6 {\n\t\t\tt.Fatal()\n\t\t}\n\t})\n}\n",
    ),
    (
        "tests/a.rs",
        "#[test]\nfn a() {\n    assert_eq!(f(2), 4);\n}\n",
        "#[test]\n#[cfg_attr(miri, ignore)]\nfn a() {\n    assert_eq!(f(2), 4, \"doubles\");\n}\n",
    ),
    // Folded into a table.
    (
        "tests/test_a.py",
        "def test_a():\n    assert f(2) == 4\n\n\ndef test_b():\n    assert f(0) == 0\n",
        "@pytest.mark.parametrize('a, b', [(2, 4), (0, 0)])\ndef test_all(a, b):\n    assert f(a) == b\n",
    ),
    (
        "src/a.test.ts",
        "it('a', () => {\n  expect(f(2)).toBe(4)\n})\nit('b', () => {\n  const got = f(0)\n  expect(got).toBe(0)\n})\n",
        "it.each([\n  [2, 4],\n  [0, 0],\n])('f(%d)', (a, b) => {\n  expect(f(a)).toBe(b)\n})\n",
    ),
    (
        "a_test.go",
        "func TestA(t *testing.T) {\n\tif f(2) != 4 {\n\t\tt.Fatal()\n\t}\n}\n\nfunc TestB(t *testing.T) {\n\tif f(0) != 0 {\n\t\tt.Fatal()\n\t}\n}\n",
        "func TestAll(t *testing.T) {\n\tfor _, tt := range []struct{ a, b int }{{2, 4}, {0, 0}} {\n\t\tif got := f(tt.a); got != tt.b {\n\t\t\tt.Errorf(\"f(%d) = %d\", tt.a, got)\n\t\t}\n\t}\n}\n",
    ),
    (
        "tests/a.rs",
        "#[test]\nfn a() {\n    assert_eq!(f(2), 4);\n}\n\n#[test]\nfn b() {\n    assert_eq!(f(0), 0);\n}\n",
        "#[rstest]\n#[case(2, 4)]\n#[case(0, 0)]\nfn all(#[case] a: u8, #[case] b: u8) {\n    assert_eq!(f(a), b);\n}\n",
    ),
    // Split, renamed, and a helper taken out.
    (
        "tests/test_a.py",
        "def test_a():\n    assert f(2) == 4\n    assert f(0) == 0\n",
        "def test_two():\n    assert f(2) == 4\n\n\ndef test_zero():\n    assert f(0) == 0\n",
    ),
    (
        "src/a.test.ts",
        "it('works', () => {\n  expect(f(2)).toBe(4)\n})\n",
        "it('doubles its argument', () => {\n  expect(f(2)).toBe(4)\n})\n",
    ),
    (
        "tests/test_a.py",
        "def test_a():\n    assert f(2) == 4\n\n\ndef test_b():\n    assert f(0) == 0\n",
        "def check(a, b):\n    assert f(a) == b\n\n\ndef test_a():\n    check(2, 4)\n\n\ndef test_b():\n    check(0, 0)\n",
    ),
    // Another reason on an old mark.
    (
        "tests/test_a.py",
        "@pytest.mark.skip(reason='flaky')\ndef test_a():\n    assert f(2) == 4\n",
        "@pytest.mark.skip(reason='flaky, see the tracker')\ndef test_a():\n    assert f(2) == 4\n",
    ),
    (
        "a_test.go",
        "func TestA(t *testing.T) {\n\tt.Skip(\"later\")\n\tassert.Equal(t, 4, f(2))\n}\n",
        "func TestA(t *testing.T) {\n\tt.Skip(\"later, see the tracker\")\n\tassert.Equal(t, 4, f(2))\n}\n",
    ),
    (
        "tests/test_a.py",
        "@pytest.mark.xfail\ndef test_a():\n    assert f(2) == 4\n",
        "def test_a():\n    assert f(2) == 4\n",
    ),
];

#[test]
fn what_keeps_all_claims_is_nothing() {
    for (path, before, now) in KEPT {
        assert_eq!(deciding(path, before, now), [""; 0], "{now}");
    }
}

/// Edits that claim less, or that nobody can tell.
const WEAKER: &[(&str, &str, &str)] = &[
    ("tests/test_a.py", "f(2) == 4", "f(2) == 5"),
    ("tests/test_a.py", "f(2) == 4", "f(2) in (4, 5)"),
    ("tests/test_a.py", "f(2) == 4", "f(2) == 4 or True"),
    ("tests/test_a.py", "f(2) == 4", "f(2) != 4"),
    ("tests/test_a.py", "f(2) == 4", "f(2)"),
    ("tests/test_a.py", "f(2) == 4", "f(2) == pytest.approx(4, abs=9)"),
    ("tests/test_a.py", "f(2) == 4", "g(2) == 4"),
    ("tests/test_a.py", "f(2) == 4", "f(2, quick=True) == 4"),
    ("tests/test_a.py", "    assert f(2) == 4", "    return\n    assert f(2) == 4"),
    ("tests/test_a.py", "    assert f(2) == 4", "    if LATER:\n        assert f(2) == 4"),
    ("tests/test_a.py", "    assert f(2) == 4", "    for _ in []:\n        assert f(2) == 4"),
    ("tests/test_a.py", "    assert f(2) == 4", "    f = lambda _: 4\n    assert f(2) == 4"),
    (
        "tests/test_a.py",
        "    assert f(2) == 4",
        "    with suppress(Exception):\n        assert f(2) == 4",
    ),
    ("tests/test_a.py", "    assert f(2) == 4", "    def later():\n        assert f(2) == 4"),
    (
        "tests/test_a.py",
        "    assert f(2) == 4",
        "    with pytest.raises(AssertionError):\n        assert f(2) == 4",
    ),
    ("tests/test_a.py", "def test_a", "@patch('app.f', four)\ndef test_a"),
    ("tests/test_a.py", "def test_a", "@pytest.mark.slow\ndef test_a"),
    ("tests/test_a.py", "    assert g(1) == 1\n", ""),
    ("tests/test_a.py", "    start(3)\n", ""),
    ("tests/test_a.py", "ValueError", "(ValueError, TypeError)"),
    ("tests/test_a.py", "ValueError", "Exception"),
    ("src/a.test.ts", "toBe(4)", "toBeDefined()"),
    ("src/a.test.ts", "toBe(4)", "toEqual(expect.anything())"),
    ("src/a.test.ts", "toBe(4)", "not.toBe(5)"),
    ("src/a.test.ts", "toBe(4)", "toBe(f(2))"),
    (
        "src/a.test.ts",
        "  expect(f(2)).toBe(4)",
        "  try { expect(f(2)).toBe(4) } catch (e) { console.log(e) }",
    ),
    ("a_test.go", "4, f(2)", "f(2), f(2)"),
    ("a_test.go", "assert.Equal(t, 4, f(2))", "assert.NotNil(t, f(2))"),
    ("tests/a.rs", "assert_eq!(f(2), 4)", "assert!(f(2) > 0)"),
    ("tests/a.rs", "assert_eq!(f(2), 4)", "assert_ne!(f(2), 5)"),
    ("tests/a.rs", "assert_eq!(f(2), 4);", "if false { assert_eq!(f(2), 4); }"),
    ("tests/a.rs", "#[test]", "#[test]\n#[cfg(windows)]"),
];

fn whole(path: &str) -> &'static str {
    match path.rsplit('.').next() {
        Some("py") => {
            "def test_a():\n    start(3)\n    assert f(2) == 4\n    assert g(1) == 1\n    with pytest.raises(ValueError):\n        f(-1)\n"
        }
        Some("ts") => "it('a', () => {\n  expect(f(2)).toBe(4)\n})\n",
        Some("go") => "func TestA(t *testing.T) {\n\tassert.Equal(t, 4, f(2))\n}\n",
        _ => "#[test]\nfn a() {\n    assert_eq!(f(2), 4);\n}\n",
    }
}

#[test]
fn what_claims_less_counts() {
    let mut wrong = Vec::new();
    for (path, from, to) in WEAKER {
        let before = whole(path);
        let now = before.replace(from, to);
        assert_ne!(before, now);
        if !deciding(path, before, &now).iter().any(|rule| rule == "test-edited") {
            wrong.push(format!("{path}: {to}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn names_and_parameters_follow_the_product() {
    let test = "from app import f\n\n\ndef test_a():\n    assert f(2) == 4\n";
    let product = "def f(a):\n    return a * 2\n";
    let rules = |test_now: &str, product_now: &str| {
        let found = examine(
            &[
                ("src/app.py", Some(product), Some(product_now)),
                ("tests/test_a.py", Some(test), Some(test_now)),
            ],
            &Around::default(),
        );
        let deciding = found.into_iter().filter(|(_, severity)| *severity != Severity::Warn);
        deciding.map(|(rule, _)| rule).collect::<Vec<_>>()
    };
    let renamed = product.replace("def f", "def double");
    let calls = test.replace("import f", "import double").replace("f(2)", "double(2)");
    assert_eq!(rules(&calls, &renamed), [""; 0]);
    assert_eq!(rules(&calls.replace("== 4", "== 5"), &renamed), ["test-edited"]);
    assert_eq!(rules(&calls, product), ["test-edited"]);
    let longer = product.replace("(a)", "(a, by=2)");
    let calls = test.replace("f(2)", "f(2, by=2)");
    assert_eq!(rules(&calls, &longer), [""; 0]);
    assert_eq!(rules(&calls.replace("== 4", "== 5"), &longer), ["test-edited"]);
}

#[test]
fn a_file_that_its_runner_does_not_collect_holds_no_test() {
    let text = "def test_a():\n    assert f(2) == 4\n";
    for (path, is_found) in [("tests/test_b.py", false), ("tests/later.py", true)] {
        let mut examiner_found = Vec::new();
        let around = Around::default();
        let mut examiner = Examiner::new(&around);
        for (path, before, now) in [("tests/test_a.py", Some(text), None), (path, None, Some(text))]
        {
            let [before, now] = [before, now].map(|text: Option<&str>| text.map(str::as_bytes));
            let guarded = guarded(path);
            examiner.file(&Changed {
                path,
                guarded,
                before,
                now,
                moved: true,
                ..Changed::default()
            });
        }
        examiner_found.extend(examiner.finish().into_iter().map(|finding| finding.rule));
        assert_eq!(examiner_found.contains(&"test-removed".to_owned()), is_found, "{path}");
    }
}

#[test]
fn tests_are_compiled_for_every_run() {
    let before = "pub fn f() {}\n#[cfg(test)]\nmod tests;\n";
    let now = before.replace("cfg(test)", "cfg(all(test, feature = \"slow\"))");
    assert_eq!(deciding("src/lib.rs", before, &now), ["tests-not-compiled"]);
    let more = format!("{before}#[cfg(all(test, unix))]\nmod unix_tests;\n");
    assert_eq!(deciding("src/lib.rs", before, &more), [""; 0]);
}
