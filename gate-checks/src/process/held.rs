//! A program that is there before it begins: its process waits for the word, and
//! becomes the program then. So whoever asked for it can note which process it is,
//! and the program finds that noted, however soon it looks.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::Command;

use process_wrap::std::{CommandWrap, ProcessSession};
use rustix::process::Pid;

use super::link::BEGIN;
use super::supervise::Order;

/// The argument before an order by which a supervisor calls itself to be held.
const HELD: &str = "--held";

/// A process that waits to become a program, in a session of its own. Dropped, it
/// never does.
pub(super) struct Held {
    /// The process, which leads its session and its group.
    pub(super) pid: Pid,
    link: UnixStream,
}

impl Held {
    /// Starts it; `own` is the program that calls [`become_program`], and its arguments
    /// before those of the order.
    pub(super) fn start(own: &[OsString], order: &Order) -> io::Result<Self> {
        let (link, theirs) = UnixStream::pair()?;
        let [program, args @ ..] = own else { return Err(io::ErrorKind::InvalidInput.into()) };
        let mut command = Command::new(program);
        command.args(args).arg(HELD).args(order.args()).stdin(OwnedFd::from(theirs));
        let child = CommandWrap::from(command).wrap(ProcessSession).spawn()?;
        let pid = Pid::from_raw(child.id() as i32);
        let pid = pid.ok_or_else(|| io::Error::other("the job has no number"))?;
        Ok(Self { pid, link })
    }

    /// Lets it begin. A program that cannot be started is an error.
    pub(super) fn begin(mut self) -> io::Result<Pid> {
        self.link.write_all(&[BEGIN])?;
        // The other end closes where the program begins.
        let mut error = String::new();
        self.link.read_to_string(&mut error)?;
        if error.is_empty() { Ok(self.pid) } else { Err(io::Error::other(error)) }
    }
}

/// The order of a process that is to wait; none: these are other arguments.
pub(super) fn order(args: &[OsString]) -> Option<&[OsString]> {
    args.split_first().filter(|(first, _)| *first == HELD).map(|(_, order)| order)
}

/// Waits for the word, and becomes the program. Returns the exit code where it does
/// not: the word is not said, or the program cannot be started, which is told.
pub(super) fn become_program(order: &Order) -> u8 {
    let link = io::stdin().as_fd().try_clone_to_owned().map(UnixStream::from);
    let Ok(mut link) = link else { return 2 };
    let mut word = [0];
    if link.read_exact(&mut word).is_err() || word != [BEGIN] {
        return 0;
    }
    // Where nobody listens, the end of this process tells as much.
    let _ = link.write_all(exec(order).to_string().as_bytes());
    0
}

/// Becomes the program; returns only where it cannot.
fn exec(order: &Order) -> io::Error {
    match order.command() {
        Ok(mut command) => command.exec(),
        Err(error) => error,
    }
}
