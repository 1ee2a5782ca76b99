//! What `gate ci` prints and writes: card, annotations, summary, JSON, JUnit, SARIF.

use std::fs;

use serde_json::Value;

use super::{Ended, SETTINGS, Server, weakened};
use crate::needs::needs;
use crate::support::json_schema;

/// The weakened test of the shop, judged on GitHub.
fn weakened_on_github(words: &str) -> (Server, Ended) {
    let server = Server::new();
    server.branch("work", weakened);
    let ended = server.merge_job("work", 0).runs(words).code(1);
    (server, ended)
}

#[test]
#[ignore = "minutes: many pull requests"]
fn an_annotation_stands_at_the_assertion() {
    if !needs("pytest") {
        return;
    }
    let (_server, ended) = weakened_on_github("");
    let lines: Vec<_> = ended.stdout.lines().filter(|line| line.starts_with("::")).collect();
    assert_eq!(lines.len(), 1, "{lines:?}");
    let expected = "::error file=tests/test_cart.py,line=9,title=gate%3A \
                    tests/test_cart.py%3A%3Atest_discount::";
    assert!(lines[0].starts_with(expected), "{}", lines[0]);
    assert!(lines[0].contains("assert 10000 == 9000"), "{}", lines[0]);
    // Elsewhere nobody reads such lines.
    let server = Server::new();
    server.branch("work", weakened);
    let job = server.merge_job("work", 0).set("GITHUB_ACTIONS", "false");
    job.runs("--base origin/main").code(1).says_not("::error");
}

#[test]
fn a_summary_says_the_verdict_the_assertion_and_the_changed_tests() {
    if !needs("pytest") {
        return;
    }
    let (_server, ended) = weakened_on_github("");
    let parts = [
        "## ❌ gate: fail\n\n1 test of main fails on this branch",
        "assert 10000 == 9000",
        "| `tests/test_cart.py` | test, edited | +1 −1 | **fails**: `tests/test_cart.py::test_discount` |",
        "compared with",
        "**Next**: if that is right",
    ];
    for part in parts {
        assert!(ended.summary.contains(part), "{part:?} is not in\n{}", ended.summary);
    }
}

#[test]
fn words_of_a_test_are_no_markdown_and_no_command() {
    if !needs("pytest") {
        return;
    }
    let server = Server::new();
    server.branch("work", |server| {
        server.edit(
            "tests/test_cart.py",
            "    assert total([1, 2]) == 3\n",
            "    print(\"::add-mask::x\")\n    text = \"```\\n## forged <b>| a |</b>\\n::error::forged\"\n    assert text == \"\"\n",
        );
    });
    let ended = server.merge_job("work", 0).runs("").code(1);
    let forged = ended.stdout.lines().filter(|line| line.starts_with("::"));
    assert!(forged.clone().all(|line| line.starts_with("::error file=")), "{}", ended.stdout);
    assert!(!ended.summary.contains("\n## forged"), "{}", ended.summary);
    assert!(ended.summary.contains("````text"), "{}", ended.summary);
}

#[test]
fn one_json_object_fits_its_schema() {
    if !needs("pytest") {
        return;
    }
    let (server, ended) = weakened_on_github("--json");
    let record = ended.json();
    let schema = fs::read_to_string(crate::needs::root().join("schemas/gate.ci.v1.json")).unwrap();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    json_schema::holds(&schema, &record);
    assert_eq!(record["verdict"], "fail");
    assert_eq!(record["base"], server.commit_of("desk", "main"));
    assert_eq!(record["problems"][0]["kind"], "changed-tests");
    assert!(ended.stderr.contains("::error file=tests/test_cart.py,line=9"), "{}", ended.stderr);
}

#[test]
#[ignore = "minutes: many pull requests"]
fn junit_and_sarif_name_the_failing_test() {
    if !needs("pytest") {
        return;
    }
    let server = Server::new();
    server.advance_main(|server| {
        server.write("gate.toml", &format!("{SETTINGS}[checks.integrity]\n"));
    });
    server.branch("work", weakened);
    let job = server.merge_job("work", 0);
    job.runs("--junit out.xml --sarif out.sarif").code(1);
    let junit = fs::read_to_string(job.folder.join("out.xml")).unwrap();
    assert!(junit.contains("tests/test_cart.py::test_discount"), "{junit}");
    let sarif: Value =
        serde_json::from_slice(&fs::read(job.folder.join("out.sarif")).unwrap()).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let of_rule = |rule: &str| results.iter().find(|result| result["ruleId"] == rule);
    let place = &of_rule("failed-test").unwrap()["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "tests/test_cart.py");
    assert_eq!(place["region"]["startLine"], 9);
    let job = server.merge_job("work", 0);
    job.runs("--junit none/out.xml").code(5).says("none/out.xml");
}

#[test]
#[ignore = "minutes: many pull requests"]
fn what_no_test_shows_waits_for_a_reviewer() {
    if !needs("pytest") {
        return;
    }
    let server = Server::new();
    server.advance_main(|server| {
        server.write("gate.toml", &format!("{SETTINGS}[checks.integrity]\n"));
    });
    let commit = server.branch("work", |server| {
        let asks = "import sys\n    if \"pytest\" in sys.modules:\n        return sum(prices) * (100 - discount) // 100\n    return 0\n    return sum(prices)";
        server.edit("cart.py", "return sum(prices)", asks);
    });
    let job = server.merge_job("work", 0);
    job.runs("").code(1).says("detect-python").says("cart.py:");
    job.runs(&format!("--approve-tests ada@{commit}")).code(0);
}
