//! Edits of test files, and what they mean.

mod honest;
mod product;
mod requires;
mod weakened;

use proptest::prelude::*;

use super::*;

/// A test file in one of the languages.
pub(super) struct Sample {
    path: &'static str,
    text: &'static str,
}

pub(super) const PYTHON: Sample = Sample {
    path: "tests/test_calc.py",
    text: "\
import pytest

from calc import add, total
from calc.money import Money


def make():
    return Money(3)


@pytest.mark.parametrize(\"a, b\", [(1, 2), (3, 4)])
def test_adds(a, b):
    assert add(a, b) == a + b


class TestTotal:
    def test_total(self):
        result = total([1, 2, 3])
        assert result == 6
        assert add(1, 2) == 3
        assert add(5, 2) == 7, \"adds\"

    def test_refuses(self):
        with pytest.raises(ValueError):
            add(\"a\", 1)
        for value in range(3):
            assert add(value, 0) == value
",
};

pub(super) const JS: Sample = Sample {
    path: "src/calc.test.ts",
    text: "\
import { describe, expect, it } from 'vitest'
import { add, total } from './calc'

describe('calc', () => {
  it('adds', () => {
    expect(add(1, 2)).toBe(3)
    expect(add(0.1, 0.2)).toBeCloseTo(0.3, 5)
  })

  it('totals', async () => {
    const result = total([1, 2])
    expect(result).toEqual({ sum: 3, count: 2 })
    expect(() => add('a', 1)).toThrow(TypeError)
  })
})
",
};

pub(super) const GO: Sample = Sample {
    path: "calc/calc_test.go",
    text: "\
package calc

import (
\t\"strings\"
\t\"testing\"
)

func TestAdd(t *testing.T) {
\tif got := Add(1, 2); got != 3 {
\t\tt.Errorf(\"got %d\", got)
\t}
\tname := Name(\"a\")
\tif !strings.HasPrefix(name, \"a\") {
\t\tt.Fatal(name)
\t}
}

func TestTotal(t *testing.T) {
\twant := 6
\tfor _, list := range [][]int{{1, 2, 3}} {
\t\tif got := Total(list); got != want {
\t\t\tt.Fatalf(\"got %d\", got)
\t\t}
\t}
}
",
};

pub(super) const RUST: Sample = Sample {
    path: "tests/calc.rs",
    text: "\
use calc::{add, total};

#[test]
fn adds() {
    assert_eq!(add(1, 2), 3);
    assert!(total(&[1]) == 1, \"one\");
}

#[test]
#[should_panic(expected = \"empty\")]
fn refuses() {
    total(&[]);
}

#[test]
fn totals() {
    let result = total(&[1, 2]);
    assert_eq!(result, 3);
    assert_eq!(total(&[4]), Some(4).unwrap());
}
",
};

/// Texts, each with another in its place.
type Edits<'a> = &'a [(&'a str, &'a str)];

/// Functions that have got a parameter: the file, its text, and the edits of it.
const GROWN: &[(&str, &str, Edits<'_>)] = &[
    (
        "product.py",
        "def add(a, b):\n    return a + b\n\n\ndef total(all):\n    return 0\n\n\ndef load(name):\n    \
         return Config()\n\n\nclass Config:\n    def get(self, key):\n        return key\n\n    def \
         read(self, at):\n        return at\n",
        &[
            ("(a, b)", "(a, b, base)"),
            ("(all)", "(all, start)"),
            ("(name)", "(name, more)"),
            ("key)", "key, other)"),
            ("at):", "at, mode):"),
            ("    return 0\n", "    return 0\n\n\ndef plus(a, b, base):\n    return a + b\n"),
        ],
    ),
    (
        "src/product.ts",
        "export function add(a: number, b: number): number {\n  return a + b\n}\nexport const total = \
         (all: number[]) => all\n",
        &[("b: number)", "b: number, options: Options)"), ("number[])", "number[], kind: string)")],
    ),
    (
        "calc/calc.go",
        "package calc\n\nfunc Add(a, b int) int {\n\treturn a + b\n}\n\nfunc Name(a string) string {\n\t\
         return a\n}\n",
        &[("a, b int", "a, b int, more *More"), ("a string", "a string, short bool")],
    ),
    (
        "src/lib.rs",
        "pub fn add(a: u8, b: u8) -> u8 {\n    a + b\n}\n\npub fn total<T>(all: &[T]) -> u8 {\n    0\n}\n",
        &[("b: u8)", "b: u8, mode: Mode)"), ("[T])", "[T], options: &Options)")],
    ),
];

fn grown() -> ChangedProduct {
    let mut product = ChangedProduct::default();
    for (path, before, edits) in GROWN {
        let now = edits.iter().fold((*before).to_owned(), |now, (from, to)| now.replace(from, to));
        product.add(path, Some(before.as_bytes()), Some(now.as_bytes()));
    }
    product
}

/// Each piece of the sample that an edit names has another in its place.
fn said(sample: &Sample, edit: &[(&str, &str)]) -> TestEdit {
    let mut now = sample.text.to_owned();
    for (from, to) in edit {
        assert!(now.contains(from), "{}: no {from}", sample.path);
        now = now.replace(from, to);
    }
    compare(sample.path, sample.text.as_bytes(), now.as_bytes())
}

fn compare(path: &str, before: &[u8], now: &[u8]) -> TestEdit {
    compare_test_edit(path, (before, now), &grown())
}

#[track_caller]
fn check(sample: &Sample, edits: &[&[(&str, &str)]], expected: TestEdit) {
    let wrong: Vec<_> = edits.iter().filter(|edit| said(sample, edit) != expected).collect();
    assert!(wrong.is_empty(), "{} is not {expected:?}: {wrong:#?}", sample.path);
}

#[test]
fn layout_says_nothing() {
    let same = |sample: &Sample, edit: &[(&str, &str)]| check(sample, &[edit], TestEdit::Same);
    let list = ("[1, 2, 3]", "[\n 1, 2,\n 3,\n]");
    same(&PYTHON, &[("    ", "  "), list, ("\"adds\"", "'adds'")]);
    same(&PYTHON, &[("def make():\n", "def make():\n    \"\"\"Makes one.\"\"\"\n")]);
    let imports = ("import pytest\n\n", "# a\nfrom calc.money import Money\nimport pytest\n");
    same(&PYTHON, &[imports, ("total\nfrom calc.money import Money\n", "total\n")]);
    let object = ("{ sum: 3, count: 2 }", "{\n sum: 3,\n count: 2,\n }");
    same(&JS, &[("'", "\""), ("(3)\n", "(3);\n"), ("  ", "\t"), object]);
    let imports = ("\t\"strings\"\n\t\"testing\"\n", "\t\"testing\"\n\t\"strings\"\n // a\n");
    same(&GO, &[imports, ("[][]int{{1, 2, 3}}", "[][]int{\n\t{1, 2, 3},\n}")]);
    let call = ("add(1, 2), 3);", "\n add(1, 2),\n 3,\n ); // three");
    same(&RUST, &[("add, total", "total, add"), call]);
}

#[test]
fn of_a_product_in_rust_its_tests_count() {
    let source = |product: &str, test: &str| {
        format!(
            "{product}\n#[cfg(test)]\nmod tests {{\n    use super::*;\n    #[test]\n    fn a() {{\n        {test}\n    }}\n}}\n"
        )
    };
    let before = source("/// ```\n/// a()\n/// ```\nfn add() {}", "assert_eq!(add(1, 2), 3);");
    let said = |product: &str, test: &str| {
        let now = source(product, test);
        compare("src/lib.rs", before.as_bytes(), now.as_bytes())
    };
    let product = "/// ```\n/// a()\n/// ```\nfn plus() { 1 }";
    assert_eq!(said(product, "assert_eq!(add(1, 2), 3);"), TestEdit::Same);
    assert_eq!(said(product, "assert_eq!(plus(1, 2), 3);"), TestEdit::Adapted);
    assert_eq!(said(product, "assert_eq!(plus(1, 2), 4);"), TestEdit::Changed);
    assert_eq!(said("fn plus() {}", "assert_eq!(add(1, 2), 3);"), TestEdit::Changed);
}

#[test]
fn data_is_the_same_or_changed() {
    let said =
        |path: &str, before: &str, now: &str| compare(path, before.as_bytes(), now.as_bytes());
    assert_eq!(said("tests/data/a.json", "{}\n", "{}  \n\n"), TestEdit::Same);
    assert_eq!(said("tests/data/a.json", "{}\n", "{ }\n"), TestEdit::Changed);
    assert_eq!(said("a.snap", "a\nb", "b\na"), TestEdit::Changed);
    assert_eq!(said("spec/a_spec.rb", "a # b", "a"), TestEdit::Changed);
    assert_eq!(compare("test_a.py", b"\xff", b"\xff "), TestEdit::Same);
    assert_eq!(compare("test_a.py", b"\xff", b"\xfe"), TestEdit::Changed);
}

const PIECES: [&str; 34] = [
    "def test_a():\n",
    "    assert f(1) == 2\n",
    "    ",
    "\n",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    ",",
    ";",
    "'",
    "\"",
    "`",
    "é",
    "\\\n",
    "#",
    "//",
    "/*",
    "import a\n",
    "from a import b\n",
    "use a::{b, c};\n",
    "import { a } from 'b'\n",
    "#[test]\n",
    "fn a() {",
    "it('a', () => {",
    "func TestA(t *testing.T) {\n",
    "x",
    "f(",
    "1",
    "=",
    "assert_eq!(",
    "@",
];

proptest! {
    #[test]
    fn any_text_is_answered(
        one in prop::collection::vec(prop::sample::select(&PIECES), 0..16),
        other in prop::collection::vec(prop::sample::select(&PIECES), 0..16),
        bytes in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let (one, other) = (one.concat(), other.concat());
        for path in ["a.rs", "a.test.ts", "test_a.py", "a_test.go", "a.json"] {
            compare(path, one.as_bytes(), other.as_bytes());
            ChangedProduct::default().add(path, Some(&bytes), Some(one.as_bytes()));
            compare(path, &bytes, one.as_bytes());
            compare(path, one.as_bytes(), &bytes);
            prop_assert_eq!(compare(path, one.as_bytes(), one.as_bytes()), TestEdit::Same);
            let spaced = format!("{one}\n\n");
            let said = compare(path, one.as_bytes(), spaced.as_bytes());
            prop_assert!(said != TestEdit::Adapted, "{} {:?}", path, one);
        }
    }

    #[test]
    fn a_literal_that_is_gone_is_never_adapted(at in 0_usize..400, sample in 0_usize..4) {
        let sample = [&PYTHON, &JS, &GO, &RUST][sample];
        let digits: Vec<usize> = sample.text.char_indices().filter(|(_, c)| c.is_ascii_digit()).map(|(at, _)| at).collect();
        let at = digits[at % digits.len()];
        for with in ["9", "x", "", "0x"] {
            let now = format!("{}{with}{}", &sample.text[..at], &sample.text[at + 1..]);
            let said = compare(sample.path, sample.text.as_bytes(), now.as_bytes());
            prop_assert_eq!(said, TestEdit::Changed, "{}", now);
        }
    }
}

#[test]
fn a_template_in_javascript_names_no_module() {
    let edit = |now: &str| compare("a.test.ts", b"import a\n,`//`;f()", now.as_bytes());
    assert_eq!(edit("import a\n,`//\n\n`;f()"), TestEdit::Changed);
    let open = compare("a.test.ts", b"import a\n,`//", b"import a\n,`//\n\n");
    assert_eq!(open, TestEdit::Changed);
}
