//! Runs that an agent has delegated: loops that it started, and whoever else leaves
//! records of runs below its own. They may outlive the agent.

use std::fs::File;
use std::path::Path;

use gate_checks::process::{Session, command_line};
use gate_core::protocol::run::RunInfo;

use super::{LOCK, reconcile};
use crate::failure::Failure;
use crate::governance::{Project, Task};

/// The program of conductor-loop that starts agents.
const RUN_AGENT: &str = "run-agent";

/// Whether runs that this run's agent has delegated go on. A loop of gate's counts also
/// between its runs, and before the first of them.
pub(super) fn go_on(task: &Task, run_id: &str, session: &Session) -> bool {
    let is_loop = |pid: i32| starts_runs(&command_line(pid));
    session.processes().into_iter().any(is_loop)
        || below(task.project(), &[run_id.to_owned()])
            .is_ok_and(|runs| runs.iter().any(reconcile::lives))
}

/// Ends the records of runs below these whose agents are gone, and whose loops are.
///
/// # Errors
///
/// A folder that cannot be read or written.
pub(super) fn reconcile(project: &Project, runs: &[String]) -> Result<(), Failure> {
    for info in below(project, runs)?.iter().filter(|info| !reconcile::lives(info)) {
        let Ok(task) = project.task(&info.task_id) else { continue };
        if !is_looped(&task) {
            reconcile::end(&task, &task.run(&info.run_id), task.is_done().unwrap_or(false))?;
        }
    }
    Ok(())
}

/// The runs that say that they go on, and that stand below one of these.
fn below(project: &Project, runs: &[String]) -> Result<Vec<RunInfo>, Failure> {
    let mut below = project.running()?;
    below.retain(|info| descends(project, info, runs));
    Ok(below)
}

fn descends(project: &Project, info: &RunInfo, runs: &[String]) -> bool {
    let (mut seen, mut parent) = (Vec::new(), info.parent_run_id.clone());
    while !parent.is_empty() && !seen.contains(&parent) {
        if runs.contains(&parent) {
            return true;
        }
        let above = project.run(&parent).ok().flatten().and_then(|run| run.info().ok());
        seen.push(parent);
        parent = above.map(|info| info.parent_run_id).unwrap_or_default();
    }
    false
}

/// Whether a loop runs over the task: it ends the records of its runs itself.
fn is_looped(task: &Task) -> bool {
    let lock = File::options().append(true).open(task.folder().join(LOCK));
    lock.is_ok_and(|lock| lock.try_lock().is_err())
}

/// Whether a command line starts runs: `gate run`, or conductor-loop's.
pub(crate) fn starts_runs(words: &[String]) -> bool {
    let [program, args @ ..] = words else { return false };
    let name = Path::new(program).file_name().unwrap_or_default();
    let own = std::env::current_exe().ok();
    let is_gate = name == "gate" || own.is_some_and(|own| own.file_name() == Some(name));
    let command = match args {
        [flag, _, command, ..] if flag == "-C" => Some(command),
        args => args.first(),
    };
    name == RUN_AGENT || (is_gate && command.is_some_and(|command| command == "run"))
}

#[cfg(test)]
mod tests {
    use super::starts_runs;

    #[test]
    fn a_loop_is_known_by_its_command_line() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let starts = |line: &str| starts_runs(&words(line));
        for line in ["gate run --task a -- x", "/opt/gate -C /p run --task a", "/x/run-agent job"] {
            assert!(starts(line), "{line}");
        }
        for line in ["", "gate", "gate hook claude-code", "npm run dev", "gate bus post run"] {
            assert!(!starts(line), "{line}");
        }
    }
}
