//! Facts on disk: a file each.

use std::path::{Path, PathBuf};

use gate_fleet::fact::{self, Fact, FactError, Scope};

use super::{file, stamp};
use crate::failure::Failure;

/// A fact, and its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its file.
    pub path: PathBuf,
    /// The fact.
    pub fact: Fact,
}

/// A file that is called as facts are, and holds none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {error}", .path.display())]
pub struct Unreadable {
    /// The file.
    pub path: PathBuf,
    /// The error of the file.
    pub error: FactError,
}

/// The facts of a scope in a folder, the oldest first.
pub(super) fn all(folder: &Path, scope: Scope) -> Result<(Vec<Found>, Vec<Unreadable>), Failure> {
    let (mut found, mut unreadable) = (Vec::new(), Vec::new());
    let names = file::names(folder)?;
    for name in names.iter().filter(|name| fact::is_fact_file(scope, name)) {
        let path = folder.join(name);
        let Some(text) = file::read(&path)? else { continue };
        match Fact::parse(&text) {
            Ok(fact) => found.push(Found { path, fact }),
            Err(error) => unreadable.push(Unreadable { path, error }),
        }
    }
    found.sort_by_key(|found| found.fact.created_at);
    Ok((found, unreadable))
}

/// Writes a fact into a folder, under a name that no other has. `name` gives its
/// part of it.
///
/// # Errors
///
/// A name that leads elsewhere (code 2), a folder that cannot be written.
pub(crate) fn add(folder: &Path, fact: Fact, name: &str) -> Result<Found, Failure> {
    let slug = fact::slug(name);
    let slug = slug.map_err(|error| Failure::usage("fact-name-invalid", error.to_string()))?;
    file::folder(folder)?;
    let path = folder.join(fact::file_name(fact.scope, stamp(), &slug));
    file::create(&path, &fact.to_markdown())?;
    Ok(Found { path, fact })
}
