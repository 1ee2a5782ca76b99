//! What a check is: something that looks at the work and says what it saw.

use std::sync::Arc;

use async_trait::async_trait;
use gate_core::decide::evidence::Evidence;
use gate_core::decide::policy::Allowance;
use gate_core::mask::Masker;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::baseline::Baseline;
use crate::event::Events;
pub use crate::id::CheckId;
use crate::logs::Logs;
use crate::site::Site;
use crate::slots::Slots;
use crate::worktree::Snapshot;

/// How much a check costs, roughly; the cheap ones run first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cost {
    /// It reads files.
    Look,
    /// It runs a tool that reads sources.
    Tool,
    /// It builds.
    Build,
    /// It runs the work.
    Run,
    /// It asks somebody.
    Ask,
}

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

    /// How much it costs.
    fn cost(&self) -> Cost;

    /// Whether files that only appeared while checks ran may change what it
    /// saw, so that it has to look again.
    fn minds_new_files(&self) -> bool {
        false
    }

    /// The words of the command that it runs, where it runs one: which program
    /// each of them names is part of what a kept record depends on.
    fn program(&self) -> Option<&[String]> {
        None
    }

    /// Whether what it runs is tried with tests of the baseline and of gate's: these
    /// too are what a kept record depends on.
    fn is_tried(&self) -> bool {
        false
    }

    /// Looks, and says what it saw.
    async fn run(&self, cx: &CheckContext) -> Evidence;
}

/// What a check is given.
#[derive(Clone, Debug)]
pub struct CheckContext {
    /// Where to look.
    pub site: Arc<Site>,
    /// The work tree before the checks of this round.
    pub tree: Arc<Snapshot>,
    /// What the work tree was before the agent acted, where anybody knows it.
    pub baseline: Option<Baseline>,
    /// What the operator lets change.
    pub allow: Arc<[Allowance]>,
    /// What the caller said about the decision.
    pub about: Arc<About>,
    /// Cancelled when nobody waits for the result any more.
    pub cancel: CancellationToken,
    /// Cancelled just before `cancel` is, where that is because the deadline has
    /// come.
    pub late: CancellationToken,
    /// Cancelled when processes have no time any more to end by themselves.
    pub at_once: CancellationToken,
    /// Who is told what happens.
    pub events: Events,
    /// What masks secrets in what is kept.
    pub masker: Arc<Masker>,
    /// Where logs go.
    pub(crate) logs: Arc<Logs>,
    /// The machine's check slots, where checks are bound to them.
    pub(crate) slots: Option<Slots>,
}

/// What the caller says about the decision.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// The task's id.
    pub task: Option<String>,
    /// The run's name.
    pub run: Option<String>,
    /// The iteration's number.
    pub iteration: Option<u64>,
}
