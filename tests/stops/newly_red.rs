//! Tests that a turn has broken, and the starts of the command that it takes to know that.

use std::fs;
use std::path::Path;

use super::talk::*;
use super::*;

/// Breaks `calc`, each time in another way.
const BREAKS: [&str; 10] = [
    "sed -i s/add/sub/ calc",
    "sed -i '/add/d' calc",
    "echo sub > calc",
    "rm calc",
    "git rm -q calc; git commit -qm gone",
    "mv calc calc.old",
    ": > calc",
    "sed -i s/add/sub/ calc; git commit -qam sub",
    "cp README.md calc",
    "echo 'exit 1' >> tests/add.sh",
];

#[test]
fn a_test_that_a_turn_has_broken_is_refused() {
    are_refused(&BREAKS[..2]);
}

#[test]
#[ignore = "minutes: many sessions"]
fn a_test_that_a_turn_has_broken_is_refused_each_time() {
    are_refused(&BREAKS[2..]);
}

fn are_refused(acts: &[&str]) {
    for act in acts {
        let ran = PERSON.does(PERSON.begins(green(""), "Go."), act);
        let ran = refuses(PERSON.stops(ran, "Done."), "tests/add.sh");
        let reason = ran.json()["reason"].to_string();
        let expected = "they passed on the tree of the last prompt, and failed twice now";
        assert!(reason.contains(expected), "{act}: {reason}");
        assert!(reason.contains("say so and stop: the person decides."), "{act}: {reason}");
    }
}

#[test]
fn a_server_that_writes_beside_hides_nothing() {
    let ran = green("").again("prompt").setup("echo 0 > server.log; git add -A; git commit -qm l");
    let ran = PERSON.begins(ran.code(0), "Go.");
    let server =
        "(timeout 20 sh -c 'while sleep 0.02; do date +%N > server.log; done') >/dev/null 2>&1 &";
    let ran = PERSON.does(ran, &format!("{server}\nsed -i s/add/sub/ calc"));
    refuses(PERSON.stops(ran, "Done."), "newly-red");
}

/// A project whose command leaves a mark outside of the tree each time it starts.
fn marked(command: &str, more: &str) -> (Ran, std::path::PathBuf) {
    let ran = green(more);
    let marks = ran.path("../marks");
    let script = format!("echo start >> '{}'\n{command}", marks.display());
    let old = fs::read_to_string(ran.path("check.sh")).unwrap();
    fs::write(ran.path("check.sh"), format!("{script}\n{old}")).unwrap();
    (ran.again("prompt").setup("git commit -qam marks").code(0), marks)
}

fn starts(marks: &Path) -> usize {
    fs::read_to_string(marks).unwrap_or_default().lines().count()
}

#[test]
fn a_green_stop_starts_the_command_once_and_a_red_one_the_red_tests_twice_more() {
    let (ran, marks) = marked("", "");
    let ran = PERSON.does(PERSON.begins(ran, "Go."), "echo more >> calc");
    let ran = tells(PERSON.stops(ran, "Done."), "passed: tests");
    assert_eq!(starts(&marks), 1);
    let ran = PERSON.does(PERSON.prompt(ran, "Go on."), "sed -i s/add/sub/ calc");
    let _ran = refuses(PERSON.stops(ran, "Done."), "tests/add.sh");
    assert_eq!(starts(&marks), 4);
}

#[test]
fn a_suite_that_does_not_fit_is_not_started_again() {
    let (ran, marks) = marked("sleep 60", "[hook]\nbudget = \"5s\"\n");
    let mut ran = ran;
    for session in ["s1", "s2", "s3"] {
        let talk = Talk { session, headless: false };
        let act = format!("echo {session} >> calc");
        let begun = talk.does(talk.begins(ran, "Go."), &act);
        ran = tells(
            talk.stops(begun, "Done."),
            "`when = [\"check\", \"run\"]` keeps it out of hooks",
        );
        ran = talk.does(talk.prompt(ran, "Go on."), &act);
        // Once a session is enough.
        ran = silent(talk.stops(ran, "Done."));
        assert_eq!(starts(&marks), 1, "{session}");
    }
}

#[test]
fn before_the_first_commit_a_red_test_is_told_and_refuses_nobody() {
    let settings = "[checks.tests]\ncommand = [\"sh\", \"check.sh\"]\n";
    let ran = gate("prompt").settings(settings).file("check.sh", "exit 1\n").code(0);
    let ran = PERSON.does(PERSON.begins(ran, "Go."), "echo more > more.txt");
    let told = "the check tests is red; if before, too, is not known (nothing is committed here: `git commit`)";
    tells(PERSON.stops(ran, "Done."), told);
}
