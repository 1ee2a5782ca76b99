//! Reports of a supervisor, and pipes that stay open.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use tokio::runtime::Builder;

use super::*;
use crate::cancellation::Cancellation;
use crate::process::Stream;
use crate::process::job::take_block;

fn names(leftovers: &[&str]) -> Vec<String> {
    leftovers.iter().map(|&name| name.to_owned()).collect()
}

fn ended(code: Option<i32>, signal: Option<i32>, leftovers: &[&str]) -> JobReport {
    JobReport::Ended { code, signal, leftovers: names(leftovers) }
}

#[test]
fn a_report_tells_the_end_of_a_job() {
    let check = |report: JobReport, is_stopped, end: JobEnd, leftovers: &[&str]| {
        let expected = EndedProcesses { end, leftovers: names(leftovers) };
        assert_eq!(reported_end(report.clone(), is_stopped), expected, "{report:?}");
    };
    check(ended(Some(3), None, &["sleep"]), false, JobEnd::Exited(3), &["sleep"]);
    check(ended(None, Some(9), &[]), false, JobEnd::Signalled(9), &[]);
    check(ended(None, None, &["sh"]), false, JobEnd::Lost, &["sh"]);
    check(ended(Some(0), None, &["sh"]), true, JobEnd::Stopped, &["sh"]);
    let over = JobReport::OverMemory { limit: 7 };
    check(over, false, JobEnd::OverMemory(7), &[]);
    let error = "no such file".to_owned();
    check(JobReport::NotStarted { error: error.clone() }, true, JobEnd::NotStarted(error), &[]);
    for report in [JobReport::Ready { pid: 7 }, JobReport::Began, JobReport::Left] {
        check(report, false, JobEnd::Lost, &[]);
    }
}

#[test]
fn a_status_is_a_code_or_a_signal() {
    assert_eq!(exit_end(ExitStatus::from_raw(3 << 8)), JobEnd::Exited(3));
    assert_eq!(exit_end(ExitStatus::from_raw(0)), JobEnd::Exited(0));
    assert_eq!(exit_end(ExitStatus::from_raw(15)), JobEnd::Signalled(15));
}

#[test]
fn a_pipe_that_breaks_has_ended_and_one_that_is_interrupted_has_not() {
    let mut capture = Capture::new(None);
    assert!(take_block(&mut capture, Stream::Stdout, b"one and more", Ok(3)));
    assert!(!take_block(&mut capture, Stream::Stdout, b"x", Ok(0)));
    assert!(take_block(&mut capture, Stream::Stderr, b"x", Err(io::ErrorKind::Interrupted.into())));
    assert!(!take_block(&mut capture, Stream::Stderr, b"x", Err(io::ErrorKind::BrokenPipe.into())));
    assert_eq!((capture.bytes(), capture.text().as_str()), (3, "one"));
}

fn block_on<F: Future>(future: F) -> F::Output {
    Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

#[test]
fn output_is_read_until_both_pipes_are_closed_or_patience_ends() {
    let read = |leaves_open: bool| {
        block_on(async {
            let (stdout, stdout_end) = pipe().unwrap();
            let (stderr, stderr_end) = pipe().unwrap();
            let mut child = Command::new("sh")
                .args(["-c", "echo out; echo err >&2"])
                .stdout(stdout_end)
                .spawn();
            let open = leaves_open.then_some(stderr_end);
            child.as_mut().unwrap().wait().await.unwrap();
            let (mut capture, deadline) = (Capture::new(None), ReadDeadline::default());
            if leaves_open {
                deadline.set(TokioInstant::now() + Duration::from_millis(5));
            }
            let is_open = read_all(stdout, stderr, &mut capture, &deadline).await;
            drop(open);
            (is_open, capture.text())
        })
    };
    assert_eq!(read(false), (false, "out\n".to_owned()));
    assert_eq!(read(true), (true, "out\n".to_owned()));
}

/// The end of a job whose supervisor writes these lines and exits like this.
fn supervised_end(lines: &str, exit: &str) -> Option<EndedProcesses> {
    block_on(async {
        let (link, mut supervisor_end) = UnixStream::pair().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", exit]).stdin(Stdio::null()).stdout(Stdio::null());
        let mut child = CommandWrap::from(command).wrap(ProcessGroup::leader()).spawn().unwrap();
        supervisor_end.write_all(lines.as_bytes()).await.unwrap();
        drop(supervisor_end);
        follow(BufReader::new(link), child.as_mut(), &Cancellation::default()).await
    })
}

#[test]
fn a_report_is_trusted_if_it_is_the_only_one_and_the_supervisor_ended_well() {
    let passed = ended(Some(0), None, &[]).to_line();
    let end = || Some(EndedProcesses::from(JobEnd::Exited(0)));
    assert_eq!(supervised_end(&format!("{passed}\n"), "exit 0"), end());
    assert_eq!(supervised_end(&passed, "exit 0"), end());
    assert_eq!(supervised_end(&format!("noise\n{passed}\n\n"), "exit 0"), end());
    assert_eq!(supervised_end(&format!("{passed}\n{passed}\n"), "exit 0"), None);
    assert_eq!(supervised_end(&format!("{passed}\n"), "exit 2"), None);
    assert_eq!(supervised_end(&format!("{passed}\n"), "kill -KILL $$"), None);
    assert_eq!(supervised_end("", "exit 0"), None);
    assert_eq!(supervised_end(&passed[..passed.len() - 2], "exit 0"), None);
}
