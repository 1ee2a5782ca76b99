//! What SQLite's errors mean here.

use rusqlite::Error;
use rusqlite::ffi::ErrorCode;

use super::super::error::StoreError;

/// What an error means. The path is that of the database.
pub(super) fn of(path: &str, error: &Error) -> StoreError {
    let what = error.to_string();
    match error {
        Error::SqliteFailure(failure, _) => of_code(failure.code, path, what),
        _ => StoreError::corrupt(what),
    }
}

/// What an error at the commit means. Whoever was not told that the log is on
/// the disk may still find the commit in it.
pub(super) fn of_commit(path: &str, error: &Error) -> StoreError {
    use rusqlite::ffi::{SQLITE_IOERR_DIR_FSYNC, SQLITE_IOERR_FSYNC};
    match error {
        Error::SqliteFailure(failure, _)
            if [SQLITE_IOERR_FSYNC, SQLITE_IOERR_DIR_FSYNC].contains(&failure.extended_code) =>
        {
            StoreError::Uncertain { place: path.to_owned(), what: error.to_string() }
        }
        _ => of(path, error),
    }
}

fn of_code(code: ErrorCode, path: &str, what: String) -> StoreError {
    use ErrorCode::{
        CannotOpen, DatabaseBusy, DatabaseCorrupt, DatabaseLocked, FileLockingProtocolFailed,
        NotADatabase, SchemaChanged, TypeMismatch, Unknown,
    };
    let path = path.to_owned();
    match code {
        DatabaseBusy | DatabaseLocked | FileLockingProtocolFailed => {
            StoreError::Busy { place: path }
        }
        // Unknown is what it says of a table or column that is not there.
        DatabaseCorrupt | NotADatabase | SchemaChanged | TypeMismatch | Unknown => {
            StoreError::corrupt(format!("{path}: {what}"))
        }
        CannotOpen => {
            let what = format!("{what} (no permission, or a folder that cannot be written)");
            StoreError::Unwritable { path, what }
        }
        // A full disk, a read-only one, an input or output error, no memory.
        _ => StoreError::Unwritable { path, what },
    }
}

/// Whether a unique index forbids a row.
pub(super) fn is_taken(error: &Error) -> bool {
    use rusqlite::ffi::{SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_UNIQUE};
    let taken = [SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_UNIQUE];
    matches!(error, Error::SqliteFailure(failure, _) if taken.contains(&failure.extended_code))
}

/// Whether a statement names what is not there.
pub(super) fn is_missing(error: &Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::Unknown)
        || matches!(error, Error::SqlInputError { .. })
}
