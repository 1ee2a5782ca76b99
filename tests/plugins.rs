//! Checks of one's own: the examples, and what the book says of them.

use std::fs;

use serde_json::Value;

use crate::needs::{needs, root, search_path};
use crate::support::{DONE, Ran, Run, judge, keys};

/// The page about checks of one's own.
const PAGE: &str = "docs/book/src/howto/own-check.md";

/// A repository with these files, judged with an example switched on.
fn with(check: &str, files: &[(&str, &str)]) -> Run {
    let path = [vec![root().join("examples/checks")], search_path()].concat();
    let run = judge("check --json out.log", DONE).settings(&format!("[checks.{check}]\n"));
    let run = files.iter().fold(run, |run, (name, text)| run.file(name, text));
    run.env("PATH", std::env::join_paths(path).unwrap())
}

/// The outcome, the summary, and what stands behind it.
fn came_to(ran: &Ran) -> (String, String, Value) {
    let record = &ran.json()["evidence"][0];
    let text = |key: &str| record[key].as_str().unwrap_or_default().to_owned();
    (text("outcome"), text("summary"), record["detail"]["plugin"].clone())
}

#[track_caller]
fn check(run: Run, code: i32, outcome: &str, summary: &str) -> Value {
    let (came, told, detail) = came_to(&run.code(code));
    assert_eq!((came.as_str(), told.as_str()), (outcome, summary));
    detail
}

#[test]
fn todo_free_counts_the_files_with_the_marker() {
    let run = |text: &str| with("todo-free", &[("a.rs", text), ("b \"c\".rs", text)]);
    let marked = format!("// {}: later\n", ["TO", "DO"].concat());
    let detail =
        check(run(&marked).committed(), 1, "fail", "tracked files that hold the marker: 2");
    assert_eq!(detail["files"], 2);
    check(
        run(&marked.replace(':', "S")).committed(),
        0,
        "pass",
        "no tracked file holds the marker",
    );
    check(run("\n"), 1, "inconclusive", "this is no git repository");
}

#[test]
fn licenses_names_the_files_without_a_line() {
    if !needs("python3") {
        return;
    }
    let line = "SPDX-License-Identifier: MIT\n";
    let (rust, shell) = (format!("// {line}"), format!("#!/bin/sh\n# {line}"));
    let good = [("a.rs", rust.as_str()), ("b.sh", shell.as_str()), ("notes.md", "")];
    let all = "all 2 source files have an SPDX line";
    check(with("licenses", &good).committed(), 0, "pass", all);
    let run = with("licenses", &good).file("c \"ü\"\n.py", "import os\n").committed();
    let summary = "1 of 3 source files have no SPDX line: c \"ü\" .py";
    let detail = check(run, 1, "fail", summary);
    assert_eq!(detail["files"], serde_json::json!(["c \"ü\"\n.py"]));
    let nothing = "there are no source files to look at";
    check(with("licenses", &[]).committed(), 1, "inconclusive", nothing);
    check(with("licenses", &good), 1, "inconclusive", "it ended with code 1");
}

/// The objects in the document's JSON fences.
fn documented() -> Vec<Value> {
    let text = fs::read_to_string(root().join(PAGE)).unwrap();
    let fences = text.split("```json\n").skip(1).filter_map(|rest| rest.split("```").next());
    fences.map(|json| serde_json::from_str(json).expect(json)).collect()
}

#[test]
fn the_document_shows_all_of_both_objects() {
    let shown = documented();
    let names = ["gate.check.request.v1", "gate.check.result.v1"];
    assert_eq!(shown.len(), names.len());
    for (shown, name) in shown.iter().zip(names) {
        let schema = fs::read_to_string(root().join(format!("schemas/{name}.json"))).unwrap();
        let schema: Value = serde_json::from_str(&schema).unwrap();
        assert_eq!(shown["schema"], name);
        assert_eq!(keys(shown), keys(&schema["properties"]), "{name}");
    }
}

#[test]
fn the_document_names_all_examples() {
    let text = fs::read_to_string(root().join(PAGE)).unwrap();
    for example in fs::read_dir(root().join("examples/checks")).unwrap() {
        let name = example.unwrap().file_name().into_string().unwrap();
        assert!(text.contains(&format!("* `{name}`, ")), "{PAGE}: {name}");
    }
}
