//! Loops of the field, as their users reported them: each iteration's output in
//! a real repository, with checks that pass or fail as it was there.

use std::path::Path;

use serde_json::Value;

use crate::needs::{needs, shared};
use crate::support::{Ran, gate};

/// Loops whose reported end takes a rule that gate does not have. Two roles
/// that touch a file in each turn and claim nothing look like work.
const OTHERWISE: [&str; 1] = ["RF-087"];

/// What becomes of the tree in each iteration.
fn script(git: &str) -> &'static str {
    match git {
        "touch" => "date +%N >>work.txt",
        "commit" => "date +%N >>work.txt; git add -A; git commit -qm step",
        "untracked" => "date +%N >new-$(date +%N)",
        "nogit" => "date +%N >>work.txt; rm -rf .git",
        _ => "true",
    }
}

fn project(case: &Value) -> Ran {
    let passes = case["context"]["evidence"] == "pass";
    let settings = format!("[checks.tests]\ncommand = [\"{passes}\"]\n");
    let run = gate("prompt").settings(&settings).file("work.txt", "").committed();
    let old = if case["context"]["git"] == "dirty0" { "echo old >>work.txt" } else { "true" };
    run.setup(old).code(0)
}

/// The outputs of a loop, one an iteration.
fn outputs(case: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    match case["sequence"].as_array() {
        Some(sequence) => sequence.iter().map(text).collect(),
        None => {
            let times = case["context"]["repeat"].as_u64().unwrap_or(1);
            let pad = case["context"]["pad_to_bytes"].as_u64().unwrap_or_default();
            let filler = "x".repeat(usize::try_from(pad).unwrap());
            let output = text(&case["sample_output"]).replace("@@PAD@@", &filler);
            vec![output; usize::try_from(times).unwrap()]
        }
    }
}

/// What becomes of the tree in each iteration, where a note says it.
fn driven(case: &Value) -> Option<Vec<&str>> {
    let note = case["note"].as_str()?.strip_prefix("drive with git ")?;
    Some(note.split(',').collect())
}

/// The verdict at the end of a loop: of the first iteration that stops it, or
/// of the last.
fn end(case: &Value) -> (String, usize) {
    let code = case["context"]["exit_code"].as_i64().unwrap_or_default();
    let git = case["context"]["git"].as_str().unwrap_or_default();
    let (mut ran, mut end) = (project(case), (String::new(), 0));
    for (at, output) in outputs(case).into_iter().enumerate() {
        let words = format!("check --json --agent-exit-code {code} out.log");
        let git = driven(case).map_or(git, |each| each[at]);
        ran = ran.again(&words).file("out.log", output).setup(script(git)).run();
        let decision = ran.json();
        end = (decision["verdict"].as_str().unwrap().to_owned(), at + 1);
        if decision["stop"] == true {
            break;
        }
    }
    end
}

#[test]
fn loops_of_the_field_end_as_they_should() {
    if !needs("shared") {
        return;
    }
    let text = std::fs::read_to_string(shared().join(Path::new("field/failures.jsonl"))).unwrap();
    let cases: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let loops: Vec<_> = cases.iter().filter(|case| outputs(case).len() > 1).collect();
    assert!(loops.len() > 20, "{}", loops.len());
    let ends = std::thread::scope(|scope| {
        let halves: Vec<_> = loops.chunks(loops.len().div_ceil(2)).collect();
        let running: Vec<_> = halves
            .iter()
            .map(|half| scope.spawn(|| half.iter().map(|case| end(case)).collect::<Vec<_>>()))
            .collect();
        running.into_iter().flat_map(|half| half.join().unwrap()).collect::<Vec<_>>()
    });
    let wrong: Vec<_> = loops
        .iter()
        .zip(ends)
        .filter(|(case, (verdict, _))| {
            let expected = case["expected"].as_str().unwrap().replace("trip", "tripped");
            let accepted = case["accept"].as_array().into_iter().flatten();
            let mut accepted = accepted.filter_map(Value::as_str);
            *verdict != expected && !accepted.any(|accepted| accepted == verdict)
        })
        .map(|(case, end)| (case["id"].as_str().unwrap(), end))
        .collect();
    let known: Vec<_> = wrong.iter().map(|(id, _)| *id).collect();
    assert_eq!(known, OTHERWISE, "{wrong:#?}");
}
