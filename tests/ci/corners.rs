//! Corners of a change: what a first look does not see, or refuses without a way out.

use serde_json::json;

use super::{SETTINGS, Server, broken, honest, weakened};
use crate::needs::needs;

#[test]
fn a_label_approves_the_commit_of_its_event_and_no_other_checkout() {
    if !needs("pytest") {
        return;
    }
    let server = Server::new();
    server.branch("work", weakened);
    let mut event = server.request("work");
    event["action"] = json!("labeled");
    event["label"] = json!({ "name": "gate-approved" });
    event["sender"] = json!({ "login": "ada" });
    server.edit("tests/test_cart.py", "== 3", "> 0");
    server.commit("after the label");
    server.git("desk", &["push", "-q", "origin", "work"]);
    let fetch = "fetch -q origin +refs/heads/*:refs/remotes/origin/*";
    let job = server.job(&[fetch, "checkout -q --detach refs/remotes/origin/work"]);
    let ended = job.on_github("pull_request", &event).runs("--approve-label gate-approved");
    ended.code(1).says("that approval does not count");
}

#[test]
fn tests_that_go_with_their_source_are_missed() {
    let files = [
        ("gate.toml", "[checks.tests]\ncommand = [\"cargo\", \"test\"]\n"),
        ("Cargo.toml", "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        ("src/lib.rs", "pub mod cart;\n\n#[test]\nfn one() {}\n"),
        (
            "src/cart.rs",
            "pub fn price() -> u32 {\n    10\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    \
             fn price() {\n        assert_eq!(super::price(), 10);\n    }\n}\n",
        ),
        (".gitignore", "target/\nCargo.lock\n"),
    ];
    let server = Server::with(&files);
    let commit = server.branch("work", |server| {
        server.remove("src/cart.rs");
        server.write("src/cart/mod.rs", "pub fn price() -> u32 {\n    12\n}\n");
    });
    let job = server.merge_job("work", 0).with_cargo();
    job.runs("").code(1).says("1 test of main does not run any more").says("src/cart.rs (removed)");
    job.runs(&format!("--approve-tests ada@{commit}")).code(0);
}

#[test]
#[ignore = "minutes: many pull requests"]
fn a_check_that_only_runs_in_the_tree_keeps_the_rules_about_its_files() {
    if !needs("pytest") {
        return;
    }
    let server = Server::new();
    server.advance_main(|server| {
        let end = "[checks.e2e]\ncommand = [\"sh\", \"tests/e2e.sh\"]\n[checks.integrity]\n";
        server.write("gate.toml", &format!("{SETTINGS}{end}"));
        server.write("product.txt", "right\n");
        server.write("tests/e2e.sh", "cmp product.txt tests/fixtures/expected.txt\n");
        server.write("tests/fixtures/expected.txt", "right\n");
    });
    let commit = server.branch("work", |server| {
        server.write("product.txt", "wrong\n");
        server.write("tests/fixtures/expected.txt", "wrong\n");
    });
    let job = server.merge_job("work", 0);
    job.runs("").code(1).says("tests/fixtures/expected.txt").says_not("the old versions pass");
    job.runs(&format!("--approve-tests ada@{commit}")).code(0);
}

#[test]
#[ignore = "minutes: many pull requests"]
fn a_lost_test_hides_no_changed_one() {
    if !needs("pytest") {
        return;
    }
    let server = Server::new();
    server.advance_main(|server| {
        server.write("tests/test_more.py", "def test_more():\n    assert True\n");
        server.write("tests/test_keep.py", "def test_keep():\n    assert True\n");
    });
    let commit = server.branch("work", |server| {
        weakened(server);
        server.remove("tests/test_more.py");
    });
    let job = server.merge_job("work", 0);
    let ended = job.runs("").code(1);
    ended.says("test_discount").says("1 test of main does not run any more: tests/test_more.py");
    job.runs(&format!("--approve-tests ada@{commit}")).code(0);
}

#[test]
#[ignore = "minutes: many pull requests"]
fn a_gate_toml_of_the_base_may_be_a_link() {
    if !needs("pytest") {
        return;
    }
    let server = Server::new();
    server.advance_main(|server| {
        server.write("conf/gate.toml", SETTINGS);
        server.remove("gate.toml");
        std::os::unix::fs::symlink("conf/gate.toml", server.path("desk/gate.toml")).unwrap();
    });
    server.branch("work", |server| {
        broken(server);
        server.write("conf/gate.toml", "[checks.tests]\ncommand = [\"true\"]\n");
    });
    server.merge_job("work", 0).runs("").code(1).says("test_discount");
}

#[test]
#[ignore = "minutes: many pull requests"]
fn new_data_of_the_product_in_a_folder_of_tests_is_no_test() {
    if !needs("pytest") {
        return;
    }
    let server = Server::new();
    server.branch("work", |server| {
        server.write("fixtures/rates.json", "{\"rate\": 100}\n");
        let reads = "import json\nimport pathlib\n\nRATES = json.loads((pathlib.Path(__file__).parent / \
                     \"fixtures/rates.json\").read_text())\n\n\ndef total";
        server.edit("cart.py", "def total", reads);
    });
    server.merge_job("work", 0).runs("").code(0);
    // Code of that kind is left out of the base's run: it could stand in for the product.
    server.branch("wrong", |server| {
        server.write("tests/cart.py", super::PRODUCT);
        broken(server);
    });
    server.merge_job("wrong", 0).runs("").code(1).says("test_discount");
}

#[test]
#[ignore = "minutes: many pull requests"]
fn settings_without_which_no_test_runs_are_the_reviewers() {
    if !needs("pytest") {
        return;
    }
    let server = Server::new();
    server.advance_main(|server| {
        server.write("pytest.ini", "[pytest]\npythonpath = .\naddopts = -p shop_plugin\n");
        server.write("shop_plugin.py", "");
    });
    let commit = server.branch("work", |server| {
        server.write("pytest.ini", "[pytest]\npythonpath = .\n");
        server.remove("shop_plugin.py");
    });
    let job = server.merge_job("work", 0);
    job.runs("").code(1).says("pytest.ini").says("if that is right");
    job.runs(&format!("--approve-tests ada@{commit}")).code(0);
}

#[test]
#[ignore = "minutes: many pull requests"]
fn an_approval_counts_in_a_folder_of_a_monorepo() {
    if !needs("pytest") {
        return;
    }
    let server = Server::with(&[
        ("shop/gate.toml", SETTINGS),
        ("shop/cart.py", super::PRODUCT),
        ("shop/tests/test_cart.py", super::TESTS),
        ("shop/pytest.ini", "[pytest]\npythonpath = .\n"),
        (".gitignore", "__pycache__/\n.pytest_cache/\n"),
    ]);
    let commit = server.branch("work", |server| {
        server.edit("shop/cart.py", "name.title()", "name.upper()");
        server.edit("shop/tests/test_cart.py", "\"Ada\"", "\"ADA\"");
    });
    let job = server.merge_job("work", 0);
    job.runs("").code(1).says("test_label");
    job.runs(&format!("--approve-tests ada@{commit}")).code(0);
    job.runs(&format!("-C shop -- --approve-tests ada@{commit}")).code(0);
}

#[test]
#[ignore = "minutes: many pull requests"]
fn a_fork_does_not_say_what_main_is() {
    if !needs("pytest") {
        return;
    }
    let server = Server::new();
    server.branch("work", weakened);
    let mut event = server.request("work");
    event["pull_request"]["head"]["repo"] = json!({ "full_name": "mallory/shop" });
    event["pull_request"]["base"]["repo"] = json!({ "full_name": "acme/shop" });
    // The fork's own main has the weakened test already.
    server.git("desk", &["push", "-q", "--force", "origin", "work:main"]);
    let fetch = "fetch -q origin +refs/heads/*:refs/remotes/origin/*";
    let job = server.job(&[fetch, "checkout -q --detach refs/remotes/origin/work"]);
    job.on_github("pull_request", &event).runs("").code(1).says("test_discount");
}

#[test]
fn a_forced_push_to_main_names_the_commit_to_fetch() {
    if !needs("pytest") {
        return;
    }
    let server = Server::new();
    let old = server.advance_main(honest);
    server.git("desk", &["checkout", "-q", "-B", "main", "HEAD~1"]);
    weakened(&server);
    server.commit("rewritten");
    server.git("desk", &["push", "-q", "--force", "origin", "main"]);
    let fetch = "fetch -q origin +refs/heads/*:refs/remotes/origin/*";
    let job = server.job(&[fetch, "checkout -q --detach refs/remotes/origin/main"]);
    let event = json!({
        "before": old, "forced": true, "repository": { "default_branch": "main" },
    });
    let job = job.on_github("push", &event).set("GITHUB_REF", "refs/heads/main");
    job.runs("").code(2).says(&format!("`git fetch origin {old}`"));
    job.git(&format!("fetch -q origin {old}"));
    job.runs("").code(1).says("test_discount").says("old and new history have in common");
}
