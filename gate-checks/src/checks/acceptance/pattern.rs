//! The files that settings name: paths, and globs.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};

use super::plan::PlanError;

/// The most entries of folders that one glob looks at.
const MAX_ENTRIES: usize = 100_000;

/// The deepest folder, below the glob's fixed part, that `**` reaches.
const MAX_DEPTH: usize = 32;

/// A file that is to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::checks) struct Named {
    pub(super) path: PathBuf,
    /// Relative to the project, as a person is shown it.
    pub(in crate::checks) shown: String,
}

/// The files that one entry of `files` names, in order. A path is taken as it
/// is; a glob that matches nothing is an error, as a missing file would be.
pub(in crate::checks) fn files(project: &Path, entry: &str) -> Result<Vec<Named>, PlanError> {
    let path = project.join(entry);
    if !entry.contains(['*', '?', '[', '{']) || path.symlink_metadata().is_ok() {
        return Ok(vec![Named { path, shown: entry.to_owned() }]);
    }
    let matcher = matcher(entry)?;
    let parts = entry.split('/').collect::<Vec<_>>();
    let fixed = parts.iter().take_while(|part| !part.contains(['*', '?', '[', '{'])).count();
    let mut walk = Walk {
        file: entry,
        matcher,
        follow: !entry.contains("**"),
        found: BTreeSet::new(),
        looked: 0,
    };
    let depth = if walk.follow { parts.len() - fixed } else { MAX_DEPTH };
    let above = parts[..fixed].join("/");
    let above = if fixed == 1 && above.is_empty() { "/".to_owned() } else { above };
    walk.folder(&project.join(&above), &above, depth)?;
    if walk.found.is_empty() {
        return Err(PlanError::NoMatch { file: entry.to_owned() });
    }
    let found = walk.found.into_iter();
    Ok(found.map(|shown| Named { path: project.join(&shown), shown }).collect())
}

fn matcher(entry: &str) -> Result<GlobMatcher, PlanError> {
    let glob = GlobBuilder::new(entry).literal_separator(true).build();
    glob.map(|glob| glob.compile_matcher())
        .map_err(|error| PlanError::Glob { file: entry.to_owned(), why: error.kind().to_string() })
}

/// A walk through the folders below a glob's fixed part.
struct Walk<'a> {
    file: &'a str,
    matcher: GlobMatcher,
    /// Follows links to folders. Only if the depth is fixed: a link may lead upwards.
    follow: bool,
    found: BTreeSet<String>,
    looked: usize,
}

impl Walk<'_> {
    /// A folder that cannot be listed is an error: it may hold open items.
    fn folder(&mut self, folder: &Path, shown: &str, depth: usize) -> Result<(), PlanError> {
        let unreadable = |error: std::io::Error| PlanError::Unreadable {
            file: shown.to_owned(),
            why: error.to_string(),
        };
        if depth == 0 || !folder.is_dir() {
            return Ok(());
        }
        for entry in fs::read_dir(folder).map_err(unreadable)? {
            let name = entry.map_err(unreadable)?.file_name();
            self.looked += 1;
            if self.looked > MAX_ENTRIES {
                return Err(PlanError::Endless { file: self.file.to_owned(), limit: MAX_ENTRIES });
            }
            if let Some(name) = name.to_str().filter(|name| *name != ".git") {
                self.entry(&folder.join(name), &below(shown, name), depth)?;
            }
        }
        Ok(())
    }

    fn entry(&mut self, path: &Path, shown: &str, depth: usize) -> Result<(), PlanError> {
        let is_folder = match path.symlink_metadata() {
            Ok(metadata) if metadata.is_symlink() => self.follow && path.is_dir(),
            Ok(metadata) => metadata.is_dir(),
            Err(_) => false,
        };
        if is_folder {
            return self.folder(path, shown, depth - 1);
        }
        if self.matcher.is_match(shown) {
            self.found.insert(shown.to_owned());
        }
        Ok(())
    }
}

fn below(folder: &str, name: &str) -> String {
    match folder {
        "" => name.to_owned(),
        _ if folder.ends_with('/') => format!("{folder}{name}"),
        _ => format!("{folder}/{name}"),
    }
}
