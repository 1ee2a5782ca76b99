//! Gathering: the checks, and the tree before and after them.
//!
//! All evidence of a decision is about one tree. If a file that existed changes or
//! vanishes while checks run, every check that passed runs once more; if that happens
//! again, those checks are inconclusive. One that passed and fails the second time is
//! inconclusive too: it may have failed on what a check left. gate never puts the work
//! tree back: the change may be the agent's. Files that only appeared are reported, and
//! checks that depend on new files run again.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;

use gate_core::decide::checks::CheckKind;
use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::iteration_facts::TreeState;
use gate_core::decide::policy::Policy;
use tokio::runtime::{Builder, Runtime};
use tokio::time::Instant;

use crate::baseline::Baseline;
use crate::cache::EvidenceCache;
use crate::cancellation::Cancellation;
use crate::check::{CheckContext, Checks, GatherOptions, Occasion};
use crate::checks::{self, Planned};
use crate::event::Event;
use crate::schedule::{self, Rules};
use crate::settings::BadSetting;
use crate::site::CheckSite;
use crate::store;
use crate::too_long::TooLong;
use crate::worktree::{Changes, FileList, Snapshot, WorkTree, WorktreeError};

/// Result of [`gather`].
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Gathered {
    /// One record for each configured check.
    pub evidence: Vec<Evidence>,
    /// The tree before and after, if it could be read.
    pub tree: Option<TreeChange>,
    /// The tree that changes are relative to.
    pub baseline: Option<Baseline>,
}

/// The work tree before the checks and after them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TreeChange {
    /// Before.
    pub before: TreeState,
    /// After.
    pub after: TreeState,
    /// Files that appeared.
    pub wrote: Vec<String>,
    /// Files that existed and were changed or removed.
    pub changed: Vec<String>,
}

/// Why nothing could be gathered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GatherError {
    /// The system refused what asynchronous processes need.
    #[error("checks cannot be started: {0}")]
    Runtime(#[from] io::Error),
    /// A check of the caller has a name that it cannot have.
    #[error(transparent)]
    Check(#[from] BadSetting),
}

/// Runs the configured checks: one record for each, never none. A tree that
/// cannot be read makes every check inconclusive.
///
/// It blocks until all is done, or the deadline has come, and no process of a check is
/// left. It must not be called inside of a tokio runtime.
///
/// # Errors
///
/// [`GatherError`]: nothing was run.
#[allow(clippy::needless_pass_by_value, reason = "it is published like this")]
pub fn gather(
    policy: &Policy,
    site: CheckSite,
    options: &GatherOptions,
) -> Result<Gathered, GatherError> {
    let deadline = options.deadline.and_then(|deadline| Instant::now().checked_add(deadline));
    let policy = &*options.own_checks.in_policy(policy)?;
    if policy.checks.is_empty() || options.checks == Checks::None {
        return Ok(Gathered::default());
    }
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let opened = WorkTree::open(&site).and_then(|tree| {
        let before = tree.snapshot()?;
        Ok((tree, Arc::new(before)))
    });
    let (tree, before) = match opened {
        Ok(opened) => opened,
        Err(error) => return Ok(unreadable(policy, &error)),
    };
    let folder = site.state.as_ref().map(|state| store::tree_folder(state, tree.root()));
    let folder = folder.as_deref();
    let is_session = options.occasion == Occasion::Session;
    let cache = Arc::new(EvidenceCache::new(folder, options.fresh, is_session));
    let mut plan = checks::plan(policy, &site, &cache, options);
    if is_session {
        plan.retain(|planned| !is_integrity(policy, planned.check.id().as_str()));
    }
    let too_long = TooLong::new(folder, policy);
    if options.deadline.is_some() && !options.fresh {
        for planned in &mut plan {
            planned.is_too_long = too_long.has(planned.check.id().as_str());
        }
    }
    let gathering = Gathering {
        runtime,
        tree,
        cache,
        rules: Rules {
            jobs: policy.jobs.get() as usize,
            all: options.checks == Checks::All,
            deadline,
        },
        cx: CheckContext::new(policy, &site, before, folder, options.clone()),
    };
    let masker = Arc::clone(&gathering.cx.masker);
    let mut gathered = gathering.run(&plan);
    too_long.note(&gathered.evidence, options.deadline, schedule::is_too_long);
    gathered.evidence.extend(left_out(policy, options.checks.only()));
    for record in &mut gathered.evidence {
        masker.evidence(record);
    }
    gathered.evidence.sort_by(|one, other| one.check.cmp(&other.check));
    gathered.baseline.clone_from(&options.baseline);
    Ok(gathered)
}

/// The work tree as it stands; nothing is run.
///
/// # Errors
///
/// A tree that cannot be read.
pub fn look(site: &CheckSite) -> Result<TreeChange, WorktreeError> {
    let state = WorkTree::open(site)?.snapshot()?.state();
    Ok(TreeChange { before: state.clone(), after: state, wrote: Vec::new(), changed: Vec::new() })
}

/// The files of the work tree as they stand.
///
/// # Errors
///
/// A tree that cannot be read.
pub fn list_files(site: &CheckSite) -> Result<FileList, WorktreeError> {
    Ok(FileList::new(&WorkTree::open(site)?.snapshot()?))
}

/// The commit that is checked out; none outside of git, before the first commit, and if that cannot
/// be read.
pub fn head(site: &CheckSite) -> Option<String> {
    WorkTree::open(site).ok()?.commit("HEAD").ok().flatten()
}

/// The files, relative to the root, that two commits have differently; none if one of them cannot
/// be read.
pub fn committed_files(site: &CheckSite, from: &str, to: &str) -> Option<Vec<PathBuf>> {
    let tree = WorkTree::open(site).ok()?;
    let (from, to) = (tree.files_of(from).ok()??, tree.files_of(to).ok()??);
    let names: BTreeSet<_> = from.keys().chain(to.keys()).collect();
    let differ = |name: &&Vec<u8>| {
        let objects = [&from, &to].map(|files| files.get(*name).map(|blob| &blob.object));
        objects[0] != objects[1]
    };
    let differing = names.into_iter().filter(differ);
    Some(differing.map(|name| PathBuf::from(OsStr::from_bytes(name))).collect())
}

/// True if anything in the work tree is not committed; `None` outside of git, and before
/// the first commit.
///
/// # Errors
///
/// A tree that cannot be read.
pub fn is_uncommitted(site: &CheckSite) -> Result<Option<bool>, WorktreeError> {
    let status = WorkTree::open(site)?.status(&Cancellation::default())?;
    Ok(status.map(|status| !status.is_clean()))
}

/// Number of files that differ from a commit, with those that are not committed. `None` outside of
/// git, and before the first commit.
///
/// # Errors
///
/// A tree that cannot be read.
pub fn changed_files(site: &CheckSite, since: &str) -> Result<Option<u64>, WorktreeError> {
    let files = WorkTree::open(site)?.changed_files(Some(since), &Cancellation::default())?;
    Ok(files.map(|files| files.len() as u64))
}

fn is_integrity(policy: &Policy, check: &str) -> bool {
    policy
        .checks
        .get(check)
        .is_some_and(|settings| CheckKind::for_check(check, settings) == CheckKind::Integrity)
}

fn unreadable(policy: &Policy, error: &WorktreeError) -> Gathered {
    let evidence = policy.checks.iter().map(|(name, check)| {
        let record = Evidence::new(name, check.mode, Outcome::Inconclusive);
        record.with_summary(format!("the work tree cannot be read: {error}"))
    });
    Gathered { evidence: evidence.collect(), ..Gathered::default() }
}

/// Records of the checks that `only` leaves out.
fn left_out(policy: &Policy, only: Option<&str>) -> Vec<Evidence> {
    let Some(only) = only else { return Vec::new() };
    let others = policy.checks.iter().filter(|(name, _)| *name != only);
    let left_out = others.map(|(name, check)| {
        let record = Evidence::new(name, check.mode, Outcome::Skipped);
        record.with_summary(format!("left out: only {only} was asked for"))
    });
    left_out.collect()
}

struct Gathering {
    runtime: Runtime,
    tree: WorkTree,
    cache: Arc<EvidenceCache>,
    rules: Rules,
    cx: CheckContext,
}

impl Gathering {
    fn run(mut self, plan: &[Planned]) -> Gathered {
        let first = Arc::clone(&self.cx.tree);
        let mut evidence = self.round(plan);
        if evidence.iter().all(|record| record.cached || record.outcome == Outcome::Skipped) {
            return gathered(evidence, &first, &first, Changes::default());
        }
        let after = match self.tree.snapshot() {
            Ok(after) => Arc::new(after),
            Err(error) => return self.lost(evidence, &error),
        };
        let changes = first.changes_to(&after);
        let again = self.to_run_again(plan, &evidence, &changes);
        if again.is_empty() && !changes.touches_what_was() {
            self.cache.keep(changes.appeared.is_empty());
            return gathered(evidence, &first, &after, changes);
        }
        self.cache.forget();
        if evidence.iter().any(schedule::forbids) && !self.rules.all {
            doubt(&mut evidence, &again, &changes);
            return gathered(evidence, &first, &after, changes);
        }
        self.cx.options.events.send(Event::TreeChanged { files: disturbed(&changes) });
        self.cx.tree = Arc::clone(&after);
        let mut fresh = self.round(&again);
        doubt_failures(&mut fresh, &changes);
        replace(&mut evidence, fresh);
        let last = match self.tree.snapshot() {
            Ok(last) => last,
            Err(error) => return self.lost(evidence, &error),
        };
        let still = after.changes_to(&last);
        if still.touches_what_was() {
            doubt(&mut evidence, plan, &still);
        } else {
            self.cache.keep(still.appeared.is_empty());
        }
        let changes = first.changes_to(&last);
        gathered(evidence, &first, &last, changes)
    }

    fn round(&self, plan: &[Planned]) -> Vec<Evidence> {
        self.runtime.block_on(schedule::round(plan, &self.cx, self.rules))
    }

    /// The checks whose pass is about another tree than the last one.
    fn to_run_again(
        &self,
        plan: &[Planned],
        evidence: &[Evidence],
        changes: &Changes,
    ) -> Vec<Planned> {
        let (changed, has_new_files) = (changes.touches_what_was(), !changes.appeared.is_empty());
        let mut again: Vec<_> = plan.iter().filter(|planned| passed(evidence, planned)).collect();
        again.retain(|planned| changed || (has_new_files && planned.rerun_on_new_files));
        again.into_iter().cloned().collect()
    }

    /// Result if the tree cannot be read any more after the checks.
    fn lost(self, mut evidence: Vec<Evidence>, error: &WorktreeError) -> Gathered {
        self.cache.forget();
        for record in evidence.iter_mut().filter(|record| record.outcome == Outcome::Pass) {
            record.outcome = Outcome::Inconclusive;
            record.summary = format!("the work tree could not be read afterwards: {error}");
        }
        Gathered { evidence, ..Gathered::default() }
    }
}

fn passed(evidence: &[Evidence], planned: &Planned) -> bool {
    let id = planned.check.id().as_str();
    evidence.iter().any(|record| record.check == id && record.outcome == Outcome::Pass)
}

fn disturbed(changes: &Changes) -> Vec<String> {
    [changes.changed.as_slice(), &changes.vanished].concat()
}

/// Hint for files that a check writes: they are part of the tree unless settings say otherwise.
const ADVICE: &str = "what a check writes belongs into .gitignore or `[tree] ignore`";

/// The first of these files, and how many more there are.
fn named(files: &[String]) -> Option<String> {
    let (one, more) = files.split_first()?;
    Some(if more.is_empty() { one.clone() } else { format!("{one} and {} more", more.len()) })
}

/// Makes passes of these checks inconclusive.
fn doubt(evidence: &mut [Evidence], plan: &[Planned], changes: &Changes) {
    let Some(named) = named(&disturbed(changes)) else { return };
    for record in evidence.iter_mut().filter(|record| record.outcome == Outcome::Pass) {
        if plan.iter().any(|planned| planned.check.id().as_str() == record.check) {
            record.outcome = Outcome::Inconclusive;
            record.summary = format!("it passed, and files changed meanwhile: {named}; {ADVICE}");
        }
    }
}

/// Makes failures on a tree that changed while the same checks passed inconclusive.
fn doubt_failures(fresh: &mut [Evidence], changes: &Changes) {
    let Some(named) = named(&disturbed(changes)) else { return };
    for record in fresh.iter_mut().filter(|record| record.outcome == Outcome::Fail) {
        record.outcome = Outcome::Inconclusive;
        let now = &record.summary;
        record.summary = format!(
            "it passed, then files changed meanwhile: {named}, and it fails: {now}; {ADVICE}"
        );
    }
}

/// Puts newer records in the place of older ones.
fn replace(evidence: &mut [Evidence], fresh: Vec<Evidence>) {
    for mut new in fresh {
        if let Some(old) = evidence.iter_mut().find(|old| old.check == new.check) {
            new.duration_ms += old.duration_ms;
            *old = new;
        }
    }
}

fn gathered(
    evidence: Vec<Evidence>,
    before: &Snapshot,
    after: &Snapshot,
    changes: Changes,
) -> Gathered {
    let changed = disturbed(&changes);
    let tree = TreeChange {
        before: before.state(),
        after: after.state(),
        wrote: changes.appeared,
        changed,
    };
    Gathered { evidence, tree: Some(tree), baseline: None }
}

#[cfg(test)]
mod tests;
