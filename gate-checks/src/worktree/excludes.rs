//! The rules that make a file ignored: `.gitignore` files, and the user's own excludes.

mod lines;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gate_platform::RealPath;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::content;
use super::error::WorktreeError;
use super::git::{Git, GitPlace};
use super::names;
use crate::cancellation::Cancellation;

/// The longest file of patterns that is read.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// The patterns that hold in a folder: those of its own file, then those of
/// the folders above it, then the user's.
#[derive(Clone, Debug, Default)]
pub(super) struct Patterns(Option<Arc<Layer>>);

#[derive(Debug)]
struct Layer {
    patterns: Gitignore,
    /// The length of the folder's name that they are relative to, with its slash.
    prefix_length: usize,
    /// The patterns that count where these say nothing.
    outer: Patterns,
}

impl Patterns {
    /// Adds a file of patterns, relative to a folder whose name has this length. A file that cannot
    /// be read, or is a link, adds nothing, and hides nothing.
    pub(super) fn with_file(&self, file: &Path, prefix_length: usize) -> Self {
        match read_patterns(file) {
            Some(patterns) if !patterns.is_empty() => {
                Self(Some(Arc::new(Layer { patterns, prefix_length, outer: self.clone() })))
            }
            _ => self.clone(),
        }
    }

    /// A file or folder is ignored. Its name is relative to the root, and none of the
    /// folders above it is ignored.
    pub(super) fn ignore(&self, path: &[u8], is_folder: bool) -> bool {
        let mut next = &self.0;
        while let Some(layer) = next {
            match layer.patterns.matched(names::path(&path[layer.prefix_length..]), is_folder) {
                Match::None => next = &layer.outer.0,
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
            }
        }
        false
    }
}

/// The user's own file of patterns: what the user's or the machine's settings name, else where git
/// looks by itself. A file that the repository's settings name does not count: anybody who works in
/// the repository can write them.
pub(super) fn user_patterns(
    git: &Git,
    root: &Path,
    environment: &[(String, String)],
    cancel: &Cancellation,
) -> Result<Option<PathBuf>, WorktreeError> {
    let nowhere = GitPlace { git_dir: Path::new("/dev/null"), work_tree: root, variables: &[] };
    let args = ["config", "-z", "--type=path", "--get", "core.excludesFile"];
    let output = git.output(nowhere, &args, &[], cancel)?;
    let file = match output.code {
        Some(0) => {
            let value = output.stdout.strip_suffix(b"\0").unwrap_or(&output.stdout);
            Some(PathBuf::from(names::path(value))).filter(|path| path.is_absolute())
        }
        Some(1) => default_file(environment),
        _ => return Err(output.to_error(nowhere, &args)),
    };
    Ok(file.and_then(|path| path.real_path().ok()))
}

fn default_file(environment: &[(String, String)]) -> Option<PathBuf> {
    let settings = folder_in_variable(environment, "XDG_CONFIG_HOME")
        .or_else(|| Some(folder_in_variable(environment, "HOME")?.join(".config")))?;
    Some(settings.join("git/ignore"))
}

fn folder_in_variable(environment: &[(String, String)], variable: &str) -> Option<PathBuf> {
    let (_, value) = environment.iter().rfind(|(name, _)| name == variable)?;
    Some(PathBuf::from(value)).filter(|path| path.is_absolute())
}

fn read_patterns(file: &Path) -> Option<Gitignore> {
    let mut bytes = Vec::new();
    content::open(file).ok()?.take(MAX_FILE_BYTES).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let mut builder = GitignoreBuilder::new("");
    for line in text.trim_start_matches('\u{feff}').lines() {
        // A pattern that cannot be read hides nothing.
        let _ = builder.add_line(None, &lines::as_git_reads(line));
    }
    builder.build().ok()
}
