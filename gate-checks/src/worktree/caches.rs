//! Caches that tools leave behind, known by name.
//!
//! Each is written by running or judging the work, is made again from it, and
//! often stands in no `.gitignore`. Only what its tool writes is left out: code
//! in such a folder runs as well as anywhere else. Where git tracks a file in
//! one, the file belongs to the tree all the same.

use std::ffi::OsStr;

use gate_platform::OsStrExt;

use super::names::path;

/// A folder that a tool writes to.
#[derive(Debug)]
pub(super) struct Cache {
    name: &'static [u8],
    /// The extensions or the whole names of the tool's files.
    endings: &'static [&'static str],
    /// The tool also writes files without an extension, such as `lastfailed`.
    has_bare_names: bool,
}

/// The folders of caches, by their names.
static FOLDERS: [Cache; 8] = [
    // Python: compiled modules
    Cache { name: b"__pycache__", endings: &["pyc", "pyo"], has_bare_names: false },
    // pytest: what failed last
    Cache { name: b".pytest_cache", endings: &["TAG", "md", "json"], has_bare_names: true },
    // mypy
    Cache {
        name: b".mypy_cache",
        endings: &["TAG", "json", "ff", "db", "db-journal"],
        has_bare_names: true,
    },
    // ruff
    Cache { name: b".ruff_cache", endings: &["TAG"], has_bare_names: true },
    // hypothesis: examples it found
    Cache { name: b".hypothesis", endings: &["TAG", "gz", "patch", "jsonl"], has_bare_names: true },
    // pytype
    Cache { name: b".pytype", endings: &["pyi", "imports", "ninja"], has_bare_names: true },
    // Gradle: what it knows of the project's files
    Cache {
        name: b".gradle",
        endings: &["bin", "lock", "probe", "gc.properties", "cache.properties"],
        has_bare_names: false,
    },
    // nyc: raw coverage
    Cache { name: b".nyc_output", endings: &["json"], has_bare_names: false },
];

/// Files that are caches by themselves.
const FILES: [&[u8]; 4] = [
    b".coverage",             // coverage.py
    b".eslintcache",          // eslint --cache
    b".stylelintcache",       // stylelint --cache
    b".phpunit.result.cache", // PHPUnit: what failed last
];

/// The cache that a folder of this name is.
pub(super) fn cache_folder(name: &[u8]) -> Option<&'static Cache> {
    FOLDERS.iter().find(|cache| cache.name == name)
}

impl Cache {
    /// The tool writes files of this name into the folder.
    pub(super) fn writes(&self, name: &[u8]) -> bool {
        match path(name).extension().map(OsStr::as_bytes) {
            None => self.has_bare_names,
            Some(extension) => {
                self.endings.iter().any(|ending| [extension, name].contains(&ending.as_bytes()))
            }
        }
    }
}

pub(super) fn is_cache_file(name: &[u8]) -> bool {
    FILES.contains(&name) || is_coverage_of_a_process(name)
}

/// `.coverage.<host>.pid<number>.<letters>`: coverage.py's data of one process
/// of many; older versions leave `pid` out.
fn is_coverage_of_a_process(name: &[u8]) -> bool {
    let Some(suffix) = name.strip_prefix(b".coverage.") else { return false };
    let mut parts = suffix.rsplit(|byte| *byte == b'.');
    let (Some(random), Some(process)) = (parts.next(), parts.next()) else { return false };
    let is_random = is_number(random) || random.starts_with(b"X") && random.ends_with(b"x");
    is_random && is_number(process.strip_prefix(b"pid").unwrap_or(process))
}

fn is_number(part: &[u8]) -> bool {
    !part.is_empty() && part.iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(folder: &str, file: &str) -> bool {
        cache_folder(folder.as_bytes()).is_some_and(|cache| cache.writes(file.as_bytes()))
    }

    #[test]
    fn what_the_tools_write_is_cache() {
        assert!(check("__pycache__", "a.cpython-313.pyc"));
        for file in ["lastfailed", "README.md", "CACHEDIR.TAG", ".gitignore"] {
            assert!(check(".pytest_cache", file), "{file}");
        }
        assert!(check(".mypy_cache", "a.meta.json") && check(".ruff_cache", "1234567"));
        assert!(check(".gradle", "fileHashes.bin") && check(".gradle", "gc.properties"));
        assert!(check(".hypothesis", "charmap.json.gz") && check(".nyc_output", "1-2.json"));
    }

    #[test]
    fn code_in_a_cache_is_none() {
        for cache in &FOLDERS {
            for file in ["a.py", "a.js", "a.mjs", "a.ts", "a.go", "a.sh", "a.toml", "a.ini"] {
                assert!(!cache.writes(file.as_bytes()), "{file}");
            }
        }
        for file in ["run", "a.pth", "a.so", "a.pyc.py"] {
            assert!(!check("__pycache__", file), "{file}");
        }
        assert!(!check(".nyc_output", "run"));
        assert!(!check(".gradle", "gradle.properties") && !check(".gradle", "init.gradle"));
    }

    #[test]
    fn coverage_of_each_process_is_cache() {
        for file in [".coverage", ".coverage.ci.local.pid123.XabCdx", ".coverage.ci.123.4567"] {
            assert!(is_cache_file(file.as_bytes()), "{file}");
        }
        for file in [".coveragerc", ".coverage.py", ".coverage.ci.pid1.py", ".coverage.toml"] {
            assert!(!is_cache_file(file.as_bytes()), "{file}");
        }
    }
}
