//! Receipts of decisions, and the counters for Prometheus.

use std::collections::BTreeSet;

use quick_xml::Reader;
use quick_xml::events::Event;
use serde_json::{Value, json};

use crate::support::{DONE, Ran, gate, judge};

const SETTINGS: &str = "[checks.tests]\ncommand = [\"sh\", \"-c\", \"test -e fixed || { echo 'a < b & c'; exit 1; }\"]\n\
     [checks.lint]\ncommand = [\"true\"]\nmode = \"count\"\n[breaker]\nno_progress = 0\n";

/// A refused claim, then an exit.
fn decided() -> Ran {
    let ran = judge("check out.log --run r", DONE).settings(SETTINGS).committed().code(1);
    ran.again("check out.log --run r").file("fixed", "").committed().code(0)
}

#[test]
fn a_receipt_says_what_was_claimed_and_what_ran_on_which_tree() {
    let ran = decided().again("receipt").code(0);
    let id = ran.stdout.lines().find(|line| line.starts_with("- **Decision**")).unwrap().to_owned();
    for part in [
        "### gate: done",
        "| `tests` | passed",
        "`sh -c \"test -e fixed \\|\\| { echo 'a < b & c'; exit 1; }\"`",
        "- **Claimed**: complete",
        "- **Tree**: commit `",
        "- **Trust**: T",
        "- **Recorded**: record ",
    ] {
        assert!(ran.stdout.contains(part), "{part}\n{}", ran.stdout);
    }
    let ran = ran.again("receipt --json").code(0);
    let receipt = ran.json();
    assert!(id.contains(receipt["decision_id"].as_str().unwrap()));
    let checks: BTreeSet<_> = receipt["checks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["check"].as_str().unwrap())
        .collect();
    assert_eq!(checks, BTreeSet::from(["lint", "tests"]));
    assert_eq!(
        (&receipt["success"], &receipt["claim"]["status"]),
        (&json!(true), &json!("complete"))
    );
    gate("receipt").settings("").code(2).tells("gate has decided nothing here yet");
    ran.again("receipt nonsense").code(2).tells("gate log");
}

#[test]
fn a_receipt_holds_beside_the_ledger_until_a_fact_in_it_changes() {
    let ran = decided().again("receipt --json").code(0);
    let receipt = ran.json();
    let ran = ran.again("receipt --intoto").code(0);
    let statement = ran.json();
    assert_eq!(statement["_type"], "https://in-toto.io/Statement/v1");
    assert_eq!(statement["predicateType"], "https://in-toto.io/attestation/test-result/v0.1");
    assert_eq!(statement["predicate"]["result"], "PASSED");
    let commit = &statement["subject"][0]["digest"]["gitCommit"];
    assert_eq!(commit.as_str().unwrap().len(), 40, "{statement}");
    for holds in [&receipt, &statement] {
        let verify = ran.beside("receipt verify receipt.json --json");
        let file = ran.path("receipt.json");
        std::fs::write(&file, holds.to_string()).unwrap();
        assert_eq!(verified(verify), (Some(0), json!([])));
    }
    let mut forged = statement.clone();
    forged["predicate"]["gateReceipt"]["checks"][0]["outcome"] = json!("fail");
    forged["predicate"]["gateReceipt"]["ledger"]["hash"] = json!("blake3:00");
    std::fs::write(ran.path("receipt.json"), forged.to_string()).unwrap();
    let (code, problems) = verified(ran.beside("receipt verify receipt.json --json"));
    assert_eq!(code, Some(1));
    let problems = problems.to_string();
    assert!(problems.contains("`checks`") && problems.contains("`ledger`"), "{problems}");
    let ran = ran.again("receipt verify -").stdin("{}").code(2);
    ran.again("receipt verify missing.json").code(2).tells("missing.json");
}

fn verified(mut verify: std::process::Command) -> (Option<i32>, Value) {
    let ended = verify.output().unwrap();
    let answer: Value = serde_json::from_slice(&ended.stdout).unwrap();
    (ended.status.code(), answer["problems"].clone())
}

#[test]
fn the_checks_of_a_decision_are_junit_xml() {
    let ran = decided().again("receipt 1 --junit checks.xml").code(0);
    let text = ran.file("checks.xml");
    let mut reader = Reader::from_str(&text);
    let mut names = Vec::new();
    loop {
        match reader.read_event().unwrap() {
            Event::Eof => break,
            Event::Start(start) | Event::Empty(start) => {
                names.push(start.name().as_ref().to_owned());
            }
            _ => {}
        }
    }
    assert_eq!(names.iter().filter(|name| *name == "testsuite").count(), 2, "{text}");
    assert_eq!(names.iter().filter(|name| *name == "failure").count(), 1, "{text}");
    assert!(text.contains("a &lt; b &amp; c"), "{text}");
}

#[test]
fn a_failed_test_is_a_case_of_junit_xml_with_its_message() {
    let settings =
        "[checks.tests]\ncommand = [\"cp\", \"report.xml\", \"{report}\"]\nreport = \"junit\"\n";
    let report = "<testsuite><testcase classname=\"Calc\" name=\"adds\"><failure \
                  message=\"expected 3 but was 4\"/></testcase>\
                  <testcase classname=\"Calc\" name=\"holds\"/></testsuite>";
    let run = judge("check out.log", DONE).settings(settings).file("report.xml", report);
    let text = run.code(1).again("receipt --junit checks.xml").code(0).file("checks.xml");
    let start = text.find("<testcase ").map(|at| &text[at..]).expect(&text);
    let case = start.split('>').next().unwrap();
    assert!(case.contains("adds") && case.contains("classname=\"tests\""), "{text}");
    assert!(text.contains("<failure message=\"expected 3 but was 4\""), "{text}");
    assert!(!text.contains("holds"), "{text}");
}

#[test]
fn the_metrics_are_in_the_text_format_of_prometheus() {
    let ran = decided().again("metrics").code(0);
    let mut types = BTreeSet::new();
    let mut samples = BTreeSet::new();
    for line in ran.stdout.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            assert!(name.starts_with("gate_") && types.insert(name.to_owned()), "{line}");
            assert!(["counter", "gauge", "summary"].contains(&kind), "{line}");
        } else if !line.starts_with("# HELP ") {
            let (series, value) = line.rsplit_once(' ').unwrap();
            value.parse::<f64>().unwrap();
            assert!(samples.insert(series.to_owned()), "twice: {line}");
            let name = series.split('{').next().unwrap();
            let name = name.strip_suffix("_sum").or(name.strip_suffix("_count")).unwrap_or(name);
            assert!(types.contains(name), "{line}");
        }
    }
    let value = |part: &str| {
        let line = ran.stdout.lines().find(|line| line.contains(part));
        line.unwrap_or_else(|| panic!("no {part}\n{}", ran.stdout)).rsplit_once(' ').unwrap().1
    };
    assert_eq!(value("verdict=\"exit\""), "1");
    assert_eq!(value("verdict=\"continue\""), "1");
    assert_eq!(value("gate_claims_total{"), "2");
    assert_eq!(value("reason=\"required-check-failed\""), "1");
    assert_eq!(value("check=\"tests\",outcome=\"pass\""), "1");
    assert_eq!(value("gate_check_duration_seconds_count{"), "2");
    assert_eq!(value("gate_loops_running 0"), "0");
    gate("metrics").settings("").code(0).says("# TYPE gate_decisions_total counter");
}
