//! Files that hold acceptance criteria.

use std::fs;
use std::path::Path;

/// Files of this name in the project, the more usual first.
const FILES: [&str; 12] = [
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

/// Files, and globs for several files, as the settings would name them.
pub(super) fn files(project: &Path) -> Vec<String> {
    let mut found: Vec<String> = FILES
        .iter()
        .filter(|file| project.join(file).is_file())
        .map(|&file| file.to_owned())
        .collect();
    found.retain(|file| !file.ends_with(".md") || has_boxes(&project.join(file)));
    for (above, file) in FEATURES {
        let folders = fs::read_dir(project.join(above)).into_iter().flatten().flatten();
        let mut files = folders.map(|folder| folder.path().join(file));
        if files.any(|file| has_boxes(&file)) {
            found.push(format!("{above}/*/{file}"));
        }
    }
    found.extend(beads(project));
    found
}

/// True if a plan has a box: without one it has nothing to tick.
fn has_boxes(file: &Path) -> bool {
    let is_file = file.is_file();
    let text = if is_file { fs::read_to_string(file).unwrap_or_default() } else { String::new() };
    text.lines().any(|line| {
        let line = line.trim_start_matches([' ', '\t', '>']);
        let item = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let item = item.strip_prefix(['-', '*', '+', '.', ')']).unwrap_or_default().trim_start();
        ["[ ]", "[x]", "[X]"].iter().any(|mark| item.starts_with(mark))
    })
}

/// The file with the issues: the other files of a `.beads` folder are about them.
fn beads(project: &Path) -> Option<String> {
    let names = [".beads/issues.jsonl", ".beads/beads.jsonl"];
    names.into_iter().find(|name| project.join(name).is_file()).map(str::to_owned)
}
