//! A child process that waits for a byte, then execs the program. gate can record its pid
//! before the program runs, and the program finds that record however early it looks.
//!
//! ```text
//! supervisor            child (the supervisor's program again)
//!  |-- spawn ------------>|  waits in read()
//!  |-- pid to gate        |
//!  |-- BEGIN ------------>|  exec(program): the socket closes, and the pid stays
//!  |<-- end of stream ----|  or the text of an error, if exec failed
//! ```

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::Command;

use process_wrap::std::{CommandWrap, ProcessSession};
use rustix::process::Pid;

use super::command;
use super::link::BEGIN;
use crate::process::order::Order;

/// Argument before an order: the supervisor starts itself with it, as a paused child.
const PAUSED: &str = "--held";

/// A process that waits to become a program, in a session of its own. Dropped, it ends.
pub(super) struct PausedChild {
    /// Number of the process, which leads its session and its group.
    pub(super) pid: Pid,
    link: UnixStream,
}

impl PausedChild {
    /// Starts the process. `supervisor` is the program that calls [`become_program`], with its
    /// arguments before those of the order.
    pub(super) fn start(supervisor: &[OsString], order: &Order) -> io::Result<Self> {
        let (link, child_end) = UnixStream::pair()?;
        let [program, args @ ..] = supervisor else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let mut command = Command::new(program);
        command.args(args).arg(PAUSED).args(order.args()).stdin(OwnedFd::from(child_end));
        let child = CommandWrap::from(command).wrap(ProcessSession).spawn()?;
        let pid = Pid::from_raw(child.id() as i32)
            .ok_or_else(|| io::Error::other("the job has no number"))?;
        Ok(Self { pid, link })
    }

    /// Begins the program.
    ///
    /// # Errors
    ///
    /// A program that cannot be started.
    pub(super) fn begin(mut self) -> io::Result<Pid> {
        self.link.write_all(&[BEGIN])?;
        // exec closes the child's ends: its clone is close-on-exec, and the program gets
        // another standard input.
        let mut error = String::new();
        self.link.read_to_string(&mut error)?;
        if error.is_empty() { Ok(self.pid) } else { Err(io::Error::other(error)) }
    }
}

/// The order of a paused child; `None` for other arguments.
pub(super) fn paused_order(args: &[OsString]) -> Option<&[OsString]> {
    let (first_word, order) = args.split_first()?;
    (first_word == PAUSED).then_some(order)
}

/// Waits for [`BEGIN`] and becomes the program. Returns an exit code only if there is no
/// [`BEGIN`], or the program cannot be started; the error then goes to the socket.
pub(super) fn become_program(order: &Order) -> u8 {
    let link = io::stdin().as_fd().try_clone_to_owned().map(UnixStream::from);
    let Ok(mut link) = link else { return 2 };
    let mut request = [0];
    if link.read_exact(&mut request).is_err() || request != [BEGIN] {
        return 0;
    }
    // If the supervisor is gone, nobody needs the error.
    let _ = link.write_all(exec(order).to_string().as_bytes());
    0
}

/// Becomes the program; returns only if that fails.
fn exec(order: &Order) -> io::Error {
    match command(order) {
        Ok(mut command) => command.exec(),
        Err(error) => error,
    }
}
