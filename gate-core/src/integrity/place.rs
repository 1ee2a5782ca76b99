//! The purpose of a file, by its path.

use super::guarded::{DATA_FOLDERS, Guarded, HELP_FOLDERS, TEST_FOLDERS};
use super::rule::Place;

/// Words in a path, beside the folders that guard a file, that say that a file serves tests or tools, and is neither a
/// test nor the product.
const HELPS: &[&str] = &[
    "mock",
    "mocks",
    "fake",
    "fakes",
    "stub",
    "stubs",
    "spec",
    "specs",
    "playwright",
    "stories",
    "storybook",
    "conftest",
    "benches",
    "bench",
    "benchmarks",
];

/// Folders of other people's code.
const VENDORED: &[&str] = &["vendor", "third_party", "thirdparty", "node_modules", "site-packages"];

/// The purpose of a file's lines, inline tests apart; `None` if it is neither a test
/// nor the product.
pub(super) fn place(path: &str, guarded: Option<Guarded>) -> Option<Place> {
    match guarded {
        Some(Guarded::Test | Guarded::Support) => Some(Place::Test),
        Some(_) => None,
        None if helps(path) => None,
        None => Some(Place::Product),
    }
}

fn helps(path: &str) -> bool {
    let words = path.split(|c: char| !c.is_ascii_alphanumeric());
    let lower = words.map(str::to_ascii_lowercase);
    let name = path.rsplit('/').next().unwrap_or(path);
    // `src/config.rs` is the product; `vite.config.ts` is not.
    let is_config = name.contains(".config.") || name.starts_with("setup");
    let words = [HELPS, TEST_FOLDERS, DATA_FOLDERS, HELP_FOLDERS];
    let serves = |word: String| words.iter().any(|words| words.contains(&word.as_str()));
    lower.into_iter().any(serves) || is_config
}

/// A file that came with somebody else's code.
pub(super) fn is_vendored(path: &str) -> bool {
    path.split('/').any(|folder| VENDORED.contains(&folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_serves_tests_is_not_the_product() {
        for (path, expected) in [
            ("src/app.py", Some(Place::Product)),
            ("src/config.rs", Some(Place::Product)),
            ("src/latest.js", Some(Place::Product)),
            ("src/testing/util.py", None),
            ("src/__mocks__/a.js", None),
            ("src/test_helpers.rs", None),
            ("vite.config.ts", None),
        ] {
            assert_eq!(place(path, None), expected, "{path}");
        }
        assert_eq!(place("a", Some(Guarded::Support)), Some(Place::Test));
        assert_eq!(place("a", Some(Guarded::Ci)), None);
        assert!(is_vendored("go/vendor/x/y.go") && !is_vendored("src/vendors.go"));
    }
}
