//! Acceptance criteria: items that are open or done, read from files.
//!
//! A file is the word of whoever could write it. These readers find out what it says; the check
//! decides what that is worth.

mod beads;
mod criteria;
mod goal;
mod label;
mod mark;
mod markdown;
mod nested;
mod pattern;
mod plan;
mod prd;
mod source;
mod tally;

use std::path::Path;

use gate_core::decide::policy::CheckPolicy;

use crate::site::CheckSite;

pub(super) use criteria::{CommandResult, Criteria};
pub(super) use pattern::{NamedFile, named_files};
pub(crate) use plan::Verify;
pub(super) use plan::{Item, Plan, PlanError};
pub(super) use tally::Tally;

/// The text of a file that settings name, of any format.
pub(super) fn file_text(file: &NamedFile) -> Result<String, PlanError> {
    source::read_text(&file.path, &file.shown)
}

/// Reads a file with criteria.
fn read_plan(file: &NamedFile, rules: &CheckPolicy) -> Result<Plan, PlanError> {
    parse_plan(&file.path, &file.shown, &file_text(file)?, rules)
}

/// Reads a text of the format that the path says: `.json` is a list of stories, `.jsonl` an issue a
/// line, and any other ending Markdown. `file` is the name in errors.
pub(super) fn parse_plan(
    path: &Path,
    file: &str,
    text: &str,
    rules: &CheckPolicy,
) -> Result<Plan, PlanError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("json") => prd::read(text, file),
        Some("jsonl") => beads::read(text, file),
        _ => Ok(markdown::read(text, rules)),
    }
}

/// The commands that the files of these settings give to criteria, with the file of each.
pub(crate) fn written_commands(settings: &CheckPolicy, site: &CheckSite) -> Vec<(String, Verify)> {
    let mut commands = Vec::new();
    for entry in &settings.files {
        for file in named_files(&site.project, entry).unwrap_or_default() {
            let Ok(plan) = read_plan(&file, settings) else { continue };
            let verifies = plan.items.into_iter().filter_map(|item| item.verify);
            commands.extend(verifies.map(|verify| (file.shown.clone(), verify)));
        }
    }
    commands
}

/// The items in a text of the format that the path says.
pub(super) fn plan_items(
    path: &Path,
    text: &str,
    rules: &CheckPolicy,
) -> Result<Vec<Item>, PlanError> {
    Ok(parse_plan(path, &path.display().to_string(), text, rules)?.items)
}

#[cfg(test)]
mod tests;
