//! Globs over the files of a folder.

use std::ffi::OsStr;

use gate_core::text::brief;
use gate_platform::OsStrExt;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use super::error::WorktreeError;

/// Most characters of a glob in an error.
const MAX_SHOWN_CHARS: usize = 200;

/// Globs relative to one folder. `*` stays in a folder, `**` crosses; a glob
/// that matches a folder means all that is in it.
#[derive(Clone, Debug)]
pub struct Globs(GlobSet);

impl Globs {
    /// Compiles globs. Without any, no file matches.
    ///
    /// # Errors
    ///
    /// One that cannot be parsed, or leads out of the folder.
    pub fn new(globs: &[String]) -> Result<Self, WorktreeError> {
        if globs.is_empty() {
            return Ok(Self(GlobSet::empty()));
        }
        let mut set = GlobSetBuilder::new();
        for glob in globs {
            let pattern = glob.trim_start_matches("./").trim_end_matches('/');
            check_inside(glob, pattern)?;
            let compiled = GlobBuilder::new(pattern).literal_separator(true).build();
            set.add(compiled.map_err(|error| glob_error(glob, &error.kind().to_string()))?);
        }
        let first_glob = globs.first().map_or("", String::as_str);
        Ok(Self(set.build().map_err(|error| glob_error(first_glob, &error.kind().to_string()))?))
    }

    /// A file, or a folder above it, matches. The name is relative to the globs' folder.
    pub fn matches(&self, path: &[u8]) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        let mut ends = slashes.map(|(index, _)| index).chain([path.len()]);
        ends.any(|end| self.0.is_match(OsStr::from_bytes(&path[..end])))
    }
}

fn check_inside(glob: &str, pattern: &str) -> Result<(), WorktreeError> {
    if pattern.is_empty() {
        return Err(glob_error(glob, "expected a name or a pattern"));
    }
    if pattern.starts_with('/') || pattern.split('/').any(|part| part == "..") {
        return Err(glob_error(glob, "expected a path inside of the project's folder"));
    }
    Ok(())
}

fn glob_error(glob: &str, problem: &str) -> WorktreeError {
    WorktreeError::Glob { glob: brief(glob, MAX_SHOWN_CHARS), problem: problem.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_glob_is_not_shown_whole() {
        let error = Globs::new(&["[".repeat(10_000)]).unwrap_err().to_string();
        assert!(error.len() < 1_000 && error.starts_with("glob `[["), "{error}");
    }

    fn check(glob: &str, path: &str) -> bool {
        Globs::new(&[glob.to_owned()]).unwrap().matches(path.as_bytes())
    }

    #[test]
    fn a_star_stays_in_a_folder_and_two_cross() {
        assert!(check("src/*.rs", "src/lib.rs"));
        assert!(!check("src/*.rs", "src/deep/lib.rs"));
        assert!(check("src/**/*.rs", "src/deep/lib.rs"));
        assert!(check("**/*.rs", "lib.rs"));
        assert!(!check("*.rs", "src/lib.rs"));
    }

    #[test]
    fn a_folder_means_all_that_is_in_it() {
        for glob in ["tests", "tests/", "./tests", "tests/**", "te*"] {
            assert!(check(glob, "tests/unit/one.rs"), "{glob}");
            assert!(!check(glob, "src/tests/one.rs"), "{glob}");
        }
    }

    #[test]
    fn a_glob_stays_in_the_project() {
        for glob in ["../other", "/etc/passwd", "a/../../b", "", "./", "[z"] {
            let error = Globs::new(&[glob.to_owned()]).unwrap_err().to_string();
            assert!(error.starts_with(&format!("glob `{glob}`: ")), "{error}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_match_too() {
        let globs = Globs::new(&["*.bin".to_owned()]).unwrap();
        assert!(globs.matches(b"\xff\xfe.bin"));
        assert!(!globs.matches(b"\xff\xfe.bin2"));
    }
}
