//! A folder that is looked at.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use super::proposal::Found;

/// The longest file that is read to find out what a project is.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// The most names of a folder that are looked at.
const MAX_NAMES: usize = 10_000;

/// A folder, and which programs can be found.
pub(super) struct Folder<'a> {
    pub(super) path: PathBuf,
    is_there: &'a dyn Fn(&str) -> bool,
}

impl<'a> Folder<'a> {
    pub(super) fn new(path: &Path, is_there: &'a dyn Fn(&str) -> bool) -> Self {
        Self { path: path.to_owned(), is_there }
    }

    /// A folder below this one.
    pub(super) fn below(&self, name: &str) -> Self {
        Self { path: self.path.join(name), is_there: self.is_there }
    }

    /// True if a program is in PATH; one with a folder in its name is looked for from here.
    pub(super) fn finds(&self, program: &str) -> bool {
        if program.contains('/') { self.runs(program) } else { (self.is_there)(program) }
    }

    /// True for a regular file.
    pub(super) fn has(&self, name: &str) -> bool {
        self.path.join(name).is_file()
    }

    /// True for an executable file.
    pub(super) fn runs(&self, name: &str) -> bool {
        self.path.join(name).metadata().is_ok_and(|about| about.is_file() && is_executable(&about))
    }

    /// The first of these names that a regular file has.
    pub(super) fn first<'n>(&self, names: &[&'n str]) -> Option<&'n str> {
        names.iter().copied().find(|name| self.has(name))
    }

    /// A file's text; none if there is no such file. If it cannot be read, a note says so.
    pub(super) fn text(&self, name: &str, found: &mut Found) -> Option<String> {
        if !self.has(name) {
            return None;
        }
        match read(&self.path.join(name)) {
            Ok(text) => Some(text),
            Err(why) => {
                found.notes(format!("{name} was passed over: {why}"));
                None
            }
        }
    }

    /// The names in it, or in a folder below it, in order.
    pub(super) fn names(&self, below: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path.join(below)).into_iter().flatten();
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut names: Vec<_> = names.take(MAX_NAMES).collect();
        names.sort();
        names
    }

    /// True if the folder, or one below it, has a file with a fitting name.
    pub(super) fn any(&self, below: &str, like: impl Fn(&str) -> bool) -> bool {
        self.names(below)
            .iter()
            .any(|name| like(name) && self.path.join(below).join(name).is_file())
    }
}

#[cfg(unix)]
fn is_executable(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &fs::Metadata) -> bool {
    true
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
