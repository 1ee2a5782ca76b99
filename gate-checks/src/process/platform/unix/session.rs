//! A program in a session of its own, under a supervisor that is linked by a socket.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::descendants;
use super::link::{self, JobReport};
use super::orphaned::{KILL_INTERVAL, MARK, OrphanedJob, new_mark};
use crate::process::order::Order;
use crate::process::session::{Fate, Launch, SessionEnd};

/// Time that a supervisor may need beyond the grace that it gives.
const SUPERVISOR_PATIENCE: Duration = Duration::from_secs(5);

/// Longest wait for a report that the supervisor owes: it starts a process.
const REPORT_TIMEOUT: Duration = Duration::from_secs(30);

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
    /// Bytes from the supervisor that were not yet read as reports.
    received: Vec<u8>,
    grace: Duration,
    /// The program's process, once it has begun.
    pid: Option<i32>,
    /// The end of a program that could not begin.
    end: Option<SessionEnd>,
    /// The program has ended, and processes that it started have not.
    has_leftovers: bool,
    mark: String,
}

impl Launch {
    /// Starts its process, which waits.
    ///
    /// # Errors
    ///
    /// Files that cannot be opened, a supervisor that cannot be started or says
    /// nothing. A program that cannot be started is a [`Fate`].
    pub fn start(&self) -> io::Result<PausedSession> {
        let (link, supervisor_end) = UnixStream::pair()?;
        let argv = self.argv.iter().map(Into::into).collect();
        let order =
            Order { grace: Some(self.grace), stdin: Some(self.stdin.clone()), ..Order::new(argv) };
        let mut command = Command::new(&self.supervisor.program);
        command.args(&self.supervisor.args).args(order.args()).stdin(OwnedFd::from(supervisor_end));
        command.stdout(open_to_append(&self.stdout)?).stderr(open_to_append(&self.stderr)?);
        command.current_dir(&self.folder).env_clear().envs(self.environment.iter().cloned());
        // A group of its own: Ctrl-C at the terminal goes to gate, which ends the session in
        // order.
        command.env("PWD", &self.folder).process_group(0);
        let mark = new_mark();
        command.env(MARK, &mark).envs(descendants::switch());
        let supervisor = command.spawn()?;
        let mut session = Session {
            supervisor,
            link,
            received: Vec::new(),
            grace: self.grace,
            pid: None,
            end: None,
            has_leftovers: false,
            mark,
        };
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

    /// The program itself has ended, and processes that it started have not. They stay until
    /// they end by themselves, or [`Session::end_leftovers`] or [`Session::stop`] ends them.
    pub fn has_leftovers(&self) -> bool {
        self.has_leftovers
    }

    /// The processes of the session; empty on systems without /proc.
    pub fn processes(&self) -> Vec<i32> {
        let supervisor = i32::try_from(self.supervisor.id()).unwrap_or_default();
        descendants::descendants(supervisor).into_iter().map(|process| process.pid).collect()
    }

    /// Ends the processes that the program left running: SIGTERM, a short grace, SIGKILL.
    pub fn end_leftovers(&mut self) {
        // If the supervisor is gone, this fails, and `wait_for` notices.
        let _ = self.link.write_all(&[link::END_LEFT]);
    }

    /// Waits for the end of all processes, at most this long; `None` if they have not ended by then.
    pub fn wait_for(&mut self, timeout: Duration) -> Option<SessionEnd> {
        let deadline = Instant::now() + timeout;
        loop {
            let end = self.end.take().or_else(|| self.reported_end());
            if let Some(end) = end {
                let _ = self.supervisor.wait();
                return Some(end);
            }
            let remaining = deadline.saturating_duration_since(Instant::now());
            if remaining.is_zero() {
                return None;
            }
            if !self.receive(remaining) {
                return Some(SessionEnd { fate: Fate::Lost, leftovers: self.end_orphaned() });
            }
        }
    }

    fn reported_end(&mut self) -> Option<SessionEnd> {
        while let Some(report) = self.take_report() {
            self.has_leftovers |= report == JobReport::Left;
            if let Some(end) = session_end(report) {
                return Some(end);
            }
        }
        None
    }

    /// Ends the processes of a session whose supervisor is gone. Returns their names.
    fn end_orphaned(&mut self) -> Vec<String> {
        let job = OrphanedJob::new(self.mark.clone(), self.pid);
        let _ = self.supervisor.kill();
        let _ = self.supervisor.wait();
        if let Some(group) = self.pid.and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let deadline = Instant::now() + SUPERVISOR_PATIENCE;
        let mut names = BTreeSet::new();
        loop {
            let killed = job.kill();
            if killed.is_empty() || Instant::now() >= deadline {
                return names.into_iter().collect();
            }
            names.extend(killed);
            thread::sleep(KILL_INTERVAL);
        }
    }

    /// Waits for the next report; `None` if the supervisor sends none in time.
    fn next_report(&mut self) -> Option<JobReport> {
        let deadline = Instant::now() + REPORT_TIMEOUT;
        loop {
            let remaining = deadline.saturating_duration_since(Instant::now());
            match self.take_report() {
                None if !remaining.is_zero() && self.receive(remaining) => {}
                report => return report,
            }
        }
    }

    /// Takes the next report from the received lines.
    fn take_report(&mut self) -> Option<JobReport> {
        while let Some(line_end) = self.received.iter().position(|byte| *byte == b'\n') {
            let line: Vec<_> = self.received.drain(..=line_end).collect();
            if let Some(report) = JobReport::parse(&String::from_utf8_lossy(&line)) {
                return Some(report);
            }
        }
        None
    }

    /// Reads from the supervisor, at most this long; false if it is gone.
    fn receive(&mut self, timeout: Duration) -> bool {
        let mut block = [0; 4096];
        if self.link.set_read_timeout(Some(timeout)).is_err() {
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
    let (fate, leftovers) = match report {
        JobReport::NotStarted { error } => (Fate::NotStarted(error), Vec::new()),
        JobReport::Ended { code: Some(code), leftovers, .. } => (Fate::Exited(code), leftovers),
        JobReport::Ended { signal: Some(signal), leftovers, .. } => {
            (Fate::Signalled(signal), leftovers)
        }
        JobReport::Ended { leftovers, .. } => (Fate::Lost, leftovers),
        // A session has no such limit.
        JobReport::OverMemory { .. } => (Fate::Lost, Vec::new()),
        JobReport::Ready { .. } | JobReport::Began | JobReport::Left => return None,
    };
    Some(SessionEnd { fate, leftovers })
}

/// Opens a file to append to it, and makes it if necessary.
fn open_to_append(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).mode(0o644).open(path)
}

#[cfg(test)]
mod tests;
