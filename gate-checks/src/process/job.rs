//! One job: a program that is run once, and what came of it.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdStream;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use gate_report::Stream;
use process_wrap::tokio::{ChildWrapper, CommandWrap, ProcessGroup};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::pipe::Receiver;
use tokio::process::Command;
use tokio::time::{Instant as TokioInstant, sleep, sleep_until, timeout};

use super::capture::Capture;
use super::link::{self, JobReport};
use super::orphaned::{KILL_INTERVAL, MARK, OrphanedJob, new_mark};
use super::supervise::Order;
use super::{Confinement, GRACE, OPEN_PIPE_PATIENCE, Supervisor};
use crate::cancellation::Cancellation;

/// Bytes that are read from a pipe at once.
const BLOCK_BYTES: usize = 64 * 1024;

/// Time that a supervisor may need beyond the grace that it gives.
const SUPERVISOR_PATIENCE: Duration = Duration::from_secs(2);

/// A program that is to run once.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    /// The program and its arguments.
    pub(crate) argv: Vec<String>,
    /// Its working folder.
    pub(crate) folder: PathBuf,
    /// All of its environment.
    pub(crate) environment: Vec<(String, String)>,
    /// A file that is its standard input; without one, that is empty.
    pub(crate) stdin: Option<PathBuf>,
    /// Ends the job with its descendants.
    pub(crate) supervisor: Option<Supervisor>,
    /// Most memory of its processes together, in bytes. Only a supervisor can limit it.
    pub(crate) memory: Option<u64>,
    /// Its processes get less of the processor than others. Only a supervisor lowers their
    /// priority.
    pub(crate) is_low_priority: bool,
    /// The limits of a job that must not carry anything out. Only a supervisor can set them.
    pub(crate) confinement: Option<Confinement>,
}

/// The end of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum JobEnd {
    /// It exited with this code.
    Exited(i32),
    /// This signal ended it.
    Signalled(i32),
    /// It could not be started.
    NotStarted(String),
    /// It was ended because nobody waits for it any more.
    Stopped,
    /// It was ended because its processes used more memory than this, in bytes.
    OverMemory(u64),
    /// Not known: its supervisor was killed.
    Lost,
}

/// Result of a job.
#[derive(Debug)]
pub(crate) struct JobResult {
    /// The end of the program itself.
    pub(crate) end: JobEnd,
    pub(crate) duration: Duration,
    pub(crate) capture: Capture,
    /// Names of processes that it left running, and that were ended.
    pub(crate) leftovers: Vec<String>,
    /// A process outside of the job kept the output open: its end may be missing.
    pub(crate) is_output_open: bool,
}

impl Job {
    /// Runs it to its end, or until it is cancelled; then it is ended with all
    /// its descendants before this returns.
    pub(crate) async fn run(self, mut capture: Capture, cancel: &Cancellation) -> JobResult {
        let start = Instant::now();
        let (EndedProcesses { end, leftovers }, is_output_open) = match RunningJob::start(&self) {
            Ok(running) => running.finish(&mut capture, cancel).await,
            Err(error) => (JobEnd::NotStarted(error.to_string()).into(), false),
        };
        capture.finish();
        JobResult { end, duration: start.elapsed(), capture, leftovers, is_output_open }
    }
}

/// A job that runs.
struct RunningJob {
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

/// The job's processes, once all of them have ended.
#[derive(Debug, PartialEq, Eq)]
struct EndedProcesses {
    end: JobEnd,
    /// Names of the processes that the program left running.
    leftovers: Vec<String>,
}

impl From<JobEnd> for EndedProcesses {
    /// An end that left nothing running, as far as it is known.
    fn from(end: JobEnd) -> Self {
        Self { end, leftovers: Vec::new() }
    }
}

impl RunningJob {
    fn start(job: &Job) -> io::Result<Self> {
        let (stdout, stdout_end) = pipe()?;
        let (stderr, stderr_end) = pipe()?;
        let (mut command, keeper) = match &job.supervisor {
            Some(supervisor) => supervised_command(supervisor, job)?,
            None => (own_command(job)?, Keeper::Group),
        };
        command.current_dir(&job.folder).env_clear().envs(job.environment.iter().cloned());
        command.env("PWD", &job.folder).stdout(stdout_end).stderr(stderr_end);
        let mark = new_mark();
        command.env(MARK, &mark);
        let child = CommandWrap::from(command).wrap(ProcessGroup::leader()).spawn()?;
        Ok(Self { child, keeper, stdout, stderr, mark })
    }

    /// Waits for the job's end and its output. The flag says that a pipe was still open.
    async fn finish(self, capture: &mut Capture, cancel: &Cancellation) -> (EndedProcesses, bool) {
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

/// The time at which reading ends although a pipe is still open. It is not known before the job's
/// processes have ended.
#[derive(Default)]
struct ReadDeadline(tokio::sync::watch::Sender<Option<TokioInstant>>);

impl ReadDeadline {
    fn set(&self, deadline: TokioInstant) {
        self.0.send_replace(Some(deadline));
    }

    async fn reached(&self) {
        let mut changes = self.0.subscribe();
        if let Ok(deadline) = changes.wait_for(Option::is_some).await.map(|deadline| *deadline) {
            sleep_until(deadline.unwrap_or_else(TokioInstant::now)).await;
        }
    }
}

/// Reads both pipes to their end (false), or until the deadline (true).
async fn read_all(
    mut stdout: Receiver,
    mut stderr: Receiver,
    capture: &mut Capture,
    deadline: &ReadDeadline,
) -> bool {
    let (mut stdout_block, mut stderr_block) = (vec![0; BLOCK_BYTES], vec![0; BLOCK_BYTES]);
    let (mut is_stdout_open, mut is_stderr_open) = (true, true);
    let deadline_reached = deadline.reached();
    tokio::pin!(deadline_reached);
    while is_stdout_open || is_stderr_open {
        tokio::select! {
            length = stdout.read(&mut stdout_block), if is_stdout_open => {
                is_stdout_open = take_block(capture, Stream::Stdout, &stdout_block, length);
            }
            length = stderr.read(&mut stderr_block), if is_stderr_open => {
                is_stderr_open = take_block(capture, Stream::Stderr, &stderr_block, length);
            }
            () = &mut deadline_reached => return true,
        }
    }
    false
}

/// Takes what was read into a block; false at the end of the pipe.
fn take_block(
    capture: &mut Capture,
    stream: Stream,
    block: &[u8],
    length: io::Result<usize>,
) -> bool {
    match length {
        Ok(0) => false,
        Ok(length) => {
            capture.push(stream, &block[..length]);
            true
        }
        Err(error) => error.kind() == io::ErrorKind::Interrupted,
    }
}

#[cfg(test)]
mod tests;
