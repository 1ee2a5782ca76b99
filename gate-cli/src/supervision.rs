//! The two commands by which gate starts itself above other programs.

use std::ffi::OsString;

/// The command by which gate starts itself as the supervisor of a check's processes.
/// It is not parsed as a command line: each check waits for it.
pub(crate) const SUPERVISE: &str = "supervise";

/// The command by which gate starts itself above the agent of a run. The project's
/// folder and marks follow it, so that a process below can tell which project its agent
/// works on, whatever the agent has written into settings and records since.
pub(crate) const ATTEND: &str = "attend";

/// The command line of a supervisor: gate's own part, and its order.
pub(crate) fn supervision(args: &[OsString]) -> Option<(&[OsString], &[OsString])> {
    let command = args.get(1)?;
    let own = if command == SUPERVISE { 2 } else { 4 };
    if own == 2 || command == ATTEND { args.split_at_checked(own) } else { None }
}
