//! Folders of runs that ended long ago.

use std::fs;
use std::path::PathBuf;

use gate_fleet::run::{RunInfo, Status, layout};
use jiff::Timestamp;

use super::delegated::is_alive;
use super::lock;
use crate::failure::Failure;
use crate::governance::{RunFolder, Runs};

/// A task whose runs ended long ago.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OldTask {
    /// The project's id in the names of folders.
    pub(crate) project: String,
    /// The task's id.
    pub(crate) task: String,
    /// The folders of its runs.
    pub(crate) runs: Vec<PathBuf>,
}

/// The tasks whose runs all ended before a limit. The folders of a task go together: a report
/// and a handoff read those of earlier runs, and a run's place among them is its iteration.
///
/// # Errors
///
/// A folder that cannot be read.
pub(crate) fn old_tasks(runs: &Runs, limit: Timestamp) -> Result<Vec<OldTask>, Failure> {
    let mut old_tasks = Vec::new();
    for project in runs.projects()? {
        let running = project.running()?;
        for task in project.tasks()? {
            // A folder without a record is nobody's run.
            let recorded_runs: Vec<_> = task.runs()?.into_iter().filter(has_record).collect();
            let is_parent = |run: &RunFolder| {
                running.iter().any(|info| info.parent_run_id == run.id() && is_alive(info))
            };
            let is_old = !recorded_runs.is_empty()
                && !lock::is_locked(&task)
                && recorded_runs.iter().all(|run| ended_before(run, limit) && !is_parent(run));
            if is_old {
                let runs = recorded_runs.iter().map(|run| run.folder().to_owned()).collect();
                let (project, task) = (project.id().to_owned(), task.id().to_owned());
                old_tasks.push(OldTask { project, task, runs });
            }
        }
    }
    Ok(old_tasks)
}

fn has_record(run: &RunFolder) -> bool {
    let record = run.file(layout::RUN_INFO).symlink_metadata();
    record.is_ok_and(|metadata| metadata.is_file())
}

/// A record that cannot be read is no proof of an end.
fn ended_before(run: &RunFolder, limit: Timestamp) -> bool {
    let Ok(info) = run.info() else { return false };
    let is_ended = info.status != Status::Running || !is_alive(&info);
    is_ended && last_moment(run, &info).is_some_and(|moment| moment < limit)
}

/// The later one of the run's end and the last change of its folder.
fn last_moment(run: &RunFolder, info: &RunInfo) -> Option<Timestamp> {
    let modified_at = fs::metadata(run.folder()).and_then(|metadata| metadata.modified()).ok()?;
    Some(Timestamp::try_from(modified_at).ok()?.max(info.end_time.unwrap_or(info.start_time)))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::{Duration, SystemTime};

    use super::super::tests::{GONE, begun, own_group, task};
    use super::*;
    use crate::governance::Task;

    fn in_a_day() -> Timestamp {
        Timestamp::now() + Duration::from_secs(86_400)
    }

    fn count_old_runs(task: &Task, limit: Timestamp) -> usize {
        let old_tasks = old_tasks(task.project().runs(), limit).unwrap();
        old_tasks.iter().map(|task| task.runs.len()).sum()
    }

    #[test]
    fn the_folders_of_a_task_go_once_all_its_runs_ended_before() {
        let (_folder, task) = task();
        let (first, second) = (begun(&task, GONE, ""), begun(&task, GONE, ""));
        first.update(|info| info.ended(Timestamp::now(), 0, None)).unwrap();
        assert_eq!(count_old_runs(&task, in_a_day()), 2, "the agent of the second one is gone");
        assert_eq!(
            count_old_runs(&task, Timestamp::now() - Duration::from_secs(60)),
            0,
            "they are new"
        );
        let later = in_a_day() + Duration::from_secs(60);
        second.update(|info| info.ended(later, 0, None)).unwrap();
        assert_eq!(count_old_runs(&task, in_a_day()), 0, "one is younger");
        fs::write(second.file(layout::RUN_INFO), "status: no\n").unwrap();
        assert_eq!(count_old_runs(&task, in_a_day()), 0, "one cannot be read");
        fs::remove_file(second.file(layout::RUN_INFO)).unwrap();
        assert_eq!(count_old_runs(&task, in_a_day()), 1, "one has no record, and is no run");
        let modified_at = SystemTime::now() + Duration::from_secs(90_000);
        File::open(first.folder()).unwrap().set_modified(modified_at).unwrap();
        assert_eq!(count_old_runs(&task, in_a_day()), 0, "it was changed since");
    }

    #[test]
    fn what_runs_and_what_started_it_stays() {
        let (_folder, task) = task();
        let run = begun(&task, own_group(), "");
        assert_eq!(count_old_runs(&task, in_a_day()), 0, "it runs");
        run.update(|info| info.ended(Timestamp::now(), 0, None)).unwrap();
        assert_eq!(count_old_runs(&task, in_a_day()), 1);
        let lock = lock::lock(&task).unwrap();
        assert_eq!(count_old_runs(&task, in_a_day()), 0, "a loop has the task");
        drop(lock);
        let second_task = task.project().task("t2").unwrap();
        begun(&second_task, own_group(), &run.id());
        assert_eq!(count_old_runs(&task, in_a_day()), 0, "its agent has started one that runs");
    }
}
