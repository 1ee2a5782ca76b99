//! The difference that an installation makes in a file.

use std::path::Path;

use gate_core::text::clean;
use similar::TextDiff;

/// Lines shown around a change.
const CONTEXT_LINES: usize = 3;

/// A unified diff, clean for a terminal; empty if the contents are the same. A file without content
/// is `/dev/null`.
pub fn diff(file: &Path, old_content: Option<&[u8]>, new_content: Option<&[u8]>) -> String {
    let old_text = String::from_utf8_lossy(old_content.unwrap_or_default());
    let new_text = String::from_utf8_lossy(new_content.unwrap_or_default());
    let name = clean(&file.display().to_string());
    let old_name = if old_content.is_some() { &name } else { "/dev/null" };
    let new_name = if new_content.is_some() { &name } else { "/dev/null" };
    let unified = TextDiff::from_lines(&old_text, &new_text)
        .unified_diff()
        .context_radius(CONTEXT_LINES)
        .header(old_name, new_name)
        .missing_newline_hint(true)
        .to_string();
    unified.lines().map(|line| clean(line.trim_end_matches('\r')) + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_comes_or_goes_is_compared_with_nothing() {
        let file = Path::new("/h/s.json");
        let made = diff(file, None, Some(b"{}\n"));
        assert_eq!(made, "--- /dev/null\n+++ /h/s.json\n@@ -0,0 +1 @@\n+{}\n");
        let gone = diff(file, Some(b"{}"), None);
        let hint = "\\ No newline at end of file\n";
        assert_eq!(gone, format!("--- /h/s.json\n+++ /dev/null\n@@ -1 +0,0 @@\n-{{}}\n{hint}"));
        assert_eq!(diff(file, Some(b"same\n"), Some(b"same\n")), "");
    }

    #[test]
    fn three_lines_around_a_change_are_shown_clean() {
        let lines = |middle: &str| {
            let numbers =
                |from: u32| (from..from + 5).map(|n| format!("{n}\r\n")).collect::<String>();
            format!("{}{middle}{}", numbers(1), numbers(6)).into_bytes()
        };
        let shown = diff(Path::new("a\u{1b}[2Jb"), Some(&lines("")), Some(&lines("new\u{7}\r\n")));
        let expected = "--- ab\n+++ ab\n@@ -3,6 +3,7 @@\n 3\n 4\n 5\n+new\n 6\n 7\n 8\n";
        assert_eq!(shown, expected);
    }
}
