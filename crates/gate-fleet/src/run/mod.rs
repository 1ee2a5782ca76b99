//! Run folders: their names and their files.
//!
//! ```
//! use gate_fleet::run::{RunInfo, Status};
//!
//! let text = "version: 1\nrun_id: 20260220-1530450000-4121-1\nproject_id: shop\ntask_id: \"42\"\n\
//!             agent: codex\npid: 4130\npgid: 4130\nstart_time: 2026-02-20T15:30:45.5Z\n\
//!             end_time: 0001-01-01T00:00:00Z\nexit_code: -1\nstatus: running\nagent_version: \"\"\n";
//! let info = RunInfo::parse(text).expect("a run that goes on");
//! assert_eq!((info.status, info.end_time), (Status::Running, None));
//! assert_eq!(info.to_yaml(), text);
//! ```
//!
//! The files are those of conductor-loop: each of the two reads what the other
//! wrote. [`RunInfo`] is the record of a run, [`layout`] has the names of files
//! and folders, [`Preamble`] is the beginning of a prompt.

mod fields;
mod id;
mod info;
pub mod layout;
mod preamble;
#[cfg(test)]
mod tests;

pub use id::{BadId, folder_name, is_run_id, is_task_id, project_id, project_slug, task_id};
pub(crate) use id::{numbered, slug};
pub use info::{
    AGENT_TIMED_OUT, Ownership, RECONCILED, RunInfo, RunInfoError, Status, error_summary,
};
pub use preamble::{CONTINUE, Preamble};
