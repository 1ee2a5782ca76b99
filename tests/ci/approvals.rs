//! Approvals of changed tests: by whom, for which commit, and what they do not cover.

use serde_json::json;

use super::{SETTINGS, Server, broken, weakened};
use crate::needs::needs;

/// A change that says something else on purpose, in the product and in its test.
fn asked_for(server: &Server) {
    server.edit("cart.py", "name.title()", "name.upper()");
    server.edit("tests/test_cart.py", "\"Ada\"", "\"ADA\"");
}

#[test]
#[ignore = "minutes: many pull requests"]
fn an_approval_holds_for_the_commit_that_it_names() {
    if !needs("pytest") {
        return;
    }
    let server = Server::new();
    let first = server.branch("work", asked_for);
    let job = server.merge_job("work", 0);
    job.runs("").code(1).says("gate ci --approve-tests WHO@");
    let approve = format!("--approve-tests ada@example.org@{}", &first[..10]);
    job.runs(&approve).code(0).says("changed tests approved by ada@example.org");
    let ended = job.runs(&format!("{approve} --json")).code(0).json();
    assert_eq!(ended["approval"]["by"], "ada@example.org");
    assert_eq!(ended["changed_files"][0]["file"], "tests/test_cart.py");
    // The next commit asks again.
    server.edit("tests/test_cart.py", "== 3", "> 0");
    server.commit("one more");
    server.git("desk", &["push", "-q", "origin", "work"]);
    let job = server.merge_job("work", 0);
    job.runs(&approve).code(1).says("that approval does not count");
    for bad in ["ada", "ada@12345", "@1234567", "ada@main"] {
        job.runs(&format!("--approve-tests {bad}")).code(2).says("WHO@COMMIT is expected");
    }
    job.runs("--approve-tests=").code(1);
}

#[test]
fn the_name_of_the_next_step_is_the_commit_that_counts() {
    if !needs("pytest") {
        return;
    }
    let server = Server::new();
    server.branch("work", asked_for);
    let job = server.merge_job("work", 0);
    let ended = job.runs("");
    let step = ended.stdout.split("WHO@").nth(1).unwrap().split('`').next().unwrap();
    job.runs(&format!("--approve-tests ada@{step}")).code(0);
}

#[test]
fn an_approval_of_tests_approves_no_broken_product() {
    if !needs("pytest") {
        return;
    }
    let server = Server::new();
    let commit = server.branch("work", |server| {
        broken(server);
        server.edit("tests/test_cart.py", "\"Ada\"", "\"Ada\"[:]");
    });
    let words = format!("--approve-tests ada@{commit}");
    server.merge_job("work", 0).runs(&words).code(1).says("test_discount");
}

#[test]
#[ignore = "minutes: many pull requests"]
fn an_approval_covers_lost_tests_settings_of_tests_and_gate_toml() {
    if !needs("pytest") {
        return;
    }
    let changes: [fn(&Server); 4] = [
        |server| server.edit("tests/test_cart.py", "def test_label():", "def no_label():"),
        |server| server.write("pytest.ini", "[pytest]\npythonpath = .\naddopts = -k total\n"),
        |server| server.write("gate.toml", "[checks.lint]\ncommand = [\"true\"]\n"),
        |server| {
            let mark = "import pytest\n\n\n@pytest.mark.skip\ndef test_label():";
            server.edit("tests/test_cart.py", "def test_label():", mark);
        },
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let server = Server::new();
        let commit = server.branch("work", change);
        let job = server.merge_job("work", 0);
        let ended = job.runs("").code(1);
        assert!(ended.stdout.contains("if that is right"), "{number}: {}", ended.stdout);
        job.runs(&format!("--approve-tests ada@{commit}")).code(0);
    }
}

#[test]
#[ignore = "minutes: many pull requests"]
fn a_label_approves_when_it_is_put_on_and_not_after_the_next_push() {
    if !needs("pytest") {
        return;
    }
    let server = Server::new();
    server.branch("work", weakened);
    let labelled = |action: &str, label: &str| {
        let mut event = server.request("work");
        event["action"] = json!(action);
        event["label"] = json!({ "name": label });
        event["sender"] = json!({ "login": "ada" });
        event["pull_request"]["labels"] = json!([{ "name": "gate-approved" }]);
        server.merge_job("work", 0).on_github("pull_request", &event)
    };
    let words = "--approve-label gate-approved";
    labelled("labeled", "gate-approved").runs(words).code(0).says("approved by ada");
    labelled("labeled", "gate-approved").runs("").code(1);
    labelled("labeled", "docs").runs(words).code(1).says("puts the label gate-approved");
    labelled("synchronize", "gate-approved").runs(words).code(1);
}

#[test]
#[ignore = "minutes: many pull requests"]
fn what_the_base_allows_needs_no_approval() {
    if !needs("pytest") {
        return;
    }
    let server = Server::new();
    server.advance_main(|server| {
        let allow = "\n[[integrity.allow]]\npath = \"tests/test_cart.py\"\nreason = \"it moves\"\n";
        server.write("gate.toml", &format!("{SETTINGS}{allow}"));
    });
    server.branch("work", asked_for);
    server.merge_job("work", 0).runs("").code(0);
    // The change cannot allow that to itself.
    let server = Server::new();
    server.branch("work", |server| {
        asked_for(server);
        let allow = "\n[[integrity.allow]]\npath = \"tests/**\"\nreason = \"so\"\n";
        server.write("gate.toml", &format!("{SETTINGS}{allow}"));
    });
    let ended = server.merge_job("work", 0).runs("").code(1);
    ended.says("test_label").says("integrity.allow has a new entry: so");
}
