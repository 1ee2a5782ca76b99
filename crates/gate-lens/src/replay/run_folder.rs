//! Run folders: `run-info.yaml` beside an agent's output. Each is one iteration,
//! and the run folders beside it are the others of its run.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use gate_fleet::run::layout::{OUTPUT, RUN_INFO, RUNS, STDOUT};

/// Files of the agent's output: the first one that is not empty counts.
const OUTPUTS: [&str; 2] = [STDOUT, OUTPUT];

/// The folders that were looked at.
#[derive(Debug, Default)]
pub(crate) struct RunFolders {
    known: HashMap<PathBuf, Kind>,
    /// The run folders in a folder, in their order.
    runs: HashMap<PathBuf, Vec<PathBuf>>,
}

/// Kind of a folder.
#[derive(Clone, Debug)]
enum Kind {
    /// Anything.
    Plain,
    /// A task's own: its prompt, its messages.
    Task,
    /// A run's; this one is the agent's output.
    Run(PathBuf),
}

impl RunFolders {
    pub(crate) fn is_transcript(&mut self, file: &Path) -> bool {
        match self.kind(file) {
            Kind::Plain => !is_bookkeeping(file),
            Kind::Task => false,
            Kind::Run(output) => output == file,
        }
    }

    /// The place of a run among those beside it, from 1; 1 for any other file.
    pub(crate) fn iteration(&mut self, file: &Path) -> u64 {
        let Kind::Run(_) = self.kind(file) else { return 1 };
        let Some(run) = file.parent() else { return 1 };
        let Some(all) = run.parent() else { return 1 };
        let runs = self.runs.entry(all.to_owned()).or_insert_with(|| runs(all));
        runs.iter().position(|other| other == run).map_or(1, |at| at as u64 + 1)
    }

    fn kind(&mut self, file: &Path) -> Kind {
        let folder = file.parent().unwrap_or(Path::new("."));
        self.known.entry(folder.to_owned()).or_insert_with(|| Kind::detect(folder)).clone()
    }
}

impl Kind {
    fn detect(folder: &Path) -> Self {
        if folder.join(RUN_INFO).is_file() {
            let all = OUTPUTS.map(|name| folder.join(name));
            let there =
                all.iter().find(|file| fs::metadata(file).is_ok_and(|metadata| metadata.len() > 0));
            let there = there.or_else(|| all.iter().find(|file| file.is_file()));
            Self::Run(there.unwrap_or(&all[0]).clone())
        } else if !runs(&folder.join(RUNS)).is_empty() {
            Self::Task
        } else {
            Self::Plain
        }
    }
}

/// The run folders in a folder. Their names begin with the time.
fn runs(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.map(|entry| entry.path());
    let mut runs: Vec<_> = folders.filter(|folder| folder.join(RUN_INFO).is_file()).collect();
    runs.sort();
    runs
}

/// The path is a file of a project of run folders that no agent's output is.
fn is_bookkeeping(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    name.ends_with("-MESSAGE-BUS.md") || name.ends_with("-FACTS.md") || name.starts_with("FACT-")
}
