//! Caches that tools leave behind, known by name.
//!
//! Each is written by running or judging the work, is made again from it, and
//! often stands in no `.gitignore`. Where git tracks a file in one, the file
//! belongs to the tree all the same.

/// Folders.
const FOLDERS: [&[u8]; 7] = [
    b"__pycache__",   // Python: compiled modules
    b".pytest_cache", // pytest: what failed last
    b".mypy_cache",   // mypy
    b".ruff_cache",   // ruff
    b".hypothesis",   // hypothesis: examples it found
    b".pytype",       // pytype
    b".nyc_output",   // nyc: raw coverage
];

/// Files.
const FILES: [&[u8]; 4] = [
    b".coverage",             // coverage.py
    b".eslintcache",          // eslint --cache
    b".stylelintcache",       // stylelint --cache
    b".phpunit.result.cache", // PHPUnit: what failed last
];

/// Whether a folder of this name is a cache.
pub(super) fn is_cache_folder(name: &[u8]) -> bool {
    FOLDERS.contains(&name)
}

/// Whether a file of this name is a cache.
pub(super) fn is_cache_file(name: &[u8]) -> bool {
    FILES.contains(&name)
}
