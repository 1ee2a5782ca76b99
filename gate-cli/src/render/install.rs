//! The difference that an installation makes in a file.

use std::path::Path;

use gate_core::text::clean;
use similar::TextDiff;

/// Lines shown around a change.
const CONTEXT: usize = 3;

/// A unified diff; a file that is not there is /dev/null.
pub(crate) fn diff(file: &Path, before: Option<&[u8]>, after: Option<&[u8]>) -> String {
    let text =
        |bytes: Option<&[u8]>| String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned();
    let name = |bytes: Option<&[u8]>| {
        bytes.map_or_else(|| "/dev/null".to_owned(), |_| clean(&file.display().to_string()))
    };
    let (old, new) = (text(before), text(after));
    let diff = TextDiff::from_lines(&old, &new);
    let shown = diff
        .unified_diff()
        .context_radius(CONTEXT)
        .header(&name(before), &name(after))
        .missing_newline_hint(true)
        .to_string();
    shown.lines().map(|line| clean(line.trim_end_matches('\r')) + "\n").collect()
}
