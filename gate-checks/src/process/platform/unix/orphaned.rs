//! Ends a job whose supervisor was killed, perhaps by the job itself.
//!
//! Then nobody adopts orphans any more, and a walk down from the supervisor misses those
//! that lost their parent. Every process of a job therefore carries a mark in its
//! environment: that finds all but a process that cleared its environment on purpose.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::descendants;
use crate::process::system::ProcessStat;

/// Variable with the mark of a job: its processes inherit it, unless they clear it.
pub const MARK: &str = "_GATE_JOB";

/// Time between two searches for processes that are left.
pub(super) const KILL_INTERVAL: Duration = Duration::from_millis(2);

/// A mark that no other job has.
pub(super) fn new_mark() -> String {
    format!("{:016x}", RandomState::new().hash_one(std::process::id()))
}

/// A job without its supervisor.
#[derive(Debug)]
pub(super) struct OrphanedJob {
    mark: String,
    /// The processes that were below the supervisor when it was lost.
    descendants: Vec<ProcessStat>,
}

impl OrphanedJob {
    /// The job with this mark, and with the processes that are below `ancestor` now.
    pub(super) fn new(mark: String, ancestor: Option<i32>) -> Self {
        Self { mark, descendants: ancestor.map(descendants::descendants).unwrap_or_default() }
    }

    /// Kills all processes of the job that live. Returns their names.
    pub(super) fn kill(&self) -> Vec<String> {
        let descendants = self.descendants.iter();
        let living = descendants.filter(|process| descendants::is_alive(process.pid)).cloned();
        let living = living.chain(descendants::with_variable(MARK, &self.mark));
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
