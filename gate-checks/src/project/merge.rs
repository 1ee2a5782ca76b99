//! Merges the proposals of all kinds into one list of checks with unique names.

use super::Kind;
use super::folder::Folder;
use super::proposal::{Aim, Found, Proposal};
use super::python;
use super::workflows::CiCommand;

/// The most folders below the project that are proposed for.
const MAX_FOLDERS: usize = 8;

/// Folders that hold what others wrote, or what was made.
const PASSED_OVER: [&str; 9] = [
    "node_modules",
    "target",
    "vendor",
    "third_party",
    "dist",
    "build",
    "out",
    "venv",
    "site-packages",
];

/// A proposal, and whose it is.
struct Candidate {
    ecosystem: &'static str,
    /// The folder below the project.
    below: Option<String>,
    proposal: Proposal,
}

/// Looks at a folder and, if its root has no tests, one level below. Commands of CI come before
/// what is guessed.
pub(super) fn found(folder: &Folder<'_>, kinds: &[Kind], ci: Vec<CiCommand>) -> Found {
    let mut notes = Vec::new();
    let mut all = look(folder, kinds, &mut notes);
    if !all.iter().any(|candidate| candidate.proposal.aim == Aim::Tests) {
        all.extend(below(folder, kinds, &mut notes));
    }
    all = ci_first(folder, ci, all);
    settle(folder, &mut all, &mut notes);
    Found { proposals: named_apart(all), notes }
}

/// Proposals of all kinds for one folder. Of one ecosystem the first tool for an aim is
/// taken; of the general tools only what no other has, and beside others only their tests
/// are more than a mention.
fn look(folder: &Folder<'_>, kinds: &[Kind], notes: &mut Vec<String>) -> Vec<Candidate> {
    let mut all: Vec<Candidate> = Vec::new();
    for kind in kinds {
        let found = (kind.look)(folder);
        notes.extend(found.notes);
        let taken: Vec<_> =
            all.iter().map(|candidate| (candidate.ecosystem, candidate.proposal.aim)).collect();
        let special = taken.iter().any(|(ecosystem, _)| !is_general(kinds, ecosystem));
        for mut proposal in found.proposals {
            if taken.iter().any(|(ecosystem, aim)| {
                *aim == proposal.aim && (kind.is_general || *ecosystem == kind.ecosystem)
            }) {
                continue;
            }
            proposal.optional |= kind.is_general && special && proposal.aim != Aim::Tests;
            all.push(Candidate { ecosystem: kind.ecosystem, below: None, proposal });
        }
    }
    all
}

fn is_general(kinds: &[Kind], ecosystem: &str) -> bool {
    kinds.iter().any(|kind| kind.is_general && kind.ecosystem == ecosystem)
}

/// Proposals for the folders one level below.
fn below(folder: &Folder<'_>, kinds: &[Kind], notes: &mut Vec<String>) -> Vec<Candidate> {
    let mut all = Vec::new();
    let mut folders = 0;
    for name in folder.names(".").into_iter().filter(|name| is_own(folder, name)) {
        let mut own = Vec::new();
        let mut found = look(&folder.below(&name), kinds, &mut own);
        found.retain(|candidate| !candidate.proposal.optional);
        if !found.is_empty() && folders == MAX_FOLDERS {
            notes.push(format!("{name} and the folders after it were not looked at"));
            break;
        }
        folders += usize::from(!found.is_empty());
        notes.extend(own.into_iter().map(|note| format!("{name}: {note}")));
        for candidate in &mut found {
            candidate.below = Some(name.clone());
            candidate.proposal.cwd = Some(name.clone());
            candidate.proposal.why = format!("{name}: {}", candidate.proposal.why);
        }
        all.extend(found);
    }
    all
}

/// The first command of CI for each tool's tests in a folder, then what was guessed for others: a
/// step such as `npm test` names no runner, so no test that is there is left out.
fn ci_first(
    folder: &Folder<'_>,
    ci: Vec<CiCommand>,
    mut guesses: Vec<Candidate>,
) -> Vec<Candidate> {
    let mut all: Vec<Candidate> = Vec::new();
    for CiCommand { ecosystem, tool, words, cwd, file } in ci {
        let is_same = |candidate: &Candidate| {
            let proposal = &candidate.proposal;
            let is_test = candidate.ecosystem == ecosystem && proposal.aim == Aim::Tests;
            is_test && proposal.cwd == cwd
        };
        let place = cwd.as_ref().map(|cwd| folder.below(cwd));
        let place = place.as_ref().unwrap_or(folder);
        let source = format!("`{}` in {file}", words.join(" "));
        let words = if ecosystem == "python" { python::here(place, &words) } else { words };
        let program = words.first().cloned().unwrap_or_default();
        if all.iter().any(is_same) || !place.finds(&program) {
            continue;
        }
        guesses.retain(|guess| !is_same(guess));
        let proposal = Proposal::new(Aim::Tests, tool, &[], source).needs(&program);
        let proposal = Proposal { command: words, cwd: cwd.clone(), ..proposal };
        all.push(Candidate { ecosystem, below: cwd, proposal });
    }
    all.extend(guesses);
    all
}

fn is_own(folder: &Folder<'_>, name: &str) -> bool {
    let is_folder = folder.path.join(name).symlink_metadata().is_ok_and(|about| about.is_dir());
    is_folder && !name.starts_with('.') && !PASSED_OVER.contains(&name)
}

/// Without its tool, a test or build is still proposed; the rest is only mentioned.
fn settle(folder: &Folder<'_>, all: &mut [Candidate], notes: &mut Vec<String>) {
    for proposal in all.iter_mut().map(|candidate| &mut candidate.proposal) {
        let below = proposal.cwd.as_ref().map(|cwd| folder.below(cwd));
        if proposal.optional || below.as_ref().unwrap_or(folder).finds(&proposal.needs_tool) {
            continue;
        }
        proposal.is_missing = true;
        proposal.optional |= matches!(proposal.aim, Aim::Lint | Aim::Typecheck);
        let (program, tool) = (&proposal.needs_tool, proposal.tool);
        let user = if program == tool { String::new() } else { format!(": {tool} needs it") };
        notes.push(format!("{program} is not installed{user}"));
    }
    let mut seen = Vec::new();
    notes.retain(|note| {
        let new = !seen.contains(note);
        seen.push(note.clone());
        new
    });
}

/// The first of an aim has the plain name; a folder or an ecosystem tells the
/// others from it, and a number what would still be called the same.
fn named_apart(mut all: Vec<Candidate>) -> Vec<Proposal> {
    all.sort_by_key(|Candidate { proposal, .. }| {
        (Aim::ALL.iter().position(|aim| *aim == proposal.aim), proposal.optional)
    });
    let mut proposals: Vec<Proposal> = Vec::new();
    for Candidate { ecosystem, below, mut proposal } in all {
        let plain = proposal.aim.check();
        let folder = below.as_deref().map(|below| format!("{plain}-{}", clean(below)));
        let own = format!("{}-{ecosystem}", folder.as_deref().unwrap_or(plain));
        let names = [plain.to_owned()].into_iter().chain(folder).chain([own.clone()]);
        let numbered = (2..).map(|number| format!("{own}-{number}"));
        let free =
            names.chain(numbered).find(|name| proposals.iter().all(|other| other.check != *name));
        proposal.check = free.unwrap_or(own);
        proposals.push(proposal);
    }
    proposals
}

/// A folder's name as a part of a check's.
fn clean(name: &str) -> String {
    name.replace(|c: char| !c.is_ascii_alphanumeric() && c != '_', "-")
}
