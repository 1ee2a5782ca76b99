//! The purpose of a file, by its path.

use super::guarded::Guarded;

/// Words in a path that say that a file serves tests or tools, and is neither a test nor the product.
const HELPS: &[&str] = &[
    "test",
    "tests",
    "e2e",
    "cypress",
    "testdata",
    "snapshots",
    "fixture",
    "fixtures",
    "golden",
    "goldens",
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

/// True for a file of the product, inline tests apart.
pub(super) fn is_product(path: &str, guarded: Option<Guarded>) -> bool {
    guarded.is_none() && !helps(path)
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
            ("src/app.py", true),
            ("src/config.rs", true),
            ("src/latest.js", true),
            ("src/testing/util.py", false),
            ("src/__mocks__/a.js", false),
            ("src/test_helpers.rs", false),
            ("vite.config.ts", false),
        ] {
            assert_eq!(is_product(path, None), expected, "{path}");
        }
        assert!(!is_product("a", Some(Guarded::Support)));
        assert!(is_vendored("go/vendor/x/y.go") && !is_vendored("src/vendors.go"));
    }
}
