//! What the cases of conformance expect of handoffs.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::needs::{needs, shared};
use crate::support::gate;

#[test]
fn every_case_about_handoffs_holds() {
    if !needs("shared") {
        return;
    }
    let text = fs::read_to_string(shared().join("conformance/cases.jsonl")).unwrap();
    let cases = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let cases: Vec<_> = cases
        .filter(|case| {
            let op = case["input"]["op"].as_str().unwrap_or_default();
            case["system"] == "handoff" || (case["system"] == "cross" && op.contains("handoff"))
        })
        .collect();
    let example =
        cases.iter().find(|case| case["expect"]["ok"] == true && case["input"]["json"].is_object());
    let example = &example.expect("a handoff that holds")["input"]["json"];
    let ids: BTreeSet<_> = cases.iter().map(|case| case["id"].as_str().unwrap()).collect();
    assert!(ids.len() >= 21, "{ids:?}");
    for case in &cases {
        holds(case, example);
    }
}

fn holds(case: &Value, example: &Value) {
    let (id, input, expect) = (&case["id"], &case["input"], &case["expect"]);
    let text = match (&input["json"], input["md"].as_str(), input["json_desc"].as_str()) {
        (Value::Object(_), ..) => input["json"].to_string(),
        (_, Some(md), _) => md.to_owned(),
        (.., Some(what)) => described(what, example),
        _ => panic!("{id}: nobody knows its input"),
    };
    let code = i32::from(expect["ok"] == false);
    let told = gate("handoff check --json -").stdin(text.clone()).code(code).json();
    assert_eq!(told["ok"], expect["ok"], "{id}: {told}");
    let problems = told["problems"].as_array().unwrap();
    let mut known: BTreeSet<_> = ["ok"].into();
    if let Some(field) = expect["names_field"].as_str() {
        known.insert("names_field");
        let is_named = |it: &Value| it["field"].as_str().unwrap().starts_with(field);
        assert!(problems.iter().all(is_named) && !problems.is_empty(), "{id}: {told}");
    }
    for word in expect["mentions"].as_array().into_iter().flatten() {
        known.insert("mentions");
        assert!(told["problems"].to_string().contains(word.as_str().unwrap()), "{id}: {told}");
    }
    let read = || {
        let converted = gate("handoff convert --to json -").stdin(text.clone()).run();
        serde_json::from_str::<Value>(&converted.stdout).unwrap()
    };
    for list in ["verification", "open_risks"] {
        if expect[list].is_array() {
            known.insert(list);
            assert_eq!(read()[list], expect[list], "{id}");
        }
    }
    if let Some(count) = expect["next_actions"].as_u64() {
        known.insert("next_actions");
        assert_eq!(read()["next_actions"].as_array().unwrap().len() as u64, count, "{id}");
    }
    let expected: BTreeSet<_> = expect.as_object().unwrap().keys().map(String::as_str).collect();
    assert!(expected.is_subset(&known), "{id}: not looked at: {expected:?}");
}

/// The handoff that a case describes in words.
fn described(what: &str, example: &Value) -> String {
    let mut handoff = example.clone();
    let verification = &mut handoff["verification"][0];
    match what {
        "one FAIL verification, severity given but no rollback path" => {
            verification["result"] = "FAIL".into();
            verification["blocker"] = serde_json::json!({ "severity": "high" });
        }
        other => panic!("nobody knows what this means: {other}"),
    }
    handoff.to_string()
}
