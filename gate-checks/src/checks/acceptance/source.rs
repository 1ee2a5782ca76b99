//! The bytes of a file with criteria.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

use super::plan::{Lines, PlanError};

/// The longest file that is read.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// A file's text. What is no regular file is an error, and never waited for.
pub(super) fn text(path: &Path, file: &str) -> Result<String, PlanError> {
    let open = open(path).map_err(|error| unreadable(file, &error))?;
    if !open.metadata().map_err(|error| unreadable(file, &error))?.is_file() {
        return Err(PlanError::NoFile { file: file.to_owned() });
    }
    let mut bytes = Vec::new();
    open.take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| unreadable(file, &error))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(PlanError::TooLong { file: file.to_owned(), limit: MAX_FILE_BYTES });
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let valid = String::from_utf8_lossy(&error.as_bytes()[..valid]);
        PlanError::NotText { file: file.to_owned(), line: Lines::new(&valid).at(valid.len()) }
    })
}

fn unreadable(file: &str, error: &io::Error) -> PlanError {
    match error.kind() {
        io::ErrorKind::NotFound => PlanError::Missing { file: file.to_owned() },
        _ => PlanError::Unreadable { file: file.to_owned(), why: error.to_string() },
    }
}

/// Opens without waiting for a writer, which a FIFO would otherwise do.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;

    use rustix::fs::OFlags;

    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits();
    OpenOptions::new().read(true).custom_flags(flags.cast_signed()).open(path)
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).open(path)
}
