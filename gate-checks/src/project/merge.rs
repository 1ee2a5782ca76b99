//! Merges the proposals of all kinds into one list of checks with unique names.

use super::ToolKind;
use std::collections::BTreeSet;

use super::folder::Folder;
use super::proposal::{Aim, Findings, Proposal};
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
    /// The folder below the project that it is for; `None` for the project's own.
    subfolder: Option<String>,
    proposal: Proposal,
}

/// Looks at a folder and, if its root has no tests, one level below. Commands of CI come before
/// what is guessed.
pub(super) fn merged(folder: &Folder<'_>, kinds: &[ToolKind], ci: Vec<CiCommand>) -> Findings {
    let mut notes = Vec::new();
    let mut candidates = folder_candidates(folder, kinds, &mut notes);
    if !candidates.iter().any(|candidate| candidate.proposal.aim == Aim::Tests) {
        candidates.extend(subfolder_candidates(folder, kinds, &mut notes));
    }
    candidates = ci_first(folder, ci, candidates);
    note_missing_programs(folder, &mut candidates, &mut notes);
    let mut told_notes = BTreeSet::new();
    notes.retain(|note| told_notes.insert(note.clone()));
    Findings { proposals: with_unique_names(candidates), notes }
}

/// Proposals of all kinds of tools for one folder. Of one ecosystem the first tool for an aim is
/// taken; of the general tools only what no other has, and beside others only their tests
/// are more than a mention.
fn folder_candidates(
    folder: &Folder<'_>,
    kinds: &[ToolKind],
    notes: &mut Vec<String>,
) -> Vec<Candidate> {
    let mut candidates: Vec<Candidate> = Vec::new();
    for kind in kinds {
        let findings = (kind.look)(folder);
        notes.extend(findings.notes);
        // Those of the kinds before: one kind may propose several for an aim.
        let taken: Vec<_> = candidates
            .iter()
            .map(|candidate| (candidate.ecosystem, candidate.proposal.aim))
            .collect();
        let has_special = taken.iter().any(|(ecosystem, _)| !is_general(kinds, ecosystem));
        for mut proposal in findings.proposals {
            if taken.iter().any(|(ecosystem, aim)| {
                *aim == proposal.aim && (kind.is_general || *ecosystem == kind.ecosystem)
            }) {
                continue;
            }
            proposal.optional |= kind.is_general && has_special && proposal.aim != Aim::Tests;
            candidates.push(Candidate { ecosystem: kind.ecosystem, subfolder: None, proposal });
        }
    }
    candidates
}

fn is_general(kinds: &[ToolKind], ecosystem: &str) -> bool {
    kinds.iter().any(|kind| kind.is_general && kind.ecosystem == ecosystem)
}

/// Proposals for the folders one level below.
fn subfolder_candidates(
    folder: &Folder<'_>,
    kinds: &[ToolKind],
    notes: &mut Vec<String>,
) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    let mut folders = 0;
    for name in folder.names(".").into_iter().filter(|name| is_source_folder(folder, name)) {
        let mut folder_notes = Vec::new();
        let mut in_folder = folder_candidates(&folder.below(&name), kinds, &mut folder_notes);
        in_folder.retain(|candidate| !candidate.proposal.optional);
        if !in_folder.is_empty() && folders == MAX_FOLDERS {
            notes.push(format!("{name} and the folders after it were not looked at"));
            break;
        }
        folders += usize::from(!in_folder.is_empty());
        notes.extend(folder_notes.into_iter().map(|note| format!("{name}: {note}")));
        for candidate in &mut in_folder {
            candidate.subfolder = Some(name.clone());
            candidate.proposal.cwd = Some(name.clone());
            candidate.proposal.evidence = format!("{name}: {}", candidate.proposal.evidence);
        }
        candidates.extend(in_folder);
    }
    candidates
}

/// The first command of CI for each tool's tests in a folder, then what was guessed for others: a
/// step such as `npm test` names no runner, so no test that is there is left out.
fn ci_first(
    folder: &Folder<'_>,
    ci: Vec<CiCommand>,
    mut guesses: Vec<Candidate>,
) -> Vec<Candidate> {
    let mut candidates: Vec<Candidate> = Vec::new();
    for CiCommand { ecosystem, tool, words, cwd, file, minutes } in ci {
        let is_replaced = |candidate: &Candidate| {
            let proposal = &candidate.proposal;
            let is_test = candidate.ecosystem == ecosystem && proposal.aim == Aim::Tests;
            is_test && proposal.cwd == cwd
        };
        let subfolder = cwd.as_ref().map(|cwd| folder.below(cwd));
        let command_folder = subfolder.as_ref().unwrap_or(folder);
        let evidence = format!("`{}` in {file}", words.join(" "));
        let command = if ecosystem == "python" {
            python::local_command(command_folder, &words)
        } else {
            words
        };
        let program = command.first().cloned().unwrap_or_default();
        if candidates.iter().any(is_replaced) || !command_folder.has_program(&program) {
            continue;
        }
        guesses.retain(|guess| !is_replaced(guess));
        let proposal = Proposal {
            command,
            cwd: cwd.clone(),
            ci_minutes: minutes,
            ..Proposal::new(Aim::Tests, tool, &[], evidence).needs(&program)
        };
        candidates.push(Candidate { ecosystem, subfolder: cwd, proposal });
    }
    candidates.extend(guesses);
    candidates
}

fn is_source_folder(folder: &Folder<'_>, name: &str) -> bool {
    let is_folder =
        folder.path.join(name).symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
    is_folder && !name.starts_with('.') && !PASSED_OVER.contains(&name)
}

/// Without its program, a test or build is still proposed; lints and checks of types are only
/// mentioned.
fn note_missing_programs(
    folder: &Folder<'_>,
    candidates: &mut [Candidate],
    notes: &mut Vec<String>,
) {
    for proposal in candidates.iter_mut().map(|candidate| &mut candidate.proposal) {
        let subfolder = proposal.cwd.as_ref().map(|cwd| folder.below(cwd));
        let command_folder = subfolder.as_ref().unwrap_or(folder);
        if proposal.optional || command_folder.has_program(&proposal.needs_tool) {
            continue;
        }
        proposal.is_missing = true;
        proposal.optional |= matches!(proposal.aim, Aim::Lint | Aim::Typecheck);
        let (program, tool) = (&proposal.needs_tool, proposal.tool);
        let purpose = if program == tool { String::new() } else { format!(": {tool} needs it") };
        notes.push(format!("{program} is not installed{purpose}"));
    }
}

/// The first check of an aim has the plain name; a folder or an ecosystem tells the others from it,
/// and a number those that would still be called the same.
fn with_unique_names(mut candidates: Vec<Candidate>) -> Vec<Proposal> {
    candidates.sort_by_key(|Candidate { proposal, .. }| {
        (Aim::ALL.iter().position(|aim| *aim == proposal.aim), proposal.optional)
    });
    let mut proposals: Vec<Proposal> = Vec::new();
    for Candidate { ecosystem, subfolder, mut proposal } in candidates {
        let plain = proposal.aim.check_name();
        let with_folder = subfolder.as_deref().map(|name| format!("{plain}-{}", name_part(name)));
        let with_ecosystem = format!("{}-{ecosystem}", with_folder.as_deref().unwrap_or(plain));
        let numbered = (2..).map(|number| format!("{with_ecosystem}-{number}"));
        let mut names = [plain.to_owned()]
            .into_iter()
            .chain(with_folder)
            .chain([with_ecosystem.clone()])
            .chain(numbered);
        let free = names.find(|name| proposals.iter().all(|proposal| proposal.check != *name));
        proposal.check = free.unwrap_or(with_ecosystem);
        proposals.push(proposal);
    }
    proposals
}

/// A folder's name as a part of a check's name.
fn name_part(name: &str) -> String {
    name.replace(|c: char| !c.is_ascii_alphanumeric() && c != '_', "-")
}
