//! The result of a run, and a test's expectations of it.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use tempfile::TempDir;

use super::{Run, STOP, gate};

/// The result of a run.
pub(crate) struct Ran {
    pub(super) folder: TempDir,
    pub(super) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// The most memory that the program was seen to hold, in KiB; `None` on a system without /proc.
    pub(crate) peak: Option<u64>,
}

impl Ran {
    /// `gate` once more, in the same folders.
    pub(crate) fn again(self, words: &str) -> Run {
        // Standard output is appended, because a test may send it to a file of its own.
        let _ = fs::remove_file(self.folder.path().join("stdout"));
        Run { folder: self.folder, ..gate(words) }
    }

    /// The whole path of a file in the working folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("work").join(name)
    }

    /// The standard output.
    pub(crate) fn out(&self) -> &str {
        &self.stdout
    }

    /// Stdout is this text, in which `[..]` stands for anything in a line.
    #[track_caller]
    pub(crate) fn stdout(self, expected: &str) -> Self {
        snapbox::assert_data_eq!(&self.stdout, expected.to_owned());
        self
    }

    /// Stderr is this text, in which `[..]` stands for anything in a line.
    #[track_caller]
    pub(crate) fn stderr(self, expected: &str) -> Self {
        snapbox::assert_data_eq!(&self.stderr, expected.to_owned());
        self
    }

    /// Stdout holds this text.
    #[track_caller]
    pub(crate) fn says(self, part: &str) -> Self {
        assert!(self.stdout.contains(part), "stdout without {part:?}:\n{}", self.stdout);
        self
    }

    /// Stderr holds this text.
    #[track_caller]
    pub(crate) fn tells(self, part: &str) -> Self {
        assert!(self.stderr.contains(part), "stderr without {part:?}:\n{}", self.stderr);
        self
    }

    /// Stderr begins with the line that stops a loop.
    #[track_caller]
    pub(crate) fn stops(self) -> Self {
        assert!(self.stderr.starts_with(STOP), "stderr:\n{}", self.stderr);
        self
    }

    /// Stdout is exactly one JSON object.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let value: Value = serde_json::from_str(&self.stdout).expect(&self.stdout);
        assert!(value.is_object(), "{value}");
        value
    }

    /// Stdout is one JSON object a line.
    #[track_caller]
    pub(crate) fn json_lines(&self) -> Vec<Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
    }

    /// A file of the working folder; empty if it is missing.
    pub(crate) fn file(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join("work").join(name)).unwrap_or_default()
    }
}
