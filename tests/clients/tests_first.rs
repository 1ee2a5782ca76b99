//! `gate run --tests-first` with two real clients: one writes the tests, the other the code.

use super::claude_code::CLAUDE_CODE;
use super::client::Client;
use super::codex::CODEX;
use super::looped::looped;
use super::model::Reply::{self, Runs, Says};
use crate::needs::needs;
use crate::support::gate;

/// The last words of both.
const DONE: Reply = Says("It is written.\n\nEXIT_STATUS: COMPLETE\nEXIT_REASON: it is written\n");

const SHELF: &str = "exports.level = () => 'crooked';\n";

/// A test that needs the work.
const TEST: Reply = Runs(
    "printf \"const test = require('node:test');\\nconst assert = require('node:assert');\\n\
     test('the shelf is straight', () => \
     assert.equal(require('./shelf.cjs').level(), 'straight'));\\n\" > shelf.test.cjs",
);

/// The work.
const MEND: Reply = Runs("sed -i \"s/'crooked'/'straight'/\" *.cjs");

/// Work that makes the test say something else.
const EDIT: Reply = Runs("sed -i \"s/'straight'/'crooked'/\" shelf.test.cjs");

#[test]
#[ignore = "starts real clients"]
fn claude_code_writes_the_tests_and_codex_the_code() {
    written_first(&CLAUDE_CODE, &CODEX);
}

#[test]
#[ignore = "starts real clients"]
fn codex_writes_the_tests_and_claude_code_the_code() {
    written_first(&CODEX, &CLAUDE_CODE);
}

fn written_first(tester: &'static Client, worker: &'static Client) {
    if !needs(tester.name) || !needs(worker.name) {
        return;
    }
    // The tester begins with the code, and the worker with the test: neither gets through.
    let tests = [MEND, DONE, Runs("git checkout -q shelf.cjs"), TEST, DONE];
    let code = [EDIT, DONE, MEND, DONE];
    let ran = gate("--version")
        .settings("[checks.tests]\ncommand = [\"node\", \"--test\"]\n")
        .file("shelf.cjs", SHELF)
        .file("PROMPT.md", "The shelf is crooked. Mend it.\n")
        .committed()
        .code(0);
    let words = format!(
        "run --allow none --tests-first --tests-by {} --agent {} --task t1 --prompt PROMPT.md \
         --max-iterations 4 --json",
        tester.name, worker.name
    );
    let end = looped(&ran, &words, &[(tester, &tests), (worker, &code)]);
    assert_eq!((&end["success"], &end["iterations"]), (&true.into(), &2.into()), "{end}");
    let written = &end["tests_first"];
    assert_eq!((&written["by"], &written["locked"]), (&tester.name.into(), &true.into()), "{end}");
    assert_eq!(written["files"], serde_json::json!(["shelf.test.cjs"]), "{end}");
    assert_eq!(ran.file("shelf.cjs"), SHELF.replace("crooked", "straight"));
    assert!(ran.file("shelf.test.cjs").contains("'straight'"), "{end}");
    let log = ran.beside("log").output().unwrap();
    let log = String::from_utf8(log.stdout).unwrap();
    let locked = format!("shelf.test.cjs, by {}; code by {}\n", tester.name, worker.name);
    assert!(log.contains(&locked), "{log}");
}
