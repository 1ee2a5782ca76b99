//! A job in a job object.

use std::io;
use std::os::windows::process::CommandExt;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStderr, ChildStdout, Command};
use tokio::time::{Instant, interval, sleep, timeout};

use super::job_object::{JobObject, names};
use super::{MARK, holder, program};
use crate::cancellation::Cancellation;
use crate::process::capture::Capture;
use crate::process::job::{EndedProcesses, Job, JobEnd, ReadDeadline, read_all};
use crate::process::order::Order;
use crate::process::{AFTERLIFE, GRACE, OPEN_PIPE_PATIENCE};

/// Time between two looks at the processes that a job left running.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Time between two looks at the memory of the job's processes.
const MEMORY_POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Flag of a new process: Ctrl-C at the console goes to gate, which ends the job.
const CREATE_NEW_PROCESS_GROUP: u32 = 0x0000_0200;

/// Flag of a new process, which its own inherit: others get the processor first.
const BELOW_NORMAL_PRIORITY_CLASS: u32 = 0x0000_4000;

/// A job that runs.
pub(in crate::process) struct RunningJob {
    child: Child,
    object: JobObject,
    stdout: ChildStdout,
    stderr: ChildStderr,
    memory: Option<u64>,
}

impl RunningJob {
    pub(in crate::process) fn start(job: &Job) -> io::Result<Self> {
        if job.confinement.is_some() {
            return Err(io::Error::other("this system cannot confine a program"));
        }
        let argv = program::resolved(&job.argv, &job.environment, &job.folder)?;
        let object = JobObject::new()?;
        let order = Order { stdin: job.stdin.clone(), ..Order::new(argv) };
        let mut command = match &job.supervisor {
            Some(supervisor) => holder::command(supervisor, &order),
            None => {
                let mut command = program::command(&order.argv);
                command.stdin(order.stdin()?);
                command
            }
        };
        let priority = if job.is_low_priority { BELOW_NORMAL_PRIORITY_CLASS } else { 0 };
        command.creation_flags(CREATE_NEW_PROCESS_GROUP | priority);
        command.current_dir(&job.folder).env_clear().envs(job.environment.iter().cloned());
        command.env(MARK, "1").stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = Command::from(command).kill_on_drop(true).spawn()?;
        // A program without a holder may have started others before.
        match child.raw_handle() {
            Some(handle) => object.add(handle as isize)?,
            None => return Err(io::Error::other("the job has ended")),
        }
        let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(io::Error::other("the job has no output"));
        };
        Ok(Self { child, object, stdout, stderr, memory: job.memory })
    }

    /// Waits for the job's end and its output. The flag says that a pipe was still open.
    pub(in crate::process) async fn finish(
        self,
        capture: &mut Capture,
        cancel: &Cancellation,
    ) -> (EndedProcesses, bool) {
        let Self { child, object, stdout, stderr, memory } = self;
        let read_deadline = ReadDeadline::default();
        let output = read_all(stdout, stderr, capture, &read_deadline);
        let processes = async {
            let ended = end(child, object, memory, cancel).await;
            read_deadline.set(Instant::now() + OPEN_PIPE_PATIENCE);
            ended
        };
        tokio::join!(processes, output)
    }
}

/// Waits for the program, and ends all that is left of the job.
async fn end(
    mut child: Child,
    object: JobObject,
    memory: Option<u64>,
    cancel: &Cancellation,
) -> EndedProcesses {
    let id = child.id();
    if let Some(mut stdin) = child.stdin.take()
        && stdin.write_all(&[holder::BEGIN]).await.is_err()
    {
        return JobEnd::Lost.into();
    }
    let mut looks = interval(MEMORY_POLL_INTERVAL);
    let job_end = loop {
        tokio::select! {
            status = child.wait() => break match status.ok().and_then(|status| status.code()) {
                Some(code) => JobEnd::Exited(code),
                None => JobEnd::Lost,
            },
            () = cancel.cancelled() => break JobEnd::Stopped,
            _ = looks.tick(), if memory.is_some() => {
                if let Some(limit) = memory && object.memory() > limit {
                    break JobEnd::OverMemory(limit);
                }
            }
        }
    };
    let mut leftovers = Vec::new();
    if let JobEnd::Exited(_) = job_end {
        let deadline = Instant::now() + AFTERLIFE;
        let mut left = object.processes_but(id);
        while !left.is_empty() && Instant::now() < deadline {
            sleep(POLL_INTERVAL).await;
            left = object.processes_but(id);
        }
        leftovers = names(&left);
    }
    // The system ends what is left.
    drop(object);
    let _ = timeout(GRACE, child.wait()).await;
    EndedProcesses { end: job_end, leftovers }
}
