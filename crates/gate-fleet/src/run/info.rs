//! `run-info.yaml`: the agent of a run, its time and its end.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::tree::Entry;
use crate::yaml::YamlError;

/// The agent gave no output for too long.
pub const AGENT_TIMED_OUT: &str = "timed out";

/// The run's process is gone, and no record shows how it ended.
pub const RECONCILED: &str = "reconciled stale running status: process is not alive";

/// The record of a run.
///
/// It is written as conductor-loop writes it: its keys in one order, those that are optional only
/// if they have a value. Keys of a later program are kept, and written behind the others.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RunInfo {
    /// The run's id, the name of its folder.
    pub run_id: String,
    /// The run that started this one; empty for a root agent's.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub parent_run_id: String,
    /// The run before it in its loop; empty for the first.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub previous_run_id: String,
    /// The project's id.
    pub project_id: String,
    /// The task's id.
    pub task_id: String,
    /// The agent, such as `codex`.
    pub agent: String,
    /// The owner of the process, which ends it; `None` if the record does not name one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process_ownership: Option<Ownership>,
    /// The agent's process; 0 if none was started.
    pub pid: i64,
    /// The agent's process group; 0 if none was started.
    pub pgid: i64,
    /// When it began.
    pub start_time: Timestamp,
    /// When it ended; `None` while it runs.
    pub end_time: Option<Timestamp>,
    /// The agent's exit code; -1 while it runs, if it was killed, and if it could not be started.
    pub exit_code: i64,
    /// Its state or result.
    pub status: Status,
    /// The agent's working folder, an absolute path; empty if it is unknown, as with all paths
    /// here.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub cwd: String,
    /// The prompt.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub prompt_path: String,
    /// The result.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub output_path: String,
    /// The agent's standard output.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub stdout_path: String,
    /// The agent's standard error.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub stderr_path: String,
    /// The command that started the agent, for a person.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub commandline: String,
    /// The cause of its failure; empty if it did not fail.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub error_summary: String,
    /// The version that the agent's program reports.
    pub agent_version: String,
    /// Keys that are not known here.
    #[serde(skip)]
    pub(super) extra: Vec<Entry>,
}

/// The state or result of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It goes on.
    Running,
    /// The agent ended with code 0.
    Completed,
    /// The agent ended with another code, or could not be started.
    Failed,
    /// The run's record is missing.
    #[default]
    Unknown,
}

/// The owner of a run's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ownership {
    /// The runner that started it.
    Managed,
    /// Another program.
    External,
}

/// A record that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunInfoError {
    /// It is no YAML, or not a mapping.
    #[error(transparent)]
    Yaml(#[from] YamlError),
    /// A key is missing.
    #[error("{key} is missing")]
    Missing {
        /// The key.
        key: &'static str,
    },
    /// A key has a value that is not allowed.
    #[error("line {line}: {key}: {expected} is expected, and it is {found:?}")]
    Value {
        /// The line, from 1.
        line: usize,
        /// The key.
        key: String,
        /// The expected value.
        expected: &'static str,
        /// The value that was found.
        found: String,
    },
}

impl RunInfo {
    /// A run that begins, before its process is known.
    pub fn begun(run_id: &str, project_id: &str, task_id: &str, start_time: Timestamp) -> Self {
        let mut info = Self::unknown(run_id, project_id, task_id);
        info.start_time = start_time;
        info.status = Status::Running;
        info.process_ownership = Some(Ownership::Managed);
        info
    }

    /// A run of which only the folder is known, because its record is missing.
    pub fn unknown(run_id: &str, project_id: &str, task_id: &str) -> Self {
        Self {
            run_id: run_id.to_owned(),
            project_id: project_id.to_owned(),
            task_id: task_id.to_owned(),
            exit_code: -1,
            ..Self::default()
        }
    }

    /// The same run, ended: completed with code 0, otherwise failed, with this error or with the
    /// meaning of its exit code.
    #[must_use]
    pub fn ended(self, end_time: Timestamp, exit_code: i64, error: Option<&str>) -> Self {
        let has_failed = exit_code != 0 || error.is_some();
        let status = if has_failed { Status::Failed } else { Status::Completed };
        let error_summary = error.map_or_else(|| error_summary(exit_code), str::to_owned);
        Self { end_time: Some(end_time), exit_code, status, error_summary, ..self }
    }

    /// The same run, whose record says that it goes on and whose process is gone: failed, or
    /// completed if its task has the file `DONE`.
    #[must_use]
    pub fn reconciled(self, end_time: Timestamp, is_done: bool) -> Self {
        if self.status != Status::Running {
            return self;
        }
        if is_done {
            return Self { end_time: Some(end_time), status: Status::Completed, ..self };
        }
        self.ended(end_time, -1, Some(RECONCILED))
    }

    /// A run that another run started: its agent is no root agent.
    pub fn is_delegated(&self) -> bool {
        !self.parent_run_id.is_empty()
    }
}

impl Status {
    /// Its word in a record.
    pub fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
        }
    }
}

/// The meaning of an exit code; empty for success. -1 stands for a process that was killed or
/// could not be started.
pub fn error_summary(exit_code: i64) -> String {
    match exit_code {
        0 => String::new(),
        1 => "agent reported failure".to_owned(),
        2 => "agent usage error".to_owned(),
        137 => "agent killed (OOM or signal)".to_owned(),
        143 => "agent terminated (SIGTERM)".to_owned(),
        code => format!("agent exited with code {code}"),
    }
}
