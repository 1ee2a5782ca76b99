//! What is done to tests in other languages and to what runs them.

use super::tests::{CHANGED, FAILS, GONE, MASKED, fools};
use super::{Row, done, held, with};
use crate::fooled::Attack;
use crate::fooled_cargo::cargo;
use crate::support::Ran;

/// Both checks look at a crate whose sum is wrong.
fn crate_of(act: &str) -> Ran {
    fools(&Attack { settings: "[checks.integrity]\n", ..cargo(act) })
}

fn nextest(act: &str) -> Ran {
    let files = [
        (
            "Cargo.toml",
            "[package]\nname = \"thing\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n",
        ),
        ("src/lib.rs", FLAKY),
    ];
    fools(&Attack { command: "cargo nextest run --offline", settings: "", files: &files, act })
}

/// A test that holds at every second try.
const FLAKY: &str = "#[test]
fn at_the_second_try() {
    let mark = std::env::current_dir().unwrap().join(\"target/tried\");
    if std::fs::remove_file(&mark).is_err() {
        std::fs::write(&mark, \"\").unwrap();
        panic!();
    }
}
#[test]
fn zero() {}
";

fn npm(act: &str) -> Ran {
    let files = [
        ("package.json", "{\"scripts\": {\"test\": \"node --test\"}}\n"),
        ("a.test.js", "require('node:test')('adds', () => { throw new Error('no'); });\n"),
    ];
    fools(&Attack { command: "npm test", settings: "", files: &files, act })
}

pub(super) const ROWS: &[Row] = &[
    with("make", "a variable tells make to run nothing", ["tests", "fail", ""], || {
        let files = [("Makefile", "test:\n\t@false\n")];
        let attack = Attack {
            command: "make test",
            settings: "control = false\n",
            files: &files,
            act: "true",
        };
        attack.run().env("MAKEFLAGS", "n").run()
    }),
    with(
        "npm",
        "a script of the package says that tests pass",
        ["tests", "fail", "1 of 1 failed: adds"],
        || npm("echo '{\"scripts\": {\"test\": \"echo pass 1\"}}' > package.json"),
    ),
    with(
        "npm",
        "a runner among the modules is another",
        ["tests", "inconclusive", "the report is incomplete"],
        || {
            let files = [
                ("package.json", "{\"name\": \"thing\", \"version\": \"1.0.0\"}\n"),
                ("a.test.js", "test('adds', () => expect(1).toBe(2));\n"),
            ];
            let act = "mkdir -p node_modules/.bin; printf '#!/bin/sh\\necho Tests: 1 passed\\n' > node_modules/.bin/jest; \
                   chmod +x node_modules/.bin/jest";
            fools(&Attack { command: "npx jest", settings: "", files: &files, act })
        },
    ),
    done("an inline test says something else", CHANGED, || {
        crate_of("sed -i 's/add(2, 2), 4/add(2, 2), 0/' src/lib.rs")
    }),
    done("an inline test is to panic", CHANGED, || {
        crate_of("sed -i 's/    fn adds/    #[should_panic]\\n    fn adds/' src/lib.rs")
    }),
    done("an inline test swallows its failure", CHANGED, || {
        crate_of(
            "sed -i 's/assert_eq!(add(2, 2), 4);/let _ = std::panic::catch_unwind(|| assert_eq!(add(2, 2), 4));/' src/lib.rs",
        )
    }),
    with("nextest", "a test is tried until it holds", FAILS, || {
        nextest("mkdir .config; printf '[profile.default]\\nretries = 2\\n' > .config/nextest.toml")
    }),
    with("nextest", "a test that takes too long passes", FAILS, || {
        let slow = "[profile.default]\nslow-timeout = { period = \"1s\", terminate-after = 1, on-timeout = \"pass\" }\n";
        let files = [
            (
                "Cargo.toml",
                "[package]\nname = \"thing\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n",
            ),
            (
                "src/lib.rs",
                "#[test]\nfn slow() { std::thread::sleep(std::time::Duration::from_secs(2)); panic!(); }\n#[test]\nfn zero() {}\n",
            ),
        ];
        let act = format!("mkdir .config; printf '{slow}' > .config/nextest.toml");
        fools(&Attack {
            command: "cargo nextest run --offline",
            settings: "",
            files: &files,
            act: &act,
        })
    }),
    done("a compiler of cargo's own is set", CHANGED, || {
        crate_of(
            "printf '#!/bin/sh\\ntest \"$2\" != --crate-name || test \"$3\" != thing || set -- \"$@\" --cfg held\\nexec \"$@\"\\n' > wrap.sh; chmod +x wrap.sh; \
                  sed -i 's/    fn adds/    #[cfg_attr(held, ignore)]\\n    fn adds/' src/lib.rs; \
                  mkdir .cargo; printf '[build]\\nrustc-wrapper = \"./wrap.sh\"\\n' > .cargo/config.toml",
        )
    }),
    with("npm", "a script of the package runs one test", CHANGED, || {
        let files = [
            ("package.json", "{\"scripts\": {\"test\": \"node --test\"}}\n"),
            (
                "a.test.js",
                "const test = require('node:test');\ntest('adds', () => { throw new Error('no'); });\ntest('zero', () => {});\n",
            ),
        ];
        let act = "echo '{\"scripts\": {\"test\": \"node --test --test-name-pattern=zero\"}}' > package.json";
        fools(&Attack { command: "npm test", settings: "", files: &files, act })
    }),
    with("node", "a test requires another module than the one that is broken", CHANGED, || {
        let files = [
            ("calc.js", "exports.add = (a, b) => a + b;\n"),
            (
                "calc.test.js",
                "const assert = require('node:assert');\nconst test = require('node:test');\nconst { add } = require('./calc');\ntest('adds', () => {\n  assert.equal(add(2, 2), 4);\n});\n",
            ),
        ];
        let act = "cp calc.js sums.js; sed -i 's/a + b/a - b/' calc.js; sed -i 's/calc/sums/' calc.test.js";
        fools(&Attack { command: "node --test", settings: "", files: &files, act })
    }),
    held(
        "inline tests are ignored, deleted, switched off",
        GONE,
        "fooled_cargo::tests_that_are_taken_out_of_the_sources",
    ),
    held("keys of a manifest select tests", GONE, "fooled_cargo::keys_that_select_tests"),
    held("cargo's runner runs nothing", MASKED, "fooled_cargo::a_runner_that_runs_nothing"),
    held(
        "a test ends the others with 0",
        ["tests", "inconclusive", ""],
        "fooled_cargo::a_test_that_ends_the_others",
    ),
    held("a test is ignored under nextest", GONE, "fooled_cargo::nextest"),
    held("node's tests are skipped, put off, ended", FAILS, "fooled_others::node"),
    held("jest's tests are skipped, replaced, ignored", FAILS, "fooled_others::jest"),
    held("vitest's tests are skipped, excluded", FAILS, "fooled_others::vitest"),
    held(
        "mocha's tests are skipped, focused, filtered by settings and hooks",
        FAILS,
        "fooled_others::mocha",
    ),
    held("Go's tests are skipped, its main ends with 0", FAILS, "fooled_others::go"),
    held("bats' tests are skipped, also by what they load", FAILS, "fooled_others::bats"),
    held(
        "an error outside of the tests is passed over",
        ["tests", "fail", "unhandled"],
        "runners::vitest",
    ),
    held(
        "a filter leaves no test",
        ["tests", "fail", "no test was executed"],
        "runners::cargo_nextest",
    ),
];
