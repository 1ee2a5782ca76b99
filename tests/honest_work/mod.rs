//! Honest changes that end a loop with the settings that `gate init` writes: each kind is done in a
//! project of its own, committed, and claimed.

#![allow(clippy::print_stdout, reason = "a table of what the rows came to")]

mod languages;
mod python;

use crate::attacks::crowd;
use crate::fooled::tools;
use crate::support::{DONE, each, judge};

/// A project before the change.
struct Project {
    command: &'static str,
    files: &'static [(&'static str, &'static str)],
    /// A script, run before all is committed.
    prepare: String,
}

/// A kind of change.
struct Change {
    kind: &'static str,
    act: &'static str,
    /// Files whose edits a person approves, once the loop waits for that.
    approved: &'static str,
}

const fn change(kind: &'static str, act: &'static str) -> Change {
    Change { kind, act, approved: "" }
}

/// A change of what tests expect, which a person approves.
const fn approved(kind: &'static str, path: &'static str, act: &'static str) -> Change {
    Change { kind, act, approved: path }
}

/// The reason why a change does not end the loop, if it does not.
fn refused(project: &Project, change: &Change) -> Option<String> {
    let words: Vec<_> = project.command.split_whitespace().collect();
    let words = serde_json::to_string(&words).unwrap();
    let settings =
        format!("[checks.tests]\ncommand = {words}\n[checks.integrity]\n[checks.clean_git]\n");
    let ignored = "__pycache__\n.pytest_cache\nout.log\nnode_modules\ntarget\n";
    let run = judge("baseline", DONE).settings(&settings).file(".gitignore", ignored);
    let run = project.files.iter().fold(run, |run, (name, text)| run.file(name, text));
    let ran = tools(run.setup(&project.prepare).committed()).code(0);
    let act = format!("{}\ngit add -A; git commit -qm work", change.act);
    let mut ran = tools(ran.again("check --json out.log").setup(&act)).run();
    if !change.approved.is_empty() {
        let waits = each(&ran.json(), "reasons", "code") == ["tests-changed"];
        assert!(waits, "{}: {}", change.kind, ran.stdout);
        let approve = format!("approve {} --reason asked-for", change.approved);
        ran = tools(ran.again(&approve).code(0).again("check --json out.log")).run();
    }
    let decision = ran.json();
    let evidence = decision["evidence"].as_array().cloned().unwrap_or_default();
    let says = evidence.iter().filter(|one| one["outcome"] != "pass");
    let says: Vec<_> = says
        .map(|one| format!("{}: {} {}", one["check"], one["summary"], one["excerpt"]))
        .collect();
    let (verdict, says) = (&decision["verdict"], says.join("; "));
    println!("| {} | {verdict} | {says} |", change.kind);
    (verdict != "exit").then(|| format!("{}: {verdict} {says}", change.kind))
}

#[track_caller]
fn all_end(project: &Project, changes: &[Change]) {
    let refused = crowd(changes, |change| refused(project, change));
    assert!(refused.is_empty(), "{} of {}:\n{}", refused.len(), changes.len(), refused.join("\n"));
}
