//! Tests the checks themselves: errors in their settings and tools, and whether each can fail.
//!
//! [`examine`] and [`examine_surroundings`] run nothing of the project's. [`self_test`]
//! runs every check in a copy of the work tree that it has to refuse: with a test that
//! fails, broken sources, a file that is not committed, an open item, a handoff that says
//! nothing, settings that nobody allowed. The real tree is not touched; folders of
//! dependencies that git ignores are shared with the copy.

mod bench;
mod clean_git;
mod command;
mod criteria;
mod examine;
mod finding;
mod handoff;
mod sabotage;
#[cfg(test)]
mod tests;

use gate_core::decide::checks::CheckKind;
use gate_core::decide::policy::{CheckPolicy, Policy};

pub use examine::{examine, examine_surroundings};
pub use finding::{Finding, Level, Proof, SelfTestOutcome};

use bench::{Bench, Trouble};
use examine::Look;

use crate::copy::Copy;
use crate::event::Events;
use crate::gather::GatherError;
use crate::programs::with_command;
use crate::site::CheckSite;
use crate::worktree::{Snapshot, WorkTree, WorktreeError};

/// Purpose of copies, in their names.
const COPY: &str = "self-test";

/// Tries to make each configured check, or one of them, fail.
///
/// It blocks until the last one has ended, and must not be called inside of a tokio runtime.
///
/// # Errors
///
/// [`GatherError`]: nothing could be run.
pub fn self_test(
    policy: &Policy,
    site: &CheckSite,
    only: Option<&str>,
    events: Events,
) -> Result<Vec<Proof>, GatherError> {
    let checks = policy.checks.iter().filter(|(name, _)| only.is_none_or(|only| only == *name));
    let test = Test { policy, site, tree: Tree::read(site), events };
    checks.map(|(name, settings)| test.prove(name, settings)).collect()
}

/// The real tree, read once.
struct Tree {
    tree: WorkTree,
    snapshot: Snapshot,
}

impl Tree {
    /// The tree with the files that the digest leaves out: checks may need them.
    fn read(site: &CheckSite) -> Result<Self, WorktreeError> {
        let whole_site =
            CheckSite { ignore: Vec::new(), callers_files: Vec::new(), ..site.clone() };
        let tree = WorkTree::open(&whole_site)?;
        let snapshot = tree.snapshot()?;
        Ok(Self { tree, snapshot })
    }
}

struct Test<'a> {
    policy: &'a Policy,
    site: &'a CheckSite,
    tree: Result<Tree, WorktreeError>,
    events: Events,
}

impl Test<'_> {
    fn prove(&self, name: &str, settings: &CheckPolicy) -> Result<Proof, GatherError> {
        let not_shown = |reason: String| Ok(Proof::new(name, SelfTestOutcome::NotShown, reason));
        let kind = CheckKind::for_check(name, settings);
        let prove = match Examination::for_kind(kind).self_test {
            Ok(prove) => prove,
            Err(reason) => return not_shown(reason.to_owned()),
        };
        let settings = match with_command(name, settings, self.site) {
            Some((settings, _)) => settings,
            None if kind == CheckKind::Command => {
                return not_shown("it has no command, and the project shows none".to_owned());
            }
            None => settings.clone(),
        };
        let tree = match &self.tree {
            Ok(tree) => tree,
            Err(error) => return not_shown(format!("the work tree cannot be read: {error}")),
        };
        let copy = match Copy::new(COPY, &tree.snapshot, tree.tree.root(), self.site) {
            Ok(copy) => copy,
            Err(error) => return not_shown(format!("no copy of the tree could be made: {error}")),
        };
        let events = self.events.clone();
        let bench = Bench::new(self.policy, name, &settings, &copy, self.site, events);
        prove(&bench).or_else(|trouble| match trouble {
            Trouble::Gather(error) => Err(error),
            trouble @ Trouble::File(_) => not_shown(trouble.to_string()),
        })
    }
}

/// Makes a check fail.
type Prove = fn(&Bench<'_>) -> Result<Proof, Trouble>;

/// The examination of the checks of one kind.
struct Examination {
    /// Findings about the check's settings and surroundings.
    findings: fn(&Look<'_>) -> Vec<Finding>,
    /// Makes the check fail in a copy, or gives the reason why nothing does.
    self_test: Result<Prove, &'static str>,
}

impl Examination {
    fn for_kind(kind: CheckKind) -> Self {
        match kind {
            CheckKind::CleanGit => {
                Self { findings: |look| vec![look.clean_git()], self_test: Ok(clean_git::prove) }
            }
            CheckKind::Criteria => Self {
                findings: |look| vec![look.files("criteria")],
                self_test: Ok(criteria::prove),
            },
            CheckKind::Handoff => {
                Self { findings: |look| vec![look.files("handoff")], self_test: Ok(handoff::prove) }
            }
            // A module that hides a test runner.
            CheckKind::Integrity => Self {
                findings: |look| vec![look.integrity()],
                self_test: Ok(|bench| bench.finds("pytest.py", "`[[integrity.allow]]`")),
            },
            CheckKind::Command => {
                Self { findings: |look| look.command(), self_test: Ok(command::prove) }
            }
            CheckKind::Review => Self {
                findings: |look| look.review(),
                self_test: Err("a reviewer is asked, not tested"),
            },
            CheckKind::Plugin => Self {
                findings: |look| vec![look.plugin()],
                self_test: Err("a plug-in is asked, not tested"),
            },
            CheckKind::TestsFirst => Self {
                findings: |look| look.command(),
                self_test: Err("it asks, and refuses nothing"),
            },
        }
    }
}
