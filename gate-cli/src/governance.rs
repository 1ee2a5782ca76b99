//! Run folders, buses and facts where the settings have them, and the run whose agent calls.
//!
//! [`project_here`] is the project of these places: [`Task`]s and [`RunFolder`]s are below it, and
//! a [`Bus`] is a file with many writers. A runner of an agent makes a run with [`Task::begin`],
//! writes its record with [`RunFolder::write`], posts that with [`Bus::append`] and gives the agent
//! a [`Brief`].

use gate_checks::HandoffProblem;
use gate_checks::process::{Ancestor, ProcessStat, ancestors};
use gate_checks::worktree;
pub use gate_fleet::disk::{
    Brief, Bus, Caller, FactFile, Heads, Process, Project, Promoted, Promotion, RunFolder, Runs,
    Settled, Source, Task, UnreadableFact,
};
pub(crate) use gate_fleet::disk::{STARTING, add, by_gate};
use gate_fleet::handoff::{self, Format};
use gate_fleet::run;
use jiff::Timestamp;

use crate::failure::Failure;
use crate::settings::{self, Places, Selection};

/// The projects in the folder of the settings (`[run] folder`), or in `$XDG_DATA_HOME/gate/runs`.
///
/// # Errors
///
/// Neither of them is known (code 2).
pub fn runs(places: &Places, folder: Option<&str>) -> Result<Runs, Failure> {
    let configured = folder.map(|folder| places.project().map(|project| project.join(folder)));
    let usual = places.data.as_ref().map(|data| data.join("runs"));
    let root = configured.transpose()?.or(usual).ok_or_else(|| {
        Failure::usage("runs-unknown", "there is no folder for runs: HOME is not set")
            .hint("set `folder` in [run] of gate.toml, or XDG_DATA_HOME")
    })?;
    Ok(Runs::at(root))
}

/// The project of these places, if nobody names another.
///
/// # Errors
///
/// Settings that are not valid, no folder.
pub fn project_here(places: &Places) -> Result<Project, Failure> {
    let resolved = settings::resolve(places, &Selection::default())?;
    let known_by = match resolved.policy.project.id {
        Some(id) => id,
        None => worktree::identity(&places.project()?),
    };
    runs(places, resolved.run.folder.as_deref())?.project(&run::project_slug(&known_by))
}

/// The run of a project whose agent calls gate: a process above this one, or the leader of its
/// session, is that agent.
///
/// # Errors
///
/// A folder that cannot be read.
pub fn caller(project: &Project) -> Result<Caller, Failure> {
    let above = || {
        let own_process = ProcessStat::read(std::process::id() as i32);
        let leader = own_process.map(|process| process.session);
        ancestors().chain(leader.map(|pid| Ancestor { pid, stat: ProcessStat::read(pid) }))
    };
    // Where nothing runs, no process is looked at.
    let processes = std::iter::once_with(above).flatten().map(|process| {
        let second = process.stat.as_ref().and_then(ProcessStat::start_second);
        let started = second.and_then(|second| Timestamp::from_second(second).ok());
        Process { pid: process.pid, started }
    });
    Caller::among(project, processes)
}

/// The problems of a handoff in any of its formats, for the check of that kind.
pub(crate) fn handoff_problems(text: &str) -> Vec<HandoffProblem> {
    let problems = handoff::read(text, Format::detect(text)).all_problems().into_iter();
    let problems = problems.map(|problem| HandoffProblem {
        text: problem.to_string(),
        rule: problem.rule,
        field: problem.field,
        message: problem.message,
    });
    problems.collect()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn the_folder_of_runs_is_the_settings_own_or_in_the_data_folder() {
        let folder = tempfile::tempdir().unwrap();
        let data = Some(PathBuf::from("/d/gate"));
        let places = Places { folder: folder.path().to_owned(), data, ..Places::default() };
        let find = |places: &Places, set| runs(places, set).map(|runs| runs.folder().to_owned());
        assert_eq!(find(&places, None), Ok(PathBuf::from("/d/gate/runs")));
        assert_eq!(find(&places, Some("loops")), Ok(folder.path().join("loops")));
        assert_eq!(find(&places, Some("/r")), Ok(PathBuf::from("/r")));
        let homeless = Places { data: None, ..places };
        assert_eq!(find(&homeless, Some("/r")), Ok(PathBuf::from("/r")));
        let failure = find(&homeless, None).unwrap_err();
        assert_eq!((failure.exit_code, failure.code.as_str()), (2, "runs-unknown"));
    }
}
