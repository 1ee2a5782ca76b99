//! What is left where a supervisor cannot end its program any more: somebody
//! killed it, the program perhaps.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::system::{self, ProcessStat};

/// The variable that carries a program's mark: all of its processes have it, unless
/// they drop it.
pub const MARK: &str = "_GATE_JOB";

/// How often it is looked for what is left.
pub(super) const AGAIN: Duration = Duration::from_millis(2);

/// A word that no other program has.
pub(super) fn mark() -> String {
    format!("{:016x}", RandomState::new().hash_one(std::process::id()))
}

/// A program without its supervisor.
#[derive(Debug)]
pub(super) struct Forsaken {
    mark: String,
    below: Vec<ProcessStat>,
}

impl Forsaken {
    /// The program with this mark, and what stands below this process now.
    pub(super) fn of(mark: String, ancestor: Option<i32>) -> Self {
        Self { mark, below: ancestor.map(system::descendants).unwrap_or_default() }
    }

    /// Kills what lives, and names it; empty: nothing does.
    pub(super) fn kill(&self) -> Vec<String> {
        let below = self.below.iter().filter(|process| system::is_alive(process.pid)).cloned();
        let living = below.chain(system::with_variable(MARK, &self.mark));
        let killed = living.map(|process| {
            if let Some(id) = Pid::from_raw(process.pid) {
                // It may have ended since.
                let _ = kill_process(id, Signal::KILL);
            }
            process.name
        });
        killed.collect()
    }
}
