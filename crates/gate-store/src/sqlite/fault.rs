//! SQLite's errors as errors of a store.

use rusqlite::Error;
use rusqlite::ffi::ErrorCode;

use super::super::error::StoreError;

/// `path` is that of the database.
pub(super) fn store_error(path: &str, error: &Error) -> StoreError {
    let what = error.to_string();
    match error {
        Error::SqliteFailure(failure, _) => error_of_code(failure.code, path, what),
        _ => StoreError::corrupt(what),
    }
}

/// An error of COMMIT. The commit may still be found in the log, although SQLite did not confirm
/// that it is on the disk.
pub(super) fn commit_error(path: &str, error: &Error) -> StoreError {
    use rusqlite::ffi::{SQLITE_IOERR_DIR_FSYNC, SQLITE_IOERR_FSYNC};
    match error {
        Error::SqliteFailure(failure, _)
            if [SQLITE_IOERR_FSYNC, SQLITE_IOERR_DIR_FSYNC].contains(&failure.extended_code) =>
        {
            StoreError::Uncertain { place: path.to_owned(), what: error.to_string() }
        }
        _ => store_error(path, error),
    }
}

fn error_of_code(code: ErrorCode, path: &str, what: String) -> StoreError {
    use ErrorCode::{
        CannotOpen, DatabaseBusy, DatabaseCorrupt, DatabaseLocked, FileLockingProtocolFailed,
        NotADatabase, SchemaChanged, TypeMismatch, Unknown,
    };
    let path = path.to_owned();
    match code {
        DatabaseBusy | DatabaseLocked | FileLockingProtocolFailed => {
            StoreError::Busy { place: path }
        }
        // SQLite returns `Unknown` for a table or column that is not there.
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

/// True if a unique index forbids a row.
pub(super) fn is_taken(error: &Error) -> bool {
    use rusqlite::ffi::{SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_UNIQUE};
    let taken = [SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_UNIQUE];
    matches!(error, Error::SqliteFailure(failure, _) if taken.contains(&failure.extended_code))
}

/// True if a statement names a table or column that is absent.
pub(super) fn is_missing(error: &Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::Unknown)
        || matches!(error, Error::SqlInputError { .. })
}
