//! Where checks look: the project, its work tree, the state folder.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::process::Supervisor;

/// Where checks look, and what they may use.
#[derive(Clone, Debug)]
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

    /// A variable of the environment.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        let mut all = self.environment.iter();
        all.find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The folders of PATH, without relative ones: those would let the work
    /// decide which tools look at it.
    pub(crate) fn search_path(&self) -> OsString {
        let all = std::env::split_paths(self.variable("PATH").unwrap_or_default());
        std::env::join_paths(all.filter(|folder| folder.is_absolute())).unwrap_or_default()
    }
}
