//! Work on projects of other runners.

use super::*;
use crate::needs::{needs, node_module};

const MANIFEST: &str =
    "[package]\nname = \"calc\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[workspace]\n";

const LOCK: &str = "version = 4\n\n[[package]]\nname = \"calc\"\nversion = \"0.1.0\"\n";

const RUST: &str = "//! Sums.\n\nmod sums;\npub use sums::add;\n\n/// Half of it.\n///\n/// ```\n\
/// assert_eq!(calc::half(4), 2);\n/// ```\npub fn half(a: i32) -> i32 {\n    a / 2\n}\n";

const SUMS: &str = "/// The sum.\npub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n\n#[cfg(test)]\nmod tests {\n    \
use super::*;\n\n    #[test]\n    fn adds() {\n        assert_eq!(add(2, 2), 4);\n    }\n}\n";

const CARGO: &[Change] = &[
    change(
        "a renamed function",
        "sed -i 's/\\badd(/plus(/g; s/::add\\b/::plus/' src/sums.rs src/lib.rs",
    ),
    change("a moved module", "mkdir src/sums; git mv src/sums.rs src/sums/mod.rs"),
    change(
        "a renamed module",
        "git mv src/sums.rs src/total.rs; sed -i 's/sums/total/g' src/lib.rs",
    ),
    change(
        "a split file with its tests",
        "mkdir src/sums; git mv src/sums.rs src/sums/plus.rs; printf 'mod plus;\\npub use plus::add;\\n' > src/sums.rs",
    ),
    change(
        "a moved doctest",
        "sed -i '/^\\/\\/\\/ ```/d; /^\\/\\/\\/ assert/d; /^\\/\\/\\/$/d' src/lib.rs; sed -i '1a //!\\n//! ```\\n//! assert_eq!(calc::half(4), 2);\\n//! ```' src/lib.rs",
    ),
    change("a lint is allowed", "printf '\\n#[allow(dead_code)]\\nfn spare() {}\\n' >> src/lib.rs"),
    change(
        "a new dependency",
        "mkdir -p left/src; printf '[package]\\nname = \"left\"\\nversion = \"0.1.0\"\\nedition = \"2021\"\\n' > left/Cargo.toml; echo 'pub const ZERO: i32 = 0;' > left/src/lib.rs; sed -i 's/^\\[workspace\\]/[dependencies]\\nleft = { path = \"left\" }\\n\\n&/' Cargo.toml; sed -i 's/^version = \"0.1.0\"/&\\ndependencies = [\\n \"left\",\\n]\\n\\n[[package]]\\nname = \"left\"\\nversion = \"0.1.0\"/' Cargo.lock; sed -i 's/a + b$/a + b + left::ZERO/' src/sums.rs",
    ),
    approved(
        "an added parameter",
        "src/**",
        "sed -i 's/b: i32)/b: i32, c: i32)/; s/a + b$/a + b + c/; s/add(2, 2)/add(2, 2, 0)/' src/sums.rs",
    ),
    change(
        "a package in the workspace, and a dependency",
        "mkdir -p more/src; printf '[package]\\nname = \"more\"\\nversion = \"0.1.0\"\\nedition = \"2021\"\\n' > more/Cargo.toml; echo 'pub fn one() -> i32 { 1 }' > more/src/lib.rs; sed -i 's/^\\[workspace\\]/[dependencies]\\nmore = { path = \"more\" }\\n\\n[workspace]\\nmembers = [\"more\"]/' Cargo.toml",
    ),
    change(
        "a test more",
        "mkdir tests; printf '#[test]\\nfn halves() { assert_eq!(calc::half(2), 1); }\\n' > tests/it.rs",
    ),
];

const GO_TESTS: &str = "package calc\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(2, 2) != 4 {\n\t\tt.Fatal(\"add\")\n\t}\n}\n";

const GO: &[Change] = &[
    change(
        "a renamed function",
        "sed -i 's/Add(/Plus(/' calc.go calc_test.go; sed -i 's/TestPlus/TestAdd/' calc_test.go",
    ),
    approved(
        "an added parameter",
        "*_test.go",
        "sed -i 's/a, b int/a, b, c int/; s/a + b/a + b + c/' calc.go; sed -i 's/Add(2, 2)/Add(2, 2, 0)/' calc_test.go",
    ),
    change(
        "a new dependency",
        "mkdir left; printf 'module example.com/left\\n\\ngo 1.20\\n' > left/go.mod; printf 'package left\\n\\nconst Zero = 0\\n' > left/left.go; printf '\\nrequire example.com/left v0.0.0\\n\\nreplace example.com/left => ./left\\n' >> go.mod; sed -i 's|^package calc|&\\n\\nimport \"example.com/left\"|; s/a + b/a + b + left.Zero/' calc.go",
    ),
    change("tests in parallel", "sed -i 's/^func TestAdd.*/&\\n\\tt.Parallel()/' calc_test.go"),
    change(
        "a test more",
        "printf 'package calc\\n\\nimport \"testing\"\\n\\nfunc TestOne(t *testing.T) {\\n\\tif Add(1, 0) != 1 {\\n\\t\\tt.Fatal()\\n\\t}\\n}\\n' > one_test.go",
    ),
];

const JS_TESTS: &str = "const { add } = require('./calc');\ntest('adds', () => expect(add(2, 2)).toBe(4));\n\
test('shows', () => expect({ sum: add(1, 1) }).toMatchSnapshot());\n";

const SNAPSHOT: &str = "// Jest Snapshot v1, https://jestjs.io/docs/snapshot-testing\n\nexports[`shows 1`] = `\n{\n  \"sum\": 2,\n}\n`;\n";

const JEST: &[Change] = &[
    approved(
        "an updated snapshot",
        "__snapshots__/**",
        "sed -i 's/a + b/a + b + (a === 1 ? 1 : 0)/' calc.js; sed -i 's/: 2/: 3/' __snapshots__/calc.test.js.snap",
    ),
    change("a stronger matcher", "sed -i 's/toBe(4)/toStrictEqual(4)/' calc.test.js"),
    change("a renamed function", "sed -i 's/\\badd\\b/plus/g' calc.js calc.test.js"),
    approved(
        "an added parameter",
        "*.test.js",
        "sed -i 's/(a, b) => a + b/(a, b, c) => a + b + c/' calc.js; sed -i 's/add(2, 2)/add(2, 2, 0)/; s/add(1, 1)/add(1, 1, 0)/' calc.test.js",
    ),
    change(
        "stricter settings of jest",
        "sed -i 's/\"verbose\": true/&, \"errorOnDeprecated\": true/' package.json",
    ),
];

const NODE_TESTS: &str = "const assert = require('node:assert');\nconst test = require('node:test');\n\
const { add } = require('./calc');\n\ntest('adds', () => {\n  assert.strictEqual(add(2, 2), 4);\n});\n";

const NODE: &[Change] = &[
    change("a renamed function", "sed -i 's/\\badd\\b/plus/g' calc.js calc.test.js"),
    change("a renamed module", "git mv calc.js sums.js; sed -i 's/calc/sums/' calc.test.js"),
    change(
        "a new dependency, with npm",
        "mkdir left; echo '{\"name\": \"left\", \"version\": \"1.0.0\"}' > left/package.json; echo 'exports.zero = 0;' > left/index.js; npm install --offline --no-audit --no-fund --silent ./left; sed -i 's/a + b/a + b + zero/; 1i const { zero } = require(\"left\");' calc.js",
    ),
];

#[test]
#[ignore = "minutes: many projects"]
fn with_cargo() {
    let files = &[
        ("Cargo.toml", MANIFEST),
        ("Cargo.lock", LOCK),
        ("src/lib.rs", RUST),
        ("src/sums.rs", SUMS),
    ];
    all_end(&Project { command: "cargo test --offline", files, prepare: String::new() }, CARGO);
}

#[test]
#[ignore = "minutes: many projects"]
fn with_go() {
    if needs("go") {
        let calc = "package calc\n\nfunc Add(a, b int) int { return a + b }\n";
        let files = Box::leak(Box::new([
            ("go.mod", "module calc\n\ngo 1.20\n"),
            ("calc.go", calc),
            ("calc_test.go", GO_TESTS),
        ]));
        all_end(&Project { command: "go test ./...", files, prepare: String::new() }, GO);
    }
}

#[test]
#[ignore = "minutes: many projects"]
fn with_jest() {
    if needs("jest") {
        let modules = node_module("jest").unwrap();
        let prepare = format!("ln -s '{}' node_modules", modules.display());
        let files = &[
            ("package.json", "{\"name\": \"calc\", \"jest\": {\"verbose\": true}}\n"),
            ("calc.js", "exports.add = (a, b) => a + b;\n"),
            ("calc.test.js", JS_TESTS),
            ("__snapshots__/calc.test.js.snap", SNAPSHOT),
        ];
        all_end(&Project { command: "npx jest --ci", files, prepare }, JEST);
    }
}

#[test]
#[ignore = "minutes: many projects"]
fn with_node() {
    if needs("node") && needs("npm") {
        let prepare = "npm install --offline --no-audit --no-fund --silent".to_owned();
        let files = &[
            ("package.json", "{\"name\": \"calc\", \"version\": \"1.0.0\"}\n"),
            ("calc.js", "exports.add = (a, b) => a + b;\n"),
            ("calc.test.js", NODE_TESTS),
        ];
        all_end(&Project { command: "node --test", files, prepare }, NODE);
    }
}
