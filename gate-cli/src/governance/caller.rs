//! Finds the run whose agent calls gate: an ancestor of this process is that agent.

use gate_checks::process::{Ancestor, ProcessStat, ancestors};
use gate_fleet::run::{Ownership, RunInfo};
use jiff::{SignedDuration, Timestamp};

use super::project::Project;
use crate::failure::Failure;

/// The largest difference between the start of a run and of its process: clocks may be set
/// in between. A younger process has reused the pid of one that is gone.
const MAX_START_GAP: SignedDuration = SignedDuration::from_mins(10);

/// The agent that calls gate, if one does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caller {
    /// The run whose agent calls; none if a person calls, or a program that no run started.
    pub run: Option<RunInfo>,
}

impl Caller {
    /// Finds the run that this process belongs to: that of the nearest ancestor that is a run's
    /// agent, or in its session.
    ///
    /// # Errors
    ///
    /// A folder that cannot be read.
    pub fn from_process(project: &Project) -> Result<Self, Failure> {
        let running = project.running()?;
        if running.is_empty() {
            return Ok(Self::default());
        }
        let leader = ProcessStat::read(std::process::id() as i32).map(|own| own.session);
        let leader = leader.map(|pid| Ancestor { pid, stat: ProcessStat::read(pid) });
        let run = ancestors().chain(leader).find_map(|process| {
            let started = process.stat.as_ref().and_then(ProcessStat::start_second);
            let started = started.and_then(|second| Timestamp::from_second(second).ok());
            running.iter().find(|info| is_agent(info, process.pid.into(), started))
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
        let own = self.run.as_ref().map(|info| info.run_id.as_str());
        match (own, named) {
            (Some(own), Some(named)) if own != named => {
                let message = format!("--run {named}: this is an agent of run {own}");
                Err(Failure::usage("not-your-run", message))
            }
            (own, named) => Ok(own.or(named).unwrap_or_default().to_owned()),
        }
    }
}

/// True if a process that began at this time is a run's agent.
fn is_agent(info: &RunInfo, pid: i64, began: Option<Timestamp>) -> bool {
    let is_adopted = info.process_ownership == Some(Ownership::External);
    pid > 1
        && [info.pid, info.pgid].contains(&pid)
        && (is_adopted
            || began.is_none_or(|at| at.duration_since(info.start_time).abs() <= MAX_START_GAP))
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
