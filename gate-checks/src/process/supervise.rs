//! The supervisor: starts one job, ends it with all its descendants, and says
//! what came of it.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
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

use super::held::{self, Held};
use super::link::{AT_ONCE, BEGIN, LEFT, Told};
use super::system::{self, ProcessStat};
use super::{AFTERLIFE, GRACE, LEFT_BEHIND_GRACE};

/// How often what still lives is killed again: between two looks a process may
/// have started another.
const AGAIN: Duration = Duration::from_millis(20);

/// Whether a process without children has no descendants either: those that
/// lost their parent become a subreaper's children.
const SEES_ALL: bool = cfg!(target_os = "linux");

/// What the supervisor is asked to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Order {
    /// How long the job has to end after SIGTERM, where that is another time than
    /// usual; then its process is told as well, and waits for the word to begin, and
    /// what it leaves running stays until gate wants it to end.
    pub(super) grace: Option<Duration>,
    /// The file that is the job's standard input; none: it is empty.
    pub(super) stdin: Option<PathBuf>,
    /// The job's program and its arguments.
    pub(super) argv: Vec<OsString>,
}

impl Order {
    /// The order as arguments: `[--grace MS] [--stdin FILE] -- PROGRAM ARGS…`.
    pub(super) fn args(&self) -> Vec<OsString> {
        let millis = |grace: Duration| grace.as_millis().to_string().into();
        let grace = self.grace.into_iter().flat_map(|it| ["--grace".into(), millis(it)]);
        let stdin = self.stdin.iter().flat_map(|file| ["--stdin".into(), file.clone().into()]);
        let dashes = std::iter::once("--".into());
        grace.chain(stdin).chain(dashes).chain(self.argv.iter().cloned()).collect()
    }

    /// The job, as it is started.
    pub(super) fn command(&self) -> io::Result<Command> {
        let mut command = Command::new(&self.argv[0]);
        command.args(&self.argv[1..]).stdin(match &self.stdin {
            Some(file) => Stdio::from(File::open(file)?),
            None => Stdio::null(),
        });
        Ok(command)
    }

    /// The order that arguments hold.
    fn parse(args: &[OsString]) -> Option<Self> {
        let (grace, args) = match args {
            [flag, millis, rest @ ..] if flag == "--grace" => {
                (Some(Duration::from_millis(millis.to_str()?.parse().ok()?)), rest)
            }
            rest => (None, rest),
        };
        let (stdin, rest) = match args {
            [flag, file, rest @ ..] if flag == "--stdin" => (Some(file.into()), rest),
            rest => (None, rest),
        };
        let (dashes, argv) = rest.split_first()?;
        (dashes == "--" && !argv.is_empty()).then(|| Self { grace, stdin, argv: argv.to_vec() })
    }
}

/// Runs as a supervisor: `own` is the program and
/// [`Supervisor::args`](super::Supervisor::args), as it was called with them, `args`
/// are those that gate-checks gave after them, the standard input is its socket.
/// Returns the exit code that the program has to end with: 0, or 2 where it was
/// called by somebody else.
///
/// It makes the calling process a subreaper and ends all its children, or becomes
/// another program; call it in a process that does nothing else.
pub fn supervise(own: &[OsString], args: &[OsString]) -> u8 {
    if let Some(args) = held::order(args) {
        return Order::parse(args).map_or(2, |order| held::become_program(&order));
    }
    let link = io::stdin().as_fd().try_clone_to_owned().map(UnixStream::from);
    let (Some(order), Ok(mut link)) = (Order::parse(args), link) else { return 2 };
    let told = match Supervision::begin(own, &order, &link) {
        Ok(supervision) => supervision.end(),
        Err(error) => Told::NotStarted { error: error.to_string() },
    };
    // Where nobody listens any more, nothing of the job is left all the same.
    let _ = writeln!(link, "{}", told.line());
    0
}

/// What happens while a job runs.
#[derive(Clone, Copy, Debug)]
enum Happening {
    /// A child of this process ended.
    Reaped(Pid, WaitStatus),
    /// No child is left.
    NoneLeft,
    /// Gate wants the job to end, or is gone; without grace where this is zero.
    Stop(Duration),
}

struct Supervision {
    job: Pid,
    /// Where gate says what becomes of processes that the job leaves running.
    asks: Option<UnixStream>,
    happenings: Receiver<Happening>,
    status: Option<WaitStatus>,
    /// How long it has to end since gate wants it to.
    stopped: Option<Duration>,
    none_left: bool,
    left: BTreeSet<String>,
}

impl Supervision {
    fn begin(own: &[OsString], order: &Order, link: &UnixStream) -> io::Result<Self> {
        become_subreaper();
        outlive_requests_to_end()?;
        let (job, asks) = match order.grace {
            Some(_) => (start_when_told(own, order, link)?, Some(link.try_clone()?)),
            None => (start(order)?, None),
        };
        let (sender, happenings) = mpsc::channel();
        let reader = link.try_clone()?;
        let stop = sender.clone();
        thread::spawn(move || reap(&sender));
        let grace = order.grace.unwrap_or(GRACE);
        thread::spawn(move || listen(reader, grace, &stop));
        let left = BTreeSet::new();
        Ok(Self { job, asks, happenings, status: None, stopped: None, none_left: false, left })
    }

    /// Waits for the job, and ends what is left of it. Only when no child is
    /// left it is over: a process that starts others faster than they are found
    /// keeps this from ending, and gate's patience with it is the timeout.
    fn end(mut self) -> Told {
        if self.job_ends() && !self.none_left_within(AFTERLIFE) {
            self.ask_what_becomes_of_them();
            self.left = self.living().into_iter().map(|process| process.name).collect();
        }
        let grace = self.stopped.unwrap_or(LEFT_BEHIND_GRACE);
        let (mut signal, mut time) = (Signal::TERM, grace);
        while self.signal_all(signal) {
            self.none_left_within(time);
            (signal, time) = (Signal::KILL, AGAIN);
        }
        let status = self.status;
        Told::Ended {
            code: status.and_then(WaitStatus::exit_status),
            signal: status.and_then(WaitStatus::terminating_signal),
            left: self.left.into_iter().collect(),
        }
    }

    /// Waits until the job itself has ended (true) or has to (false).
    fn job_ends(&mut self) -> bool {
        while self.status.is_none() && self.stopped.is_none() {
            match self.happenings.recv() {
                Ok(happening) => self.note(happening),
                Err(_) => return false,
            }
        }
        self.stopped.is_none()
    }

    /// The job has ended and others of its processes have not: says so, and waits until
    /// they end by themselves or gate wants them to.
    fn ask_what_becomes_of_them(&mut self) {
        let Some(link) = &mut self.asks else { return };
        if writeln!(link, "{}", Told::Left.line()).is_err() {
            return;
        }
        while !self.none_left && self.stopped.is_none() {
            match self.happenings.recv() {
                Ok(happening) => self.note(happening),
                Err(_) => return,
            }
        }
    }

    /// Whether no child is left before this time is over.
    fn none_left_within(&mut self, time: Duration) -> bool {
        let end = Instant::now() + time;
        while !self.none_left {
            let longest = if self.is_hurried() { AGAIN } else { time };
            let left = end.saturating_duration_since(Instant::now()).min(longest);
            match self.happenings.recv_timeout(left) {
                Ok(happening) => self.note(happening),
                Err(RecvTimeoutError::Timeout) => return false,
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        true
    }

    fn note(&mut self, happening: Happening) {
        match happening {
            Happening::Reaped(pid, status) if pid == self.job => self.status = Some(status),
            Happening::Reaped(..) => {}
            Happening::NoneLeft => self.none_left = true,
            Happening::Stop(grace) => self.stopped = self.stopped.min(Some(grace)).or(Some(grace)),
        }
    }

    fn is_hurried(&self) -> bool {
        self.stopped == Some(Duration::ZERO)
    }

    fn living(&self) -> Vec<ProcessStat> {
        system::descendants(std::process::id() as i32)
    }

    /// Signals the job's group and every other descendant, each once: a program may take
    /// a second request to end for an order to end at once. False: there is none.
    fn signal_all(&self, signal: Signal) -> bool {
        if self.none_left && SEES_ALL {
            // The group's number may be somebody else's by now.
            return false;
        }
        let group = kill_process_group(self.job, signal).is_ok();
        let living = self.living();
        let in_group = |process: &&ProcessStat| process.group == self.job.as_raw_nonzero().get();
        for process in living.iter().filter(|process| !group || !in_group(process)) {
            if let Some(pid) = Pid::from_raw(process.pid) {
                // It may have ended since.
                let _ = kill_process(pid, signal);
            }
        }
        group || !living.is_empty() || !self.none_left
    }
}

fn start(order: &Order) -> io::Result<Pid> {
    let child = CommandWrap::from(order.command()?).wrap(ProcessSession).spawn()?;
    Pid::from_raw(child.id() as i32).ok_or_else(|| io::Error::other("the job has no number"))
}

/// Tells which process the job will be, and starts it when gate says so.
fn start_when_told(own: &[OsString], order: &Order, mut link: &UnixStream) -> io::Result<Pid> {
    let held = Held::start(own, order)?;
    writeln!(link, "{}", Told::Ready { pid: held.pid.as_raw_nonzero().get() }.line())?;
    let mut word = [0];
    link.read_exact(&mut word)?;
    if word != [BEGIN] {
        return Err(io::Error::other("it was ended before it began"));
    }
    let job = held.begin()?;
    // Where nobody listens any more, the job runs all the same, and is ended.
    let _ = writeln!(link, "{}", Told::Began.line());
    Ok(job)
}

/// Reaps children until there is none.
fn reap(sender: &Sender<Happening>) {
    loop {
        let happening = match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) => Happening::Reaped(pid, status),
            Ok(None) => continue,
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => Happening::NoneLeft,
        };
        let last = matches!(happening, Happening::NoneLeft);
        if sender.send(happening).is_err() || last {
            return;
        }
    }
}

/// Waits for gate's words, or for its end.
fn listen(mut link: UnixStream, grace: Duration, sender: &Sender<Happening>) {
    let mut byte = [0];
    loop {
        let (time, more) = match link.read(&mut byte) {
            Ok(1..) if byte == [AT_ONCE] => (Duration::ZERO, true),
            Ok(1..) if byte == [LEFT] => (LEFT_BEHIND_GRACE, true),
            Ok(1..) => (grace, true),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Ok(0) | Err(_) => (grace, false),
        };
        if sender.send(Happening::Stop(time)).is_err() || !more {
            return;
        }
    }
}

/// SIGTERM to all processes below an outer supervisor must not end this one before its
/// job: its gate is asked as well, ends the job in order, and is gone then, which ends this
/// one. A handler is not inherited by the job, as an ignored signal would be.
fn outlive_requests_to_end() -> io::Result<()> {
    flag::register(SIGTERM, Arc::default()).map(drop)
}

#[cfg(target_os = "linux")]
fn become_subreaper() {
    use rustix::process::{DumpableBehavior, getpid, set_child_subreaper, set_dumpable_behavior};
    // Where the kernel refuses, the group is still ended.
    let _ = set_child_subreaper(Some(getpid()));
    // A job must not take the socket and speak in the supervisor's name.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}

#[cfg(not(target_os = "linux"))]
fn become_subreaper() {}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn an_order_is_read_as_it_is_written() {
        let grace = Some(Duration::from_secs(30));
        let argv = words("prog --stdin -- x");
        let order = Order { grace, stdin: Some("request.json".into()), argv };
        assert_eq!(Order::parse(&order.args()), Some(order));
        let order = Order { grace: None, stdin: None, argv: words("true") };
        assert_eq!(Order::parse(&order.args()), Some(order));
    }

    #[test]
    fn anything_else_is_no_order() {
        for text in ["", "--", "true", "--stdin", "--stdin file", "--stdin file --"] {
            assert_eq!(Order::parse(&words(text)), None, "{text}");
        }
    }
}
