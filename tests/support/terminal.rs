//! A terminal that a person types in: what lets work pass needs one while an agent is at work.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::OwnedFd;
use std::process::Command;

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::{GATE, Run};

/// Commands that need a terminal.
const COMMANDS: [&str; 5] = ["approve", "trust", "off", "baseline", "breaker"];

/// The command of a run, with a terminal of its own if a person would type it. The terminal is there
/// as long as the second value.
pub(super) fn command(run: &Run) -> (Command, Option<OwnedFd>) {
    let has =
        |words: &[&str]| run.args.first().is_some_and(|arg| words.iter().any(|word| arg == word));
    let is_forced = run.args.iter().any(|arg| arg == "--force-complete");
    let is_persons = run.program == OsStr::new(GATE) && (has(&COMMANDS) || is_forced);
    if !is_persons || run.stdin.is_some() || run.is_script {
        let mut command = Command::new(&run.program);
        command.args(&run.args);
        return (command, None);
    }
    let (primary, secondary) = pair();
    let mut command = Command::new("setsid");
    let shell = ["-c", "sh", "-c", "exec \"$@\" </dev/null", "sh"].map(OsString::from);
    command.args(shell).arg(&run.program).args(&run.args).stdin(secondary);
    (command, Some(primary))
}

/// Both ends of a new terminal.
fn pair() -> (OwnedFd, File) {
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
