//! Attacks on the tests of projects in other languages: each fools the plain command,
//! and none is a pass.

use crate::fooled::{Attack, comes_to};
use crate::needs::{needs, node_module};

#[test]
#[ignore = "minutes: projects with real test runners"]
fn node() {
    if !needs("node") {
        return;
    }
    let test = "const test = require('node:test');\nconst assert = require('node:assert');\n\
                const { add } = require('../calc.js');\n\
                test('adds', () => assert.equal(add(2, 2), 4));\ntest('zero', () => assert.equal(add(0, 0), 0));\n";
    let calc = "exports.add = (a, b) => a - b;\n";
    let files = [("calc.js", calc), ("test/calc.test.js", test)];
    let attack = |act| Attack { command: "node --test", settings: "", files: &files, act };
    comes_to(attack("true").run(), "fail", "1 of 2 failed");
    attack("echo 'process.exit(0);' > calc.js").is_seen("inconclusive", "");
    let skip = "sed -i \"s/test('adds'/test.skip('adds'/\" test/calc.test.js";
    attack(skip).is_seen("fail", "1 of 2 failed: test/calc.test.js > adds");
    let todo = "sed -i \"s/test('adds'/test.todo('adds'/\" test/calc.test.js";
    attack(todo).is_seen("fail", "1 of 2 failed: test/calc.test.js > adds");
}

/// The modules of the machine, linked into a project.
pub(crate) fn with_modules(name: &str, act: &str) -> String {
    let modules = node_module(name).unwrap();
    format!("ln -s '{}' node_modules; {act}", modules.display())
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn jest() {
    if !needs("jest") {
        return;
    }
    let test = "const { add } = require('./calc');\ntest('adds', () => expect(add(2, 2)).toBe(4));\n\
                test('zero', () => expect(add(0, 0)).toBe(0));\n";
    let package = "{\"name\": \"thing\", \"version\": \"1.0.0\"}";
    let calc = "exports.add = (a, b) => a - b;\n";
    let files = [("package.json", package), ("calc.js", calc), ("calc.test.js", test)];
    let seen = |act: &str, outcome: &str, says: &str| {
        let act = with_modules("jest", act);
        let attack = Attack { command: "npx jest", settings: "", files: &files, act: &act };
        attack.is_seen(outcome, says)
    };
    seen("sed -i \"s/test('adds'/test.skip('adds'/\" calc.test.js", "fail", "1 of 2 failed");
    let setup = "echo 'const real = test; global.test = (name) => real(name, () => {});' > setup.js; \
                 echo '{\"name\": \"thing\", \"jest\": {\"setupFilesAfterEnv\": [\"./setup.js\"]}}' > package.json";
    seen(setup, "fail", "1 of 2 failed: calc.test.js > adds");
    let ignores = "mkdir new; echo \"test('fine', () => {});\" > new/fine.test.js; \
                   echo '{\"name\": \"thing\", \"jest\": {\"testPathIgnorePatterns\": [\"calc.test\"]}}' > package.json";
    seen(ignores, "fail", "1 of 2 failed: calc.test.js > adds");
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn vitest() {
    if !needs("vitest") {
        return;
    }
    let test = "import { test, expect } from 'vitest';\nimport { add } from './calc.mjs';\n\
                test('adds', () => expect(add(2, 2)).toBe(4));\ntest('zero', () => expect(add(0, 0)).toBe(0));\n";
    let package = "{\"name\": \"thing\", \"version\": \"1.0.0\"}";
    let files = [
        ("package.json", package),
        ("calc.mjs", "export const add = (a, b) => a - b;\n"),
        ("calc.test.mjs", test),
    ];
    let seen = |act: &str, outcome: &str, says: &str| {
        let act = with_modules("vitest", act);
        let attack = Attack { command: "npx vitest run", settings: "", files: &files, act: &act };
        attack.is_seen(outcome, says)
    };
    seen("sed -i \"s/test('adds'/test.skip('adds'/\" calc.test.mjs", "fail", "1 of 2 failed");
    let excludes = "echo \"export default { test: { exclude: ['calc.test.mjs', '**/node_modules/**'] } };\" > vite.config.mjs; \
                    printf \"import { test } from 'vitest';\\ntest('fine', () => {});\\n\" > fine.test.mjs";
    seen(excludes, "fail", "1 of 2 failed: calc.test.mjs > adds");
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn mocha() {
    if !needs("mocha") {
        return;
    }
    let test = "const assert = require('assert');\nconst { add } = require('../calc');\n\
                describe('calc', () => {\n  it('adds', () => assert.equal(add(2, 2), 4));\n  \
                it('zero', () => assert.equal(add(0, 0), 0));\n});\n";
    let files = [
        ("package.json", "{\"name\": \"thing\", \"scripts\": {\"test\": \"mocha\"}}"),
        (".mocharc.json", "{\"require\": \"./prepare.js\"}"),
        ("prepare.js", ""),
        ("calc.js", "exports.add = (a, b) => a - b;\n"),
        ("test/calc.js", test),
    ];
    let seen = |act: &str, outcome: &str, says: &str| {
        let act = with_modules("mocha", act);
        for command in ["node_modules/.bin/mocha", "npm test"] {
            let attack = Attack { command, settings: "", files: &files, act: &act };
            attack.is_seen(outcome, says);
        }
    };
    let adds = "1 of 2 failed: test/calc.js > calc > adds";
    seen("sed -i \"s/it('zero'/it.only('zero'/\" test/calc.js", "fail", adds);
    seen("sed -i \"s/it('adds'/it.skip('adds'/\" test/calc.js", "fail", adds);
    seen("echo '{\"grep\": \"zero\"}' > .mocharc.json", "fail", adds);
    seen("echo \"module.exports = { grep: 'zero' };\" > .mocharc.js", "fail", adds);
    let settings = "echo '{\"name\": \"thing\", \"scripts\": {\"test\": \"mocha --grep zero\"}, \
                    \"mocha\": {\"grep\": \"zero\"}}' > package.json";
    seen(settings, "fail", adds);
    let hook = "echo \"const { it } = require('mocha'); exports.mochaHooks = { beforeEach() { \
                if (this.currentTest.title === 'adds') this.skip(); } };\" > prepare.js";
    seen(hook, "fail", adds);
    seen("echo 'process.exit(0);' > calc.js", "inconclusive", "mocha ");
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn go() {
    if !needs("go") {
        return;
    }
    let test = "package calc\n\nimport \"testing\"\n\nfunc TestAdds(t *testing.T) {\n\tif Add(2, 2) != 4 {\n\t\tt.Fatal()\n\t}\n}\n\n\
                func TestZero(t *testing.T) {\n\tif Add(0, 0) != 0 {\n\t\tt.Fatal()\n\t}\n}\n";
    let calc = "package calc\n\nfunc Add(a, b int) int {\n\treturn a - b\n}\n";
    let files = [("go.mod", "module calc\n\ngo 1.18\n"), ("calc.go", calc), ("calc_test.go", test)];
    let attack = |act| Attack { command: "go test ./...", settings: "", files: &files, act };
    comes_to(attack("true").run(), "fail", "1 of 2 failed");
    let skips = "sed -i 's/func TestAdds(t \\*testing.T) {/&\\n\\tt.Skip()/' calc_test.go";
    attack(skips).is_seen("fail", "1 of 2 failed");
    let main = "printf 'package calc\\n\\nimport (\\n\\t\"os\"\\n\\t\"testing\"\\n)\\n\\nfunc TestMain(m *testing.M) {\\n\\tos.Exit(0)\\n}\\n' > main_test.go";
    attack(main).is_seen("inconclusive", "the report is incomplete");
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn bats() {
    if !needs("bats") {
        return;
    }
    let test = "load ../calc\n\n@test 'adds' {\n  [ \"$(add 2 2)\" -eq 4 ]\n}\n\n@test 'zero' {\n  run add 0 0\n  [ \"$output\" -eq 0 ]\n}\n";
    let files = [("calc.bash", "add() { echo $(($1 - $2)); }\n"), ("test/calc.bats", test)];
    let attack = |act| Attack { command: "bats test", settings: "", files: &files, act };
    comes_to(attack("true").run(), "fail", "1 of 2 failed");
    attack("sed -i \"s/@test 'adds' {/&\\n  skip/\" test/calc.bats")
        .is_seen("fail", "1 of 2 failed");
    let defines = "cat > calc.bash <<'X'
add() { echo 0; }
setup() { [ \"$BATS_TEST_DESCRIPTION\" != adds ] || skip; }
X";
    attack(defines).is_seen("fail", "1 test of the baseline is skipped now: adds");
}
