//! Acceptance criteria: items that are open or done, read from files.
//!
//! What a file says is the word of whoever could write it. These readers find
//! out what it says; what that is worth is decided elsewhere.

mod beads;
mod criteria;
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
pub(super) use pattern::{Named, files};
pub(crate) use plan::Verify;
pub(super) use plan::{Item, Plan, PlanError};
pub(super) use tally::Tally;

/// The text of a file that settings name, whatever it holds.
pub(super) fn text(named: &Named) -> Result<String, PlanError> {
    source::text(&named.path, &named.shown)
}

/// Reads a file of the format that its name says: `.json` is a list of
/// stories, `.jsonl` an issue a line, and anything else Markdown.
fn read(path: &Path, file: &str, rules: &CheckPolicy) -> Result<Plan, PlanError> {
    parse(path, file, &source::text(path, file)?, rules)
}

pub(super) fn parse(
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
    let named = settings.files.iter().filter_map(|entry| files(&site.project, entry).ok());
    let plans = named.flatten().filter_map(|named| {
        let plan = read(&named.path, &named.shown, settings).ok()?;
        Some((named.shown, plan))
    });
    plans
        .flat_map(|(file, plan)| {
            let commands = plan.items.into_iter().filter_map(|item| item.verify);
            commands.map(|verify| (file.clone(), verify)).collect::<Vec<_>>()
        })
        .collect()
}

/// The items that a file of such a name holds.
pub(super) fn items(name: &Path, text: &str, rules: &CheckPolicy) -> Result<Vec<Item>, PlanError> {
    Ok(parse(name, &name.display().to_string(), text, rules)?.items)
}

#[cfg(test)]
mod tests;
