//! The purpose of a file, by its path.

use super::guarded::Guarded;
use super::rule::Place;

/// Words in a path that say that a file serves tests or tools, and is neither a
/// test nor the product.
const HELPS: &[&str] = &[
    "test",
    "tests",
    "testing",
    "testlib",
    "testutil",
    "testutils",
    "mock",
    "mocks",
    "fake",
    "fakes",
    "stub",
    "stubs",
    "spec",
    "specs",
    "fixture",
    "fixtures",
    "e2e",
    "cypress",
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
    lower.into_iter().any(|word| HELPS.contains(&word.as_str())) || is_config
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
