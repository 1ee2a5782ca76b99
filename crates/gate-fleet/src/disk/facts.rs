//! Facts on disk: a file each.

use std::path::{Path, PathBuf};

use gate_core::Failure;

use super::{file, stamp};
use crate::fact::{self, Fact, FactError, Scope};

/// A fact, and its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactFile {
    /// Its file.
    pub path: PathBuf,
    /// The fact.
    pub fact: Fact,
}

/// A file that is called as facts are, and holds none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {error}", .path.display())]
pub struct UnreadableFact {
    /// The file.
    pub path: PathBuf,
    /// The error of the file.
    pub error: FactError,
}

/// The facts of a scope in a folder, the oldest first.
pub(super) fn all(
    folder: &Path,
    scope: Scope,
) -> Result<(Vec<FactFile>, Vec<UnreadableFact>), Failure> {
    let (mut facts, mut unreadable) = (Vec::new(), Vec::new());
    let names = file::names(folder)?;
    for name in names.iter().filter(|name| fact::is_fact_file(scope, name)) {
        let path = folder.join(name);
        let Some(text) = file::read(&path)? else { continue };
        match Fact::parse(&text) {
            Ok(fact) => facts.push(FactFile { path, fact }),
            Err(error) => unreadable.push(UnreadableFact { path, error }),
        }
    }
    facts.sort_by_key(|file| file.fact.created_at);
    Ok((facts, unreadable))
}

/// Writes a fact into a folder, under a name that no other has. `name` gives its
/// part of it.
///
/// # Errors
///
/// A name that leads elsewhere (code 2), a folder that cannot be written.
pub fn add(folder: &Path, fact: Fact, name: &str) -> Result<FactFile, Failure> {
    let path = folder.join(file_name(&fact, name)?);
    file::folder(folder)?;
    file::create(&path, &fact.to_markdown())?;
    Ok(FactFile { path, fact })
}

/// A file name for a fact that no other has. `name` gives its part of it.
///
/// # Errors
///
/// A name that leads elsewhere (code 2).
pub fn file_name(fact: &Fact, name: &str) -> Result<String, Failure> {
    let slug = fact::slug(name);
    let slug = slug.map_err(|error| Failure::usage("fact-name-invalid", error.to_string()))?;
    Ok(fact::file_name(fact.scope, stamp(), &slug))
}
