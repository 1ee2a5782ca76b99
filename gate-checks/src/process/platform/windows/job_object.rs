//! Job objects.

use std::io;

use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System};
use win32job::{ExtendedLimitInfo, Job, JobError};

/// The processes of a job. Dropped, they are ended.
#[derive(Debug)]
pub(super) struct JobObject(Job);

impl JobObject {
    /// A job without processes.
    ///
    /// # Errors
    ///
    /// A system that makes none.
    pub(super) fn new() -> io::Result<Self> {
        let mut limits = ExtendedLimitInfo::new();
        limits.limit_kill_on_job_close();
        Job::create_with_limit_info(&limits).map(Self).map_err(to_error)
    }

    /// Adds a process, by its handle, with all that it starts from now on.
    ///
    /// # Errors
    ///
    /// A process that has ended.
    pub(super) fn add(&self, process: isize) -> io::Result<()> {
        self.0.assign_process(process).map_err(to_error)
    }

    /// The processes that live, but for this one.
    pub(super) fn processes_but(&self, holder: Option<u32>) -> Vec<u32> {
        let ids = self.0.query_process_id_list().unwrap_or_default();
        let ids = ids.into_iter().filter_map(|id| u32::try_from(id).ok());
        ids.filter(|id| Some(*id) != holder && *id != 0).collect()
    }

    /// The memory of all its processes that is in use, in bytes.
    pub(super) fn memory(&self) -> u64 {
        let ids = self.processes_but(None);
        let system = look_at(&ids, ProcessRefreshKind::nothing().with_memory());
        system.processes().values().map(sysinfo::Process::memory).sum()
    }
}

/// The names of processes.
pub(super) fn names(ids: &[u32]) -> Vec<String> {
    let system = look_at(ids, ProcessRefreshKind::nothing());
    let names = system.processes().values().map(sysinfo::Process::name);
    let mut names: Vec<_> = names.map(|name| name.to_string_lossy().into_owned()).collect();
    names.sort();
    names.dedup();
    names
}

fn look_at(ids: &[u32], kind: ProcessRefreshKind) -> System {
    let ids: Vec<_> = ids.iter().copied().map(Pid::from_u32).collect();
    let mut system = System::new();
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&ids), true, kind);
    system
}

fn to_error(error: JobError) -> io::Error {
    io::Error::other(error.to_string())
}
