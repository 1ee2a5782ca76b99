//! A job that can write in one folder only, without a network.
//!
//! It is for tests that the agent must not see: the product under test reads them, since it
//! runs in the same process, and must not carry them out. The supervisor confines itself before it
//! starts the job, so that every descendant of the job is confined too:
//!
//! * Landlock (Linux 5.13 and later) denies every write outside of the folder.
//! * New namespaces of users, mounts, the network and shared memory, where the system lets a user
//!   make them: read-only mounts, an empty `/dev/shm`, empty folders in the place of those that are
//!   hidden, and a loopback of its own as the only network. A process under Landlock cannot undo
//!   a mount.
//!
//! What stays open is a Unix socket with a path, if somebody outside listens on it.

use std::path::PathBuf;

/// The limits of a confined job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Confinement {
    /// The one folder that the job can write to.
    pub(crate) folder: PathBuf,
    /// Folders that the job finds empty.
    pub(crate) hidden: Vec<PathBuf>,
    /// The job has namespaces of its own. Without them, it has a network and sees the hidden folders.
    pub(crate) has_namespaces: bool,
}
