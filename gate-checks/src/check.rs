//! The interface of checks.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use gate_core::decide::evidence::Evidence;
use gate_core::decide::first_tests::FirstTests;
use gate_core::decide::policy::Allowance;
use gate_core::mask::Masker;
use serde::{Deserialize, Serialize};

use crate::baseline::Baseline;
use crate::cancellation::Cancellation;
use crate::event::Events;
pub use crate::id::CheckId;
use crate::logs::Logs;
use crate::process::Confinement;
use crate::site::CheckSite;
use crate::slots::Slots;
use crate::worktree::Snapshot;

/// Something that looks at the work.
///
/// A check never fails as a function does: what it could not find out is an
/// [`Inconclusive`](gate_core::decide::evidence::Outcome::Inconclusive)
/// record. It ends soon after [`CheckContext::cancel`] is cancelled, and
/// leaves no process behind.
#[async_trait]
pub trait Check: Send + Sync {
    /// Its name.
    fn id(&self) -> &CheckId;

    /// Runs the check.
    async fn run(&self, cx: &CheckContext) -> Evidence;
}

/// Input of a check.
#[derive(Clone, Debug)]
pub struct CheckContext {
    /// Folders and environment of the check.
    pub site: Arc<CheckSite>,
    /// The work tree before the checks of this round.
    pub tree: Arc<Snapshot>,
    /// The work tree before the agent acted, if known.
    pub baseline: Option<Baseline>,
    /// Changes that the operator allows.
    pub allow: Arc<[Allowance]>,
    /// True at a stop where a person waits: the warm copy decides.
    pub interactive: bool,
    /// Facts about the decision.
    pub about: Arc<About>,
    /// The tests that were written before the work, if a phase of its own wrote some.
    pub first_tests: Option<Arc<FirstTests>>,
    /// Cancelled when nobody waits for the result any more.
    pub cancel: Cancellation,
    /// Receiver of events.
    pub events: Events,
    /// Masks secrets in everything that is stored.
    pub masker: Arc<Masker>,
    /// Destination of logs.
    pub(crate) logs: Arc<Logs>,
    /// The machine's check slots, where checks are bound to them.
    pub(crate) slots: Option<Slots>,
    /// Most bytes on disk of the copies of all work trees; 0: no bound.
    pub(crate) copies_max_bytes: u64,
    /// Set if nothing of what the check starts may be seen.
    pub(crate) private: Option<Arc<PrivateRun>>,
}

/// A run that leaves nothing behind but its exit code and its report.
#[derive(Clone, Debug)]
pub(crate) struct PrivateRun {
    /// The folder for everything that it writes.
    pub(crate) folder: PathBuf,
    /// The limits of its processes, as far as the system can set them.
    pub(crate) confinement: Option<Confinement>,
}

/// Facts about the decision, from the caller.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// The task's id.
    pub task: Option<String>,
    /// The run's name.
    pub run: Option<String>,
    /// The iteration's number.
    pub iteration: Option<u64>,
    /// The number of times that sealed tests refused in this run.
    pub sealed_refusals: u32,
}
