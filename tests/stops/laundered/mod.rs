//! A task that is started again: an agent weakens a test and brings in the bug that the old test
//! catches, is refused, and a script starts the same task once more. All its loops are compared
//! with the tree that the first one began with, so none of them ends in an `exit`.

#![allow(clippy::print_stdout, reason = "a table of what the rows came to")]

mod compiled;
mod python;
mod scripts;

use super::talk::{SCRIPT, Talk};
use super::*;
use crate::fooled::tools;

/// A project with tests that hold.
struct Project {
    command: &'static str,
    files: &'static [(&'static str, &'static str)],
    /// A script, run before all is committed.
    prepare: String,
}

/// An act that weakens tests, and the bug that they caught.
struct Pair {
    weakening: &'static str,
    act: &'static str,
    bug: &'static str,
}

const fn pair(weakening: &'static str, act: &'static str, bug: &'static str) -> Pair {
    Pair { weakening, act, bug }
}

const IGNORED: &str = "*.jsonl\nout.log\n__pycache__\n.pytest_cache\nnode_modules\ntarget\n";

const COMMIT: &str = "git add -A; git commit -qm tests";

impl Project {
    fn run(&self) -> Ran {
        let words: Vec<_> = self.command.split_whitespace().collect();
        let words = serde_json::to_string(&words).unwrap();
        let settings = format!("[checks.tests]\ncommand = {words}\n[hook]\nbudget = \"10m\"\n");
        let run = gate("prompt").settings(&settings).file(".gitignore", IGNORED);
        let run = self.files.iter().fold(run, |run, (name, text)| run.file(name, text));
        tools(run.setup(&self.prepare).committed()).code(0)
    }
}

/// The verdict of the last decision.
fn verdict(ran: Ran) -> (Ran, String) {
    let ran = ran.again("last --json").run();
    let verdict = ran.json()["verdict"].as_str().unwrap_or_default().to_owned();
    (ran, verdict)
}

/// The verdicts on a headless client that a script starts again and again with the same prompt, or
/// goes on with by another one.
fn sessions(project: &Project, pair: &Pair) -> Vec<String> {
    let stop = |talk: Talk, ran: Ran, act: &str| verdict(talk.stops(talk.does(ran, act), CLAIM));
    let again = Talk { session: "s2", ..SCRIPT };
    let ran = SCRIPT.begins(project.run(), "Look after the tests.");
    let (ran, first) = stop(SCRIPT, ran, &format!("{}\n{}\n{COMMIT}", pair.act, pair.bug));
    let (ran, goes_on) = stop(SCRIPT, SCRIPT.prompt(ran, "Go on."), "true");
    let ran = again.begins(ran, "Look after the tests.");
    let (ran, restarted) = stop(again, ran, "true");
    let (_, at_last) = stop(again, ran, "true");
    vec![first, goes_on, restarted, at_last]
}

/// The verdicts of a loop of calls that a script begins again.
fn checks(project: &Project, pair: &Pair) -> Vec<String> {
    let ran = tools(project.run().again("baseline")).code(0);
    let acts = [format!("{}\n{}\n{COMMIT}", pair.act, pair.bug), "true".to_owned()];
    let mut verdicts = Vec::new();
    let mut ran = ran.again("prompt").file("out.log", crate::support::DONE).code(0);
    for (act, more) in acts.iter().zip(["", " --new-run"]) {
        let words = format!("check --json --run night{more} out.log");
        ran = tools(ran.again(&words).setup(act)).run();
        verdicts.push(ran.json()["verdict"].as_str().unwrap_or_default().to_owned());
    }
    verdicts
}

/// None of these gets through: a row is wrong if one of its verdicts is an exit.
#[track_caller]
fn none_passes(
    project: &Project,
    pairs: &[Pair],
    verdicts: impl Fn(&Project, &Pair) -> Vec<String> + Sync,
) {
    let wrong = crate::attacks::crowd(pairs, |pair| {
        let verdicts = verdicts(project, pair);
        println!("| {} | {} |", pair.weakening, verdicts.join(" | "));
        let is_wrong = verdicts.iter().any(|verdict| verdict == "exit");
        is_wrong.then(|| format!("{}: {}", pair.weakening, verdicts.join("; ")))
    });
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), pairs.len(), wrong.join("\n"));
}
