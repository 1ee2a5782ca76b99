//! `gate run --tests-first` with two real clients: one writes the tests, the other the code.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use serde_json::Value;

use super::claude_code::CLAUDE_CODE;
use super::client::{CheckSite, Client};
use super::codex::CODEX;
use super::model::Model;
use super::model::Reply::{self, Runs, Says};
use super::network::Alone;
use crate::needs::{client_program, needs};
use crate::support::{GATE, Ran, gate};

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
    let (end, ran) = run((tester, worker), [&tests, &code]);
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

/// Runs the loop in a network of its own, and returns its end.
fn run(clients: (&'static Client, &'static Client), scripts: [&[Reply]; 2]) -> (Value, Ran) {
    thread::scope(|scope| scope.spawn(|| run_here(clients, scripts)).join()).unwrap()
}

fn run_here(
    (tester, worker): (&'static Client, &'static Client),
    scripts: [&[Reply]; 2],
) -> (Value, Ran) {
    let project = gate("--version")
        .settings("[checks.tests]\ncommand = [\"node\", \"--test\"]\n")
        .file("shelf.cjs", SHELF)
        .file("PROMPT.md", "The shelf is crooked. Mend it.\n")
        .committed()
        .code(0);
    let alone = Alone::enter();
    let (home, work) = (project.home(), project.path(""));
    let mut environment = BTreeMap::new();
    let mut folders = Vec::new();
    let mut models = Vec::new();
    for (client, script) in [tester, worker].into_iter().zip(scripts) {
        let model = Model::start(script, client.shell);
        let program = client_program(client.name, client.program).unwrap();
        folders.extend(program.parent().map(Path::to_owned));
        let site = CheckSite {
            program,
            home: &home,
            work: &work,
            model: &model.url(),
            hook: None,
            prompt: "",
            alone: alone.is_some(),
        };
        let command = (client.start)(&site);
        let variables = command.get_envs().filter_map(|(name, value)| Some((name, value?)));
        environment.extend(variables.map(|(name, value)| (name.to_owned(), value.to_owned())));
        models.push(model);
    }
    let path = environment.get(&OsString::from("PATH")).cloned().unwrap_or_default();
    folders.extend(std::env::split_paths(&path));
    let words = format!(
        "run --allow none --tests-first --tests-by {} --agent {} --task t1 --prompt PROMPT.md \
         --max-iterations 4 --json",
        tester.name, worker.name
    );
    let mut command = Command::new(GATE);
    command.args(words.split(' ')).current_dir(&work).env_clear().envs(environment);
    command.env("PATH", std::env::join_paths(folders).unwrap()).stdin(Stdio::null());
    let output = command.output().unwrap();
    let shown = String::from_utf8_lossy(&output.stderr);
    let end = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{shown}"));
    (end, project)
}
