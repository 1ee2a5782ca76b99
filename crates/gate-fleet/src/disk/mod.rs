//! Reads and writes run folders, buses and facts on disk.
//!
//! The modules beside this one have their formats. [`Runs`] is the folder of all of them, with
//! [`Project`], [`Task`] and [`RunFolder`] below it; [`Bus`] is a file with many writers. A
//! runner of an agent makes a run with [`Task::begin`], writes its record with
//! [`RunFolder::write`], posts that with [`Bus::append`] and gives the agent a [`Brief`].

mod brief;
mod bus;
mod caller;
mod facts;
mod file;
mod finder;
mod notices;
mod project;
mod promote;
mod root;
mod run_folder;
mod target;
mod task;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicU64, Ordering};

use crate::Stamp;
use jiff::Timestamp;

pub use brief::{Brief, Heads, STARTING, by_gate};
pub use bus::{Bus, Follower, stamped};
pub use caller::{Caller, Process};
pub use facts::{FactFile, UnreadableFact, add, file_name};
pub use finder::Finder;
pub use notices::{KnownMessages, NoticeMark, RecordedNotice};
pub use project::Project;
pub use promote::{AddFact, Promoted, Promotion, PromotionRecord, Source};
pub use root::Runs;
pub use run_folder::{RunFolder, Settled};
pub use target::{BusName, BusSearch, BusTarget, ProjectHere, named_project};
pub use task::Task;

/// A stamp that this process gives once: to a run, a file or a message.
fn stamp() -> Stamp {
    static GIVEN: AtomicU64 = AtomicU64::new(1);
    let seq = GIVEN.fetch_add(1, Ordering::Relaxed);
    Stamp { time: Timestamp::now(), pid: std::process::id(), seq }
}
