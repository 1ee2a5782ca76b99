//! The difference that an installation makes in a file.

use std::path::Path;

use gate_core::text::clean;
use similar::TextDiff;

/// Lines shown around a change.
const CONTEXT_LINES: usize = 3;

/// A unified diff; a file that is not there is /dev/null.
pub(crate) fn diff(file: &Path, before: Option<&[u8]>, after: Option<&[u8]>) -> String {
    let old = String::from_utf8_lossy(before.unwrap_or_default());
    let new = String::from_utf8_lossy(after.unwrap_or_default());
    let name = clean(&file.display().to_string());
    let old_name = if before.is_some() { &name } else { "/dev/null" };
    let new_name = if after.is_some() { &name } else { "/dev/null" };
    let diff = TextDiff::from_lines(&old, &new);
    let shown = diff
        .unified_diff()
        .context_radius(CONTEXT_LINES)
        .header(old_name, new_name)
        .missing_newline_hint(true)
        .to_string();
    shown.lines().map(|line| clean(line.trim_end_matches('\r')) + "\n").collect()
}
