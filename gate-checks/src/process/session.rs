//! A program that runs for long, such as an agent: in a session of its own, with
//! its output in files, until it ends or is ended with all that it has started.
//!
//! The supervisor holds the files, not gate: what is printed is there also when
//! gate is killed, and no flood has to go through it.

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
use super::forsaken::{AGAIN, Forsaken, MARK, mark};
use super::link::{self, Told};
use super::supervise::Order;

/// How much longer than its grace a supervisor may take.
const STUCK: Duration = Duration::from_secs(5);

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
    /// Where its standard output is appended.
    pub stdout: PathBuf,
    /// Where its standard error is appended.
    pub stderr: PathBuf,
    /// What ends it with its descendants.
    pub supervisor: Supervisor,
    /// How long its processes have to end after SIGTERM, before SIGKILL.
    pub grace: Duration,
}

/// A program that runs in a session of its own. Dropped, it is ended.
#[derive(Debug)]
pub struct Session {
    supervisor: Child,
    link: UnixStream,
    heard: Vec<u8>,
    grace: Duration,
    /// The program's process, which leads its session and its group.
    pid: Option<i32>,
    mark: String,
}

/// How a session ended: nothing of it is left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Over {
    /// What became of the program itself.
    pub fate: Fate,
    /// Names of processes that it left running, and that were ended.
    pub left: Vec<String>,
}

/// What became of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It exited with this code.
    Exited(i32),
    /// This signal ended it.
    Signalled(i32),
    /// It could not be started.
    NotStarted(String),
    /// Nobody can say: its supervisor was killed.
    Lost,
}

impl Launch {
    /// Starts it.
    ///
    /// # Errors
    ///
    /// Files that cannot be opened, a supervisor that cannot be started. A
    /// program that cannot be started is a [`Fate`].
    pub fn start(&self) -> io::Result<Session> {
        let (link, theirs) = UnixStream::pair()?;
        let argv = self.argv.iter().map(Into::into).collect();
        let order = Order { grace: Some(self.grace), stdin: Some(self.stdin.clone()), argv };
        let mut command = Command::new(&self.supervisor.program);
        command.args(&self.supervisor.args).args(order.args()).stdin(OwnedFd::from(theirs));
        command.stdout(appended(&self.stdout)?).stderr(appended(&self.stderr)?);
        command.current_dir(&self.folder).env_clear().envs(self.environment.iter().cloned());
        // A key at the person's terminal is gate's to hear, not the supervisor's.
        command.env("PWD", &self.folder).process_group(0);
        let mark = mark();
        command.env(MARK, &mark);
        let supervisor = command.spawn()?;
        let (heard, grace) = (Vec::new(), self.grace);
        let mut session = Session { supervisor, link, heard, grace, pid: None, mark };
        // Its first word says that the program runs, and as which process.
        let until = Instant::now() + STUCK;
        while !session.heard.contains(&b'\n') && Instant::now() < until && session.hears(STUCK) {}
        session.started();
        Ok(session)
    }
}

impl Session {
    /// The program's process, as soon as it is known.
    pub fn pid(&self) -> Option<i32> {
        self.pid
    }

    /// Ends it: SIGTERM to its group and all that it has started, then SIGKILL
    /// when its grace is over. [`Session::wait_for`] tells when that is done.
    pub fn stop(&mut self) {
        // Where nobody listens, the end is told all the same.
        let _ = self.link.write_all(&[link::END]);
    }

    /// Waits so long for the end.
    pub fn wait_for(&mut self, time: Duration) -> Option<Over> {
        let until = Instant::now() + time;
        loop {
            if let Some(over) = self.told() {
                let _ = self.supervisor.wait();
                return Some(over);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            if !self.hears(left) {
                return Some(Over { fate: Fate::Lost, left: self.forsaken() });
            }
        }
    }

    /// Ends what the supervisor no longer can, and names it.
    fn forsaken(&mut self) -> Vec<String> {
        let found = Forsaken::of(self.mark.clone(), self.pid);
        let _ = self.supervisor.kill();
        let _ = self.supervisor.wait();
        if let Some(group) = self.pid.and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let until = Instant::now() + STUCK;
        let mut left = BTreeSet::new();
        loop {
            let killed = found.kill();
            if killed.is_empty() || Instant::now() >= until {
                return left.into_iter().collect();
            }
            left.extend(killed);
            thread::sleep(AGAIN);
        }
    }

    /// Takes the supervisor's word that the program runs, if it is the first.
    fn started(&mut self) {
        let Some(end) = self.heard.iter().position(|byte| *byte == b'\n') else { return };
        let line = String::from_utf8_lossy(&self.heard[..=end]).into_owned();
        if let Some(Told::Started { pid }) = Told::parse(&line) {
            self.pid = Some(pid);
            self.heard.drain(..=end);
        }
    }

    /// Takes what the supervisor has said; the last word is the end.
    fn told(&mut self) -> Option<Over> {
        while let Some(end) = self.heard.iter().position(|byte| *byte == b'\n') {
            let line: Vec<_> = self.heard.drain(..=end).collect();
            match Told::parse(&String::from_utf8_lossy(&line)) {
                Some(Told::NotStarted { error }) => {
                    return Some(Over { fate: Fate::NotStarted(error), left: Vec::new() });
                }
                Some(Told::Ended { code, signal, left }) => {
                    let fate = match (code, signal) {
                        (Some(code), _) => Fate::Exited(code),
                        (None, Some(signal)) => Fate::Signalled(signal),
                        (None, None) => Fate::Lost,
                    };
                    return Some(Over { fate, left });
                }
                Some(Told::Started { .. }) | None => {}
            }
        }
        None
    }

    /// Listens to the supervisor, at most so long; false: it is gone.
    fn hears(&mut self, time: Duration) -> bool {
        let mut block = [0; 4096];
        if self.link.set_read_timeout(Some(time)).is_err() {
            return false;
        }
        match self.link.read(&mut block) {
            Ok(0) => false,
            Ok(length) => {
                self.heard.extend_from_slice(&block[..length]);
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
            self.wait_for(self.grace + STUCK);
        }
    }
}

/// A file that is appended to, made where it is not there.
fn appended(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).mode(0o644).open(path)
}
