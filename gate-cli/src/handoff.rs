//! Drafts handoffs from gate's records, and compares a handoff's claims with them.

mod changed_files;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gate_checks::CheckSite;
use gate_checks::worktree::{WorkTree, WorktreeError};
use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::{Policy, Verdict, text};
use gate_fleet::handoff::{self, Handoff, Problem, Risk, Seen, Verification};

use crate::failure::Failure;
use crate::memory::{Memory, RecordSelector};
use crate::record::Record;

use changed_files::ChangedFiles;
pub(crate) use changed_files::beginning;

/// The most changed files that a draft names.
const FILES: usize = 500;

/// The longest note, reason or objective in a draft, in characters.
const BRIEF: usize = 400;

/// Drafts a handoff from a decision and the work tree. What nobody knows is `...`.
pub(crate) fn draft(
    objective: Option<&str>,
    record: Option<(&Record, &Policy)>,
    mut changed_files: Vec<String>,
) -> Handoff {
    let verification = record.map(|(record, policy)| verification(record, policy));
    let mut open = record.map(|(record, _)| open(record)).unwrap_or_default();
    let more = changed_files.len().saturating_sub(FILES);
    if more > 0 {
        open.push(format!("{more} more files were changed than are named here"));
    }
    changed_files.truncate(FILES);
    handoff::draft(Handoff {
        objective: objective.map(|objective| text::brief(objective, BRIEF)).unwrap_or_default(),
        changed_files,
        verification: verification.unwrap_or_default(),
        open_risks: open.into_iter().map(|risk| Risk { risk, ..Risk::default() }).collect(),
        ..Handoff::default()
    })
}

/// The files that were changed since a commit, or are not committed; none outside of
/// git.
pub(crate) fn changed(site: &CheckSite, since: Option<&str>) -> Result<Vec<String>, WorktreeError> {
    Ok(WorkTree::open(site)?.changed(since)?.unwrap_or_default())
}

/// The commands that were run for a decision, each with its result. A command that could not be
/// judged is none of them: its reason is listed as open.
fn verification(record: &Record, policy: &Policy) -> Vec<Verification> {
    let commands = record.decision.input.evidence.iter().filter_map(|evidence| {
        let has_passed = passed(evidence)?;
        let argv = spellings(evidence, Some(policy)).into_iter().next()?;
        let notes = text::brief(&evidence.summary, BRIEF).trim().to_owned();
        Some(Verification {
            command: handoff::line(&argv),
            result: if has_passed { handoff::Outcome::Pass } else { handoff::Outcome::Fail },
            notes: Some(notes).filter(|notes| !notes.is_empty()),
            blocker: None,
        })
    });
    commands.collect()
}

/// True if a command passed; none if that could not be found out.
fn passed(evidence: &Evidence) -> Option<bool> {
    match evidence.outcome {
        Outcome::Pass => Some(true),
        Outcome::Fail | Outcome::Tamper => Some(false),
        Outcome::Inconclusive | Outcome::Skipped => None,
    }
}

/// Why it is not done.
fn open(record: &Record) -> Vec<String> {
    if record.decision.verdict == Verdict::Exit {
        return Vec::new();
    }
    record.decision.reasons.iter().map(|why| text::brief(&why.message, BRIEF)).collect()
}

/// The command of a check, by each spelling that means it: first as the settings
/// have it, then with the options that gate added.
fn spellings(evidence: &Evidence, policy: Option<&Policy>) -> Vec<Vec<String>> {
    if evidence.argv.is_empty() {
        return Vec::new();
    }
    let settings = policy.and_then(|policy| policy.checks.get(&evidence.check));
    let cwd = settings.and_then(|settings| settings.cwd.as_deref());
    let own = settings.filter(|settings| !settings.command.is_empty() && !settings.shell);
    let own = own.map(|settings| settings.command.clone());
    own.into_iter().chain([evidence.argv.clone()]).map(|argv| within(cwd, argv)).collect()
}

/// A command as it is typed in the project's folder.
fn within(cwd: Option<&str>, argv: Vec<String>) -> Vec<String> {
    let Some(cwd) = cwd else { return argv };
    let folder = handoff::line(&["cd".to_owned(), cwd.to_owned()]);
    ["sh".to_owned(), "-c".to_owned(), format!("{folder} && {}", handoff::line(&argv))].to_vec()
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
    let now = tree.snapshot()?;
    let own = file.and_then(|file| inside(file, &tree));
    // With the handoff's own file and without it.
    let without = own.as_ref().map(|file| now.digest_without(file));
    let digests: Vec<_> = without.into_iter().chain([now.digest.clone()]).collect();
    let mut problems = handoff::unheld(handoff, &seen(handoff, memory, &digests)?);
    let transcripts = site.callers_files.iter().filter_map(|file| inside(file, &tree));
    let beside = own.into_iter().chain(transcripts).collect();
    let record = record.as_ref();
    let (tree, now) = (&tree, &now);
    let files = ChangedFiles { handoff, record, site, tree, now, beside };
    problems.extend(files.unknown()?);
    problems.extend(files.problems()?);
    Ok(problems)
}

/// A file's name in the work tree; none if it does not stand there.
fn inside(file: &Path, tree: &WorkTree) -> Option<PathBuf> {
    let folder = file.parent()?.canonicalize().ok()?;
    Some(folder.join(file.file_name()?).strip_prefix(tree.root()).ok()?.to_owned())
}

/// Gate's sightings of commands, the newest first, as far back as the handoff claims
/// anything about them. `digests` are those of the work tree as it stands.
fn seen(handoff: &Handoff, memory: &mut Memory, digests: &[String]) -> Result<Vec<Seen>, Failure> {
    let mut policies = BTreeMap::new();
    let mut sightings: Vec<Seen> = Vec::new();
    let mut next = None;
    loop {
        let (records, older) = memory.decisions(next)?;
        for record in &records {
            let digest = &record.policy_digest;
            if !policies.contains_key(digest) {
                policies.insert(digest.clone(), memory.policy(digest)?);
            }
            let policy = policies.get(digest).and_then(Option::as_ref);
            for evidence in &record.decision.input.evidence {
                let sighting = see(evidence, record, policy, digests);
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

fn see(
    evidence: &Evidence,
    record: &Record,
    policy: Option<&Policy>,
    digests: &[String],
) -> Option<Seen> {
    let argvs = spellings(evidence, policy);
    if evidence.outcome == Outcome::Skipped || argvs.is_empty() {
        return None;
    }
    let number = record.ledger.as_ref().map(|ledger| ledger.seq).unwrap_or_default();
    Some(Seen {
        argvs,
        passed: passed(evidence),
        record: format!("record #{number}, {}", evidence.check),
        is_of_this_tree: record.tree.as_ref().is_some_and(|tree| digests.contains(&tree.after)),
    })
}
