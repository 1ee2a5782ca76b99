//! Drafts handoffs from gate's records, and compares a handoff's claims with them.

mod changed_files;

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use gate_checks::CheckSite;
use gate_checks::worktree::{WorkTree, WorktreeError};
use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::{Policy, Verdict, text};
use gate_fleet::handoff::{self, Handoff, Known, Problem, Ran, Seen};

use crate::failure::Failure;
use crate::memory::{Memory, RecordSelector};
use crate::record::Record;

use changed_files::ChangedFiles;
pub(crate) use changed_files::beginning;

/// The most changed files that a draft names.
const FILES: usize = 500;

/// The longest note, reason or objective in a draft, in characters.
const BRIEF: usize = 400;

/// The most missing files that are looked for among earlier ones.
const LOOKED_FOR: usize = 50;

/// Drafts a handoff from a decision and the work tree. What nobody knows is `...`.
pub(crate) fn draft(
    objective: Option<&str>,
    record: Option<(&Record, &Policy)>,
    changed: Vec<String>,
) -> Handoff {
    let ran = record.map(|(record, policy)| ran(record, policy)).unwrap_or_default();
    let mut open: Vec<_> = record.map(|(record, _)| open(record)).unwrap_or_default();
    let more = changed.len().saturating_sub(FILES);
    if more > 0 {
        open.push(format!("{more} more files were changed than are named here"));
    }
    let files: Vec<_> = changed.into_iter().take(FILES).collect();
    let objective = objective.map(|objective| text::brief(objective, BRIEF));
    handoff::draft(&Known {
        objective: objective.as_deref(),
        changed_files: &files,
        ran: &ran,
        open: &open,
    })
}

/// The files that were changed since a commit, or are not committed; none outside of
/// git.
pub(crate) fn changed(site: &CheckSite, since: Option<&str>) -> Result<Vec<String>, WorktreeError> {
    Ok(WorkTree::open(site)?.changed(since)?.unwrap_or_default())
}

/// The commands that were run for a decision, each with its result. A command that could not be
/// judged is none of them: its reason is listed as open.
fn ran(record: &Record, policy: &Policy) -> Vec<Ran> {
    let commands = record.decision.evidence.iter().filter_map(|evidence| {
        let passed = match evidence.outcome {
            Outcome::Pass => true,
            Outcome::Fail | Outcome::Tamper => false,
            Outcome::Inconclusive | Outcome::Skipped => return None,
        };
        let argv = spellings(evidence, Some(policy)).into_iter().next()?;
        Some(Ran { argv, passed, note: text::brief(&evidence.summary, BRIEF) })
    });
    commands.collect()
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
    let seen = seen(handoff, memory)?;
    let record = memory.latest(&RecordSelector { run: None, task: None })?;
    let unreadable = |error: WorktreeError| {
        Failure::internal("tree-unreadable", format!("the work tree cannot be read: {error}"))
    };
    let tree = WorkTree::open(site).map_err(unreadable)?;
    let now = tree.snapshot().map_err(unreadable)?;
    let own = file.and_then(|file| inside(file, &tree));
    // With the handoff's own file and without it.
    let without = own.as_ref().map(|file| now.digest_without(file));
    let digests = [Some(now.digest.clone()), without];
    let is_here = |digest: &str| Ok(digests.iter().flatten().any(|known| known == digest));
    let mut problems = handoff::unheld(handoff, &seen, is_here).map_err(unreadable)?;
    problems.extend(unknown_files(handoff, site, &tree).map_err(unreadable)?);
    let transcripts = site.callers_files.iter().filter_map(|file| inside(file, &tree));
    let beside = own.into_iter().chain(transcripts).collect();
    let record = record.as_ref();
    let (tree, now) = (&tree, &now);
    problems.extend(ChangedFiles { handoff, record, site, tree, now, beside }.problems()?);
    Ok(problems)
}

/// A file's name in the work tree; none if it does not stand there.
fn inside(file: &Path, tree: &WorkTree) -> Option<PathBuf> {
    let folder = file.parent()?.canonicalize().ok()?;
    Some(folder.join(file.file_name()?).strip_prefix(tree.root()).ok()?.to_owned())
}

/// Gate's sightings of commands, the newest first, as far back as the handoff claims
/// anything about them.
fn seen(handoff: &Handoff, memory: &mut Memory) -> Result<Vec<Seen>, Failure> {
    let mut policies = BTreeMap::new();
    let mut all: Vec<Seen> = Vec::new();
    let mut before = None;
    loop {
        let (records, more) = memory.decisions(before)?;
        for record in &records {
            let digest = &record.policy_digest;
            if !policies.contains_key(digest) {
                policies.insert(digest.clone(), memory.policy(digest)?);
            }
            let policy = policies.get(digest).and_then(Option::as_ref);
            // An older record of the same command does not count.
            for one in
                record.decision.evidence.iter().filter_map(|evidence| see(evidence, record, policy))
            {
                if !all.iter().any(|newer| newer.argvs == one.argvs) {
                    all.push(one);
                }
            }
        }
        before = more;
        if before.is_none() || handoff::all_seen(handoff, &all) {
            return Ok(all);
        }
    }
}

fn see(evidence: &Evidence, record: &Record, policy: Option<&Policy>) -> Option<Seen> {
    let passed = match evidence.outcome {
        Outcome::Pass => Some(true),
        Outcome::Fail | Outcome::Tamper => Some(false),
        Outcome::Inconclusive => None,
        Outcome::Skipped => return None,
    };
    let argvs = spellings(evidence, policy);
    let number = record.ledger.as_ref().map(|ledger| ledger.seq).unwrap_or_default();
    let name = format!("record #{number}, {}", evidence.check);
    let tree = record.tree.as_ref().map(|tree| tree.after.clone());
    let seen = Seen { argvs, passed, record: name, tree };
    (!seen.argvs.is_empty()).then_some(seen)
}

/// The changed files that are not there and never were.
fn unknown_files(
    handoff: &Handoff,
    site: &CheckSite,
    tree: &WorkTree,
) -> Result<Vec<Problem>, WorktreeError> {
    let mut looked_for = 0;
    handoff::unknown_files(handoff, |name| {
        let path = Path::new(name);
        let folders = [site.project.as_path(), tree.root()];
        if folders.iter().any(|folder| folder.join(path).symlink_metadata().is_ok()) {
            return Ok(true);
        }
        looked_for += 1;
        if looked_for > LOOKED_FOR || name.contains('\0') {
            return Ok(false);
        }
        let inside = folders.iter().filter_map(|folder| {
            let whole = folder.join(path);
            let inside = whole.strip_prefix(tree.root()).ok()?.to_owned();
            let is_plain = inside.components().all(|part| matches!(part, Component::Normal(_)));
            (is_plain && !inside.as_os_str().is_empty()).then_some(inside)
        });
        for inside in inside {
            if tree.was_committed(&inside)? {
                return Ok(true);
            }
        }
        Ok(false)
    })
}
