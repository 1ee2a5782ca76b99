//! A folder of a project.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use gate_platform::is_executable;

use super::proposal::Findings;

/// The longest file that is read to find out what a project is.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// The most names of a folder that are read.
const MAX_NAMES: usize = 10_000;

/// A folder, and which programs can be found.
pub(super) struct Folder<'a> {
    pub(super) path: PathBuf,
    /// The program is in PATH.
    is_in_path: &'a dyn Fn(&str) -> bool,
}

impl<'a> Folder<'a> {
    pub(super) fn new(path: &Path, is_in_path: &'a dyn Fn(&str) -> bool) -> Self {
        Self { path: path.to_owned(), is_in_path }
    }

    /// A folder below this one.
    pub(super) fn below(&self, name: &str) -> Self {
        Self { path: self.path.join(name), is_in_path: self.is_in_path }
    }

    /// A program is in PATH; one with a folder in its name is looked for from here.
    pub(super) fn has_program(&self, program: &str) -> bool {
        if program.contains('/') {
            self.has_executable(program)
        } else {
            (self.is_in_path)(program)
        }
    }

    /// A regular file has this name.
    pub(super) fn has_file(&self, name: &str) -> bool {
        self.path.join(name).is_file()
    }

    /// An executable file has this name.
    pub(super) fn has_executable(&self, name: &str) -> bool {
        self.path
            .join(name)
            .metadata()
            .is_ok_and(|metadata| metadata.is_file() && is_executable(&metadata))
    }

    /// The first of these names that a regular file has.
    pub(super) fn first_file<'n>(&self, names: &[&'n str]) -> Option<&'n str> {
        names.iter().copied().find(|name| self.has_file(name))
    }

    /// A file's text; `None` if there is no such file. If it cannot be read, a note says so.
    pub(super) fn text(&self, name: &str, findings: &mut Findings) -> Option<String> {
        if !self.has_file(name) {
            return None;
        }
        match read(&self.path.join(name)) {
            Ok(text) => Some(text),
            Err(reason) => {
                findings.note(format!("{name} was passed over: {reason}"));
                None
            }
        }
    }

    /// The names in a folder below this one, in order; `.` is this one.
    pub(super) fn names(&self, below: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path.join(below)).into_iter().flatten();
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut names: Vec<_> = names.take(MAX_NAMES).collect();
        names.sort();
        names
    }

    /// A folder below this one, or this one, has a file with a fitting name.
    pub(super) fn has_file_like(&self, below: &str, fits: impl Fn(&str) -> bool) -> bool {
        self.names(below)
            .iter()
            .any(|name| fits(name) && self.path.join(below).join(name).is_file())
    }
}

fn read(path: &Path) -> Result<String, String> {
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| error.to_string())?;
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(format!("it is longer than {MAX_FILE_BYTES} bytes"));
    }
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())
}
