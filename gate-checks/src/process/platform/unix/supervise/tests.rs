//! Orders, and what a supervisor makes of events.

use super::*;
use crate::process::Confinement;
use std::process::Command;

fn words(text: &str) -> Vec<OsString> {
    text.split_whitespace().map(OsString::from).collect()
}

#[test]
fn an_order_is_read_as_it_is_written() {
    let grace = Some(Duration::from_secs(30));
    let argv = words("prog --stdin -- x");
    let (stdin, memory) = (Some("request.json".into()), Some(1 << 40));
    let (folder, hidden) = ("/copy".into(), vec!["/sealed".into(), "/state".into()]);
    let confinement = Some(Confinement { folder, hidden, has_namespaces: true });
    let order = Order { grace, stdin, memory, is_low_priority: true, confinement, argv };
    assert_eq!(Order::parse(&order.args()), Some(order));
    let order = Order::new(words("true"));
    assert_eq!(Order::parse(&order.args()), Some(order));
}

#[test]
fn anything_else_is_no_order() {
    for text in [
        "",
        "--",
        "true",
        "--stdin",
        "--stdin file",
        "--stdin file --",
        "--grace -- true",
        "--grace soon -- true",
        "--grace -1 -- true",
        "--memory 4GB -- true",
        "--low-priority",
        "--confine",
        "--namespaces -- true",
        "--hide /sealed -- true",
    ] {
        assert_eq!(Order::parse(&words(text)), None, "{text}");
    }
}

#[test]
fn an_order_for_a_paused_child_is_told_from_one_for_a_supervisor() {
    let args = words("--held --grace 5 -- true");
    assert_eq!(paused::paused_order(&args), Some(&args[1..]));
    assert_eq!(paused::paused_order(&args[1..]), None);
    assert_eq!(paused::paused_order(&[]), None);
}

#[test]
fn an_order_whose_standard_input_is_missing_has_no_command() {
    let order = Order { stdin: Some("/no/such/file".into()), ..Order::new(words("true")) };
    assert_eq!(command(&order).unwrap_err().kind(), io::ErrorKind::NotFound);
}

fn pid(number: i32) -> Pid {
    Pid::from_raw(number).unwrap()
}

/// A supervision of the job 7, and the sender of its events.
fn supervision() -> (Supervision, Sender<JobEvent>) {
    let (sender, events) = mpsc::channel();
    let supervision = Supervision {
        job: pid(7),
        leftover_link: None,
        events,
        status: None,
        stop_grace: None,
        is_empty: false,
        leftovers: BTreeSet::new(),
        memory_limit: None,
    };
    (supervision, sender)
}

fn status() -> WaitStatus {
    let mut child = Command::new("true").spawn().unwrap();
    let ended = rustix::process::waitpid(Some(Pid::from_child(&child)), WaitOptions::empty());
    // It was reaped already.
    let _ = child.wait();
    ended.unwrap().unwrap().1
}

#[test]
fn a_job_has_ended_once_its_own_process_was_reaped() {
    let (mut supervision, sender) = supervision();
    let status = status();
    sender.send(JobEvent::Reaped(pid(8), status)).unwrap();
    sender.send(JobEvent::Reaped(pid(7), status)).unwrap();
    assert!(supervision.wait_for_job());
    assert_eq!(supervision.status.and_then(WaitStatus::exit_status), Some(0));
    assert!(!supervision.is_empty);
}

#[test]
fn a_job_that_gate_ends_or_forgets_has_not_ended_by_itself() {
    let (mut stopped, sender) = supervision();
    sender.send(JobEvent::Stop(GRACE)).unwrap();
    assert!(!stopped.wait_for_job());
    let (mut forgotten, sender) = supervision();
    drop(sender);
    assert!(!forgotten.wait_for_job());
}

#[test]
fn the_shortest_grace_of_several_requests_counts() {
    let (mut supervision, _sender) = supervision();
    let grace = |supervision: &Supervision| supervision.stop_grace.map(|grace| grace.as_secs());
    supervision.note(JobEvent::Stop(Duration::from_secs(5)));
    assert_eq!((grace(&supervision), supervision.has_no_grace()), (Some(5), false));
    supervision.note(JobEvent::Stop(Duration::from_secs(9)));
    assert_eq!(grace(&supervision), Some(5));
    supervision.note(JobEvent::Stop(Duration::ZERO));
    assert_eq!((grace(&supervision), supervision.has_no_grace()), (Some(0), true));
}

#[test]
fn too_much_memory_ends_a_job_at_once_unless_it_has_ended() {
    let (mut running, sender) = supervision();
    sender.send(JobEvent::OverMemory(9)).unwrap();
    assert!(!running.wait_for_job());
    assert_eq!((running.memory_limit, running.has_no_grace()), (Some(9), true));
    let (mut ended, _sender) = supervision();
    ended.note(JobEvent::Reaped(pid(7), status()));
    ended.note(JobEvent::OverMemory(9));
    assert_eq!((ended.memory_limit, ended.stop_grace), (None, None));
}

#[test]
fn waiting_ends_when_nothing_is_left_or_the_time_is_over() {
    let (mut supervision, sender) = supervision();
    assert!(!supervision.wait_until_empty(Duration::ZERO));
    sender.send(JobEvent::NoneLeft).unwrap();
    assert!(supervision.wait_until_empty(Duration::ZERO));
    assert!(supervision.is_empty);
}

#[test]
fn processes_that_a_job_leaves_are_reported_until_they_end() {
    let (supervision, sender) = supervision();
    let (link, mut gate_end) = UnixStream::pair().unwrap();
    let mut supervision = Supervision { leftover_link: Some(link), ..supervision };
    sender.send(JobEvent::NoneLeft).unwrap();
    supervision.wait_for_leftovers();
    drop(supervision);
    let mut reports = String::new();
    gate_end.read_to_string(&mut reports).unwrap();
    assert_eq!(JobReport::parse(reports.trim_end()), Some(JobReport::Left));
}

#[test]
fn requests_of_gate_are_single_bytes_and_its_end_is_one_too() {
    let (link, mut gate_end) = UnixStream::pair().unwrap();
    let (sender, events) = mpsc::channel();
    gate_end.write_all(&[KILL_NOW, END_LEFT, b'.', b'x']).unwrap();
    drop(gate_end);
    let grace = Duration::from_secs(77);
    listen(link, grace, &sender);
    drop(sender);
    let graces: Vec<_> = events
        .iter()
        .map(|event| match event {
            JobEvent::Stop(grace) => grace,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(graces, [Duration::ZERO, LEFT_BEHIND_GRACE, grace, grace, grace]);
}
