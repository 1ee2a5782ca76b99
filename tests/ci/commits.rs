//! Hooks of pre-commit and prek: what is staged, and what is pushed.

use std::fs;

use super::{Job, Server, honest, weakened};
use crate::needs::{needs, root};

/// The hook's command, in the folder where a person works.
fn hook(server: &Server) -> Job<'_> {
    let hooks = fs::read_to_string(root().join(".pre-commit-hooks.yaml")).unwrap();
    assert!(hooks.contains("entry: gate ci\n"), "these tests run another command: {hooks}");
    let folder = server.path("desk");
    Job { server, folder, variables: Vec::new() }.set("PRE_COMMIT", "1")
}

#[test]
#[ignore = "minutes: many pull requests"]
fn what_is_staged_is_compared_with_the_last_commit() {
    if !needs("pytest") {
        return;
    }
    let server = Server::new();
    weakened(&server);
    server.git("desk", &["add", "-A"]);
    hook(&server)
        .runs("")
        .code(1)
        .says("of the last commit fails with what is staged")
        .says("SKIP=gate-check git commit");
    server.git("desk", &["reset", "-q", "--hard"]);
    honest(&server);
    server.git("desk", &["add", "-A"]);
    hook(&server).runs("").code(0).says("4 tests passed, compared with the last commit");
}

#[test]
fn a_module_that_nobody_added_is_missed() {
    if !needs("pytest") {
        return;
    }
    let server = Server::new();
    server.edit("cart.py", "def total", "from rates import RATE\n\n\ndef total");
    server.write("rates.py", "RATE = 1\n");
    server.git("desk", &["add", "cart.py"]);
    hook(&server).runs("").code(1).says("rates");
    server.git("desk", &["add", "rates.py"]);
    hook(&server).runs("").code(0);
}

#[test]
fn what_is_pushed_is_compared_with_what_is_there() {
    if !needs("pytest") {
        return;
    }
    let server = Server::new();
    let before = server.commit_of("desk", "main");
    weakened(&server);
    let after = server.commit("weaker");
    let job = hook(&server).set("PRE_COMMIT_FROM_REF", before).set("PRE_COMMIT_TO_REF", after);
    job.runs("").code(1).says("test_discount");
}

#[test]
fn a_merge_is_judged_alone() {
    if !needs("pytest") {
        return;
    }
    let server = Server::new();
    server.branch("work", |server| server.write("NOTES.txt", "x\n"));
    server.advance_main(|server| {
        server.edit("cart.py", "name.title()", "name.upper()");
        server.edit("tests/test_cart.py", "\"Ada\"", "\"ADA\"");
    });
    server.git("desk", &["merge", "-q", "--no-commit", "--no-ff", "main"]);
    hook(&server).runs("").code(0).says("a merge: compared with nothing");
}
