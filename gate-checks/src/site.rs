//! Folders and environment of checks.

use std::ffi::OsString;
use std::path::PathBuf;

use gate_core::decide::policy::CheckPolicy;
use gate_core::mask::{Masker, Variable};
use serde::{Deserialize, Serialize};

use crate::process::{Supervisor, absolute_folders, absolute_path, is_usual};

/// Folders, environment and resources of checks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CheckSite {
    /// The project: the folder of its settings. Working folders and globs are
    /// relative to it.
    #[serde(with = "crate::path_text")]
    pub project: PathBuf,
    /// Folder of caches and logs, outside of the work tree. Without it nothing is stored.
    #[serde(with = "crate::path_text::optional")]
    pub state: Option<PathBuf>,
    /// Ends a check's processes with all their descendants. Without it gate ends process
    /// groups, and a process that left its group survives.
    pub supervisor: Option<Supervisor>,
    /// The environment that checks are given a part of.
    pub environment: Vec<(String, String)>,
    /// Files that belong to gate's caller, such as the transcript that is
    /// judged: where untracked, they are no part of the work.
    pub callers_files: Vec<PathBuf>,
    /// Globs of files that the tree digest leaves out.
    pub ignore: Vec<String>,
    /// The folder of the machine's check slots. Without it, checks are not bound to the
    /// number of those that run at once on the machine.
    #[serde(with = "crate::path_text::optional")]
    pub slots: Option<PathBuf>,
    /// Reads handoffs for the check of that kind. Without it the check is inconclusive.
    #[serde(skip)]
    pub handoff_reader: Option<HandoffReader>,
}

/// Finds the problems of a handoff in its text; nothing if it says all that it has to.
///
/// The formats of handoffs belong to those who hand over, so who makes the site knows them.
pub type HandoffReader = fn(&str) -> Vec<HandoffProblem>;

/// A problem of a handoff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandoffProblem {
    /// The broken rule of the protocol, from 1; `None` for problems of form.
    pub rule: Option<u8>,
    /// The field, such as `open_risks[0].owner`; empty for the whole text.
    pub field: String,
    /// The fault, and the expected value.
    pub message: String,
    /// All of it in one line.
    pub text: String,
}

/// The variables of this process whose name and value are text. Of PATH, only folders
/// whose names are no text are left out.
pub fn environment() -> Vec<(String, String)> {
    gate_platform::variables().filter_map(|(name, value)| text_variable(name, value)).collect()
}

fn text_variable(name: OsString, value: OsString) -> Option<(String, String)> {
    let name = name.into_string().ok()?;
    let value = match value.into_string() {
        Ok(value) => value,
        Err(value) if name == "PATH" => absolute_folders(std::env::split_paths(&value)),
        Err(_) => return None,
    };
    Some((name, value))
}

impl CheckSite {
    /// A project, without state and without a supervisor.
    pub fn new(project: impl Into<PathBuf>) -> Self {
        Self {
            project: project.into(),
            state: None,
            supervisor: None,
            environment: Vec::new(),
            callers_files: Vec::new(),
            ignore: Vec::new(),
            slots: None,
            handoff_reader: None,
        }
    }

    /// Masks secrets in the output of checks: tokens of known forms, and values of this
    /// environment.
    pub fn masker(&self) -> Masker {
        Masker::new(self.environment.iter().map(|(name, value)| Variable {
            name,
            value,
            is_seen: is_usual(name),
        }))
    }

    /// The folder that a check runs in.
    pub(crate) fn folder_of(&self, check: &CheckPolicy) -> PathBuf {
        check.cwd.as_ref().map_or_else(|| self.project.clone(), |cwd| self.project.join(cwd))
    }

    /// A variable of the environment.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        self.environment
            .iter()
            .find(|(variable, _)| variable == name)
            .map(|(_, value)| value.as_str())
    }

    /// The folders of PATH, without relative ones.
    pub(crate) fn search_path(&self) -> String {
        absolute_path(self.variable("PATH").unwrap_or_default())
    }
}
