//! A kind of tool, and the function that looks for it.

use super::folder::Folder;
use super::proposal::Found;

/// A kind of tool.
pub(super) struct Kind {
    /// End of the check's name.
    pub(super) ecosystem: &'static str,
    /// Runs any command, so that a tool of the language is a better choice.
    pub(super) general: bool,
    /// Looks at a folder.
    pub(super) look: fn(&Folder<'_>) -> Found,
}

impl Kind {
    pub(super) const fn special(ecosystem: &'static str, look: fn(&Folder<'_>) -> Found) -> Self {
        Self { ecosystem, general: false, look }
    }

    pub(super) const fn general(ecosystem: &'static str, look: fn(&Folder<'_>) -> Found) -> Self {
        Self { ecosystem, general: true, look }
    }
}
