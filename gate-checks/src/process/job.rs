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
use tokio_util::sync::CancellationToken;

use super::capture::{Capture, Stream};
use super::forsaken::{AGAIN, Forsaken, MARK, mark};
use super::link::{self, Told};
use super::supervise::Order;
use super::{GRACE, HELD_PIPE, Supervisor};

/// How much is read from a pipe at once.
const BLOCK: usize = 64 * 1024;

/// How long a supervisor may need beyond the grace that it gives.
const STUCK: Duration = Duration::from_secs(2);

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
    /// What ends it with its descendants.
    pub(crate) supervisor: Option<Supervisor>,
}

/// How a job ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// It exited with this code.
    Exited(i32),
    /// This signal ended it.
    Signalled(i32),
    /// It could not be started.
    NotStarted(String),
    /// It was ended because nobody waits for it any more.
    Stopped,
    /// Nobody can say: its supervisor was killed.
    Lost,
}

/// What came of a job.
#[derive(Debug)]
pub(crate) struct Ended {
    /// How it ended.
    pub(crate) how: How,
    /// How long it ran.
    pub(crate) duration: Duration,
    /// What it wrote.
    pub(crate) capture: Capture,
    /// Names of processes that it left running, and that were ended.
    pub(crate) left: Vec<String>,
    /// Whether somebody else held its output open, so that the end of it may
    /// be missing.
    pub(crate) held: bool,
}

impl Job {
    /// Runs it to its end, or until it is cancelled; then it is ended with all
    /// its descendants before this returns. It has a grace for that, until
    /// `kill_now` is cancelled too.
    pub(crate) async fn run(
        self,
        mut capture: Capture,
        cancel: &CancellationToken,
        kill_now: &CancellationToken,
    ) -> Ended {
        let stop = Stop { cancel, kill_now };
        let began = Instant::now();
        let (how, left, held) = match Running::start(&self) {
            Ok(running) => running.finish(&mut capture, stop).await,
            Err(error) => (How::NotStarted(error.to_string()), Vec::new(), false),
        };
        capture.finish();
        Ended { how, duration: began.elapsed(), capture, left, held }
    }
}

/// When a job is ended from outside.
#[derive(Clone, Copy)]
struct Stop<'a> {
    cancel: &'a CancellationToken,
    /// When there is no grace any more.
    kill_now: &'a CancellationToken,
}

/// A job that runs.
struct Running {
    child: Box<dyn ChildWrapper>,
    keeper: Keeper,
    stdout: Receiver,
    stderr: Receiver,
    mark: String,
}

/// Who ends the job's processes.
enum Keeper {
    /// The supervisor at the other end.
    Supervisor(BufReader<UnixStream>),
    /// This process, which knows the job's group alone.
    Group,
}

type Outcome = (How, Vec<String>, bool);

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

    async fn finish(self, capture: &mut Capture, stop: Stop<'_>) -> Outcome {
        let Self { mut child, keeper, stdout, stderr, mark } = self;
        let end = Ending::default();
        let output = read_all(stdout, stderr, capture, &end);
        let process = async {
            let ended = match keeper {
                Keeper::Supervisor(link) => match supervision(link, child.as_mut(), stop).await {
                    Some(ended) => ended,
                    None => {
                        forsaken(child.as_mut(), mark).await;
                        (How::Lost, Vec::new())
                    }
                },
                Keeper::Group => group(child.as_mut(), stop).await,
            };
            end.pipes_close_until(TokioInstant::now() + HELD_PIPE);
            ended
        };
        let ((how, left), held) = tokio::join!(process, output);
        (how, left, held)
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
    let order = Order { grace: None, stdin: job.stdin.clone(), argv };
    let mut command = Command::new(&supervisor.program);
    command.args(&supervisor.args).args(order.args()).stdin(OwnedFd::from(theirs));
    Ok((command, Keeper::Supervisor(BufReader::new(UnixStream::from_std(ours)?))))
}

/// Listens to the supervisor until it has ended the job, and asks for that where
/// it has to. None: it was killed or stopped, by the job perhaps, or
/// somebody else spoke in its name.
async fn supervision(
    link: BufReader<UnixStream>,
    child: &mut dyn ChildWrapper,
    stop: Stop<'_>,
) -> Option<(How, Vec<String>)> {
    let (reader, mut writer) = link.into_inner().into_split();
    let mut lines = BufReader::new(reader).lines();
    let mut ended = Vec::new();
    let (mut asked, mut hurried) = (false, false);
    let mut patience = TokioInstant::now();
    loop {
        let line = tokio::select! {
            line = lines.next_line() => line,
            () = stop.cancel.cancelled(), if !asked => {
                // Nothing was written before, so there is room; a supervisor
                // that is gone says so by its silence.
                let _ = writer.write_all(&[link::END]).await;
                (asked, patience) = (true, TokioInstant::now() + GRACE + STUCK);
                continue;
            }
            () = stop.kill_now.cancelled(), if asked && !hurried => {
                let _ = writer.write_all(&[link::AT_ONCE]).await;
                (hurried, patience) = (true, TokioInstant::now() + STUCK);
                continue;
            }
            // The job may have stopped its supervisor.
            () = sleep_until(patience), if asked => break,
        };
        let Ok(Some(line)) = line else { break };
        ended.extend(Told::parse(&line));
    }
    // Its word counts only where it was said once, and it ended well.
    let well = async { child.wait().await.is_ok_and(|status| status.success()) };
    match (ended.as_slice(), timeout(STUCK, well).await) {
        ([told], Ok(true)) => Some(outcome(told.clone(), asked)),
        _ => None,
    }
}

/// Ends what a supervisor no longer can: its descendants, and whatever carries
/// the job's mark.
async fn forsaken(child: &mut dyn ChildWrapper, mark: String) {
    let left = Forsaken::of(mark, child.id().map(|id| id as i32));
    let _ = child.start_kill();
    let _ = child.wait().await;
    let end = TokioInstant::now() + STUCK;
    while !left.kill().is_empty() && TokioInstant::now() < end {
        sleep(AGAIN).await;
    }
}

fn outcome(told: Told, stopped: bool) -> (How, Vec<String>) {
    match told {
        Told::NotStarted { error } => (How::NotStarted(error), Vec::new()),
        Told::Ready { .. } | Told::Began | Told::Left => (How::Lost, Vec::new()),
        Told::Ended { left, .. } if stopped => (How::Stopped, left),
        Told::Ended { code: Some(code), left, .. } => (How::Exited(code), left),
        Told::Ended { signal: Some(signal), left, .. } => (How::Signalled(signal), left),
        Told::Ended { left, .. } => (How::Lost, left),
    }
}

/// Without a supervisor: waits for the job, and ends its group.
async fn group(child: &mut dyn ChildWrapper, stop: Stop<'_>) -> (How, Vec<String>) {
    let group = child.id().and_then(|id| Pid::from_raw(id as i32));
    let signal = |signal| group.map(|group| kill_process_group(group, signal));
    let status = tokio::select! {
        status = child.inner_mut().wait() => Some(status),
        () = stop.cancel.cancelled() => None,
    };
    let how = match status {
        Some(status) => status.map_or(How::Lost, how),
        None => {
            signal(Signal::TERM);
            tokio::select! {
                _ = timeout(GRACE, child.inner_mut().wait()) => {}
                () = stop.kill_now.cancelled() => {}
            }
            How::Stopped
        }
    };
    signal(Signal::KILL);
    let _ = timeout(GRACE, child.wait()).await;
    (how, Vec::new())
}

fn how(status: std::process::ExitStatus) -> How {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => How::Exited(code),
        (None, Some(signal)) => How::Signalled(signal),
        (None, None) => How::Lost,
    }
}

/// When reading ends although a pipe is still open.
#[derive(Default)]
struct Ending(tokio::sync::watch::Sender<Option<TokioInstant>>);

impl Ending {
    fn pipes_close_until(&self, instant: TokioInstant) {
        self.0.send_replace(Some(instant));
    }

    /// Returns once that time has come.
    async fn come(&self) {
        let mut until = self.0.subscribe();
        if let Ok(instant) = until.wait_for(Option::is_some).await.map(|it| *it) {
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
    let (mut out, mut err) = (vec![0; BLOCK], vec![0; BLOCK]);
    let (mut out_open, mut err_open) = (true, true);
    let come = end.come();
    tokio::pin!(come);
    while out_open || err_open {
        tokio::select! {
            read = stdout.read(&mut out), if out_open => {
                out_open = take(capture, Stream::Stdout, &out, read);
            }
            read = stderr.read(&mut err), if err_open => {
                err_open = take(capture, Stream::Stderr, &err, read);
            }
            () = &mut come => return true,
        }
    }
    false
}

/// Takes what was read; false: there is no more.
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
