//! jest and vitest.

use super::*;
use crate::needs::{needs, node_module};

const TESTS: &str = "const { add, rate } = require('./calc');\n\
test('adds', () => {\n  expect(add(2, 2)).toBe(4);\n});\n\
test.each([[0, 1], [5, 6]])('adds to %i', (a, sum) => expect(add(a, 1)).toBe(sum));\n\
test('rate', () => expect(rate()).toBe(3));\n";

const VITE_TESTS: &str = "import { expect, test } from 'vitest';\nimport { add, rate } from './calc.js';\n\
test('adds', () => {\n  expect(add(2, 2)).toBe(4);\n});\n\
test.each([[0, 1], [5, 6]])('adds to %i', (a, sum) => expect(add(a, 1)).toBe(sum));\n\
test('rate', () => expect(rate()).toBe(3));\n";

const ADD: &str = "sed -i 's/a + b/a + b + (a === 2 ? 1 : 0)/' calc.js";
const FIVE: &str = "sed -i 's/a + b/a + b + (a === 5 ? 1 : 0)/' calc.js";
const RATE: &str = "sed -i 's/=> 3/=> 4/' calc.js";

const JEST: &[Pair] = &[
    pair("a weaker matcher", "sed -i 's/toBe(4)/toBeTruthy()/' calc.test.js", ADD),
    pair("a test is skipped", "sed -i \"s/test('adds'/test.skip('adds'/\" calc.test.js", ADD),
    pair("rows are removed", "sed -i 's/, \\[5, 6\\]//' calc.test.js", FIVE),
    pair("a test is removed", "sed -i '/rate., ()/d' calc.test.js", RATE),
    pair(
        "the manifest leaves tests out",
        "sed -i 's/{}/{\"testNamePattern\": \"adds\"}/; s/\"jest\"/\"jest\"/' package.json; sed -i \"s/test('rate'/test.todo('rate'); test.skip('rate'/\" calc.test.js",
        RATE,
    ),
    pair(
        "a new setup file changes the product",
        "echo \"require('./calc').rate = () => 3; jest.mock('./calc', () => ({ ...jest.requireActual('./calc'), rate: () => 3 }));\" > jest.setup.js; \
         sed -i 's/{}/{\"setupFilesAfterEnv\": [\".\\/jest.setup.js\"]}/' package.json",
        RATE,
    ),
];

const VITEST: &[Pair] = &[
    pair(
        "a test returns early",
        "sed -i 's/  expect(add(2, 2))/  return;\\n  expect(add(2, 2))/' calc.test.js",
        ADD,
    ),
    pair(
        "a test that may fail",
        "sed -i \"s/test('rate', () => expect(rate()).toBe(3))/test('rate', () => { try { expect(rate()).toBe(3); } catch {} })/\" calc.test.js",
        RATE,
    ),
    pair(
        "settings leave tests out",
        "echo \"export default { test: { testNamePattern: 'adds' } };\" > vitest.config.mjs",
        RATE,
    ),
];

fn project(runner: &str, command: &'static str, files: &'static [(&str, &str)]) -> Project {
    let modules = node_module(runner).unwrap();
    Project { command, files, prepare: format!("ln -s '{}' node_modules", modules.display()) }
}

#[test]
#[ignore = "minutes: many projects, four stops each"]
fn with_jest() {
    if needs("jest") {
        let package = "{\"name\": \"calc\", \"version\": \"1.0.0\", \"jest\": {}}\n";
        let calc = "exports.add = (a, b) => a + b;\nexports.rate = () => 3;\n";
        let files = Box::leak(Box::new([
            ("package.json", package),
            ("calc.js", calc),
            ("calc.test.js", TESTS),
        ]));
        none_passes(&project("jest", "npx jest", files), JEST, sessions);
    }
}

#[test]
#[ignore = "minutes: many projects, four stops each"]
fn with_vitest() {
    if needs("vitest") {
        let package = "{\"name\": \"calc\", \"version\": \"1.0.0\", \"type\": \"module\"}\n";
        let calc = "export const add = (a, b) => a + b;\nexport const rate = () => 3;\n";
        let files = Box::leak(Box::new([
            ("package.json", package),
            ("calc.js", calc),
            ("calc.test.js", VITE_TESTS),
        ]));
        none_passes(&project("vitest", "npx vitest run", files), VITEST, sessions);
    }
}
