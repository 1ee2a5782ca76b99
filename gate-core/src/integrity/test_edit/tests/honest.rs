//! Tests that follow a changed product: nothing that they expect is another.

use super::*;

#[track_caller]
fn all(sample: &Sample, edits: &[&[(&str, &str)]]) {
    check(sample, edits, TestEdit::Adapted);
}

#[test]
fn python() {
    all(
        &PYTHON,
        &[
            &[("add(", "plus("), ("import add", "import plus")],
            &[
                ("total(", "amount("),
                ("def test_amount(", "def test_total("),
                (", total\n", ", amount\n"),
            ],
            &[("Money", "Coins")],
            &[("from calc import", "from pkg.calc import")],
            &[("from calc.money import", "from calc.coins import")],
            &[("add(1, 2)", "add(1, 2, 10)"), ("add(5, 2)", "add(5, 2, base=10)")],
            &[("total([1, 2, 3])", "total([1, 2, 3], start=0)")],
            &[("total([1, 2, 3])", "total(Config(), [1, 2, 3])")],
            &[("Money(3)\n", "Money(3)\n\n\ndef test_more():\n    assert add(7, 7) == 14\n")],
            &[(
                "Money(3)\n",
                "Money(3)\n\n\n@pytest.mark.parametrize(\"x\", [1])\ndef test_more(x):\n    assert add(x, 0) == x\n",
            )],
            &[(
                "== value\n",
                "== value\n\n    def test_more(self):\n        assert add(7, 7) == 14\n",
            )],
            &[
                ("import pytest\n", "import pytest\nimport json\n"),
                ("== value\n", "== value\n\n\ndef test_more():\n    assert json.loads('1') == 1\n"),
            ],
            &[
                ("add(", "plus("),
                ("import add", "import plus"),
                ("plus(1, 2)", "plus(1, 2, base=10)"),
                ("Money(3)\n", "Money(3)\n\n\ndef test_more():\n    pass\n"),
            ],
        ],
    );
}

#[test]
fn javascript() {
    all(
        &JS,
        &[
            &[("add(", "plus("), ("{ add", "{ plus")],
            &[("total", "amount"), ("it('amounts'", "it('totals'")],
            &[("'./calc'", "'./math/calc'")],
            &[("add(1, 2)", "add(1, 2, { base: 10 })")],
            &[("total([1, 2])", "total([1, 2], 'all')")],
            &[("toBe(3)\n", "toBe(3);\n"), ("total([1, 2])", "total([1, 2], 'all')")],
            &[(
                "describe('calc', () => {\n",
                "describe('calc', () => {\n  it('more', () => {\n    expect(add(7, 7)).toBe(14)\n  })\n\n",
            )],
        ],
    );
}

#[test]
fn go() {
    all(
        &GO,
        &[
            &[("Add(", "Plus("), ("TestPlus(", "TestAdd(")],
            &[
                ("Add(1", "Add(context.Background(), 1"),
                ("\"strings\"", "\"context\"\n\t\"strings\""),
            ],
            &[("Add(1, 2)", "Add(1, 2, nil)"), ("Name(\"a\")", "Name(\"a\", true)")],
            &[("Name(\"a\")", "Title(\"a\")")],
            &[(
                "func TestTotal",
                "func TestMore(t *testing.T) {\n\tif Add(7, 7) != 14 {\n\t\tt.Fatal()\n\t}\n}\n\nfunc TestTotal",
            )],
        ],
    );
}

#[test]
fn rust() {
    all(
        &RUST,
        &[
            &[("add", "plus"), ("fn pluss", "fn adds")],
            &[("add(1, 2)", "add(1, 2, Mode::Plain)")],
            &[("add(1, 2)", "add(1, 2, Default::default())")],
            &[("add(1, 2)", "add(1, 2).unwrap()")],
            &[("use calc::{add, total};", "use calc::{sums::add, total};")],
            &[("total(&[1, 2])", "total(&[1, 2], &Options::new())")],
            &[(
                "#[test]\nfn totals",
                "#[test]\nfn more() {\n    assert_eq!(add(7, 7), 14);\n}\n\n#[test]\nfn totals",
            )],
        ],
    );
}
