//! Names that a test takes by `require`.

use super::*;

const TEST: Sample = Sample {
    path: "calc.test.js",
    text: "\
const assert = require('node:assert')
const { add, total: sum } = require('./calc')

test('adds', () => expect(add(1, 2)).toBe(3))
test('shows', () => expect({ sum: add(1, 1) }).toMatchSnapshot())
test('sums', () => {
  const calc = require('./other')
  assert.equal(sum([1, 2]), 3)
})
",
};

#[test]
fn a_name_of_the_product_may_be_another_one() {
    check(
        &TEST,
        &[
            &[("add(", "plus("), ("{ add", "{ plus")],
            &[("total: sum", "amount: sum")],
            &[("add(", "plus("), ("{ add, total: sum }", "{ plus, total: sum }")],
            &[("'./calc'", "'./math/calc'")],
        ],
        TestEdit::Adapted,
    );
    let other = Sample {
        path: "calc.test.ts",
        text: "import calc = require('./calc')\nit('adds', () => {\n  expect(calc.add(1, 2)).toBe(3)\n})\n",
    };
    check(&other, &[&[("calc.add(", "calc.plus(")]], TestEdit::Adapted);
    check(&other, &[&[("calc", "sums")], &[("'./calc'", "'./lib/calc'")]], TestEdit::Adapted);
}

#[test]
fn layout_and_order_say_nothing() {
    let first = "const assert = require('node:assert')\n";
    let second = "const { add, total: sum } = require('./calc')\n";
    let both = format!("{first}{second}");
    let turned = format!("{second}{first}");
    check(&TEST, &[&[(&both, &turned)], &[("{ add, ", "{\n  add,\n  ")]], TestEdit::Same);
}

#[test]
fn something_else_in_its_place_is_a_change() {
    check(
        &TEST,
        &[
            &[("require('./calc')", "require('./__mocks__/calc')")],
            &[("require('./calc')", "require('./calc').fake")],
            &[("require('./calc')", "fake(require('./calc'))")],
            &[("require('./calc')", "{ add: () => 3, total: () => 3 }")],
            &[("{ add, total", "{ add = () => 3, total")],
            &[("total: sum", "add: sum")],
            &[("require('node:assert')", "require('./assert')")],
            &[(
                "require('node:assert')\n",
                "require('node:assert')\nconst expect = require('./e')\n",
            )],
            &[("const { add", "stub()\nconst { add")],
            &[("require('./other')", "require('./calc')")],
            &[("toBe(3)", "toBe(4)")],
            &[("add(1, 2)", "sum(1, 2)")],
            &[("toMatchSnapshot()", "toBeDefined()")],
        ],
        TestEdit::Changed,
    );
}
