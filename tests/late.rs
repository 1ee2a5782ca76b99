//! Checks that outlive a deadline: they go on, on a copy of the tree, and the
//! next gathering waits for them.

use std::fs;
use std::process::Command;
use std::time::Instant;

use gate_checks::{Site, Wanted};
use gate_core::decide::evidence::Outcome;

use crate::support::bed::{Bed, LONG, SHORT, lives, soon};
use crate::support::gate;

const ON_A_COPY: &str = "it ran on a copy of the tree, after an earlier stop";

#[test]
fn a_check_goes_on_and_the_next_stop_waits_for_it() {
    let bed = Bed::new("exit 0");
    bed.outlived();
    // What was ended at the deadline is gone already, and its successor works.
    assert!(!lives(&bed.pids()[0]));
    soon(|| bed.pids().len() == 2);
    let waited = bed.one(SHORT);
    assert!(waited.running && waited.summary.contains("since an earlier stop"), "{waited:?}");
    assert_eq!(bed.carriers().len(), 1);
    bed.go();
    let record = bed.one(LONG);
    assert_eq!(record.outcome, Outcome::Pass, "{record:?}");
    assert!(record.summary.contains(ON_A_COPY) && !record.running, "{record:?}");
    bed.all_gone(2);
    // It counts once.
    let again = bed.one(LONG);
    assert!(again.outcome == Outcome::Pass && !again.summary.contains("copy"), "{again:?}");
    bed.all_gone(3);
}

#[test]
fn a_failure_is_brought_with_what_was_printed() {
    let bed = Bed::new("echo \"$PWD/a.txt: the widget is broken\"; exit 3");
    bed.outlived();
    // A commit changes nothing that the check could see.
    bed.git("-c user.name=a -c user.email=a commit -q --allow-empty -m b");
    bed.go();
    soon(|| !bed.kept(".json").is_empty());
    // Whoever has no deadline takes it too.
    let record = bed.one(None);
    assert_eq!((record.outcome, record.exit_code), (Outcome::Fail, Some(3)), "{record:?}");
    let told = format!("{}: the widget is broken", bed.path("tree/a.txt").display());
    assert_eq!(record.excerpt.as_deref(), Some(told.as_str()));
    let log = fs::read_to_string(record.log.unwrap()).unwrap();
    assert!(log.contains("the widget is broken"), "{log}");
    assert!(record.summary.contains("what git ignores was not in it"), "{}", record.summary);
    bed.all_gone(2);
}

#[test]
fn on_another_tree_it_begins_anew_and_the_old_run_ends() {
    let bed = Bed::new("grep -q b a.txt");
    bed.outlived();
    soon(|| bed.pids().len() == 2);
    fs::write(bed.path("tree/a.txt"), "b\n").unwrap();
    bed.outlived();
    soon(|| bed.pids().len() == 4);
    soon(|| !lives(&bed.pids()[1]));
    assert!(lives(&bed.pids()[3]));
    bed.go();
    let record = bed.one(LONG);
    assert_eq!(record.outcome, Outcome::Pass, "{record:?}");
    assert!(record.summary.contains(ON_A_COPY), "{record:?}");
    bed.all_gone(4);
}

#[test]
fn a_record_of_another_tree_or_other_settings_or_a_damaged_one_is_not_taken() {
    let changes: [fn(&mut Bed); 3] = [
        |bed| fs::write(bed.path("tree/a.txt"), "b\n").unwrap(),
        |bed| bed.settings.push_str("timeout = \"9m\"\n"),
        |bed| fs::write(&bed.kept(".json")[0], "{\"key\":").unwrap(),
    ];
    for change in changes {
        let mut bed = Bed::new("exit 0");
        bed.outlived();
        bed.go();
        soon(|| !bed.kept(".json").is_empty());
        change(&mut bed);
        let record = bed.one(LONG);
        assert!(!record.summary.contains("copy"), "{record:?}");
        assert!(bed.kept("").is_empty());
        bed.all_gone(3);
    }
}

#[test]
fn after_a_carrier_was_killed_it_begins_anew() {
    let bed = Bed::new("exit 0");
    bed.outlived();
    soon(|| bed.pids().len() == 2);
    let carriers = bed.carriers();
    assert!(Command::new("kill").arg("-9").args(&carriers).status().unwrap().success());
    soon(|| bed.carriers().is_empty() && !lives(&bed.pids()[1]));
    bed.go();
    let record = bed.one(LONG);
    assert!(record.outcome == Outcome::Pass && !record.summary.contains("copy"), "{record:?}");
    bed.all_gone(3);
}

#[test]
fn without_a_carrier_or_state_it_is_given_up() {
    let without: [fn(&mut Site); 3] = [
        |site| site.carrier = None,
        |site| site.state = None,
        |site| site.carrier.as_mut().unwrap().program = "/nowhere/gate".into(),
    ];
    for change in without {
        let mut bed = Bed::new("exit 0");
        change(&mut bed.site);
        let record = bed.one(SHORT);
        assert!(record.running && record.outcome == Outcome::Skipped, "{record:?}");
        assert!(record.summary.contains("given up"), "{record:?}");
        bed.all_gone(1);
        assert!(bed.kept("").is_empty());
    }
}

#[test]
fn what_ends_before_the_deadline_counts_and_what_waits_is_not_started() {
    let mut bed = Bed::new("exit 0");
    bed.settings.push_str("[checks.lint]\ncommand = ['true']\n");
    bed.settings.push_str("[checks.typecheck]\ncommand = ['false']\n");
    bed.settings.push_str("[checks.after]\ncommand = ['true']\nneeds = ['slow']\n");
    let all = bed.gather(&Wanted { deadline: SHORT, all: true, ..Wanted::default() });
    let told: Vec<_> = all.iter().map(|it| (it.check.as_str(), it.outcome, it.running)).collect();
    assert_eq!(
        told,
        [
            ("after", Outcome::Skipped, true),
            ("lint", Outcome::Pass, false),
            ("slow", Outcome::Skipped, true),
            ("typecheck", Outcome::Fail, false),
        ]
    );
    assert_eq!(all[0].summary, "it was not started before the deadline");
    bed.go();
    let all = bed.gather(&Wanted { deadline: LONG, all: true, ..Wanted::default() });
    assert!(all[2].summary.contains(ON_A_COPY), "{all:?}");
    assert_eq!(all[0].outcome, Outcome::Pass);
    bed.all_gone(2);
}

#[test]
fn where_a_check_failed_nothing_goes_on() {
    let mut bed = Bed::new("exit 0");
    bed.settings.push_str("[checks.other]\nshell = true\ncommand = ['sleep 0.2; exit 1']\n");
    let all = bed.gather(&Wanted { deadline: LONG, ..Wanted::default() });
    assert_eq!(all[0].outcome, Outcome::Fail, "{all:?}");
    assert!(all[1].outcome == Outcome::Skipped && !all[1].running, "{all:?}");
    assert!(bed.kept("").is_empty());
    bed.all_gone(1);
}

#[test]
fn what_does_not_want_to_end_is_ended_at_the_deadline() {
    let mut bed = Bed::new("exit 0");
    bed.settings =
        bed.settings.replace("echo $$", "trap '' TERM; echo $$").replace("'''", "\"\"\"");
    let began = Instant::now();
    bed.site.carrier = None;
    assert!(bed.one(SHORT).running);
    assert!(began.elapsed() < gate_checks::process::GRACE, "{:?}", began.elapsed());
    assert!(!lives(&bed.pids()[0]));
}

#[test]
fn what_a_check_writes_into_the_tree_makes_it_begin_anew() {
    let mut bed = Bed::new("exit 0");
    bed.settings = bed.settings.replace("echo $$", "echo $$ > new.txt; echo $$");
    let record = bed.one(SHORT);
    assert!(record.running && record.summary.contains("begins anew: new.txt"), "{record:?}");
    bed.all_gone(1);
    assert!(bed.kept(".json").is_empty());
}

#[test]
fn an_order_of_nobody_is_refused() {
    gate("carry-on").stdin("{}").code(2);
    gate("carry-on").code(2);
}
