//! Gathering: the checks, and the tree before and after them.
//!
//! All evidence of a decision is about one tree. If a file that existed changes or
//! vanishes while checks run, every check that passed runs once more; if that happens
//! again, those checks are inconclusive. A check that passed and fails the second time is
//! inconclusive too: files that another check left may make it fail. gate never puts the
//! work tree back: the change may be the agent's. Files that only appeared are reported,
//! and checks that depend on new files run again.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use gate_core::decide::checks::CheckKind;
use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::iteration_facts::TreeState;
use gate_core::decide::policy::Policy;
use gate_platform::OsStrExt;
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
    /// The tree before the first check.
    pub before: TreeState,
    /// The tree after the last check.
    pub after: TreeState,
    /// Files that appeared meanwhile.
    pub wrote: Vec<String>,
    /// Files that existed and were changed or removed meanwhile.
    pub changed: Vec<String>,
}

/// An error that keeps all checks from running.
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

/// Runs the configured checks, and gives a record for each. A tree that cannot be read makes every
/// check inconclusive.
///
/// It blocks until the last check has ended, or the deadline has come, and no process of a check
/// runs any more. It must not be called inside of a tokio runtime.
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
    let tree_and_snapshot = WorkTree::open(&site).and_then(|tree| {
        let snapshot = tree.snapshot()?;
        Ok((tree, Arc::new(snapshot)))
    });
    let (tree, snapshot) = match tree_and_snapshot {
        Ok(tree_and_snapshot) => tree_and_snapshot,
        Err(error) => return Ok(unreadable(policy, &error)),
    };
    let tree_folder = site.state.as_ref().map(|state| store::tree_folder(state, tree.root()));
    let is_session = options.occasion == Occasion::Session;
    let cache = Arc::new(EvidenceCache::new(tree_folder.as_deref(), options.fresh, is_session));
    let mut plan = checks::plan(policy, &site, &cache, options);
    if is_session {
        // A session compares with nothing.
        plan.retain(|planned| !is_integrity(policy, planned.check.id().as_str()));
    }
    let too_long = TooLong::new(tree_folder.as_deref(), policy);
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
            runs_all: options.checks == Checks::All,
            deadline,
        },
        cx: CheckContext::new(policy, &site, snapshot, tree_folder.as_deref(), options.clone()),
    };
    let masker = Arc::clone(&gathering.cx.masker);
    let mut gathered = gathering.run(&plan);
    too_long.note(&gathered.evidence, options.deadline, schedule::is_too_long);
    gathered.evidence.extend(left_out_records(policy, options.checks.only()));
    for record in &mut gathered.evidence {
        masker.evidence(record);
    }
    gathered.evidence.sort_by(|left, right| left.check.cmp(&right.check));
    gathered.baseline.clone_from(&options.baseline);
    Ok(gathered)
}

/// The work tree as it stands, as a change from itself. No check runs.
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

/// The commit that is checked out. `None` outside of git, before the first commit, and if it cannot be
/// read.
pub fn head(site: &CheckSite) -> Option<String> {
    WorkTree::open(site).ok()?.commit("HEAD").ok().flatten()
}

/// The files, relative to the root, that two commits have differently. `None` if a commit cannot be
/// read.
pub fn committed_files(
    site: &CheckSite,
    old_commit: &str,
    new_commit: &str,
) -> Option<Vec<PathBuf>> {
    let tree = WorkTree::open(site).ok()?;
    let old_files = tree.files_of(old_commit).ok()??;
    let new_files = tree.files_of(new_commit).ok()??;
    let names: BTreeSet<_> = old_files.keys().chain(new_files.keys()).collect();
    let changed = names.into_iter().filter(|name| {
        let [old_object, new_object] =
            [&old_files, &new_files].map(|files| files.get(*name).map(|blob| &blob.object));
        old_object != new_object
    });
    Some(changed.map(|name| PathBuf::from(OsStr::from_bytes(name))).collect())
}

/// A file of the work tree is not committed. `None` outside of git, and before the first commit.
///
/// # Errors
///
/// A tree that cannot be read.
pub fn is_uncommitted(site: &CheckSite) -> Result<Option<bool>, WorktreeError> {
    let status = WorkTree::open(site)?.status(&Cancellation::default())?;
    Ok(status.map(|status| !status.is_clean()))
}

/// The number of files that differ from a commit, with those that are not committed. `None` outside
/// of git, and before the first commit.
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
fn left_out_records(policy: &Policy, only: Option<&str>) -> Vec<Evidence> {
    let Some(only) = only else { return Vec::new() };
    let left_out = policy.checks.iter().filter(|(name, _)| *name != only);
    let records = left_out.map(|(name, check)| {
        let record = Evidence::new(name, check.mode, Outcome::Skipped);
        record.with_summary(format!("left out: only {only} was asked for"))
    });
    records.collect()
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
        let first_snapshot = Arc::clone(&self.cx.tree);
        let mut evidence = self.run_round(plan);
        if evidence.iter().all(|record| record.cached || record.outcome == Outcome::Skipped) {
            return gathered(evidence, &first_snapshot, &first_snapshot, Changes::default());
        }
        let second_snapshot = match self.tree.snapshot() {
            Ok(snapshot) => Arc::new(snapshot),
            Err(error) => return self.unreadable_afterwards(evidence, &error),
        };
        let changes = first_snapshot.changes_to(&second_snapshot);
        let outdated = outdated_checks(plan, &evidence, &changes);
        if outdated.is_empty() && !changes.touches_existing_files() {
            self.cache.keep(changes.appeared.is_empty());
            return gathered(evidence, &first_snapshot, &second_snapshot, changes);
        }
        self.cache.forget();
        // A second round cannot change the verdict any more.
        if evidence.iter().any(schedule::forbids_exit) && !self.rules.runs_all {
            doubt(&mut evidence, &outdated, &changes);
            return gathered(evidence, &first_snapshot, &second_snapshot, changes);
        }
        self.cx.options.events.send(Event::TreeChanged { files: disturbed_files(&changes) });
        self.cx.tree = Arc::clone(&second_snapshot);
        let mut second_evidence = self.run_round(&outdated);
        doubt_failures(&mut second_evidence, &changes);
        replace(&mut evidence, second_evidence);
        let last_snapshot = match self.tree.snapshot() {
            Ok(snapshot) => snapshot,
            Err(error) => return self.unreadable_afterwards(evidence, &error),
        };
        let second_changes = second_snapshot.changes_to(&last_snapshot);
        if second_changes.touches_existing_files() {
            doubt(&mut evidence, plan, &second_changes);
        } else {
            self.cache.keep(second_changes.appeared.is_empty());
        }
        let all_changes = first_snapshot.changes_to(&last_snapshot);
        gathered(evidence, &first_snapshot, &last_snapshot, all_changes)
    }

    fn run_round(&self, plan: &[Planned]) -> Vec<Evidence> {
        self.runtime.block_on(schedule::run_round(plan, &self.cx, self.rules))
    }

    /// The result if the tree cannot be read any more after the checks.
    fn unreadable_afterwards(self, mut evidence: Vec<Evidence>, error: &WorktreeError) -> Gathered {
        self.cache.forget();
        for record in evidence.iter_mut().filter(|record| record.outcome == Outcome::Pass) {
            record.outcome = Outcome::Inconclusive;
            record.summary = format!("the work tree could not be read afterwards: {error}");
        }
        Gathered { evidence, ..Gathered::default() }
    }
}

/// The checks whose pass is about another tree than the last one.
fn outdated_checks(plan: &[Planned], evidence: &[Evidence], changes: &Changes) -> Vec<Planned> {
    let has_changed_files = changes.touches_existing_files();
    let has_new_files = !changes.appeared.is_empty();
    plan.iter()
        .filter(|planned| has_passed(evidence, planned))
        .filter(|planned| has_changed_files || (has_new_files && planned.rerun_on_new_files))
        .cloned()
        .collect()
}

fn has_passed(evidence: &[Evidence], planned: &Planned) -> bool {
    let id = planned.check.id().as_str();
    evidence.iter().any(|record| record.check == id && record.outcome == Outcome::Pass)
}

/// The files that existed and were changed or removed.
fn disturbed_files(changes: &Changes) -> Vec<String> {
    [changes.changed.as_slice(), &changes.vanished].concat()
}

/// Hint for files that a check writes: they are part of the tree unless settings say otherwise.
const ADVICE: &str = "what a check writes belongs into .gitignore or `[tree] ignore`";

/// The first of the disturbed files, and the number of the others. `None` if no file was disturbed.
fn disturbance(changes: &Changes) -> Option<String> {
    let files = disturbed_files(changes);
    let (file, more) = files.split_first()?;
    Some(if more.is_empty() { file.clone() } else { format!("{file} and {} more", more.len()) })
}

/// Makes passes of these checks inconclusive.
fn doubt(evidence: &mut [Evidence], plan: &[Planned], changes: &Changes) {
    let Some(files) = disturbance(changes) else { return };
    for record in evidence.iter_mut().filter(|record| record.outcome == Outcome::Pass) {
        if plan.iter().any(|planned| planned.check.id().as_str() == record.check) {
            record.outcome = Outcome::Inconclusive;
            record.summary = format!("it passed, and files changed meanwhile: {files}; {ADVICE}");
        }
    }
}

/// Makes failures on a tree that changed while the same checks passed inconclusive.
fn doubt_failures(second_evidence: &mut [Evidence], changes: &Changes) {
    let Some(files) = disturbance(changes) else { return };
    for record in second_evidence.iter_mut().filter(|record| record.outcome == Outcome::Fail) {
        record.outcome = Outcome::Inconclusive;
        let failure = &record.summary;
        record.summary = format!(
            "it passed, then files changed meanwhile: {files}, and it fails: {failure}; {ADVICE}"
        );
    }
}

/// Puts the records of the second round in the place of those of the first.
fn replace(evidence: &mut [Evidence], second_evidence: Vec<Evidence>) {
    for mut second_record in second_evidence {
        if let Some(record) = evidence.iter_mut().find(|record| record.check == second_record.check)
        {
            second_record.duration_ms += record.duration_ms;
            *record = second_record;
        }
    }
}

fn gathered(
    evidence: Vec<Evidence>,
    first_snapshot: &Snapshot,
    last_snapshot: &Snapshot,
    changes: Changes,
) -> Gathered {
    let changed = disturbed_files(&changes);
    let tree = TreeChange {
        before: first_snapshot.state(),
        after: last_snapshot.state(),
        wrote: changes.appeared,
        changed,
    };
    Gathered { evidence, tree: Some(tree), baseline: None }
}

#[cfg(test)]
mod tests;
