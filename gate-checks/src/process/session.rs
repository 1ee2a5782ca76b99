//! A program that runs for long, such as an agent, in a session of its own with its output
//! in files.
//!
//! The supervisor has the files open, not gate: output is there even if gate is killed,
//! and no flood of it goes through gate.
//!
//! ```text
//! Launch::start    PausedSession         Session
//!  supervisor  ->   its pid is known  ->  begin() execs the program
//! ```
//!
//! The caller records the pid of a paused program before it begins: whoever finds the
//! record after a crash knows the process, and no program runs that nobody recorded.

use std::path::PathBuf;
use std::time::Duration;

use super::Supervisor;

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
    /// File that its standard output is appended to.
    pub stdout: PathBuf,
    /// File that its standard error is appended to.
    pub stderr: PathBuf,
    /// Ends the program with its descendants.
    pub supervisor: Supervisor,
    /// Time between SIGTERM and SIGKILL for its processes.
    pub grace: Duration,
}

/// The end of a session: no process of it is left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionEnd {
    /// The end of the program itself.
    pub fate: Fate,
    /// Names of processes that it left running, and that were ended.
    pub leftovers: Vec<String>,
}

/// The end of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It exited with this code.
    Exited(i32),
    /// This signal ended it.
    Signalled(i32),
    /// It could not be started.
    NotStarted(String),
    /// Not known: its supervisor was killed.
    Lost,
}
