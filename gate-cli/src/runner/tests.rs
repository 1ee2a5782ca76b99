//! A loop's stops from outside, its lock, and the runs that it finds from before.

use std::fs;
use std::time::Duration;

use gate_fleet::run::{RECONCILED, RunInfo, Status, layout};
use jiff::Timestamp;
use tempfile::TempDir;

use super::agent_loop::Order;
use super::end::DelegatedRuns;
use super::reconcile::BusNotice;
use super::stop_conditions::{LostLease, StopConditions};
use super::{claim, delegated, lock, reconcile};
use crate::governance::{RunFolder, Runs, Task};
use crate::interrupt::Interrupt;
use crate::memory::StoppedBy;

pub(super) fn order(program: &str) -> Order {
    Order {
        root: std::path::PathBuf::new(),
        argv: vec![program.to_owned(), "-p".to_owned()],
        agent: "codex".to_owned(),
        cwd: "/w".into(),
        prompt: String::new(),
        iterations: 1,
        timeout: None,
        wall: None,
        idle: None,
        children: Duration::ZERO,
        grace: Duration::ZERO,
        parent: None,
        work: None,
        lost_lease: LostLease::default(),
        environment: Vec::new(),
        shown_command: String::new(),
        permission_note: None,
        plain_prompt: false,
        backoff: gate_core::config::Backoff { first_ms: 1, max_ms: 1, limit_ms: 1 },
        writes_tests: false,
        listing: None,
        resume: None,
    }
}

pub(super) fn task() -> (TempDir, Task) {
    let folder = tempfile::tempdir().unwrap();
    let task = Runs::at(folder.path()).project("shop").unwrap().task("t1").unwrap();
    fs::create_dir_all(task.folder()).unwrap();
    (folder, task)
}

fn in_group(mut info: RunInfo, pgid: i64) -> RunInfo {
    info.pgid = pgid;
    info
}

/// A run of a task that goes on, in this process group.
pub(super) fn begun(task: &Task, pgid: i64, parent: &str) -> RunFolder {
    let run = task.begin().unwrap();
    let mut info = RunInfo::begun(&run.id(), "shop", task.id(), Timestamp::now());
    (info.pgid, info.parent_run_id) = (pgid, parent.to_owned());
    run.write(&info).unwrap();
    run
}

/// No process group has this number.
pub(super) const GONE: i64 = i64::MAX;

pub(super) fn own_group() -> i64 {
    i64::from(rustix::process::getpgrp().as_raw_nonzero().get())
}

#[test]
fn a_loop_is_stopped_by_a_lost_lease_a_request_and_its_time() {
    let (_folder, task) = task();
    let (interrupt, mut order) = (Interrupt::default(), order("codex"));
    let conditions = StopConditions::new(&task, &interrupt, &order);
    assert_eq!((conditions.stop_reason(), conditions.urgent_stop()), (None, None));
    order.wall = Some(Duration::ZERO);
    let late = StopConditions::new(&task, &interrupt, &order);
    assert_eq!(late.stop_reason(), Some(StoppedBy::BudgetWall));
    assert_eq!(late.urgent_stop(), None, "gate still judges what the agent has done");
    task.request_stop().unwrap();
    assert_eq!(conditions.urgent_stop(), Some(StoppedBy::StopRequested));
    assert_eq!(late.stop_reason(), Some(StoppedBy::StopRequested));
    order.lost_lease.note();
    assert_eq!(conditions.urgent_stop(), Some(StoppedBy::LeaseLost));
}

#[test]
fn one_loop_at_a_time_runs_over_a_task() {
    let (_folder, task) = task();
    assert!(!lock::is_locked(&task), "nobody has made the lock yet");
    let guard = lock::lock(&task).unwrap();
    let failure = lock::lock(&task).unwrap_err();
    assert_eq!((failure.exit_code, failure.code.as_str()), (2, "task-running"));
    assert_eq!(failure.message, "another loop runs over the task t1");
    assert!(lock::is_locked(&task));
    drop(guard);
    let missing_task = task.project().task("gone").unwrap();
    assert_eq!(lock::lock(&missing_task).unwrap_err().code, "folder-unwritable");
}

#[test]
fn a_claim_is_withdrawn_once() {
    let (_folder, task) = task();
    let done_file = task.folder().join(layout::DONE);
    assert_eq!(claim::withdraw(&task), Ok(false));
    fs::write(&done_file, "all of it").unwrap();
    assert_eq!(claim::withdraw(&task), Ok(true));
    assert_eq!(claim::withdraw(&task), Ok(false));
    fs::create_dir(&done_file).unwrap();
    let failure = claim::withdraw(&task).unwrap_err();
    assert!(failure.message.starts_with(&format!("cannot remove {}: ", done_file.display())));
}

#[test]
fn a_run_is_alive_as_long_as_its_process_group() {
    let is_alive = |pgid| delegated::is_alive(&in_group(RunInfo::unknown("1", "p", "t"), pgid));
    assert!(is_alive(own_group()));
    for dead_group in [0, -7, GONE] {
        assert!(!is_alive(dead_group), "{dead_group}");
    }
}

#[test]
fn the_record_of_a_killed_runner_is_ended_and_that_is_posted() {
    let (_folder, task) = task();
    let (orphan, running) = (begun(&task, GONE, ""), begun(&task, own_group(), ""));
    orphan.reserve().unwrap();
    fs::write(orphan.file(layout::STDOUT), "half way").unwrap();
    reconcile::end_orphaned_records(&task).unwrap();
    let info = orphan.info().unwrap();
    assert_eq!((info.status, info.exit_code), (Status::Failed, -1));
    assert_eq!(info.error_summary, RECONCILED);
    assert_eq!(fs::read_to_string(orphan.file(layout::OUTPUT)).unwrap(), "half way");
    assert!(!orphan.file(".gate-reserve").exists());
    assert_eq!(running.info().unwrap().status, Status::Running);
    let messages = || task.bus().unwrap().read().unwrap().messages;
    let kinds: Vec<_> = messages().into_iter().map(|message| message.kind).collect();
    assert_eq!(kinds, ["RUN_CRASH", "WARNING"]);
    assert_eq!(messages()[1].body.trim_end(), format!("run {}: {RECONCILED}", orphan.id()));
    reconcile::end_orphaned_records(&task).unwrap();
    assert_eq!(messages().len(), 2, "it is told once");
}

#[test]
fn where_the_task_is_done_its_last_run_was_completed() {
    let (_folder, task) = task();
    let orphan = begun(&task, GONE, "");
    fs::write(task.folder().join(layout::DONE), "").unwrap();
    reconcile::end_orphaned_records(&task).unwrap();
    assert_eq!(orphan.info().unwrap().status, Status::Completed);
}

/// The message after the wait for delegated runs, which may take no time.
fn wait_notice(task: &Task, earlier: DelegatedRuns) -> BusNotice {
    let (interrupt, order) = (Interrupt::default(), order("codex"));
    let conditions = StopConditions::new(task, &interrupt, &order);
    reconcile::wait_for_children(task, Duration::ZERO, &conditions, earlier).unwrap()
}

#[test]
fn a_loop_says_if_its_agents_runs_had_to_be_waited_for() {
    let (_folder, task) = task();
    let root = begun(&task, own_group(), "");
    let info = |text: &str| BusNotice { kind: "INFO", text: text.to_owned() };
    let without_children = wait_notice(&task, DelegatedRuns::None);
    assert_eq!(without_children, info("task completed (no active children)"));
    let with_children = wait_notice(&task, DelegatedRuns::Ended);
    assert_eq!(with_children, info("task completed (all children finished)"));
    fs::write(task.folder().join(layout::DONE), "").unwrap();
    let with_marker = wait_notice(&task, DelegatedRuns::None);
    assert_eq!(with_marker, info("task completed (DONE marker present, no active children)"));
    let second_task = task.project().task("t2").unwrap();
    let child = begun(&second_task, own_group(), &root.id());
    let text = "timeout waiting for children after 0s".to_owned();
    let late = BusNotice { kind: "WARNING", text };
    assert_eq!(wait_notice(&task, DelegatedRuns::None), late);
    child.update(|info| in_group(info, GONE)).unwrap();
    assert_eq!(wait_notice(&task, DelegatedRuns::None), with_marker);
    assert_eq!(child.info().unwrap().status, Status::Failed);
}
