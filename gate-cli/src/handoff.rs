//! Gathers what a handoff is drafted from and compared with: gate's records, and the work tree.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gate_checks::CheckSite;
use gate_checks::baseline::{Baseline, BaselineError};
use gate_checks::worktree::{Snapshot, WorkTree, WorktreeError};
use gate_fleet::handoff::{self, ChangedFile, Changes, Folders, Handoff, Problem, SeenCommand};
use gate_platform::RealPath;

use crate::failure::Failure;
use crate::gate::decided_on;
use crate::memory::{Memory, RecordSelector};
use crate::record::Record;

/// The files that were changed since a commit, or are not committed; empty outside of git.
pub(crate) fn changed(site: &CheckSite, since: Option<&str>) -> Result<Vec<String>, WorktreeError> {
    Ok(WorkTree::open(site)?.changed(since)?.unwrap_or_default())
}

/// The baseline of the newest decision: where the work began. `None` if nobody kept it.
///
/// # Errors
///
/// A baseline that cannot be read.
pub(crate) fn beginning(
    site: &CheckSite,
    record: Option<&Record>,
) -> Result<Option<Baseline>, BaselineError> {
    let Some(record) = record else { return Baseline::kept(site, None) };
    let digest = record.baseline.as_deref();
    let names = [record.run.clone(), digest.map(decided_on), None];
    for name in names {
        let kept = Baseline::kept(site, name.as_deref())?;
        if kept.as_ref().is_some_and(|kept| Some(kept.digest()) == digest) {
            return Ok(kept);
        }
    }
    let history = Baseline::from_history(site, &record.time)?;
    Ok(history.filter(|history| digest.is_none_or(|digest| history.digest() == digest)))
}

/// The claims of a handoff that contradict gate's own records, or the files of the work tree. The
/// handoff's own file may have come after the checks.
///
/// # Errors
///
/// A store or a work tree that cannot be read.
pub(crate) fn contradictions(
    handoff: &Handoff,
    file: Option<&Path>,
    memory: &mut Memory,
    site: &CheckSite,
) -> Result<Vec<Problem>, Failure> {
    let record = memory.latest(&RecordSelector { run: None, task: None })?;
    let tree = WorkTree::open(site)?;
    let snapshot = tree.snapshot()?;
    let handoffs_file = file.and_then(|file| inside(file, &tree));
    // With the handoff's own file and without it.
    let without = handoffs_file.as_ref().map(|file| snapshot.digest_without(file));
    let digests: Vec<_> = without.into_iter().chain([snapshot.digest.clone()]).collect();
    let mut problems =
        handoff::contradicted_claims(handoff, &sightings(handoff, memory, &digests)?);
    let folders = Folders {
        project: site.project.clone(),
        real_project: site.project.real_path().unwrap_or_else(|_| tree.root().to_owned()),
        root: tree.root().to_owned(),
    };
    let is_there = |name: &str| {
        let places = [site.project.as_path(), tree.root()].map(|folder| folder.join(name));
        places.iter().any(|place| place.symlink_metadata().is_ok())
    };
    let was_committed = |place: &Path| tree.was_committed(place);
    problems.extend(handoff::never_there(handoff, &folders, is_there, was_committed)?);
    let record = record.as_ref();
    if let Some(changes) = changes(site, record, &tree, &snapshot)? {
        let transcripts = site.callers_files.iter().filter_map(|file| inside(file, &tree));
        let written = record.and_then(|record| record.tree.as_ref()).map(|tree| &tree.wrote);
        let written = written.into_iter().flatten().map(PathBuf::from);
        let beside = handoffs_file.into_iter().chain(transcripts).chain(written).collect();
        let changes = Changes { beside, ..changes };
        let is_file = |place: &Path| snapshot.file(place).is_some();
        problems.extend(changes.contradictions(handoff, &folders, is_file));
    }
    Ok(problems)
}

/// The changes since the work began. `None` if nobody knows where that was, or outside of git.
fn changes(
    site: &CheckSite,
    record: Option<&Record>,
    tree: &WorkTree,
    snapshot: &Snapshot,
) -> Result<Option<Changes>, Failure> {
    let Some(baseline) = beginning(site, record)? else { return Ok(None) };
    let Some(uncommitted) = tree.changed(None).map_err(BaselineError::from)? else {
        return Ok(None);
    };
    let files = baseline.changes(tree, snapshot)?.into_iter();
    let files =
        files.map(|change| ChangedFile { path: change.path, moved_from: change.moved_from });
    Ok(Some(Changes {
        files: files.collect(),
        uncommitted: uncommitted.into_iter().map(PathBuf::from).collect(),
        is_from_history: baseline.is_from_history(),
        ..Changes::default()
    }))
}

/// A file's name in the work tree; `None` if it does not stand there.
fn inside(file: &Path, tree: &WorkTree) -> Option<PathBuf> {
    let folder = file.parent()?.real_path().ok()?;
    Some(folder.join(file.file_name()?).strip_prefix(tree.root()).ok()?.to_owned())
}

/// Gate's sightings of commands, the newest first, as far back as the handoff claims
/// anything about them. `digests` are those of the work tree as it stands.
fn sightings(
    handoff: &Handoff,
    memory: &mut Memory,
    digests: &[String],
) -> Result<Vec<SeenCommand>, Failure> {
    let mut policies = BTreeMap::new();
    let mut sightings: Vec<SeenCommand> = Vec::new();
    let mut next = None;
    loop {
        let (records, older) = memory.decisions(next)?;
        for record in &records {
            let digest = &record.policy_digest;
            if !policies.contains_key(digest) {
                policies.insert(digest.clone(), memory.policy(digest)?);
            }
            let policy = policies.get(digest).and_then(Option::as_ref);
            let seq = record.ledger.as_ref().map(|ledger| ledger.seq).unwrap_or_default();
            let is_of_this_tree =
                record.tree.as_ref().is_some_and(|tree| digests.contains(&tree.after));
            for evidence in &record.decision.input.evidence {
                let sighting = SeenCommand::from_evidence(seq, evidence, policy, is_of_this_tree);
                // An older record of the same command does not count.
                sightings.extend(sighting.filter(|sighting| {
                    !sightings.iter().any(|newer| newer.argvs == sighting.argvs)
                }));
            }
        }
        next = older;
        if next.is_none() || handoff::all_seen(handoff, &sightings) {
            return Ok(sightings);
        }
    }
}
