//! The interface of checks.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub use async_trait::async_trait;
use gate_core::config::{self, Layer};
use gate_core::decide::checks::{CRITERIA, CheckKind};
use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::first_tests::FirstTests;
use gate_core::decide::policy::{Allowance, Policy};
use gate_core::mask::Masker;
use serde::Serialize;

use crate::baseline::Baseline;
use crate::cancellation::Cancellation;
use crate::event::Events;
pub use crate::id::CheckId;
use crate::logs::Logs;
use crate::process::Confinement;
use crate::settings::BadSetting;
use crate::site::CheckSite;
use crate::slots::Slots;
use crate::worktree::Snapshot;

/// A question about the work, whose answer is a record.
///
/// A check never fails as a function does: an error is an
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
    /// The check's name in settings and records.
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
    /// The options of the run.
    pub(crate) options: Arc<GatherOptions>,
    /// Changes that the operator allows.
    pub(crate) allow: Arc<[Allowance]>,
    /// Old tests that criteria take the place of.
    pub(crate) superseded: Arc<[SupersededTest]>,
    /// Cancelled when nobody waits for the result any more.
    pub(crate) cancel: Cancellation,
    /// Masks secrets in everything that is stored.
    pub(crate) masker: Arc<Masker>,
    /// Destination of logs.
    pub(crate) logs: Arc<Logs>,
    /// The machine's check slots, if checks are bound to them.
    pub(crate) slots: Option<Slots>,
    /// The most bytes on disk of the copies of all work trees; 0: no bound.
    pub(crate) copies_max_bytes: u64,
    /// Set if the check's processes may leave nothing that others can read.
    pub(crate) private: Option<Arc<PrivateRun>>,
}

impl CheckContext {
    /// The context of a check at this tree. `folder` is the tree's folder of the state.
    pub(crate) fn new(
        policy: &Policy,
        site: &CheckSite,
        tree: Arc<Snapshot>,
        folder: Option<&Path>,
        options: GatherOptions,
    ) -> Self {
        Self {
            tree,
            allow: policy.integrity.allow.iter().chain(&options.allow).cloned().collect(),
            superseded: SupersededTest::all(policy).collect(),
            cancel: options.cancel.clone(),
            options: Arc::new(options),
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
        &self.options.about
    }

    /// Cancelled when the check's time is over, or nobody waits for the result any more.
    pub fn cancellation(&self) -> &Cancellation {
        &self.cancel
    }
}

/// Old tests that a criterion takes the place of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct SupersededTest {
    /// The criterion's name.
    pub(crate) criterion: String,
    /// The tests' name, in which `*` stands for anything.
    pub(crate) test: String,
}

impl SupersededTest {
    /// Those of all criteria of a policy.
    pub(crate) fn all(policy: &Policy) -> impl Iterator<Item = Self> {
        let criteria = policy.checks.get(CRITERIA).into_iter().flat_map(|check| &check.criteria);
        criteria.flat_map(|criterion| {
            criterion
                .supersedes
                .iter()
                .map(|test| Self { criterion: criterion.id.clone(), test: test.clone() })
        })
    }
}

/// The options of a run of checks.
#[derive(Clone, Debug, Default)]
pub struct GatherOptions {
    /// The checks that run.
    pub checks: Checks,
    /// Each check runs, whatever records earlier runs have left.
    pub fresh: bool,
    /// The occasion of the checks. In a session, a pass on the same files from another session's stop
    /// counts, too.
    pub occasion: Occasion,
    /// The time limit of the call. A check that takes longer is ended without grace, and its record
    /// is inconclusive.
    pub deadline: Option<Duration>,
    /// Checks that the caller brings, beside those of the policy.
    pub own_checks: OwnChecks,
    /// The work tree before the agent acted, if known.
    pub baseline: Option<Baseline>,
    /// Changes that the operator has approved, beside those of the policy.
    pub allow: Vec<Allowance>,
    /// Facts about the decision.
    pub about: About,
    /// The tests that were written before the work, if a phase of its own wrote some.
    pub first_tests: Option<FirstTests>,
    /// Ends the call from outside: checks that still run then are inconclusive.
    pub cancel: Cancellation,
    /// The receiver of the checks' events.
    pub events: Events,
}

/// A selection of checks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Checks {
    /// The configured checks, until the verdict is certain. A decision whose signal already forbids
    /// `exit` runs no check.
    #[default]
    Lazy,
    /// The configured checks, to the last.
    All,
    /// This check alone. The others leave a record that says so, and a required one among them
    /// forbids `exit`.
    Only(String),
    /// No check.
    None,
}

impl Checks {
    pub(crate) fn only(&self) -> Option<&str> {
        match self {
            Self::Only(name) => Some(name),
            Self::Lazy | Self::All | Self::None => None,
        }
    }
}

/// Checks that the calling program brings. They run in its process, beside those of the policy.
#[derive(Clone, Default)]
pub struct OwnChecks(pub(crate) Vec<Arc<dyn Check>>);

impl OwnChecks {
    /// Adds a check. If the policy has settings for its name, they give its mode and its
    /// timeout; without them it is required, with the default timeout.
    pub fn add(&mut self, check: impl Check + 'static) {
        self.0.push(Arc::new(check));
    }

    /// The names of the checks.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|check| check.id().as_str())
    }

    /// Drops the checks that a policy does not have.
    pub fn retain_in(&mut self, policy: &Policy) {
        self.0.retain(|check| policy.checks.contains_key(check.id().as_str()));
    }

    /// The policy with these checks.
    ///
    /// # Errors
    ///
    /// A name that two checks have, that is no name of a check, that a built-in check has, or whose
    /// settings have a command.
    pub fn in_policy<'p>(&self, policy: &'p Policy) -> Result<Cow<'p, Policy>, BadSetting> {
        let mut extended = Cow::Borrowed(policy);
        for (index, name) in self.names().enumerate() {
            let bad_name = |problem: &str| BadSetting {
                key: format!("checks.{name}"),
                problem: problem.to_owned(),
            };
            if self.names().take(index).any(|earlier_name| earlier_name == name) {
                return Err(bad_name("two checks of the calling program have this name"));
            }
            if !extended.checks.contains_key(name) {
                let mut defaults = Layer::checks([name])
                    .and_then(|layer| config::resolve(&[layer], None))
                    .map_err(|error| bad_name(&error.message()))?;
                extended.to_mut().checks.extend(defaults.policy.checks.remove_entry(name));
            }
            let kind = extended.checks.get(name).map(|check| CheckKind::for_check(name, check));
            if kind != Some(CheckKind::Plugin) {
                return Err(bad_name(
                    "the calling program has a check of this name. Give it another name: this one \
                     is built in, or its settings have a command",
                ));
            }
        }
        Ok(extended)
    }
}

impl fmt::Debug for OwnChecks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
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
