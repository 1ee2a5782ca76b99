//! Detects the kind of a project, and the commands that check it.
//!
//! Each kind of tool is one file with one function that looks at a folder and proposes;
//! `KINDS` is the list of them. A proposal is a guess that a person reads and approves:
//! nothing here is run.

mod bats;
mod cargo;
mod dotnet;
mod folder;
mod go;
mod jvm;
mod merge;
mod node;
mod proposal;
mod python;
mod quick;
mod recipes;
mod watching;
mod workflows;

use std::fs;
use std::path::Path;

use folder::Folder;
use gate_platform::RealPath;
use proposal::Findings;
pub use proposal::{Aim, Detected, Proposal, QuickPart};

/// A kind of tool.
struct ToolKind {
    /// End of the check's name.
    ecosystem: &'static str,
    /// Runs any command, so that a tool of the language is a better choice.
    is_general: bool,
    /// Looks at a folder, and proposes for it.
    look: fn(&Folder<'_>) -> Findings,
}

/// The kinds of tools, in the order in which they take the plain names.
const KINDS: [ToolKind; 10] = [
    special("rust", cargo::look),
    special("node", node::look),
    special("python", python::look),
    special("go", go::look),
    special("java", jvm::look_for_gradle),
    special("java", jvm::look_for_maven),
    special("dotnet", dotnet::look),
    special("bats", bats::look),
    ToolKind { is_general: true, ..special("make", recipes::look_for_make) },
    ToolKind { is_general: true, ..special("just", recipes::look_for_just) },
];

/// Files of this name in the project, the more usual first.
const CRITERIA_FILES: [&str; 12] = [
    "fix_plan.md",
    "@fix_plan.md",
    ".ralph/fix_plan.md",
    ".ralph/@fix_plan.md",
    ".ralph/ralph-tasks.md",
    "prd.json",
    ".ralph/prd.json",
    "plans/prd.json",
    "PRD.md",
    "IMPLEMENTATION_PLAN.md",
    "tasks.md",
    "PLAN.md",
];

/// Folders of folders, one a feature, with such a file each.
const FEATURES: [(&str, &str); 2] = [("specs", "tasks.md"), ("openspec/changes", "tasks.md")];

const fn special(ecosystem: &'static str, look: fn(&Folder<'_>) -> Findings) -> ToolKind {
    ToolKind { ecosystem, is_general: false, look }
}

/// Looks at a project, and proposes checks for it. What CI runs is not looked at: a check without a
/// command takes its command from here, and files of CI are easy to write.
pub fn detect(project: &Path) -> Detected {
    detect_with(project, false, &is_in_path)
}

/// As [`detect`], with the commands by which CI runs tests before all others.
pub fn detect_with_ci(project: &Path) -> Detected {
    detect_with(project, true, &is_in_path)
}

fn is_in_path(program: &str) -> bool {
    which::which(program).is_ok()
}

/// As [`detect`], where the caller says which programs are in PATH.
fn detect_with(project: &Path, reads_ci: bool, is_in_path: &dyn Fn(&str) -> bool) -> Detected {
    let folder = Folder::new(project, is_in_path);
    let mut ci_findings = Findings::default();
    let ci = if reads_ci { workflows::look(&folder, &mut ci_findings) } else { Vec::new() };
    let mut findings = merge::merged(&folder, &KINDS, ci);
    if reads_ci {
        for proposal in &mut findings.proposals {
            proposal.quick = quick::quick_part(&folder, proposal);
        }
    }
    Detected {
        proposals: findings.proposals,
        notes: [findings.notes, ci_findings.notes].concat(),
        repository: is_in_repository(project),
        criteria: criteria_files(project),
    }
}

/// The folder, or one above it, has a `.git`: a folder, or the file of a worktree or submodule.
fn is_in_repository(project: &Path) -> bool {
    let project = project.real_path().unwrap_or_else(|_| project.to_owned());
    project.ancestors().any(|folder| folder.join(".git").exists())
}

/// Files, and globs for several files, as the settings would name them.
fn criteria_files(project: &Path) -> Vec<String> {
    let mut files: Vec<String> = CRITERIA_FILES
        .iter()
        .filter(|file| project.join(file).is_file())
        .map(|&file| file.to_owned())
        .collect();
    files.retain(|file| !file.ends_with(".md") || has_boxes(&project.join(file)));
    for (parent, name) in FEATURES {
        let folders = fs::read_dir(project.join(parent)).into_iter().flatten().flatten();
        let mut plans = folders.map(|folder| folder.path().join(name));
        if plans.any(|plan| has_boxes(&plan)) {
            files.push(format!("{parent}/*/{name}"));
        }
    }
    files.extend(beads(project));
    files
}

/// A plan has a box: without one it has nothing to tick.
fn has_boxes(file: &Path) -> bool {
    let is_file = file.is_file();
    let text = if is_file { fs::read_to_string(file).unwrap_or_default() } else { String::new() };
    text.lines().any(|line| {
        let text = line.trim_start_matches([' ', '\t', '>']);
        // The mark of a list: `-`, or a number and `.`.
        let mark = text.trim_start_matches(|c: char| c.is_ascii_digit());
        let item = mark.strip_prefix(['-', '*', '+', '.', ')']).unwrap_or_default().trim_start();
        ["[ ]", "[x]", "[X]"].iter().any(|checkbox| item.starts_with(checkbox))
    })
}

/// The file with the issues: the other files of a `.beads` folder are about them.
fn beads(project: &Path) -> Option<String> {
    let names = [".beads/issues.jsonl", ".beads/beads.jsonl"];
    names.into_iter().find(|name| project.join(name).is_file()).map(str::to_owned)
}

#[cfg(test)]
mod tests;
