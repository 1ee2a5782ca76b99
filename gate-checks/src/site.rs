//! Where checks look: the project, its work tree, the state folder.

use std::path::PathBuf;

use gate_core::decide::policy::CheckPolicy;
use gate_core::mask::{Masker, Variable};
use serde::{Deserialize, Serialize};

use crate::process::{Supervisor, absolute, is_usual};

/// Where checks look, and what they may use.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Site {
    /// The project: the folder of its settings. Working folders and globs are
    /// relative to it.
    pub project: PathBuf,
    /// Where caches and logs are kept, outside of the work tree. Without it
    /// nothing is kept.
    pub state: Option<PathBuf>,
    /// What ends a check's processes with all their descendants. Without it
    /// process groups are ended, and a process that left its group survives.
    pub supervisor: Option<Supervisor>,
    /// The environment that checks are given a part of.
    pub environment: Vec<(String, String)>,
    /// Files that belong to gate's caller, such as the transcript that is
    /// judged: where untracked, they are no part of the work.
    pub callers_files: Vec<PathBuf>,
    /// Globs of files that the tree digest leaves out.
    pub ignore: Vec<String>,
}

impl Site {
    /// A project, without state and without a supervisor.
    pub fn new(project: impl Into<PathBuf>) -> Self {
        Self {
            project: project.into(),
            state: None,
            supervisor: None,
            environment: Vec::new(),
            callers_files: Vec::new(),
            ignore: Vec::new(),
        }
    }

    /// What masks secrets in what checks print: tokens of known shapes, and values of
    /// this environment.
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
        let mut all = self.environment.iter();
        all.find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The folders of PATH, without relative ones.
    pub(crate) fn search_path(&self) -> String {
        absolute(self.variable("PATH").unwrap_or_default())
    }
}
