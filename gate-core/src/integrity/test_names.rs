//! The names of the tests in a text.

use super::guarded::{Guarded, guarded};
use super::language::Language;
use super::lexer::View;
use super::tests_in_source::Suite;

/// The names of the tests in a file, each within its file; empty if its language is not known.
pub fn test_names(path: &str, bytes: &[u8]) -> Vec<String> {
    let Some(language) = Language::from_path(path) else { return Vec::new() };
    let text = String::from_utf8_lossy(bytes);
    let is_product = !matches!(guarded(path), Some(Guarded::Test | Guarded::Support));
    let suite = Suite::new(&View::new(&text, Some(language)), language, is_product);
    suite.tests.into_iter().map(|test| test.name).collect()
}

#[cfg(test)]
mod tests {
    use super::test_names;

    #[test]
    fn inline_tests_and_test_files_have_names() {
        let inline = b"fn add() {}\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() {}\n}\n";
        assert_eq!(test_names("src/lib.rs", inline), ["adds"]);
        assert_eq!(test_names("tests/test_a.py", b"def test_a():\n    assert True\n"), ["test_a"]);
        assert!(test_names("README.md", b"def test_a(): pass\n").is_empty());
    }
}
