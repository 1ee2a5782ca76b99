//! The bytes of a file with criteria.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

use gate_platform::{NO_TERMINAL, NON_BLOCKING, OpenOptionsExt};

use super::plan::PlanError;

/// The longest file that is read.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// A file's text; `name` is that in errors. A path that is no regular file is an error, and never
/// waited for.
pub(super) fn read_text(path: &Path, name: &str) -> Result<String, PlanError> {
    let file = open(path).map_err(|error| unreadable(name, &error))?;
    if !file.metadata().map_err(|error| unreadable(name, &error))?.is_file() {
        return Err(PlanError::NoFile { file: name.to_owned() });
    }
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| unreadable(name, &error))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(PlanError::TooLong { file: name.to_owned(), limit: MAX_FILE_BYTES });
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid_bytes = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = valid_bytes.iter().filter(|byte| **byte == b'\n').count() + 1;
        PlanError::NotText { file: name.to_owned(), line }
    })
}

fn unreadable(file: &str, error: &io::Error) -> PlanError {
    match error.kind() {
        io::ErrorKind::NotFound => PlanError::Missing { file: file.to_owned() },
        _ => PlanError::Unreadable { file: file.to_owned(), cause: error.to_string() },
    }
}

/// Opens without waiting for a writer, which a FIFO would otherwise do.
fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(NON_BLOCKING | NO_TERMINAL).open(path)
}
