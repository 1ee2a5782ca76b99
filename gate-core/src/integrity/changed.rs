//! A changed file, and the project around it.

use super::guarded::Guarded;

/// A file that is different from the baseline.
#[derive(Clone, Copy, Debug, Default)]
pub struct ChangedFile<'a> {
    /// Its name, relative to the work tree's root, with slashes.
    pub path: &'a str,
    /// Why it is guarded, if it is.
    pub guarded: Option<Guarded>,
    /// Settings protect it.
    pub is_protected: bool,
    /// A check's command names it.
    pub is_script: bool,
    /// Its bytes only came from, or went to, another name.
    pub is_moved: bool,
    /// Its bytes in the baseline; `None` if it did not exist.
    pub baseline: Option<&'a [u8]>,
    /// Its bytes in the tree; `None` if it is gone.
    pub tree: Option<&'a [u8]>,
}

/// Facts about the project beside its changed files.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// The folders that checks run in, relative to the root and empty for the root itself.
    pub folders: Vec<String>,
    /// The names of the dependencies that the project declared.
    pub dependencies: Vec<String>,
    /// Targets of makefiles that are no files.
    pub targets: Vec<MakeTarget>,
}

/// A target of a makefile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MakeTarget {
    /// The makefile's folder, relative to the root and empty for the root itself.
    pub folder: String,
    /// The target's name.
    pub name: String,
}

/// Bytes as text, with a replacement for each that is none.
pub(super) fn lossy_text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
