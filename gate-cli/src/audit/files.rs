//! The files that a call changes, by their names.

use std::path::Path;

use gate_transcript::Call;

/// Endings of files that no check looks at.
const PROSE: [&str; 7] = ["md", "txt", "rst", "adoc", "markdown", "log", "mdx"];

/// Marks of a file in a patch of Codex's.
const PATCHED: [&str; 4] =
    ["*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "];

/// The longest text that is taken for a path, in bytes.
const MAX_PATH_BYTES: usize = 400;

/// The files that an edit changes. An edit whose path cannot be found changes a file
/// without a name.
pub(super) fn paths(call: &Call<'_>) -> Vec<String> {
    let lines = call.texts.iter().flat_map(|text| text.split(['\n']).take(100_000));
    let patched: Vec<_> = lines
        .filter_map(|line| PATCHED.iter().find_map(|mark| line.strip_prefix(mark)))
        .map(|path| path.trim().to_owned())
        .collect();
    if !patched.is_empty() {
        return patched;
    }
    let path = call.texts.iter().find(|text| is_path(text));
    vec![path.map_or_else(|| "a file".to_owned(), |path| path.to_string())]
}

fn is_path(text: &str) -> bool {
    let short = !text.is_empty() && text.len() <= MAX_PATH_BYTES;
    short && !text.contains(['\n', ' ', '"', '(']) && (text.contains('/') || text.contains('.'))
}

/// True for a file that no check looks at.
pub(super) fn is_prose(path: &str) -> bool {
    let path = Path::new(path);
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    PROSE.contains(&ending.to_ascii_lowercase().as_str())
        || matches!(name, "LICENSE" | ".gitignore" | "prd.json" | "COMMIT_EDITMSG")
        || path
            .components()
            .any(|part| matches!(part.as_os_str().to_str(), Some(".ralph" | ".agent")))
}

/// True for a file of tests.
pub(super) fn is_test(path: &str) -> bool {
    let mut parts = path.split('/').rev();
    let name = parts.next().unwrap_or_default().to_ascii_lowercase();
    let stem = name.split('.').next().unwrap_or_default();
    stem.starts_with("test_")
        || stem.ends_with("_test")
        || stem.ends_with("tests")
        || name.contains(".test.")
        || name.contains(".spec.")
        || name == "conftest.py"
        || parts.any(|part| matches!(part, "test" | "tests" | "__tests__" | "spec"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_and_prose_are_known_by_their_names() {
        for path in ["tests/a.rs", "a/test_b.py", "b.spec.ts", "b_test.go", "src/tests.rs"] {
            assert!(is_test(path), "{path}");
        }
        assert!(!is_test("src/latest.py") && !is_test("src/contest/a.rs"));
        assert!(is_prose("docs/a.md") && is_prose(".ralph/state.json"));
        assert!(!is_prose("src/a.rs") && !is_prose("a file"));
    }
}
