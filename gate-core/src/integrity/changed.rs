//! A changed file, and the project around it.

use super::guarded::Guarded;

/// A file that is different from the baseline.
#[derive(Clone, Copy, Debug, Default)]
pub struct Changed<'a> {
    /// Its name, relative to the work tree's root, with slashes.
    pub path: &'a str,
    /// Why it is guarded, if it is.
    pub guarded: Option<Guarded>,
    /// Settings protect it.
    pub protected: bool,
    /// A check's command names it.
    pub script: bool,
    /// Its bytes only came from, or went to, another name.
    pub moved: bool,
    /// The bytes of the baseline; `None` if it did not exist.
    pub before: Option<&'a [u8]>,
    /// The bytes of the tree; `None` if it is gone.
    pub now: Option<&'a [u8]>,
}

/// Facts about the project beside its changed files.
#[derive(Clone, Debug, Default)]
pub struct Around {
    /// The folders that checks run in, relative to the root and empty for the root itself.
    pub folders: Vec<String>,
    /// The names of the dependencies that the project declared.
    pub dependencies: Vec<String>,
    /// Targets of makefiles that are no files, with the folder of each.
    pub targets: Vec<(String, String)>,
}

/// Bytes as text, whatever they are.
pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
