//! A job under its supervisor, or in a process group of this process.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdStream;
use std::process::Stdio;
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap, ProcessGroup};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::pipe::Receiver;
use tokio::process::Command;
use tokio::time::{Instant as TokioInstant, sleep, sleep_until, timeout};

use super::descendants;
use super::link::{self, JobReport};
use super::orphaned::{KILL_INTERVAL, MARK, OrphanedJob, new_mark};
use crate::cancellation::Cancellation;
use crate::process::capture::Capture;
use crate::process::job::{EndedProcesses, Job, JobEnd, ReadDeadline, read_all};
use crate::process::order::Order;
use crate::process::{GRACE, OPEN_PIPE_PATIENCE, Supervisor};

/// Time that a supervisor may need beyond the grace that it gives.
const SUPERVISOR_PATIENCE: Duration = Duration::from_secs(2);

/// A job that runs.
pub(in crate::process) struct RunningJob {
    child: Box<dyn ChildWrapper>,
    keeper: Keeper,
    stdout: Receiver,
    stderr: Receiver,
    mark: String,
}

/// The process that ends the job's processes.
enum Keeper {
    /// A supervisor, at the other end of this socket.
    Supervisor(BufReader<UnixStream>),
    /// This process, which can end the job's process group only.
    Group,
}

impl RunningJob {
    pub(in crate::process) fn start(job: &Job) -> io::Result<Self> {
        let (stdout, stdout_end) = pipe()?;
        let (stderr, stderr_end) = pipe()?;
        let (mut command, keeper) = match &job.supervisor {
            Some(supervisor) => supervised_command(supervisor, job)?,
            None => (own_command(job)?, Keeper::Group),
        };
        command.current_dir(&job.folder).env_clear().envs(job.environment.iter().cloned());
        command.env("PWD", &job.folder).stdout(stdout_end).stderr(stderr_end);
        let mark = new_mark();
        command.env(MARK, &mark).envs(descendants::switch());
        let child = CommandWrap::from(command).wrap(ProcessGroup::leader()).spawn()?;
        Ok(Self { child, keeper, stdout, stderr, mark })
    }

    /// Waits for the job's end and its output. The flag says that a pipe was still open.
    pub(in crate::process) async fn finish(
        self,
        capture: &mut Capture,
        cancel: &Cancellation,
    ) -> (EndedProcesses, bool) {
        let Self { mut child, keeper, stdout, stderr, mark } = self;
        let read_deadline = ReadDeadline::default();
        let output = read_all(stdout, stderr, capture, &read_deadline);
        let processes = async {
            let ended = match keeper {
                Keeper::Supervisor(link) => match follow(link, child.as_mut(), cancel).await {
                    Some(ended) => ended,
                    None => {
                        end_orphaned(child.as_mut(), mark).await;
                        JobEnd::Lost.into()
                    }
                },
                Keeper::Group => end_group(child.as_mut(), cancel).await.into(),
            };
            read_deadline.set(TokioInstant::now() + OPEN_PIPE_PATIENCE);
            ended
        };
        tokio::join!(processes, output)
    }
}

fn pipe() -> io::Result<(Receiver, Stdio)> {
    let (reader, writer) = io::pipe()?;
    Ok((Receiver::from_owned_fd(OwnedFd::from(reader))?, Stdio::from(writer)))
}

fn own_command(job: &Job) -> io::Result<Command> {
    let mut command = Command::new(&job.argv[0]);
    command.args(&job.argv[1..]).stdin(match &job.stdin {
        Some(file) => Stdio::from(std::fs::File::open(file)?),
        None => Stdio::null(),
    });
    Ok(command)
}

fn supervised_command(supervisor: &Supervisor, job: &Job) -> io::Result<(Command, Keeper)> {
    let (link, supervisor_end) = StdStream::pair()?;
    link.set_nonblocking(true)?;
    let argv = job.argv.iter().map(OsString::from).collect();
    let order = Order {
        stdin: job.stdin.clone(),
        memory: job.memory,
        is_low_priority: job.is_low_priority,
        confinement: job.confinement.clone(),
        ..Order::new(argv)
    };
    let mut command = Command::new(&supervisor.program);
    command.args(&supervisor.args).args(order.args()).stdin(OwnedFd::from(supervisor_end));
    Ok((command, Keeper::Supervisor(BufReader::new(UnixStream::from_std(link)?))))
}

/// Waits for the supervisor's report, and asks it to end the job if the job is cancelled.
///
/// ```text
/// gate                         supervisor
///  |  ----- END `.` ----------> |   cancelled: SIGTERM to all, then a grace
///  |  ----- KILL_NOW `!` -----> |   the grace is over: SIGKILL to all
///  |  <---- {"ended": …} ------ |   nothing of the job is left
/// ```
///
/// `None` if the supervisor was killed or stopped, perhaps by the job, or if another
/// process wrote to its socket: then no report can be trusted.
async fn follow(
    link: BufReader<UnixStream>,
    supervisor: &mut dyn ChildWrapper,
    cancel: &Cancellation,
) -> Option<EndedProcesses> {
    let (reader, mut writer) = link.into_inner().into_split();
    let mut lines = BufReader::new(reader).lines();
    let mut reports = Vec::new();
    let (mut is_stopping, mut is_killing) = (false, false);
    let mut deadline = TokioInstant::now();
    loop {
        let line = tokio::select! {
            line = lines.next_line() => line,
            () = cancel.cancelled(), if !is_stopping => {
                // The socket is empty, so this does not block. If the supervisor is gone,
                // the report is missing, and that is enough.
                let _ = writer.write_all(&[link::END]).await;
                is_stopping = true;
                deadline = TokioInstant::now() + GRACE + SUPERVISOR_PATIENCE;
                continue;
            }
            () = cancel.grace_over(), if is_stopping && !is_killing => {
                let _ = writer.write_all(&[link::KILL_NOW]).await;
                is_killing = true;
                deadline = TokioInstant::now() + SUPERVISOR_PATIENCE;
                continue;
            }
            // The job may have stopped its supervisor with SIGSTOP.
            () = sleep_until(deadline), if is_stopping => break,
        };
        let Ok(Some(line)) = line else { break };
        reports.extend(JobReport::parse(&line));
    }
    // The report counts only if there is exactly one and the supervisor exited with 0: a
    // process of the job could have killed it, or written a report of its own.
    let exit = async { supervisor.wait().await.is_ok_and(|status| status.success()) };
    let has_succeeded = timeout(SUPERVISOR_PATIENCE, exit).await.unwrap_or(false);
    match <[JobReport; 1]>::try_from(reports) {
        Ok([report]) if has_succeeded => Some(reported_end(report, is_stopping)),
        _ => None,
    }
}

/// Ends a job whose supervisor is gone: all descendants of the supervisor, and all
/// processes that carry the job's mark.
async fn end_orphaned(supervisor: &mut dyn ChildWrapper, mark: String) {
    let job = OrphanedJob::new(mark, supervisor.id().map(|id| id as i32));
    let _ = supervisor.start_kill();
    let _ = supervisor.wait().await;
    let deadline = TokioInstant::now() + SUPERVISOR_PATIENCE;
    while !job.kill().is_empty() && TokioInstant::now() < deadline {
        sleep(KILL_INTERVAL).await;
    }
}

fn reported_end(report: JobReport, is_stopped: bool) -> EndedProcesses {
    let (code, signal, leftovers) = match report {
        JobReport::NotStarted { error } => return JobEnd::NotStarted(error).into(),
        JobReport::OverMemory { limit } => return JobEnd::OverMemory(limit).into(),
        // The supervisor sends these for sessions only.
        JobReport::Ready { .. } | JobReport::Began | JobReport::Left => return JobEnd::Lost.into(),
        JobReport::Ended { code, signal, leftovers } => (code, signal, leftovers),
    };
    let end = match (code, signal) {
        _ if is_stopped => JobEnd::Stopped,
        (Some(code), _) => JobEnd::Exited(code),
        (None, Some(signal)) => JobEnd::Signalled(signal),
        (None, None) => JobEnd::Lost,
    };
    EndedProcesses { end, leftovers }
}

/// Without a supervisor: waits for the job, and ends its group.
async fn end_group(child: &mut dyn ChildWrapper, cancel: &Cancellation) -> JobEnd {
    let group = child.id().and_then(|id| Pid::from_raw(id as i32));
    let status = tokio::select! {
        status = child.inner_mut().wait() => Some(status),
        () = cancel.cancelled() => None,
    };
    let end = match status {
        Some(status) => status.map_or(JobEnd::Lost, exit_end),
        None => {
            signal_group(group, Signal::TERM);
            tokio::select! {
                _ = timeout(GRACE, child.inner_mut().wait()) => {}
                () = cancel.grace_over() => {}
            }
            JobEnd::Stopped
        }
    };
    signal_group(group, Signal::KILL);
    let _ = timeout(GRACE, child.wait()).await;
    end
}

fn signal_group(group: Option<Pid>, signal: Signal) {
    if let Some(group) = group {
        // All of its processes may have ended.
        let _ = kill_process_group(group, signal);
    }
}

fn exit_end(status: std::process::ExitStatus) -> JobEnd {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => JobEnd::Exited(code),
        (None, Some(signal)) => JobEnd::Signalled(signal),
        (None, None) => JobEnd::Lost,
    }
}

#[cfg(test)]
mod tests;
