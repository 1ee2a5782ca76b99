//! Breaking sources: a line at their end that is no code in any language.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use gate_platform::{PermissionsExt, set_mode};

/// No code in any language: it closes brackets that were never opened.
const NO_CODE: &str = "\n)]} gate self-test: this line is no code )]}\n";

/// The endings of sources.
const LANGUAGES: &[&str] = &[
    "rs", "py", "pyi", "js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "go", "java", "kt",
    "kts", "scala", "c", "h", "cc", "cpp", "cxx", "hpp", "hh", "cs", "fs", "swift", "rb", "lua",
    "sh", "bash", "bats", "ex", "exs", "hs", "ml", "zig", "dart", "php",
];

/// Sources that set tools up: if one of them is broken, the tool itself fails, which proves
/// nothing.
const SETTINGS: &[&str] =
    &["build.rs", "setup.py", "conftest.py", "noxfile.py", "tasks.py", "build.gradle.kts"];

/// Breaks all sources of known languages. Returns their number.
///
/// # Errors
///
/// A file that cannot be written.
pub(super) fn break_sources(root: &Path, files: &[PathBuf]) -> io::Result<usize> {
    break_files(root, files.iter().filter(|file| is_source(file)))
}

/// Breaks every file. Returns their number.
///
/// # Errors
///
/// A file that cannot be written.
pub(super) fn break_all(root: &Path, files: &[PathBuf]) -> io::Result<usize> {
    break_files(root, files.iter())
}

fn break_files<'f>(root: &Path, files: impl Iterator<Item = &'f PathBuf>) -> io::Result<usize> {
    let mut count = 0;
    for file in files.map(|file| root.join(file)) {
        // A link may lead out of the copy, and a check may have removed a file.
        if file.symlink_metadata().is_ok_and(|metadata| metadata.is_file()) {
            append_no_code(&file)?;
            count += 1;
        }
    }
    Ok(count)
}

fn append_no_code(file: &Path) -> io::Result<()> {
    let permissions = fs::metadata(file)?.permissions();
    if permissions.readonly() {
        set_mode(file, permissions.mode() | 0o200)?;
    }
    OpenOptions::new().append(true).open(file)?.write_all(NO_CODE.as_bytes())
}

fn is_source(file: &Path) -> bool {
    let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    let is_settings =
        SETTINGS.contains(&name) || name.contains(".config.") || name.starts_with('.');
    ending.is_some_and(|ending| LANGUAGES.contains(&ending)) && !is_settings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_known_by_their_endings() {
        for (name, source) in [
            ("src/lib.rs", true),
            ("a/b.test.tsx", true),
            ("Makefile", false),
            ("package.json", false),
            ("vite.config.ts", false),
            (".eslintrc.js", false),
            ("tests/conftest.py", false),
        ] {
            assert_eq!(is_source(Path::new(name)), source, "{name}");
        }
    }

    #[test]
    fn what_links_lead_to_is_left_alone() {
        let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let victim = outside.path().join("victim.py");
        fs::write(&victim, "x = 1\n").unwrap();
        fs::write(inside.path().join("a.py"), "y = 1\n").unwrap();
        gate_platform::symlink(&victim, inside.path().join("b.py")).unwrap();
        let files = ["a.py", "b.py", "c.txt"].map(PathBuf::from);
        assert_eq!(break_sources(inside.path(), &files).unwrap(), 1);
        assert_eq!(break_all(inside.path(), &files).unwrap(), 1);
        assert_eq!(fs::read_to_string(victim).unwrap(), "x = 1\n");
        assert!(fs::read_to_string(inside.path().join("a.py")).unwrap().ends_with(NO_CODE));
    }
}
