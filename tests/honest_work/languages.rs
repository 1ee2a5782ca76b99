//! Work on projects of other runners.

use super::*;
use crate::needs::{needs, node_module};

const MANIFEST: &str =
    "[package]\nname = \"calc\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[workspace]\n";

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
];

#[test]
#[ignore = "minutes: many projects"]
fn with_cargo() {
    let files = &[("Cargo.toml", MANIFEST), ("src/lib.rs", RUST), ("src/sums.rs", SUMS)];
    let prepare = "echo '# none' > notes".to_owned();
    all_end(&Project { command: "cargo test --offline", files, prepare }, CARGO);
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

/// A change that the comparison of edited tests refuses so far.
const REFUSED_JEST: &[Change] =
    &[change("a renamed function", "sed -i 's/\\badd\\b/plus/g' calc.js calc.test.js")];

#[test]
#[ignore = "minutes: many projects"]
fn with_jest() {
    all_with_jest(JEST);
}

#[test]
#[ignore = "a renamed function that a test requires by name is refused"]
fn with_jest_and_less_doubt() {
    all_with_jest(REFUSED_JEST);
}

fn all_with_jest(changes: &[Change]) {
    if needs("jest") {
        let modules = node_module("jest").unwrap();
        let prepare = format!("ln -s '{}' node_modules", modules.display());
        let files = &[
            ("package.json", "{\"name\": \"calc\", \"version\": \"1.0.0\"}\n"),
            ("calc.js", "exports.add = (a, b) => a + b;\n"),
            ("calc.test.js", JS_TESTS),
            ("__snapshots__/calc.test.js.snap", SNAPSHOT),
        ];
        all_end(&Project { command: "npx jest --ci", files, prepare }, changes);
    }
}
