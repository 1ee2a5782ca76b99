//! The supervisor: starts one job, ends it with all its descendants, and reports the
//! result.
//!
//! gate runs each job under a small process of its own, for three reasons:
//!
//! * A process can leave its group (`setsid`) and its parent (a double fork). Then neither
//!   a signal to the group nor a walk down from the job finds it. The supervisor is a
//!   *subreaper*: the kernel gives it every descendant that lost its parent, so all of
//!   them stay below it.
//! * If gate is killed, its end of the socket closes, and the supervisor still ends the
//!   job. Without a supervisor a killed gate would leave tests or an agent running.
//! * A subreaper has to reap every child. In gate itself that would take the exit codes
//!   of other children, such as git, from whoever waits for them.
//!
//! ```text
//! gate ── socket ── supervisor          (subreaper; own process group)
//!                      ├── job          (leads a session and a group)
//!                      │    └── …       (the job's group)
//!                      └── orphans      (left the group; reparented here)
//! ```
//!
//! The order of the end: the job ends, or gate asks for its end; SIGTERM to the group and
//! to every descendant outside of it, each once; a grace; SIGKILL to all, again and again,
//! since a process may fork between two looks; the report, once no child is left.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use process_wrap::std::{CommandWrap, ProcessSession};
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, kill_process, kill_process_group, wait,
};
use signal_hook::consts::SIGTERM;
use signal_hook::flag;

use super::confine::confine;
use super::link::{BEGIN, END_LEFT, JobReport, KILL_NOW};
use super::paused::{self, PausedChild};
use super::{LEFT_BEHIND_GRACE, command, descendants};
use crate::process::order::Order;
use crate::process::system::{self, ProcessStat};
use crate::process::{AFTERLIFE, GRACE};

/// Time between two rounds of SIGKILL: meanwhile a process may have started another.
const KILL_INTERVAL: Duration = Duration::from_millis(20);

/// Time between two looks at the memory of the job's processes.
const MEMORY_POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Time until a second look, once the memory is above the limit.
const MEMORY_CONFIRM_INTERVAL: Duration = Duration::from_millis(20);

/// Added to the nice value of a job with low priority. 5 leaves the job a quarter of a processor
/// that another program wants too; alone, the job gets all of it.
const NICE_STEP: i32 = 5;

/// Runs as a supervisor. `supervisor` is the program with [`Supervisor::args`](crate::process::Supervisor::args),
/// `args` are the arguments behind them, and the standard input is the socket to gate. Returns the
/// exit code for the program: 0, or 2 if another program than gate-checks called it.
///
/// Call it in a process that does nothing else: it makes the process a subreaper and ends
/// all its children, or replaces the process by another program.
pub fn supervise(supervisor: &[OsString], args: &[OsString]) -> u8 {
    if let Some(order) = paused::paused_order(args) {
        return Order::parse(order).map_or(2, |order| paused::become_program(&order));
    }
    let link = io::stdin().as_fd().try_clone_to_owned().map(UnixStream::from);
    let (Some(order), Ok(mut link)) = (Order::parse(args), link) else { return 2 };
    let report = match Supervision::begin(supervisor, &order, &link) {
        Ok(supervision) => supervision.run(),
        Err(error) => JobReport::NotStarted { error: error.to_string() },
    };
    // If gate is gone, this fails; the job has ended all the same.
    let _ = writeln!(link, "{}", report.to_line());
    0
}

/// An event while a job runs.
#[derive(Clone, Copy, Debug)]
enum JobEvent {
    /// A child of this process ended.
    Reaped(Pid, WaitStatus),
    /// No child is left.
    NoneLeft,
    /// gate ends the job with this grace, or is gone.
    Stop(Duration),
    /// The processes use more memory than this, in bytes.
    OverMemory(u64),
}

struct Supervision {
    job: Pid,
    /// Socket for reports of processes that the job leaves running. `None` if they are
    /// ended without a report.
    leftover_link: Option<UnixStream>,
    events: Receiver<JobEvent>,
    status: Option<WaitStatus>,
    /// Grace of the job, once gate ends it; the shortest, after several requests.
    stop_grace: Option<Duration>,
    /// No process of the job is left.
    is_empty: bool,
    /// Names of the processes that outlived the job.
    leftovers: BTreeSet<String>,
    /// The limit of memory, once it ended the job.
    memory_limit: Option<u64>,
}

impl Supervision {
    fn begin(supervisor: &[OsString], order: &Order, link: &UnixStream) -> io::Result<Self> {
        // First: a process that is not dumpable cannot write its own maps of users.
        if let Some(confinement) = &order.confinement {
            confine(confinement)?;
        }
        descendants::become_subreaper();
        survive_sigterm()?;
        if order.is_low_priority {
            lower_priority();
        }
        let (job, leftover_link) = match order.grace {
            Some(_) => (start_paused(supervisor, order, link)?, Some(link.try_clone()?)),
            None => (start_job(order)?, None),
        };
        if order.is_low_priority {
            lower_session_priority(job);
        }
        let (sender, events) = mpsc::channel();
        let reader = link.try_clone()?;
        let (stop_sender, memory_sender) = (sender.clone(), sender.clone());
        // Threads, since `wait` and `read` block. They only send events: all decisions are
        // made in `run`, one event after another.
        thread::spawn(move || reap(&sender));
        let grace = order.grace.unwrap_or(GRACE);
        thread::spawn(move || listen(reader, grace, &stop_sender));
        if let Some(limit) = order.memory {
            thread::spawn(move || watch_memory(limit, &memory_sender));
        }
        Ok(Self {
            job,
            leftover_link,
            events,
            status: None,
            stop_grace: None,
            is_empty: false,
            leftovers: BTreeSet::new(),
            memory_limit: None,
        })
    }

    /// Waits for the job, and ends all processes that are left of it. It returns once no
    /// child is left: a process that starts others faster than they are found delays it,
    /// until the patience of gate ends.
    fn run(mut self) -> JobReport {
        if self.wait_for_job() && !self.wait_until_empty(AFTERLIFE) {
            self.wait_for_leftovers();
            self.leftovers = self.living().into_iter().map(|process| process.name).collect();
        }
        let grace = self.stop_grace.unwrap_or(LEFT_BEHIND_GRACE);
        // SIGTERM once, then SIGKILL until nothing is left: one round is not enough, since
        // a process may fork after the list of processes was read.
        let (mut signal, mut pause) = (Signal::TERM, grace);
        while self.signal_all(signal) {
            self.wait_until_empty(pause);
            (signal, pause) = (Signal::KILL, KILL_INTERVAL);
        }
        if let Some(limit) = self.memory_limit {
            return JobReport::OverMemory { limit };
        }
        let status = self.status;
        JobReport::Ended {
            code: status.and_then(WaitStatus::exit_status),
            signal: status.and_then(WaitStatus::terminating_signal),
            leftovers: self.leftovers.into_iter().collect(),
        }
    }

    /// Waits until the job itself has ended (true), or gate ends it (false).
    fn wait_for_job(&mut self) -> bool {
        while self.status.is_none() && self.stop_grace.is_none() {
            match self.events.recv() {
                Ok(event) => self.note(event),
                Err(_) => return false,
            }
        }
        self.stop_grace.is_none()
    }

    /// Reports processes that outlive the job, and waits until they end by themselves or
    /// gate ends them.
    fn wait_for_leftovers(&mut self) {
        let Some(link) = &mut self.leftover_link else { return };
        if writeln!(link, "{}", JobReport::Left.to_line()).is_err() {
            return;
        }
        while !self.is_empty && self.stop_grace.is_none() {
            match self.events.recv() {
                Ok(event) => self.note(event),
                Err(_) => return,
            }
        }
    }

    /// Waits until no child is left (true), at most this long (false).
    fn wait_until_empty(&mut self, timeout: Duration) -> bool {
        let deadline = Instant::now() + timeout;
        while !self.is_empty {
            // A request to kill shortens a wait that has begun.
            let longest = if self.has_no_grace() { KILL_INTERVAL } else { timeout };
            let wait = deadline.saturating_duration_since(Instant::now()).min(longest);
            match self.events.recv_timeout(wait) {
                Ok(event) => self.note(event),
                Err(RecvTimeoutError::Timeout) => return false,
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        true
    }

    fn note(&mut self, event: JobEvent) {
        match event {
            JobEvent::Reaped(pid, status) if pid == self.job => self.status = Some(status),
            JobEvent::Reaped(..) => {}
            JobEvent::NoneLeft => self.is_empty = true,
            JobEvent::Stop(grace) => {
                self.stop_grace = self.stop_grace.min(Some(grace)).or(Some(grace));
            }
            // What is left of a job that has ended is ended in any case.
            JobEvent::OverMemory(limit) => {
                if self.status.is_none() {
                    self.memory_limit = Some(limit);
                    self.stop_grace = Some(Duration::ZERO);
                }
            }
        }
    }

    fn has_no_grace(&self) -> bool {
        self.stop_grace == Some(Duration::ZERO)
    }

    fn living(&self) -> Vec<ProcessStat> {
        descendants::descendants(std::process::id() as i32)
    }

    /// Signals the job's group and every descendant outside of it. Returns false if there is
    /// no process left.
    ///
    /// Each process gets a signal once, since many programs take a second SIGTERM as an
    /// order to quit without cleaning up.
    fn signal_all(&self, signal: Signal) -> bool {
        // A subreaper without children has no descendants either: it adopts those that lost
        // their parent.
        if self.is_empty && system::has_proc() {
            // All children are reaped, so their numbers are free: the group's may already
            // belong to a group of another program.
            return false;
        }
        let has_group = kill_process_group(self.job, signal).is_ok();
        let living = self.living();
        for process in &living {
            let is_signalled = has_group && process.group == self.job.as_raw_nonzero().get();
            if !is_signalled && let Some(pid) = Pid::from_raw(process.pid) {
                // It may have ended since.
                let _ = kill_process(pid, signal);
            }
        }
        has_group || !living.is_empty() || !self.is_empty
    }
}

fn start_job(order: &Order) -> io::Result<Pid> {
    let child = CommandWrap::from(command(order)?).wrap(ProcessSession).spawn()?;
    Pid::from_raw(child.id() as i32).ok_or_else(|| io::Error::other("the job has no number"))
}

/// Reports the process of the job, and starts the job at [`BEGIN`]. gate records the
/// process in between, so that a crash of gate never leaves an unknown agent behind.
fn start_paused(supervisor: &[OsString], order: &Order, mut link: &UnixStream) -> io::Result<Pid> {
    let child = PausedChild::start(supervisor, order)?;
    writeln!(link, "{}", JobReport::Ready { pid: child.pid.as_raw_nonzero().get() }.to_line())?;
    let mut request = [0];
    link.read_exact(&mut request)?;
    if request != [BEGIN] {
        return Err(io::Error::other("it was ended before it began"));
    }
    let job = child.begin()?;
    // If gate is gone, this fails; `listen` notices, and ends the job.
    let _ = writeln!(link, "{}", JobReport::Began.to_line());
    Ok(job)
}

/// Reaps children until none is left, adopted ones too.
fn reap(sender: &Sender<JobEvent>) {
    loop {
        let event = match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) => JobEvent::Reaped(pid, status),
            Ok(None) => continue,
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => JobEvent::NoneLeft,
        };
        let is_last = matches!(event, JobEvent::NoneLeft);
        if sender.send(event).is_err() || is_last {
            return;
        }
    }
}

/// Reports once that the processes below this one use more memory than the limit, in bytes.
///
/// A look from outside, since no limit of the system fits: that of address space (`RLIMIT_AS`)
/// stops Node, Go and Java at the start, `RLIMIT_DATA` holds for each process alone, and a
/// cgroup needs rights that most users do not have.
fn watch_memory(limit: u64, sender: &Sender<JobEvent>) {
    loop {
        if is_over_memory(limit) {
            // While processes end, what they share may count twice.
            thread::sleep(MEMORY_CONFIRM_INTERVAL);
            if is_over_memory(limit) {
                break;
            }
        }
        thread::sleep(MEMORY_POLL_INTERVAL);
    }
    // If the job has ended, nobody needs it.
    let _ = sender.send(JobEvent::OverMemory(limit));
}

fn is_over_memory(limit: u64) -> bool {
    descendants::are_over_memory(&descendants::descendants(std::process::id() as i32), limit)
}

/// Lowers the priority of this process, and by that of all that it starts from now on. Relative,
/// so that a gate below a gate does not get back what the outer one took. If it fails, the job
/// competes with others for the processor, and nothing else changes.
fn lower_priority() {
    let _ = rustix::process::nice(NICE_STEP);
}

/// Lowers the priority of the job's session. Where the kernel groups processes by session
/// (autogroup, sched(7)), nice values only count within one, and the job leads one of its own.
fn lower_session_priority(job: Pid) {
    let file = format!("/proc/{}/autogroup", job.as_raw_nonzero());
    let _ = fs::write(file, NICE_STEP.to_string());
}

/// Reads requests of gate. The end of the stream means that gate is gone: that ends the
/// job too.
fn listen(mut link: UnixStream, grace: Duration, sender: &Sender<JobEvent>) {
    let mut request = [0];
    loop {
        let (stop_grace, is_connected) = match link.read(&mut request) {
            Ok(1..) if request == [KILL_NOW] => (Duration::ZERO, true),
            Ok(1..) if request == [END_LEFT] => (LEFT_BEHIND_GRACE, true),
            Ok(1..) => (grace, true),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Ok(0) | Err(_) => (grace, false),
        };
        if sender.send(JobEvent::Stop(stop_grace)).is_err() || !is_connected {
            return;
        }
    }
}

/// Survives SIGTERM. An outer supervisor sends it to all processes below, this supervisor
/// and its gate too. The supervisor must not end before its job; its gate ends the job in
/// order, and its end ends the supervisor. A handler instead of an ignored signal, since
/// the job would inherit that.
fn survive_sigterm() -> io::Result<()> {
    flag::register(SIGTERM, Arc::default()).map(drop)
}

#[cfg(test)]
mod tests;
