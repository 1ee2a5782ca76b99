//! A terminal that a person types in: commands that let work pass need one while an agent is at work.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::OwnedFd;
use std::process::Command;

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::{GATE, Run};

/// Commands that need a terminal.
const COMMANDS: [&str; 6] = ["approve", "trust", "off", "baseline", "breaker", "goal"];

/// The command of a run, with a terminal of its own if a person would type it. The terminal is there
/// as long as the second value.
pub(super) fn command(run: &Run) -> (Command, Option<OwnedFd>) {
    let command = run.args.first();
    let needs_terminal = command.is_some_and(|command| COMMANDS.iter().any(|name| command == name));
    let is_forced = run.args.iter().any(|arg| arg == "--force-complete");
    let is_persons = run.program == OsStr::new(GATE) && (needs_terminal || is_forced);
    if !is_persons || run.stdin.is_some() || run.is_script {
        let mut command = Command::new(&run.program);
        command.args(&run.args);
        return (command, None);
    }
    let (primary, secondary) = open_terminal();
    let mut command = Command::new("setsid");
    let shell = ["-c", "sh", "-c", "exec \"$@\" </dev/null", "sh"].map(OsString::from);
    command.args(shell).arg(&run.program).args(&run.args).stdin(secondary);
    (command, Some(primary))
}

/// Both ends of a new terminal.
fn open_terminal() -> (OwnedFd, File) {
    let primary = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&primary).unwrap();
    unlockpt(&primary).unwrap();
    let name = ptsname(&primary, Vec::new()).unwrap();
    let flags = OFlags::RDWR | OFlags::NOCTTY;
    let secondary = rustix::fs::open(name.as_c_str(), flags, Mode::empty()).unwrap();
    (primary, secondary.into())
}

impl Run {
    /// Given by a script, without a terminal.
    pub(crate) fn by_script(self) -> Self {
        Self { is_script: true, ..self }
    }
}
