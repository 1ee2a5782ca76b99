//! A person's goal at the stops of a session.

use super::talk::*;
use super::*;

/// A project without settings in which a goal was given: `calc` can multiply.
fn with_goal() -> Ran {
    given(gate(""))
}

/// The same in a project of this run.
fn given(run: Run) -> Ran {
    let run = run.args(["goal", "calc can multiply", "--", "sh", "mul.sh"]);
    let run = run.file("mul.sh", "grep -q mul calc || { echo 'assert mul(2, 3) == 6'; exit 1; }\n");
    run.file("calc", "add\n").file(".gitignore", "*.jsonl\n").committed().code(0)
}

#[test]
fn a_stop_that_changed_something_is_refused_until_the_command_passes() {
    let ran = PERSON.begins(with_goal(), "Teach it to multiply.");
    let told = ran.json()["hookSpecificOutput"]["additionalContext"].clone();
    let line = "The person's goal: calc can multiply. It is reached when `sh mul.sh` passes.";
    assert_eq!(told, line);
    // A question, and an answer, are let go.
    let ran = silent(PERSON.stops(ran, "With or without a table?"));
    let ran = PERSON.prompt(ran, "Without.");
    assert_eq!(ran.out(), "", "the agent knows the goal");
    let ran = silent(PERSON.stops(ran, "So I will."));
    let ran = PERSON.does(PERSON.prompt(ran, "Go."), "echo sub >> calc");
    let ran = refuses(PERSON.stops(ran, "Done."), "assert mul(2, 3) == 6");
    let ran = refuses(PERSON.stops(ran, "EXIT_STATUS: CONTINUE"), "calc can multiply");
    let ran = PERSON.does(ran, "echo mul >> calc");
    let ran = tells(PERSON.stops(ran, "Done."), "gate: passed: goal met: calc can multiply");
    let ran = last(ran, "continue", Some("green"));
    // It does not linger.
    let ran = PERSON.does(PERSON.prompt(ran, "Undo it."), "git checkout -q calc; echo div >> calc");
    silent(PERSON.stops(ran, "Done."));
}

#[test]
fn prose_may_be_what_a_goal_is_about() {
    let run =
        gate("").args(["goal", "the guide names tax", "--", "grep", "-q", "tax", "docs/a.md"]);
    let ran = run.file("docs/a.md", "\n").file(".gitignore", "*.jsonl\n").committed().code(0);
    let ran = PERSON.does(PERSON.begins(ran, "Go."), "echo vat >> docs/a.md");
    let ran = refuses(PERSON.stops(ran, "Done."), "the guide names tax");
    tells(PERSON.stops(PERSON.does(ran, "echo tax >> docs/a.md"), "Done."), "goal met");
}

#[test]
fn a_goal_follows_its_session_into_another_work_tree() {
    let settings = "[checks.tests]\ncommand = [\"true\"]\n";
    let ran = PERSON.begins(given(gate("").settings(settings)), "Go.");
    let ran = PERSON.does(ran, "git worktree add -q ../far && echo sub >> ../far/calc");
    let ran = refuses(PERSON.stops_in(ran, "../far", "Done."), "assert mul(2, 3) == 6");
    let ran = PERSON.does(ran, "echo mul >> ../far/calc");
    tells(PERSON.stops_in(ran, "../far", "Done."), "goal met: calc can multiply");
}

#[test]
fn a_goal_that_is_typed_in_a_client_has_no_command() {
    let ran = PERSON.begins(green(""), "Hello.");
    let ran = PERSON.prompt(ran, "gate goal \"the users's export\" -- touch ran");
    let reason = ran.json()["reason"].as_str().unwrap().to_owned();
    assert!(reason.contains("no command is taken here. Type it in a terminal: "), "{reason}");
    let ran = PERSON.prompt(ran, "gate goal the users's export has a tax");
    let reason = ran.json()["reason"].as_str().unwrap().to_owned();
    assert!(
        reason.contains("the goal of this session is: the users's export has a tax."),
        "{reason}"
    );
    let ran = PERSON.prompt(ran, "Go.");
    let context = ran.json()["hookSpecificOutput"]["additionalContext"].clone();
    assert_eq!(context, "The person's goal: the users's export has a tax.");
    let ran = PERSON.prompt(ran, "gate goal");
    assert!(ran.out().contains("the users's export has a tax"), "{}", ran.out());
    let ran = ran.again("status --line").code(0).says("goal no command: the users's");
    // It refuses nothing.
    let ran = PERSON.stops(PERSON.does(PERSON.prompt(ran, "Go."), "echo sub >> calc"), "Done.");
    let ran = last(ran, "continue", Some("green"));
    let ran = PERSON.prompt(ran, "gate goal drop");
    assert!(ran.out().contains("dropped: the users's export"), "{}", ran.out());
    assert!(!ran.path("ran").exists());
    ran.again("goal").code(0).says("none is open here");
}

#[test]
fn nobody_but_a_person_gives_or_drops_a_goal() {
    for typed in ["gate goal be quick", "gate goal drop"] {
        let ran = SCRIPT.prompt(SCRIPT.begins_silently(with_goal()), typed);
        let reason = ran.json()["reason"].as_str().unwrap().to_owned();
        assert!(reason.contains("Nothing has changed: "), "{reason}");
    }
    let ran = PERSON.begins(with_goal(), "Go.");
    let ran = ran.again("goal drop").by_script().code(2).tells("needs a terminal");
    let ran = ran.again("goal other -- true").by_script().code(2).tells("needs a terminal");
    ran.again("goal").by_script().code(0).says("calc can multiply");
}
