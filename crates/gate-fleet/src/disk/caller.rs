//! Finds the run whose agent calls gate: a process above gate is that agent.

use gate_core::Failure;
use jiff::{SignedDuration, Timestamp};

use super::project::Project;
use crate::run::{Ownership, RunInfo};

/// The largest difference between the start of a run and of its process: clocks may be set
/// in between. A younger process has reused the pid of one that is gone.
const MAX_START_GAP: SignedDuration = SignedDuration::from_mins(10);

/// A process above gate, or the leader of its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub pid: i32,
    /// When it started, to a second; `None` if the system hides it.
    pub started: Option<Timestamp>,
}

/// The agent that calls gate, if one does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caller {
    /// The run whose agent calls; `None` if a person calls, or a program that no run started.
    pub run: Option<RunInfo>,
}

impl Caller {
    /// Finds the run that these processes belong to: that of the first one that is a run's agent.
    ///
    /// `processes` are those above gate, the nearest first, and then the leader of its session.
    /// They are looked at only if a run is not ended.
    ///
    /// # Errors
    ///
    /// A folder that cannot be read.
    pub fn among(
        project: &Project,
        mut processes: impl Iterator<Item = Process>,
    ) -> Result<Self, Failure> {
        let running = project.running()?;
        if running.is_empty() {
            return Ok(Self::default());
        }
        let run = processes.find_map(|process| {
            running.iter().find(|info| is_agent(info, process.pid.into(), process.started))
        });
        Ok(Self { run: run.cloned() })
    }

    /// Fails unless the caller may make a fact the project's: a person may, and a root agent.
    /// `named` is the run that the caller claims to be.
    ///
    /// # Errors
    ///
    /// A run that another run started (code 2).
    pub fn may_promote(&self, named: Option<&RunInfo>) -> Result<(), Failure> {
        let Some(info) = self.run.iter().chain(named).find(|info| info.is_delegated()) else {
            return Ok(());
        };
        let (run, parent) = (&info.run_id, &info.parent_run_id);
        let message = format!(
            "run {run} was started by run {parent}, and a project's facts are the root agent's to decide"
        );
        Err(Failure::usage("not-root", message)
            .hint("propose it: `gate bus post --type FACT`, and the root agent promotes it"))
    }

    /// The run that a message is from: the caller's own, else the one it names.
    ///
    /// # Errors
    ///
    /// A caller that names another run than its own (code 2).
    pub fn speaks_for(&self, named: Option<&str>) -> Result<String, Failure> {
        let callers = self.run.as_ref().map(|info| info.run_id.as_str());
        match (callers, named) {
            (Some(callers), Some(named)) if callers != named => {
                let message = format!("--run {named}: this is an agent of run {callers}");
                Err(Failure::usage("not-your-run", message))
            }
            (callers, named) => Ok(callers.or(named).unwrap_or_default().to_owned()),
        }
    }
}

/// A process that started at this time is a run's agent.
fn is_agent(info: &RunInfo, pid: i64, started: Option<Timestamp>) -> bool {
    let is_adopted = info.process_ownership == Some(Ownership::External);
    pid > 1
        && [info.pid, info.pgid].contains(&pid)
        && (is_adopted
            || started
                .is_none_or(|time| time.duration_since(info.start_time).abs() <= MAX_START_GAP))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(id: &str, parent: &str) -> RunInfo {
        let mut info = RunInfo::unknown(id, "p", "t");
        parent.clone_into(&mut info.parent_run_id);
        info
    }

    #[test]
    fn only_a_root_agent_and_a_person_promote() {
        let caller = |info| Caller { run: info };
        assert!(caller(None).may_promote(None).is_ok());
        assert!(caller(Some(run("1", ""))).may_promote(Some(&run("1", ""))).is_ok());
        let refused = caller(Some(run("2", "1"))).may_promote(None).unwrap_err();
        assert_eq!((refused.exit_code, refused.code.as_str()), (2, "not-root"));
        assert!(caller(None).may_promote(Some(&run("2", "1"))).is_err());
        assert!(caller(Some(run("2", "1"))).may_promote(Some(&run("1", ""))).is_err());
    }

    #[test]
    fn nobody_speaks_for_another_run() {
        let caller = Caller { run: Some(run("1", "")) };
        assert_eq!(caller.speaks_for(None), Ok("1".to_owned()));
        assert_eq!(caller.speaks_for(Some("1")), Ok("1".to_owned()));
        assert_eq!(caller.speaks_for(Some("2")).unwrap_err().code, "not-your-run");
        assert_eq!(Caller::default().speaks_for(Some("2")), Ok("2".to_owned()));
    }

    #[test]
    fn a_number_that_was_given_again_is_no_agent() {
        let mut info = run("1", "");
        (info.pid, info.start_time) = (4130, "2026-02-20T15:30:45Z".parse().unwrap());
        let at = |text: &str| Some(text.parse().unwrap());
        assert!(is_agent(&info, 4130, at("2026-02-20T15:30:46Z")));
        assert!(!is_agent(&info, 4130, at("2026-02-20T16:30:46Z")));
        assert!(is_agent(&info, 4130, None) && !is_agent(&info, 4131, None));
        info.process_ownership = Some(Ownership::External);
        assert!(is_agent(&info, 4130, at("2026-02-20T16:30:46Z")));
    }
}
