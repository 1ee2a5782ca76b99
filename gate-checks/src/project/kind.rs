//! A kind of project: who looks for it.

use super::folder::Folder;
use super::proposal::Found;

/// A kind of tool.
pub(super) struct Kind {
    /// What it belongs to, as the end of a check's name.
    pub(super) ecosystem: &'static str,
    /// Whether it runs whatever it is told, so that a tool that knows the
    /// language says more.
    pub(super) general: bool,
    /// Looks at a folder.
    pub(super) look: fn(&Folder<'_>) -> Found,
}

impl Kind {
    pub(super) const fn of(ecosystem: &'static str, look: fn(&Folder<'_>) -> Found) -> Self {
        Self { ecosystem, general: false, look }
    }

    pub(super) const fn general(ecosystem: &'static str, look: fn(&Folder<'_>) -> Found) -> Self {
        Self { ecosystem, general: true, look }
    }
}
