//! `gate demo`: a staged false claim is refused, and an honest one let go, by the real engine.

use std::fs;

use crate::support::{Ran, Run, gate};

/// The demo, with a folder for temporary files that is looked at afterwards.
fn demo() -> Run {
    let run = gate("demo").folder("tmp");
    let tmp = run.at("tmp");
    run.env("TMPDIR", tmp)
}

/// Both cards are there, in this order, and nothing else is left anywhere.
#[track_caller]
fn shown(ran: &Ran) {
    let parts = [
        "NOT DONE  tests failed",
        "test.sh:15  large_order_is_cheaper",
        "test.sh:15: expected 9000 cents, got 10000",
        "next        fix large_order_is_cheaper",
        "\nDONE  ",
        "gate setup",
    ];
    let mut rest = ran.stdout.as_str();
    for part in parts {
        let at = rest.find(part);
        assert!(at.is_some(), "no {part:?} in its place:\n{}", ran.stdout);
        rest = &rest[at.unwrap()..];
    }
    for folder in ["../home", "tmp"] {
        let left: Vec<_> = fs::read_dir(ran.path(folder)).unwrap().collect();
        assert!(left.is_empty(), "{folder}: {left:?}");
    }
    assert_eq!(fs::read_dir(ran.path("")).unwrap().count(), 1, "beside the temporary folder");
}

#[test]
fn a_false_claim_is_refused_in_the_tests_own_words_and_nothing_of_the_users_is_touched() {
    shown(&demo().code(0));
}

#[test]
fn settings_of_the_user_and_of_the_folder_change_nothing() {
    let run = demo().env("GATE_EXIT_THRESHOLD", "9").env("GATE", "off");
    let run = run.env("GIT_DIR", "/nonexistent").file("gate.toml", "no settings");
    let ran = run.code(0);
    fs::remove_file(ran.path("gate.toml")).unwrap();
    shown(&ran);
}

#[test]
fn without_git_it_is_shown_as_well() {
    let run = demo().setup("mkdir ../bin; ln -s $(command -v sh) ../bin/sh");
    let path = run.at("../bin").canonicalize().unwrap();
    shown(&run.env("PATH", path).code(0));
}

#[test]
fn in_a_narrow_terminal_no_line_is_too_long() {
    for columns in [40, 60, 120] {
        let ran = demo().env("COLUMNS", columns.to_string()).code(0);
        for line in ran.stdout.lines() {
            assert!(line.chars().count() <= columns, "{columns}: {line}");
        }
    }
}
