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

/// A file that settings name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::checks) struct NamedFile {
    pub(super) path: PathBuf,
    /// The path relative to the project, as a person is shown it.
    pub(in crate::checks) shown: String,
}

/// The files that one entry of `files` names, in order. A path is taken as it is; a glob that matches
/// no file is an error, as a missing file would be.
pub(in crate::checks) fn named_files(
    project: &Path,
    entry: &str,
) -> Result<Vec<NamedFile>, PlanError> {
    let path = project.join(entry);
    if !entry.contains(['*', '?', '[', '{']) || path.symlink_metadata().is_ok() {
        return Ok(vec![NamedFile { path, shown: entry.to_owned() }]);
    }
    let matcher = matcher(entry)?;
    let parts: Vec<_> = entry.split('/').collect();
    let fixed_count = parts.iter().take_while(|part| !part.contains(['*', '?', '[', '{'])).count();
    let follows_links = !entry.contains("**");
    let depth = if follows_links { parts.len() - fixed_count } else { MAX_DEPTH };
    let fixed_folder = match parts[..fixed_count].join("/") {
        // The entry begins with a slash, and its first folder is a pattern.
        folder if fixed_count == 1 && folder.is_empty() => "/".to_owned(),
        folder => folder,
    };
    let mut walk =
        Walk { glob: entry, matcher, follows_links, matches: BTreeSet::new(), entry_count: 0 };
    walk.enter_folder(&project.join(&fixed_folder), &fixed_folder, depth)?;
    if walk.matches.is_empty() {
        return Err(PlanError::NoMatch { file: entry.to_owned() });
    }
    let files = walk.matches.into_iter();
    Ok(files.map(|shown| NamedFile { path: project.join(&shown), shown }).collect())
}

fn matcher(entry: &str) -> Result<GlobMatcher, PlanError> {
    match GlobBuilder::new(entry).literal_separator(true).build() {
        Ok(glob) => Ok(glob.compile_matcher()),
        Err(error) => {
            Err(PlanError::Glob { file: entry.to_owned(), cause: error.kind().to_string() })
        }
    }
}

/// A walk through the folders below a glob's fixed part.
struct Walk<'a> {
    glob: &'a str,
    matcher: GlobMatcher,
    /// Follows links to folders. Only if the depth is fixed: a link may lead upwards.
    follows_links: bool,
    /// The matching files, relative to the project.
    matches: BTreeSet<String>,
    /// The number of entries that were looked at.
    entry_count: usize,
}

impl Walk<'_> {
    /// A folder that cannot be listed is an error: it may hold open items.
    fn enter_folder(&mut self, folder: &Path, shown: &str, depth: usize) -> Result<(), PlanError> {
        let unreadable = |error: std::io::Error| PlanError::Unreadable {
            file: shown.to_owned(),
            cause: error.to_string(),
        };
        if depth == 0 || !folder.is_dir() {
            return Ok(());
        }
        for entry in fs::read_dir(folder).map_err(unreadable)? {
            let name = entry.map_err(unreadable)?.file_name();
            self.entry_count += 1;
            if self.entry_count > MAX_ENTRIES {
                return Err(PlanError::Endless { file: self.glob.to_owned(), limit: MAX_ENTRIES });
            }
            if let Some(name) = name.to_str().filter(|name| *name != ".git") {
                self.take_entry(&folder.join(name), &shown_in(shown, name), depth)?;
            }
        }
        Ok(())
    }

    fn take_entry(&mut self, path: &Path, shown: &str, depth: usize) -> Result<(), PlanError> {
        let is_folder = match path.symlink_metadata() {
            Ok(metadata) if metadata.is_symlink() => self.follows_links && path.is_dir(),
            Ok(metadata) => metadata.is_dir(),
            Err(_) => false,
        };
        if is_folder {
            return self.enter_folder(path, shown, depth - 1);
        }
        if self.matcher.is_match(shown) {
            self.matches.insert(shown.to_owned());
        }
        Ok(())
    }
}

/// The shown path of an entry of a folder.
fn shown_in(folder: &str, name: &str) -> String {
    match folder {
        "" => name.to_owned(),
        _ if folder.ends_with('/') => format!("{folder}{name}"),
        _ => format!("{folder}/{name}"),
    }
}
