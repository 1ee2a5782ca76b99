//! A cheap look for texts, before a pack is read.

use memchr::memmem;

/// Whether the text holds one of these, in this case.
pub(super) fn holds(text: &str, any: &[&str]) -> bool {
    any.iter().any(|hint| memmem::find(text.as_bytes(), hint.as_bytes()).is_some())
}
