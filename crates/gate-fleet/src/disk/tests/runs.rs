//! The folder of a run, whatever its agent has left in it.

use std::fs;

use gate_platform::symlink;
use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::super::RunFolder;
use super::task;
use crate::run::layout;

fn run() -> (tempfile::TempDir, RunFolder) {
    let (folder, _, task) = task();
    let run = task.begin().unwrap();
    (folder, run)
}

#[test]
fn what_stands_in_the_place_of_output_is_set_aside() {
    let (folder, run) = run();
    let elsewhere = folder.path().join("elsewhere");
    fs::write(&elsewhere, "theirs").unwrap();
    symlink(&elsewhere, run.file(layout::STDOUT)).unwrap();
    mknodat(CWD, run.file(layout::STDERR), FileType::Fifo, Mode::RUSR, 0).unwrap();
    assert_eq!((run.printed(), run.printed_from(0, 9)), (0, None));
    run.settle_printed().unwrap();
    assert_eq!(fs::read(run.file(layout::STDOUT)).unwrap(), b"");
    assert_eq!(fs::read(run.file(layout::STDERR)).unwrap(), b"");
    assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "theirs");
    assert!(run.file(&format!("{}.{}", layout::STDOUT, run.id())).is_symlink());
    fs::write(run.file(layout::STDOUT), "printed").unwrap();
    run.settle_printed().unwrap();
    assert_eq!(fs::read_to_string(run.file(layout::STDOUT)).unwrap(), "printed");
}

#[test]
fn output_is_read_on_from_where_it_was_shown() {
    let (_folder, run) = run();
    assert_eq!((run.printed(), run.printed_from(0, 9)), (0, None));
    fs::write(run.file(layout::STDOUT), "abcdef").unwrap();
    fs::write(run.file(layout::STDERR), "xy").unwrap();
    assert_eq!(run.printed(), 8);
    assert_eq!(run.printed_from(0, 4), Some(b"abcd".to_vec()));
    assert_eq!(run.printed_from(4, 4), Some(b"ef".to_vec()));
    assert_eq!(run.printed_from(9, 4), Some(Vec::new()), "it was cut meanwhile");
}

#[test]
fn a_prompt_that_the_agent_repeats_is_taken_out_each_time() {
    let (_folder, run) = run();
    for (printed, prompts, expected) in [
        ("> Fix it.\nDone. Fix it.", ["Fix it.\n", "-"], Some("> \nDone. ")),
        ("All fixed.", ["Fix it.", "-"], None),
        ("whole prompt; task", ["whole prompt", "task"], Some("; task")),
        ("task alone", ["whole prompt", "task"], Some(" alone")),
        ("Fix it", ["Fix it.", "-"], None),
        ("anything", ["", " \n"], None),
        ("aaa", ["aa", "-"], Some("a")),
    ] {
        fs::write(run.file(layout::STDOUT), printed).unwrap();
        let without_echo = run.settle_echo(&prompts).unwrap();
        assert_eq!(without_echo.is_some(), expected.is_some(), "{printed:?}");
        if let (Some(file), Some(expected)) = (without_echo, expected) {
            assert_eq!(file, run.file(layout::SAID));
            assert_eq!(fs::read_to_string(file).unwrap(), expected);
        }
        assert_eq!(fs::read_to_string(run.file(layout::STDOUT)).unwrap(), printed);
    }
}

#[test]
fn without_output_nothing_is_repeated() {
    let (_folder, run) = run();
    assert_eq!(run.settle_echo(&["Fix it."]), Ok(None));
    symlink("/etc/passwd", run.file(layout::STDOUT)).unwrap();
    assert_eq!(run.settle_echo(&["root"]).unwrap_err().code, "runs-unreadable");
}

#[test]
fn the_room_for_the_end_of_a_run_is_given_back() {
    let (_folder, run) = run();
    run.reserve().unwrap();
    let reserve = run.file(".gate-reserve");
    assert_eq!(reserve.metadata().unwrap().len(), 256 << 10);
    run.reserve().unwrap();
    run.release();
    assert!(!reserve.exists());
    run.release();
}

#[test]
fn a_folder_that_no_run_begins_in_goes_unless_somebody_uses_it() {
    let (_folder, run) = run();
    run.reserve().unwrap();
    fs::write(run.file(layout::PROMPT), "Fix it.").unwrap();
    let notes = run.file("notes.md");
    fs::write(&notes, "mine").unwrap();
    run.discard();
    assert!(notes.exists() && !run.file(layout::PROMPT).exists());
    fs::remove_file(&notes).unwrap();
    run.discard();
    assert!(!run.folder().exists());
}

#[test]
fn a_handoff_that_the_agent_wrote_stays() {
    let (_folder, run) = run();
    let file = run.hand_over("from gate").unwrap();
    assert_eq!(file, run.file(layout::HANDOFF));
    assert_eq!(run.hand_over("once more"), Ok(file.clone()));
    assert_eq!(fs::read_to_string(&file).unwrap(), "from gate");
    fs::remove_file(&file).unwrap();
    symlink("/nowhere", &file).unwrap();
    assert_eq!(run.hand_over("x"), Ok(file.clone()), "what the agent put there is its own");
    assert!(file.is_symlink());
}

#[test]
fn a_run_is_named_by_its_folder() {
    assert_eq!(RunFolder::at("/r/shop/t1/runs/20261102-1").id(), "20261102-1");
    assert_eq!(RunFolder::at("/").id(), "");
}
