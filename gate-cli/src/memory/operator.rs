//! Who gives an operator's command.

use serde::Serialize;

/// Who gives an operator's command, as far as the system tells.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Operator {
    /// The user.
    pub(super) uid: u32,
    /// The terminal; none where it is given without one.
    pub(super) terminal: Option<String>,
    /// The process that called gate.
    pub(super) parent: Parent,
}

/// The process that called gate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Parent {
    /// Its number.
    pub(super) pid: Option<i32>,
    /// Its program, where the system tells.
    pub(super) name: Option<String>,
}

impl Operator {
    /// Whoever called this process.
    pub(super) fn of_process() -> Self {
        let pid = rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get());
        let name = |pid| std::fs::read_to_string(format!("/proc/{pid}/comm")).ok();
        Self {
            uid: rustix::process::getuid().as_raw(),
            terminal: terminal(),
            parent: Parent { pid, name: pid.and_then(name).map(|name| name.trim().to_owned()) },
        }
    }

    /// Who did it, in a record.
    pub(super) fn actor(&self) -> String {
        format!("operator:{}", self.uid)
    }
}

/// The terminal that commands come from.
fn terminal() -> Option<String> {
    let name = rustix::termios::ttyname(std::io::stdin(), Vec::new()).ok()?;
    name.into_string().ok()
}
