//! Runs that an agent has delegated: loops that it started, and any other runs whose
//! records name one of its runs as their parent. They may outlive the agent.

use std::path::Path;

use gate_checks::process::{Session, command_line};
use gate_fleet::bus::Message;
use gate_fleet::run::{RECONCILED, RunInfo};
use gate_platform::has_group;
use jiff::Timestamp;

use super::lock;
use crate::failure::Failure;
use crate::governance::{Project, RunFolder, Task, by_gate};
use crate::secrets;

/// The program of conductor-loop that starts agents.
const RUN_AGENT: &str = "run-agent";

/// Runs that this run's agent has delegated are still running. A loop of gate counts between its
/// runs too, and before the first.
pub(super) fn has_running(task: &Task, run_id: &str, session: &Session) -> bool {
    let mut processes = session.processes().into_iter();
    processes.any(|pid| is_run_command(&command_line(pid)))
        || running_below(task.project(), &[run_id.to_owned()])
            .is_ok_and(|runs| runs.iter().any(is_alive))
}

/// Ends the records of runs below these if both their agents and their loops are gone.
pub(super) fn end_orphaned_records(project: &Project, runs: &[String]) -> Result<(), Failure> {
    for info in running_below(project, runs)?.iter().filter(|info| !is_alive(info)) {
        let Ok(task) = project.task(&info.task_id) else { continue };
        if !lock::is_locked(&task) {
            end_record(&task, &task.run(&info.run_id), task.is_done().unwrap_or(false))?;
        }
    }
    Ok(())
}

/// The run's process group exists, also as another user's.
pub(super) fn is_alive(info: &RunInfo) -> bool {
    // A negative number would ask for a process instead of a group.
    u32::try_from(info.pgid).is_ok_and(|pgid| pgid > 0 && has_group(pgid))
}

/// Ends the record of a run, and posts that on the bus.
pub(super) fn end_record(task: &Task, run: &RunFolder, is_done: bool) -> Result<(), Failure> {
    run.release();
    run.settle_output()?;
    let info = run.update(|info| info.reconciled(Timestamp::now(), is_done))?;
    task.announce(run, &info, secrets::masker())?;
    let body = format!("run {}: {RECONCILED}", info.run_id);
    let draft = Message { body, ..by_gate("WARNING", task) };
    task.bus()?.append(draft).map(drop)
}

/// The descendants of these runs whose records are not ended.
fn running_below(project: &Project, runs: &[String]) -> Result<Vec<RunInfo>, Failure> {
    let mut running = project.running()?;
    running.retain(|info| is_descendant(project, info, runs));
    Ok(running)
}

fn is_descendant(project: &Project, info: &RunInfo, runs: &[String]) -> bool {
    // Anybody can write records, so two of them may name each other as their parent.
    let mut seen_parents = Vec::new();
    let mut parent = info.parent_run_id.clone();
    while !parent.is_empty() && !seen_parents.contains(&parent) {
        if runs.contains(&parent) {
            return true;
        }
        let info = project.run(&parent).ok().flatten().and_then(|run| run.info().ok());
        seen_parents.push(parent);
        parent = info.map(|info| info.parent_run_id).unwrap_or_default();
    }
    false
}

/// A command line that starts runs: `gate run`, or conductor-loop's program.
pub(crate) fn is_run_command(words: &[String]) -> bool {
    let [program, args @ ..] = words else { return false };
    let name = Path::new(program).file_name().unwrap_or_default();
    let gate = std::env::current_exe().ok();
    let is_gate = name == "gate" || gate.is_some_and(|gate| gate.file_name() == Some(name));
    let command = match args {
        [flag, _, command, ..] if flag == "-C" => Some(command),
        args => args.first(),
    };
    name == RUN_AGENT || (is_gate && command.is_some_and(|command| command == "run"))
}

#[cfg(test)]
mod tests {
    use super::is_run_command;

    #[test]
    fn a_loop_is_known_by_its_command_line() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let is_known = |line: &str| is_run_command(&words(line));
        for line in ["gate run --task a -- x", "/opt/gate -C /p run --task a", "/x/run-agent job"] {
            assert!(is_known(line), "{line}");
        }
        for line in ["", "gate", "gate hook claude-code", "npm run dev", "gate bus post run"] {
            assert!(!is_known(line), "{line}");
        }
    }
}
