//! The terminal that a person types a command in.

use std::fs::File;

use gate_checks::process::{ProcessStat, group};

use crate::agent::Process;

/// The name of the terminal in whose foreground this process runs. None without a controlling
/// terminal, in its background, and if an agent's program runs in the same process group.
pub(super) fn typed_in() -> Option<String> {
    let Some(own) = ProcessStat::read(std::process::id() as i32) else {
        // A system that shows no processes.
        return File::open("/dev/tty").is_ok().then(|| "a terminal".to_owned());
    };
    let name = own.terminal_name()?;
    let is_in_front = own.group == own.foreground;
    let is_shared = group(own.group).iter().any(|process| Process::new(process).agent.is_some());
    (is_in_front && !is_shared).then_some(name)
}

/// The controlling terminal of this process.
pub(super) fn name() -> Option<String> {
    ProcessStat::read(std::process::id() as i32)?.terminal_name()
}
