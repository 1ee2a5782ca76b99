//! The holder: a process that waits for a byte, then starts the program, and ends as it ends.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};

use super::job_object::JobObject;
use super::program;
use crate::process::Supervisor;
use crate::process::order::Order;

/// The byte that starts the program.
pub(super) const BEGIN: u8 = b'+';

/// The exit code of a program that cannot be started, as shells have it.
const NOT_STARTED: u8 = 127;

/// The exit code for one of the system's that is no byte, such as that of a crash.
const OTHER: u8 = 255;

/// Runs as a holder. `args` are those of an order, and the standard input is a pipe of gate's.
/// Returns the exit code for the program: that of the job, or 2 if another program than
/// gate-checks called it.
///
/// Call it in a process that does nothing else.
pub fn supervise(_supervisor: &[OsString], args: &[OsString]) -> u8 {
    let Some(order) = Order::parse(args) else { return 2 };
    let mut request = [0];
    if io::stdin().read_exact(&mut request).is_err() || request != [BEGIN] {
        return 0;
    }
    match run(&order) {
        Ok(code) => code.map_or(OTHER, |code| u8::try_from(code).unwrap_or(OTHER)),
        Err(error) => {
            // If nobody reads it, the exit code is left.
            let _ = writeln!(io::stderr(), "{}: {error}", order.argv[0].display());
            NOT_STARTED
        }
    }
}

fn run(order: &Order) -> io::Result<Option<i32>> {
    let mut command = program::command(&order.argv);
    command.stdin(order.stdin()?);
    Ok(command.status()?.code())
}

/// The command of a holder for an order.
pub(super) fn command(supervisor: &Supervisor, order: &Order) -> Command {
    let mut command = Command::new(&supervisor.program);
    command.args(&supervisor.args).args(order.args()).stdin(Stdio::piped());
    command
}

/// Puts a holder into a job object.
///
/// # Errors
///
/// A holder that has ended; it is ended else.
pub(super) fn put_into(job: &JobObject, holder: &mut Child) -> io::Result<()> {
    use std::os::windows::io::AsRawHandle;
    job.add(holder.as_raw_handle() as isize).inspect_err(|_| {
        // It may have ended by itself.
        let _ = holder.kill();
    })
}

/// Has the holder start its program.
///
/// # Errors
///
/// A holder that has ended.
pub(super) fn begin(stdin: Option<ChildStdin>) -> io::Result<()> {
    stdin.map_or(Ok(()), |mut stdin| stdin.write_all(&[BEGIN]))
}
