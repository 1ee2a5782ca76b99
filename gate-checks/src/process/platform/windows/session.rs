//! A program in a job object, with its output in files.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::process::CommandExt;
use std::path::Path;
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use super::job_object::{JobObject, names};
use super::{MARK, holder, program};
use crate::process::order::Order;
use crate::process::session::{Fate, Launch, SessionEnd};

/// Time between two looks at a session.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Flag of a new process: Ctrl-C at the console goes to gate, which ends the session.
const CREATE_NEW_PROCESS_GROUP: u32 = 0x0000_0200;

/// SIGTERM: what ends a session on other systems.
const ENDED: i32 = 15;

/// A process that waits to start the program. Dropped, it ends.
#[derive(Debug)]
pub struct PausedSession {
    session: Session,
    pid: i32,
}

/// A program that runs in a job object of its own. Dropped, it is ended.
#[derive(Debug)]
pub struct Session {
    holder: Child,
    /// `None` once the session was ended.
    object: Option<JobObject>,
    /// The holder's process, once the program has begun.
    pid: Option<i32>,
    /// The end of a program that could not begin.
    not_started: Option<String>,
    /// The end of the program itself.
    fate: Option<Fate>,
    /// Names of the processes that the program left running.
    leftovers: Vec<String>,
    has_leftovers: bool,
}

impl Launch {
    /// Starts its process, which waits.
    ///
    /// # Errors
    ///
    /// Files that cannot be opened, a holder that cannot be started. A program that cannot be
    /// started is a [`Fate`].
    pub fn start(&self) -> io::Result<PausedSession> {
        let resolved = program::resolved(&self.argv, &self.environment, &self.folder);
        let (argv, not_started) = match resolved {
            Ok(argv) => (argv, None),
            Err(error) => (self.argv.iter().map(Into::into).collect(), Some(error.to_string())),
        };
        let object = JobObject::new()?;
        let order = Order { stdin: Some(self.stdin.clone()), ..Order::new(argv) };
        let mut command = holder::command(&self.supervisor, &order);
        command.stdout(open_to_append(&self.stdout)?).stderr(open_to_append(&self.stderr)?);
        command.current_dir(&self.folder).env_clear().envs(self.environment.iter().cloned());
        command.env(MARK, "1").creation_flags(CREATE_NEW_PROCESS_GROUP);
        let mut holder = command.spawn()?;
        holder::put_into(&object, &mut holder)?;
        let pid = i32::try_from(holder.id()).map_err(io::Error::other)?;
        let session = Session {
            holder,
            object: Some(object),
            pid: None,
            not_started,
            fate: None,
            leftovers: Vec::new(),
            has_leftovers: false,
        };
        Ok(PausedSession { session, pid })
    }
}

impl PausedSession {
    /// The process below which the program will run.
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// Begins the program.
    pub fn begin(self) -> Session {
        let Self { mut session, pid } = self;
        match session.not_started.take() {
            Some(error) => {
                session.fate = Some(Fate::NotStarted(error));
                session.object = None;
            }
            None => {
                session.pid = Some(pid);
                // If the holder is gone, this fails, and `wait_for` notices.
                let _ = holder::begin(session.holder.stdin.take());
            }
        }
        session
    }
}

impl Session {
    /// The process below which the program runs; `None` if it could not be started.
    pub fn pid(&self) -> Option<i32> {
        self.pid
    }

    /// Ends the session: the system knows no request to end. [`Session::wait_for`] waits for the
    /// end.
    pub fn stop(&mut self) {
        self.fate.get_or_insert(Fate::Signalled(ENDED));
        self.object = None;
    }

    /// The program itself has ended, and processes that it started have not. They stay until
    /// they end by themselves, or [`Session::end_leftovers`] or [`Session::stop`] ends them.
    pub fn has_leftovers(&self) -> bool {
        self.has_leftovers
    }

    /// The processes of the session.
    pub fn processes(&self) -> Vec<i32> {
        let ids = self.living();
        ids.into_iter().filter_map(|id| i32::try_from(id).ok()).collect()
    }

    /// Ends the processes that the program left running.
    pub fn end_leftovers(&mut self) {
        self.leftovers = names(&self.living());
        self.object = None;
    }

    /// Waits for the end of all processes, at most this long; `None` if they have not ended by then.
    pub fn wait_for(&mut self, timeout: Duration) -> Option<SessionEnd> {
        let deadline = Instant::now() + timeout;
        loop {
            if let Ok(Some(status)) = self.holder.try_wait() {
                let fate = self.fate.get_or_insert_with(|| match status.code() {
                    Some(code) => Fate::Exited(code),
                    None => Fate::Lost,
                });
                if self.object.as_ref().is_none_or(|object| object.processes_but(None).is_empty()) {
                    let leftovers = std::mem::take(&mut self.leftovers);
                    return Some(SessionEnd { fate: fate.clone(), leftovers });
                }
                self.has_leftovers = true;
            }
            let remaining = deadline.saturating_duration_since(Instant::now());
            if remaining.is_zero() {
                return None;
            }
            thread::sleep(remaining.min(POLL_INTERVAL));
        }
    }

    /// The processes of the session but for its holder.
    fn living(&self) -> Vec<u32> {
        let holder = self.holder.id();
        self.object.as_ref().map(|object| object.processes_but(Some(holder))).unwrap_or_default()
    }
}

/// Opens a file to append to it, and makes it if necessary.
fn open_to_append(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).open(path)
}
