//! Whose agent it is that calls: the run that an ancestor of this process is.

use gate_core::protocol::run::RunInfo;

use super::project::Project;
use crate::failure::Failure;

/// The longest row of ancestors that is walked.
const DEEPEST: usize = 256;

/// Who calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caller {
    /// The run whose agent calls; none where a person does, or a program that
    /// no run started.
    pub run: Option<RunInfo>,
}

impl Caller {
    /// Who calls this process, of the runs of a project that go on: the nearest
    /// ancestor that is a run's agent, or whose session it is.
    ///
    /// # Errors
    ///
    /// A folder that cannot be read.
    pub fn of_process(project: &Project) -> Result<Self, Failure> {
        let running = project.running()?;
        if running.is_empty() {
            return Ok(Self::default());
        }
        let session = rustix::process::getsid(None).ok().map(|it| i64::from(it.as_raw_pid()));
        let near = ancestors().into_iter().chain(session);
        let of =
            |pid: i64| running.iter().find(|info| pid > 1 && [info.pid, info.pgid].contains(&pid));
        Ok(Self { run: near.into_iter().find_map(of).cloned() })
    }

    /// That a fact may be made the project's: by a person, or by a root agent.
    /// `named` is the run that the caller says it is.
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

/// The processes above this one, the nearest first, where /proc tells.
fn ancestors() -> Vec<i64> {
    let mut all = Vec::new();
    let mut next = i64::from(std::process::id());
    while let Some(parent) = parent(next).filter(|it| *it > 1 && all.len() < DEEPEST) {
        all.push(parent);
        next = parent;
    }
    all
}

/// A process's parent. Its name stands in brackets and may hold anything.
fn parent(pid: i64) -> Option<i64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok()
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
    #[cfg(target_os = "linux")]
    fn a_process_has_ancestors() {
        let parent = i64::from(rustix::process::getppid().unwrap().as_raw_pid());
        assert_eq!(ancestors().first(), Some(&parent));
    }
}
