//! A program that runs for long, such as an agent, in a session of its own with its output
//! in files.
//!
//! The supervisor has the files open, not gate: output is there even if gate is killed,
//! and no flood of it goes through gate.
//!
//! ```text
//! Launch::start    PausedSession         Session
//!  supervisor  ->   its pid is known  ->  begin() execs the program
//! ```
//!
//! The caller records the pid of a paused program before it begins: whoever finds the
//! record after a crash knows the process, and no program runs that nobody recorded.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::Supervisor;
use super::link::{self, JobReport};
use super::orphaned::{KILL_INTERVAL, MARK, OrphanedJob, mark};
use super::supervise::Order;
use super::system;

/// Time that a supervisor may need beyond the grace that it gives.
const SUPERVISOR_PATIENCE: Duration = Duration::from_secs(5);

/// Longest wait for a report that the supervisor owes: it starts a process.
const REPORT_TIMEOUT: Duration = Duration::from_secs(30);

/// A program that is to run in a session of its own.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Its working folder.
    pub folder: PathBuf,
    /// All of its environment.
    pub environment: Vec<(String, String)>,
    /// The file that is its standard input.
    pub stdin: PathBuf,
    /// File that its standard output is appended to.
    pub stdout: PathBuf,
    /// File that its standard error is appended to.
    pub stderr: PathBuf,
    /// Ends the program with its descendants.
    pub supervisor: Supervisor,
    /// Time between SIGTERM and SIGKILL for its processes.
    pub grace: Duration,
}

/// A process that waits to become the program. Dropped, it ends.
#[derive(Debug)]
pub struct PausedSession {
    session: Session,
    pid: i32,
}

/// A program that runs in a session of its own. Dropped, it is ended.
#[derive(Debug)]
pub struct Session {
    supervisor: Child,
    link: UnixStream,
    received: Vec<u8>,
    grace: Duration,
    /// The program's process, once it has begun.
    pid: Option<i32>,
    /// The end of a program that could not begin.
    end: Option<SessionEnd>,
    /// The program has ended, and processes that it started have not.
    is_left: bool,
    mark: String,
}

/// The end of a session: no process of it is left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionEnd {
    /// The end of the program itself.
    pub fate: Fate,
    /// Names of processes that it left running, and that were ended.
    pub left: Vec<String>,
}

/// The end of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It exited with this code.
    Exited(i32),
    /// This signal ended it.
    Signalled(i32),
    /// It could not be started.
    NotStarted(String),
    /// Not known: its supervisor was killed.
    Lost,
}

impl Launch {
    /// Starts its process, which waits.
    ///
    /// # Errors
    ///
    /// Files that cannot be opened, a supervisor that cannot be started or says
    /// nothing. A program that cannot be started is a [`Fate`].
    pub fn start(&self) -> io::Result<PausedSession> {
        let (link, theirs) = UnixStream::pair()?;
        let argv = self.argv.iter().map(Into::into).collect();
        let order =
            Order { grace: Some(self.grace), stdin: Some(self.stdin.clone()), ..Order::new(argv) };
        let mut command = Command::new(&self.supervisor.program);
        command.args(&self.supervisor.args).args(order.args()).stdin(OwnedFd::from(theirs));
        command.stdout(appended(&self.stdout)?).stderr(appended(&self.stderr)?);
        command.current_dir(&self.folder).env_clear().envs(self.environment.iter().cloned());
        // A group of its own: Ctrl-C at the terminal goes to gate, which ends the session in
        // order.
        command.env("PWD", &self.folder).process_group(0);
        let mark = mark();
        command.env(MARK, &mark);
        let supervisor = command.spawn()?;
        let (received, grace) = (Vec::new(), self.grace);
        let (pid, end, is_left) = (None, None, false);
        let mut session = Session { supervisor, link, received, grace, pid, end, is_left, mark };
        match session.next_report() {
            Some(JobReport::Ready { pid }) => Ok(PausedSession { session, pid }),
            Some(JobReport::NotStarted { error }) => Err(io::Error::other(error)),
            _ => Err(io::Error::new(io::ErrorKind::TimedOut, "its supervisor says nothing")),
        }
    }
}

impl PausedSession {
    /// The process that will be the program, and leads its session and its group.
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// Begins the program.
    pub fn begin(self) -> Session {
        let Self { mut session, pid } = self;
        // If the supervisor is gone, this fails, and `wait_for` notices.
        let _ = session.link.write_all(&[link::BEGIN]);
        let report = session.next_report();
        // Without a report the program may run all the same.
        let is_started = !matches!(report, Some(JobReport::NotStarted { .. }));
        session.pid = is_started.then_some(pid);
        session.end = report.and_then(session_end);
        session
    }
}

impl Session {
    /// Process of the program; `None` if it could not be started.
    pub fn pid(&self) -> Option<i32> {
        self.pid
    }

    /// Begins to end the session: SIGTERM to the program's group and all its descendants,
    /// SIGKILL after the grace. [`Session::wait_for`] waits for the end.
    pub fn stop(&mut self) {
        // If the supervisor is gone, this fails, and `wait_for` notices.
        let _ = self.link.write_all(&[link::END]);
    }

    /// True if the program itself has ended, and processes that it started have not. They
    /// stay until they end by themselves, or [`Session::end_left`] or
    /// [`Session::stop`] ends them.
    pub fn is_left(&self) -> bool {
        self.is_left
    }

    /// Its processes; empty on systems without /proc.
    pub fn processes(&self) -> Vec<i32> {
        let supervisor = i32::try_from(self.supervisor.id()).unwrap_or_default();
        system::descendants(supervisor).into_iter().map(|process| process.pid).collect()
    }

    /// Ends the processes that the program left running: SIGTERM, a short grace, SIGKILL.
    pub fn end_left(&mut self) {
        // If the supervisor is gone, this fails, and `wait_for` notices.
        let _ = self.link.write_all(&[link::END_LEFT]);
    }

    /// Waits for the end of all its processes, at most this long.
    pub fn wait_for(&mut self, time: Duration) -> Option<SessionEnd> {
        let until = Instant::now() + time;
        loop {
            let end = self.end.take().or_else(|| self.reported_end());
            if let Some(end) = end {
                let _ = self.supervisor.wait();
                return Some(end);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            if !self.receive(left) {
                return Some(SessionEnd { fate: Fate::Lost, left: self.end_orphaned() });
            }
        }
    }

    fn reported_end(&mut self) -> Option<SessionEnd> {
        while let Some(report) = self.take_report() {
            self.is_left |= report == JobReport::Left;
            if let Some(end) = session_end(report) {
                return Some(end);
            }
        }
        None
    }

    /// Ends the processes of a session whose supervisor is gone. Returns their names.
    fn end_orphaned(&mut self) -> Vec<String> {
        let found = OrphanedJob::new(self.mark.clone(), self.pid);
        let _ = self.supervisor.kill();
        let _ = self.supervisor.wait();
        if let Some(group) = self.pid.and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let until = Instant::now() + SUPERVISOR_PATIENCE;
        let mut left = BTreeSet::new();
        loop {
            let killed = found.kill();
            if killed.is_empty() || Instant::now() >= until {
                return left.into_iter().collect();
            }
            left.extend(killed);
            thread::sleep(KILL_INTERVAL);
        }
    }

    /// Waits for the next report; `None` if the supervisor sends none in time.
    fn next_report(&mut self) -> Option<JobReport> {
        let until = Instant::now() + REPORT_TIMEOUT;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.take_report() {
                None if !left.is_zero() && self.receive(left) => {}
                report => return report,
            }
        }
    }

    /// Takes the next report from the received lines.
    fn take_report(&mut self) -> Option<JobReport> {
        while let Some(end) = self.received.iter().position(|byte| *byte == b'\n') {
            let line: Vec<_> = self.received.drain(..=end).collect();
            if let Some(report) = JobReport::parse(&String::from_utf8_lossy(&line)) {
                return Some(report);
            }
        }
        None
    }

    /// Reads from the supervisor, at most this long; false if it is gone.
    fn receive(&mut self, time: Duration) -> bool {
        let mut block = [0; 4096];
        if self.link.set_read_timeout(Some(time)).is_err() {
            return false;
        }
        match self.link.read(&mut block) {
            Ok(0) => false,
            Ok(length) => {
                self.received.extend_from_slice(&block[..length]);
                true
            }
            Err(error) => matches!(
                error.kind(),
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
            ),
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if self.supervisor.try_wait().is_ok_and(|ended| ended.is_none()) {
            self.stop();
            self.wait_for(self.grace + SUPERVISOR_PATIENCE);
        }
    }
}

/// The end of a session, if the report is about one.
fn session_end(report: JobReport) -> Option<SessionEnd> {
    let (fate, left) = match report {
        JobReport::NotStarted { error } => (Fate::NotStarted(error), Vec::new()),
        JobReport::Ended { code: Some(code), left, .. } => (Fate::Exited(code), left),
        JobReport::Ended { signal: Some(signal), left, .. } => (Fate::Signalled(signal), left),
        JobReport::Ended { left, .. } => (Fate::Lost, left),
        // A session has no such limit.
        JobReport::OverMemory { .. } => (Fate::Lost, Vec::new()),
        JobReport::Ready { .. } | JobReport::Began | JobReport::Left => return None,
    };
    Some(SessionEnd { fate, left })
}

/// Opens a file to append to it, and makes it if necessary.
fn appended(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).mode(0o644).open(path)
}

#[cfg(test)]
mod tests;
