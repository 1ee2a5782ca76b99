//! File names of facts.

use super::Scope;
use crate::run;
use crate::stamp::{Stamp, leading_length};

/// The longest part of a file's name that is chosen, in bytes.
const MAX_NAME_BYTES: usize = 64;

/// A name that cannot become a part of a file's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} names no fact: a few words of letters and digits are expected, and nothing of a path"
)]
pub struct BadName(pub String);

/// The part of a file's name that its fact gives: `DB schema` is `db-schema`.
///
/// # Errors
///
/// A name without letters or digits, or one that leads to another folder.
pub fn slug(name: &str) -> Result<String, BadName> {
    let leads_away = name.contains(['/', '\\', '\0']) || name.contains("..");
    let slug = if leads_away { None } else { run::slug(name, MAX_NAME_BYTES) };
    slug.ok_or_else(|| BadName(name.to_owned()))
}

/// A file's name: `FACT-<stamp>-<name>.md`, and for a task
/// `TASK-FACTS-<stamp>.md`. `slug` is one that [`slug`] gave.
pub fn file_name(scope: Scope, stamp: Stamp, slug: &str) -> String {
    match scope {
        Scope::Task => format!("TASK-FACTS-{stamp}.md"),
        Scope::Project | Scope::Global => format!("FACT-{stamp}-{slug}.md"),
    }
}

/// The name of a file with a fact of a scope, whatever its moment looks like: other programs
/// write it in other ways.
pub fn is_fact_file(scope: Scope, name: &str) -> bool {
    let prefix = if scope == Scope::Task { "TASK-FACTS-" } else { "FACT-" };
    let chosen_part = name.strip_prefix(prefix).and_then(|name| name.strip_suffix(".md"));
    chosen_part.is_some_and(|name| {
        leading_length(name).is_some() || name.starts_with(|char: char| char.is_ascii_digit())
    })
}
