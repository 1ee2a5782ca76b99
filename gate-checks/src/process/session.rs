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
use super::system;

/// How much longer than its grace a supervisor may take.
const STUCK: Duration = Duration::from_secs(5);

/// How long a supervisor may take for a word that it owes: it starts a process.
const SILENT: Duration = Duration::from_secs(30);

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

/// A program that is there and waits for the word to begin. Dropped, it never does.
#[derive(Debug)]
pub struct Waiting {
    session: Session,
    pid: i32,
}

/// A program that runs in a session of its own. Dropped, it is ended.
#[derive(Debug)]
pub struct Session {
    supervisor: Child,
    link: UnixStream,
    heard: Vec<u8>,
    grace: Duration,
    /// The program's process, once it has begun.
    pid: Option<i32>,
    /// How it ended, where it could not begin.
    over: Option<Over>,
    /// Whether the program has ended and processes that it started have not.
    is_left: bool,
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
    /// Starts its process, which waits.
    ///
    /// # Errors
    ///
    /// Files that cannot be opened, a supervisor that cannot be started or says
    /// nothing. A program that cannot be started is a [`Fate`].
    pub fn start(&self) -> io::Result<Waiting> {
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
        let (pid, over, is_left) = (None, None, false);
        let mut session = Session { supervisor, link, heard, grace, pid, over, is_left, mark };
        match session.next_word() {
            Some(Told::Ready { pid }) => Ok(Waiting { session, pid }),
            Some(Told::NotStarted { error }) => Err(io::Error::other(error)),
            _ => Err(io::Error::new(io::ErrorKind::TimedOut, "its supervisor says nothing")),
        }
    }
}

impl Waiting {
    /// The process that will be the program, and leads its session and its group.
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// Lets it begin.
    pub fn begin(self) -> Session {
        let Self { mut session, pid } = self;
        // Where nobody listens, the end is told all the same.
        let _ = session.link.write_all(&[link::BEGIN]);
        let told = session.next_word();
        // Where nothing is told, the program may run all the same.
        session.pid = (!matches!(told, Some(Told::NotStarted { .. }))).then_some(pid);
        session.over = told.and_then(over);
        session
    }
}

impl Session {
    /// The program's process; none where it could not be started.
    pub fn pid(&self) -> Option<i32> {
        self.pid
    }

    /// Ends it: SIGTERM to its group and all that it has started, then SIGKILL
    /// when its grace is over. [`Session::wait_for`] tells when that is done.
    pub fn stop(&mut self) {
        // Where nobody listens, the end is told all the same.
        let _ = self.link.write_all(&[link::END]);
    }

    /// Whether the program itself has ended, and processes that it has started have not.
    /// They stay until they end by themselves, or [`Session::end_left`] or
    /// [`Session::stop`] ends them.
    pub fn is_left(&self) -> bool {
        self.is_left
    }

    /// The processes below it, as far as the system tells.
    pub fn processes(&self) -> Vec<i32> {
        let supervisor = i32::try_from(self.supervisor.id()).unwrap_or_default();
        system::descendants(supervisor).into_iter().map(|process| process.pid).collect()
    }

    /// Ends what the program has left running: SIGTERM, a moment, SIGKILL.
    pub fn end_left(&mut self) {
        // Where nobody listens, the end is told all the same.
        let _ = self.link.write_all(&[link::LEFT]);
    }

    /// Waits so long for the end of all of its processes.
    pub fn wait_for(&mut self, time: Duration) -> Option<Over> {
        let until = Instant::now() + time;
        loop {
            let told = self.over.take().or_else(|| self.told_over());
            if let Some(over) = told {
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

    fn told_over(&mut self) -> Option<Over> {
        while let Some(told) = self.word() {
            self.is_left |= told == Told::Left;
            if let Some(over) = over(told) {
                return Some(over);
            }
        }
        None
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

    /// The supervisor's next word, waited for; none where it says nothing.
    fn next_word(&mut self) -> Option<Told> {
        let until = Instant::now() + SILENT;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.word() {
                None if !left.is_zero() && self.hears(left) => {}
                word => return word,
            }
        }
    }

    /// Takes the next word that the supervisor has said.
    fn word(&mut self) -> Option<Told> {
        while let Some(end) = self.heard.iter().position(|byte| *byte == b'\n') {
            let line: Vec<_> = self.heard.drain(..=end).collect();
            if let Some(told) = Told::parse(&String::from_utf8_lossy(&line)) {
                return Some(told);
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

/// The end of a session, where a word tells of it.
fn over(told: Told) -> Option<Over> {
    let (fate, left) = match told {
        Told::NotStarted { error } => (Fate::NotStarted(error), Vec::new()),
        Told::Ended { code: Some(code), left, .. } => (Fate::Exited(code), left),
        Told::Ended { signal: Some(signal), left, .. } => (Fate::Signalled(signal), left),
        Told::Ended { left, .. } => (Fate::Lost, left),
        Told::Ready { .. } | Told::Began | Told::Left => return None,
    };
    Some(Over { fate, left })
}

/// A file that is appended to, made where it is not there.
fn appended(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).mode(0o644).open(path)
}
