//! `run-info.yaml`: who ran, when, and how it ended.

use jiff::Timestamp;

use super::cause::RECONCILED;
use crate::yaml::{Entry, YamlError};

/// The only version of the record that there is.
pub(super) const VERSION: u64 = 1;

/// The record of a run.
///
/// It is written as conductor-loop writes it: its keys in one order, those that are optional only
/// if they have a value. What a later program has added is kept and written behind the rest.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunInfo {
    /// The run's id, the name of its folder.
    pub run_id: String,
    /// The run that started this one; empty for a root agent's.
    pub parent_run_id: String,
    /// The run before it in its loop; empty for the first.
    pub previous_run_id: String,
    /// The project's id.
    pub project_id: String,
    /// The task's id.
    pub task_id: String,
    /// The agent, such as `codex`.
    pub agent: String,
    /// The owner of the process, which ends it; `None` if the record does not name one.
    pub process_ownership: Option<Ownership>,
    /// The agent's process; 0 if none was started.
    pub pid: i64,
    /// The agent's process group; 0 if none was started.
    pub pgid: i64,
    /// When it began.
    pub start_time: Timestamp,
    /// When it ended; none while it runs.
    pub end_time: Option<Timestamp>,
    /// The agent's exit code; -1 while it runs, if it was killed, and if it could not be started.
    pub exit_code: i64,
    /// Its state or result.
    pub status: Status,
    /// The agent's working folder, an absolute path; empty if it is unknown, as with all paths
    /// here.
    pub cwd: String,
    /// The prompt.
    pub prompt_path: String,
    /// The result.
    pub output_path: String,
    /// The agent's standard output.
    pub stdout_path: String,
    /// The agent's standard error.
    pub stderr_path: String,
    /// The command that started the agent, for a person.
    pub commandline: String,
    /// Why it failed; empty if it did not.
    pub error_summary: String,
    /// The version that the agent's program reports.
    pub agent_version: String,
    /// Keys that are not known here.
    pub(super) extra: Vec<Entry>,
}

/// State or result of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// It goes on.
    Running,
    /// The agent ended with code 0.
    Completed,
    /// It did not.
    Failed,
    /// Not known: its record is missing.
    Unknown,
}

/// Owner of a run's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ownership {
    /// The runner that started it.
    Managed,
    /// Somebody else.
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
        key: &'static str,
        /// The expected value.
        expected: &'static str,
        /// The value that was found.
        found: String,
    },
}

/// An oddity of a record that can be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {what}")]
pub struct Problem {
    /// The key.
    pub key: &'static str,
    /// The oddity, in words.
    pub what: String,
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
        let [parent_run_id, previous_run_id, agent, cwd, prompt_path, output_path] =
            <[String; 6]>::default();
        let [stdout_path, stderr_path, commandline, error_summary, agent_version] =
            <[String; 5]>::default();
        Self {
            run_id: run_id.to_owned(),
            parent_run_id,
            previous_run_id,
            project_id: project_id.to_owned(),
            task_id: task_id.to_owned(),
            agent,
            process_ownership: None,
            pid: 0,
            pgid: 0,
            start_time: Timestamp::UNIX_EPOCH,
            end_time: None,
            exit_code: -1,
            status: Status::Unknown,
            cwd,
            prompt_path,
            output_path,
            stdout_path,
            stderr_path,
            commandline,
            error_summary,
            agent_version,
            extra: Vec::new(),
        }
    }

    /// The same run, ended: completed with code 0, else failed, with `why` or
    /// with what its exit code means.
    #[must_use]
    pub fn ended(self, at: Timestamp, exit_code: i64, why: Option<&str>) -> Self {
        let failed = exit_code != 0 || why.is_some();
        let status = if failed { Status::Failed } else { Status::Completed };
        let words = why.map_or_else(|| super::error_summary(exit_code), str::to_owned);
        Self { end_time: Some(at), exit_code, status, error_summary: words, ..self }
    }

    /// The same run, whose record says that it goes on and whose process is gone: failed, or
    /// completed if its task has the file `DONE`.
    #[must_use]
    pub fn reconciled(self, at: Timestamp, done: bool) -> Self {
        if self.status != Status::Running {
            return self;
        }
        if done {
            return Self { end_time: Some(at), status: Status::Completed, ..self };
        }
        self.ended(at, -1, Some(RECONCILED))
    }

    /// True if another run started it: then its agent is no root agent.
    pub fn is_delegated(&self) -> bool {
        !self.parent_run_id.is_empty()
    }

    /// Oddities of the record. A reader goes on; a writer should not have made them.
    pub fn problems(&self) -> Vec<Problem> {
        let mut all = Vec::new();
        let is_running = self.status == Status::Running;
        let end_problem = match self.end_time {
            Some(end) if end < self.start_time => Some("before start_time"),
            Some(_) if is_running => Some("the run goes on"),
            None if matches!(self.status, Status::Completed | Status::Failed) => {
                Some("the run has ended")
            }
            _ => None,
        };
        all.extend(end_problem.map(|what| Problem { key: "end_time", what: what.to_owned() }));
        if is_running && self.exit_code != -1 {
            let what = format!("{}, and the run goes on: -1 is expected", self.exit_code);
            all.push(Problem { key: "exit_code", what });
        }
        for (key, path) in self.paths().into_iter().filter(|(_, path)| !path.is_empty()) {
            if !path.starts_with('/') && !path.contains(":\\") {
                all.push(Problem { key, what: format!("{path:?} is no absolute path") });
            }
        }
        all
    }

    fn paths(&self) -> [(&'static str, &str); 5] {
        [
            ("cwd", &self.cwd),
            ("prompt_path", &self.prompt_path),
            ("output_path", &self.output_path),
            ("stdout_path", &self.stdout_path),
            ("stderr_path", &self.stderr_path),
        ]
    }
}

impl Status {
    pub(super) const ALL: [Self; 4] = [Self::Running, Self::Completed, Self::Failed, Self::Unknown];

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

impl Ownership {
    pub(super) const ALL: [Self; 2] = [Self::Managed, Self::External];

    /// Its word in a record.
    pub fn name(self) -> &'static str {
        match self {
            Self::Managed => "managed",
            Self::External => "external",
        }
    }
}
