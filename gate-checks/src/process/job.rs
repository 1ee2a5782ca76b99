//! One job: a program that is run once, and what came of it.

use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use gate_report::Stream;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::{Instant as TokioInstant, sleep_until};

use super::capture::Capture;
use super::platform::RunningJob;
use super::{Confinement, Supervisor};
use crate::cancellation::Cancellation;

/// Bytes that are read from a pipe at once.
const BLOCK_BYTES: usize = 64 * 1024;

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
    #[cfg_attr(windows, expect(dead_code, reason = "Windows has no signals"))]
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

/// The job's processes, once all of them have ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct EndedProcesses {
    pub(super) end: JobEnd,
    /// Names of the processes that the program left running.
    pub(super) leftovers: Vec<String>,
}

impl From<JobEnd> for EndedProcesses {
    /// An end that left nothing running, as far as it is known.
    fn from(end: JobEnd) -> Self {
        Self { end, leftovers: Vec::new() }
    }
}

/// The time at which reading ends although a pipe is still open. It is not known before the job's
/// processes have ended.
#[derive(Default)]
pub(super) struct ReadDeadline(tokio::sync::watch::Sender<Option<TokioInstant>>);

impl ReadDeadline {
    pub(super) fn set(&self, deadline: TokioInstant) {
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
pub(super) async fn read_all(
    mut stdout: impl AsyncRead + Unpin,
    mut stderr: impl AsyncRead + Unpin,
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
pub(super) fn take_block(
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
