//! The interface of checks.

use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use async_trait::async_trait;
use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::first_tests::FirstTests;
use gate_core::decide::policy::{Allowance, Policy};
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
/// record. It ends soon after [`CheckContext::cancellation`] is cancelled, and
/// leaves no process behind.
///
/// ```
/// use gate_checks::check::{Check, CheckContext, CheckId, async_trait};
/// use gate_core::decide::evidence::{Evidence, Outcome};
///
/// struct Changelog(CheckId);
///
/// #[async_trait]
/// impl Check for Changelog {
///     fn id(&self) -> &CheckId {
///         &self.0
///     }
///
///     async fn run(&self, cx: &CheckContext) -> Evidence {
///         match std::fs::read_to_string(cx.project().join("CHANGELOG.md")) {
///             Ok(text) if text.contains("## Unreleased") => self.evidence(Outcome::Pass, ""),
///             Ok(_) => self.evidence(Outcome::Fail, "CHANGELOG.md has no section Unreleased"),
///             Err(error) => self.evidence(Outcome::Inconclusive, format!("CHANGELOG.md: {error}")),
///         }
///     }
/// }
/// ```
#[async_trait]
pub trait Check: Send + Sync {
    /// Its name.
    fn id(&self) -> &CheckId;

    /// Runs the check.
    async fn run(&self, cx: &CheckContext) -> Evidence;

    /// A record of this check: the outcome, and one line for a person and the agent. gate adds
    /// the mode that settings give the check.
    fn evidence(&self, outcome: Outcome, summary: impl Into<String>) -> Evidence
    where
        Self: Sized,
    {
        self.id().record(outcome, summary)
    }
}

/// Input of a check.
#[derive(Clone, Debug)]
pub struct CheckContext {
    /// Folders and environment of the check.
    pub(crate) site: Arc<CheckSite>,
    /// The work tree before the checks of this round.
    pub(crate) tree: Arc<Snapshot>,
    /// The work tree before the agent acted, if known.
    pub(crate) baseline: Option<Baseline>,
    /// Changes that the operator allows.
    pub(crate) allow: Arc<[Allowance]>,
    /// The occasion of the checks.
    pub(crate) occasion: Occasion,
    /// Facts about the decision.
    pub(crate) about: Arc<About>,
    /// The tests that were written before the work, if a phase of its own wrote some.
    pub(crate) first_tests: Option<Arc<FirstTests>>,
    /// Cancelled when nobody waits for the result any more.
    pub(crate) cancel: Cancellation,
    /// Receiver of events.
    pub(crate) events: Events,
    /// Masks secrets in everything that is stored.
    pub(crate) masker: Arc<Masker>,
    /// Destination of logs.
    pub(crate) logs: Arc<Logs>,
    /// The machine's check slots, if checks are bound to them.
    pub(crate) slots: Option<Slots>,
    /// Most bytes on disk of the copies of all work trees; 0: no bound.
    pub(crate) copies_max_bytes: u64,
    /// Set if nothing of what the check starts may be seen.
    pub(crate) private: Option<Arc<PrivateRun>>,
}

impl CheckContext {
    /// The context of a loop's check at this tree, of which nothing older is known. `folder` is the
    /// tree's folder of the state.
    pub(crate) fn new(
        policy: &Policy,
        site: &CheckSite,
        tree: Arc<Snapshot>,
        folder: Option<&Path>,
    ) -> Self {
        Self {
            tree,
            baseline: None,
            allow: policy.integrity.allow.clone().into(),
            occasion: Occasion::Loop,
            about: Arc::default(),
            first_tests: None,
            cancel: Cancellation::default(),
            events: Events::nobody(),
            masker: Arc::new(site.masker()),
            logs: Arc::new(Logs::new(folder)),
            slots: Slots::at(site, policy.machine_jobs),
            copies_max_bytes: policy.copies_max_bytes,
            private: None,
            site: Arc::new(site.clone()),
        }
    }

    /// The project's folder.
    pub fn project(&self) -> &Path {
        &self.site.project
    }

    /// Digest of the work tree before the checks: an equal digest means equal files.
    pub fn tree(&self) -> &str {
        &self.tree.digest
    }

    /// The task, the run and the iteration, as far as the caller gave them.
    pub fn about(&self) -> &About {
        &self.about
    }

    /// Cancelled when the check's time is over, or nobody waits for the result any more.
    pub fn cancellation(&self) -> &Cancellation {
        &self.cancel
    }
}

/// The occasion of checks. It decides whose tests they run, and where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Occasion {
    /// An agent's loop: the tree's own tests, then the baseline's over the product, both in a copy.
    #[default]
    Loop,
    /// A session with a person: each command once, in the tree itself, compared with nothing. That
    /// is enough to let an agent go, never for an `exit`.
    Session,
    /// A pull request, whose base is the baseline: the base's tests over the product, then the
    /// tree's own; one run if no test and no setting of tests was changed.
    PullRequest {
        /// A reviewer has approved tests that are lost.
        approved: bool,
    },
}

impl Occasion {
    pub(crate) fn is_pull_request(self) -> bool {
        matches!(self, Occasion::PullRequest { .. })
    }
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
