//! One job: a program that is run once, and what came of it.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdStream;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use process_wrap::tokio::{ChildWrapper, CommandWrap, ProcessGroup};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::pipe::Receiver;
use tokio::process::Command;
use tokio::time::{Instant as TokioInstant, sleep, sleep_until, timeout};

use super::capture::{Capture, Stream};
use super::link::{self, JobReport};
use super::orphaned::{KILL_INTERVAL, MARK, OrphanedJob, mark};
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
    /// A file that is its standard input; none: it is empty.
    pub(crate) stdin: Option<PathBuf>,
    /// Ends the job with its descendants.
    pub(crate) supervisor: Option<Supervisor>,
    /// Most memory of its processes together, in bytes. Only a supervisor can limit it.
    pub(crate) memory: Option<u64>,
    /// True if its processes get less of the processor than others. Only a supervisor lowers
    /// their priority.
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
    pub(crate) how: JobEnd,
    pub(crate) duration: Duration,
    pub(crate) capture: Capture,
    /// Names of processes that it left running, and that were ended.
    pub(crate) left: Vec<String>,
    /// A process outside of the job kept the output open: its end may be missing.
    pub(crate) is_output_open: bool,
}

impl Job {
    /// Runs it to its end, or until it is cancelled; then it is ended with all
    /// its descendants before this returns.
    pub(crate) async fn run(self, mut capture: Capture, cancel: &Cancellation) -> JobResult {
        let began = Instant::now();
        let (how, left, is_output_open) = match Running::start(&self) {
            Ok(running) => running.finish(&mut capture, cancel).await,
            Err(error) => (JobEnd::NotStarted(error.to_string()), Vec::new(), false),
        };
        capture.finish();
        JobResult { how, duration: began.elapsed(), capture, left, is_output_open }
    }
}

/// A job that runs.
struct Running {
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

type Outcome = (JobEnd, Vec<String>, bool);

impl Running {
    fn start(job: &Job) -> io::Result<Self> {
        let (stdout, stdout_end) = pipe()?;
        let (stderr, stderr_end) = pipe()?;
        let (mut command, keeper) = match &job.supervisor {
            Some(supervisor) => supervised(supervisor, job)?,
            None => (alone(job)?, Keeper::Group),
        };
        command.current_dir(&job.folder).env_clear().envs(job.environment.iter().cloned());
        command.env("PWD", &job.folder).stdout(stdout_end).stderr(stderr_end);
        let mark = mark();
        command.env(MARK, &mark);
        let child = CommandWrap::from(command).wrap(ProcessGroup::leader()).spawn()?;
        Ok(Self { child, keeper, stdout, stderr, mark })
    }

    async fn finish(self, capture: &mut Capture, cancel: &Cancellation) -> Outcome {
        let Self { mut child, keeper, stdout, stderr, mark } = self;
        let end = Ending::default();
        let output = read_all(stdout, stderr, capture, &end);
        let process = async {
            let ended = match keeper {
                Keeper::Supervisor(link) => match supervision(link, child.as_mut(), cancel).await {
                    Some(ended) => ended,
                    None => {
                        end_orphaned(child.as_mut(), mark).await;
                        (JobEnd::Lost, Vec::new())
                    }
                },
                Keeper::Group => group(child.as_mut(), cancel).await,
            };
            end.pipes_close_until(TokioInstant::now() + OPEN_PIPE_PATIENCE);
            ended
        };
        let ((how, left), is_output_open) = tokio::join!(process, output);
        (how, left, is_output_open)
    }
}

fn pipe() -> io::Result<(Receiver, Stdio)> {
    let (reader, writer) = io::pipe()?;
    Ok((Receiver::from_owned_fd(OwnedFd::from(reader))?, Stdio::from(writer)))
}

fn alone(job: &Job) -> io::Result<Command> {
    let mut command = Command::new(&job.argv[0]);
    command.args(&job.argv[1..]).stdin(match &job.stdin {
        Some(file) => Stdio::from(std::fs::File::open(file)?),
        None => Stdio::null(),
    });
    Ok(command)
}

fn supervised(supervisor: &Supervisor, job: &Job) -> io::Result<(Command, Keeper)> {
    let (ours, theirs) = StdStream::pair()?;
    ours.set_nonblocking(true)?;
    let argv = job.argv.iter().map(OsString::from).collect();
    let order = Order {
        stdin: job.stdin.clone(),
        memory: job.memory,
        is_low_priority: job.is_low_priority,
        confinement: job.confinement.clone(),
        ..Order::new(argv)
    };
    let mut command = Command::new(&supervisor.program);
    command.args(&supervisor.args).args(order.args()).stdin(OwnedFd::from(theirs));
    Ok((command, Keeper::Supervisor(BufReader::new(UnixStream::from_std(ours)?))))
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
async fn supervision(
    link: BufReader<UnixStream>,
    child: &mut dyn ChildWrapper,
    cancel: &Cancellation,
) -> Option<(JobEnd, Vec<String>)> {
    let (reader, mut writer) = link.into_inner().into_split();
    let mut lines = BufReader::new(reader).lines();
    let mut ended = Vec::new();
    let (mut is_stopping, mut is_hurried) = (false, false);
    let mut patience = TokioInstant::now();
    loop {
        let line = tokio::select! {
            line = lines.next_line() => line,
            () = cancel.cancelled(), if !is_stopping => {
                // The socket is empty, so this does not block. If the supervisor is gone,
                // the report is missing, and that is enough.
                let _ = writer.write_all(&[link::END]).await;
                (is_stopping, patience) = (true, TokioInstant::now() + GRACE + SUPERVISOR_PATIENCE);
                continue;
            }
            () = cancel.grace_over(), if is_stopping && !is_hurried => {
                let _ = writer.write_all(&[link::KILL_NOW]).await;
                (is_hurried, patience) = (true, TokioInstant::now() + SUPERVISOR_PATIENCE);
                continue;
            }
            // The job may have stopped its supervisor with SIGSTOP.
            () = sleep_until(patience), if is_stopping => break,
        };
        let Ok(Some(line)) = line else { break };
        ended.extend(JobReport::parse(&line));
    }
    // The report counts only if there is exactly one and the supervisor exited with 0: a
    // process of the job could have killed it, or written a report of its own.
    let well = async { child.wait().await.is_ok_and(|status| status.success()) };
    match (ended.as_slice(), timeout(SUPERVISOR_PATIENCE, well).await) {
        ([report], Ok(true)) => Some(outcome(report.clone(), is_stopping)),
        _ => None,
    }
}

/// Ends a job whose supervisor is gone: all descendants of the supervisor, and all
/// processes that carry the job's mark.
async fn end_orphaned(child: &mut dyn ChildWrapper, mark: String) {
    let left = OrphanedJob::new(mark, child.id().map(|id| id as i32));
    let _ = child.start_kill();
    let _ = child.wait().await;
    let end = TokioInstant::now() + SUPERVISOR_PATIENCE;
    while !left.kill().is_empty() && TokioInstant::now() < end {
        sleep(KILL_INTERVAL).await;
    }
}

fn outcome(report: JobReport, is_stopped: bool) -> (JobEnd, Vec<String>) {
    match report {
        JobReport::NotStarted { error } => (JobEnd::NotStarted(error), Vec::new()),
        JobReport::Ready { .. } | JobReport::Began | JobReport::Left => (JobEnd::Lost, Vec::new()),
        JobReport::OverMemory { limit } => (JobEnd::OverMemory(limit), Vec::new()),
        JobReport::Ended { left, .. } if is_stopped => (JobEnd::Stopped, left),
        JobReport::Ended { code: Some(code), left, .. } => (JobEnd::Exited(code), left),
        JobReport::Ended { signal: Some(signal), left, .. } => (JobEnd::Signalled(signal), left),
        JobReport::Ended { left, .. } => (JobEnd::Lost, left),
    }
}

/// Without a supervisor: waits for the job, and ends its group.
async fn group(child: &mut dyn ChildWrapper, cancel: &Cancellation) -> (JobEnd, Vec<String>) {
    let group = child.id().and_then(|id| Pid::from_raw(id as i32));
    let status = tokio::select! {
        status = child.inner_mut().wait() => Some(status),
        () = cancel.cancelled() => None,
    };
    let how = match status {
        Some(status) => status.map_or(JobEnd::Lost, how),
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
    (how, Vec::new())
}

fn signal_group(group: Option<Pid>, signal: Signal) {
    if let Some(group) = group {
        // All of its processes may have ended.
        let _ = kill_process_group(group, signal);
    }
}

fn how(status: std::process::ExitStatus) -> JobEnd {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => JobEnd::Exited(code),
        (None, Some(signal)) => JobEnd::Signalled(signal),
        (None, None) => JobEnd::Lost,
    }
}

/// Time at which reading ends although a pipe is still open.
#[derive(Default)]
struct Ending(tokio::sync::watch::Sender<Option<TokioInstant>>);

impl Ending {
    fn pipes_close_until(&self, instant: TokioInstant) {
        self.0.send_replace(Some(instant));
    }

    async fn reached(&self) {
        let mut until = self.0.subscribe();
        if let Ok(instant) = until.wait_for(Option::is_some).await.map(|end| *end) {
            sleep_until(instant.unwrap_or_else(TokioInstant::now)).await;
        }
    }
}

/// Reads both pipes to their end, or to the end of patience (true).
async fn read_all(
    mut stdout: Receiver,
    mut stderr: Receiver,
    capture: &mut Capture,
    end: &Ending,
) -> bool {
    let (mut out, mut err) = (vec![0; BLOCK_BYTES], vec![0; BLOCK_BYTES]);
    let (mut out_open, mut err_open) = (true, true);
    let reached = end.reached();
    tokio::pin!(reached);
    while out_open || err_open {
        tokio::select! {
            read = stdout.read(&mut out), if out_open => {
                out_open = take(capture, Stream::Stdout, &out, read);
            }
            read = stderr.read(&mut err), if err_open => {
                err_open = take(capture, Stream::Stderr, &err, read);
            }
            () = &mut reached => return true,
        }
    }
    false
}

/// Takes a block of output; false at the end of the pipe.
fn take(capture: &mut Capture, stream: Stream, block: &[u8], read: io::Result<usize>) -> bool {
    match read {
        Ok(0) => false,
        Ok(read) => {
            capture.push(stream, &block[..read]);
            true
        }
        Err(error) => error.kind() == io::ErrorKind::Interrupted,
    }
}

#[cfg(test)]
mod tests;
