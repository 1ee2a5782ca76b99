//! Weakened at one stop, used at the next: an agent changes a test while the product is right, and
//! brings in later the bug that the old test would have caught. gate lets go of the first, in an
//! exit or in a release, and of the second never, neither in that session nor in the next one.

#![allow(clippy::print_stdout, reason = "a table of what the rows came to")]

mod compiled;
mod python;
mod scripts;

use super::talk::{PERSON, SCRIPT, Talk};
use super::*;
use crate::fooled::tools;

/// A project with tests that hold.
struct Project {
    command: &'static str,
    files: &'static [(&'static str, &'static str)],
    /// A script, run before all is committed.
    prepare: String,
}

/// What an agent does at one stop and at a later one.
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

/// What came of the last stop, and true if it was let go with green tests.
fn came_of(ran: Ran) -> (Ran, String, bool) {
    let ran = ran.again("last --json").run();
    let decision = ran.json();
    let text = |name: &str| decision[name].as_str().unwrap_or_default().to_owned();
    let (verdict, released) = (text("verdict"), text("released"));
    let is_open = verdict == "exit" || released == "green";
    let why = if released == "not-run" {
        decision["evidence"][0]["summary"].to_string()
    } else {
        String::new()
    };
    (ran, format!("{verdict} {released}{why}"), is_open)
}

/// A stop at which the agent did this and says that all is done.
fn stop(talk: Talk, ran: Ran, act: &str) -> (Ran, String, bool) {
    came_of(talk.stops(talk.does(ran, act), CLAIM))
}

/// What is wrong with a pair, if anything: the first stop of one session, its second one, and one of
/// the session after it.
fn wrong(project: &Project, pair: &Pair, sessions: [Talk; 2]) -> Option<String> {
    let [first, second] = sessions;
    let ran = first.begins(project.run(), "Look after the tests.");
    let (ran, weakened, _) = stop(first, ran, &format!("{}\n{COMMIT}", pair.act));
    let (ran, same, passed) = stop(first, first.prompt(ran, "Go on."), pair.bug);
    let ran = first.does(ran, "git checkout -q .; git clean -fdq");
    let ran = second.begins(ran, "Go on.");
    let (_, next, passed_later) = stop(second, ran, pair.bug);
    println!("| {} | {weakened} | {same} | {next} |", pair.weakening);
    (passed || passed_later).then(|| format!("{}: {weakened}; {same}; {next}", pair.weakening))
}

/// The same with two calls of `gate check`, without sessions.
fn wrong_checks(project: &Project, pair: &Pair) -> Option<String> {
    let check = |ran: Ran, act: &str| {
        let run = ran.again("check --json out.log").file("out.log", crate::support::DONE);
        let ran = tools(run.setup(act)).run();
        let verdict = ran.json()["verdict"].as_str().unwrap_or_default().to_owned();
        (ran, verdict)
    };
    let (ran, weakened) = check(project.run(), pair.act);
    let (_, next) = check(ran, &format!("{COMMIT}\n{}", pair.bug));
    println!("| {} | {weakened} | {next} |", pair.weakening);
    (next == "exit").then(|| format!("{}: {weakened}; {next}", pair.weakening))
}

/// None of these gets through: every second one at a person's stops first and at a script's in the
/// session after it, the others the other way round.
#[track_caller]
fn none_passes(project: &Project, pairs: &[Pair]) {
    let later = |talk: Talk| Talk { session: "s2", ..talk };
    let numbered: Vec<_> = pairs.iter().enumerate().collect();
    let wrong = crate::attacks::crowd(&numbered, |(number, pair)| {
        let sessions =
            if number % 2 == 0 { [PERSON, later(SCRIPT)] } else { [SCRIPT, later(PERSON)] };
        wrong(project, pair, sessions)
    });
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), pairs.len(), wrong.join("\n"));
}

#[track_caller]
fn none_passes_checks(project: &Project, pairs: &[Pair]) {
    let wrong = crate::attacks::crowd(pairs, |pair| wrong_checks(project, pair));
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), pairs.len(), wrong.join("\n"));
}
