//! SQLite's errors as errors of a store.

use rusqlite::Error;
use rusqlite::ffi::ErrorCode;

use super::super::error::StoreError;

/// The error of a statement on the database file `path`.
pub(super) fn store_error(path: &str, error: &Error) -> StoreError {
    let reason = error.to_string();
    match error {
        Error::SqliteFailure(failure, _) => error_of_code(failure.code, path, reason),
        _ => StoreError::corrupt(reason),
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
            StoreError::Uncertain { place: path.to_owned(), reason: error.to_string() }
        }
        _ => store_error(path, error),
    }
}

fn error_of_code(code: ErrorCode, path: &str, reason: String) -> StoreError {
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
            StoreError::corrupt(format!("{path}: {reason}"))
        }
        CannotOpen => {
            let reason = format!("{reason} (no permission, or a folder that cannot be written)");
            StoreError::Unwritable { path, reason }
        }
        // A full disk, a read-only one, an input or output error, no memory.
        _ => StoreError::Unwritable { path, reason },
    }
}

/// A unique index forbids a row.
pub(super) fn is_taken(error: &Error) -> bool {
    use rusqlite::ffi::{SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_UNIQUE};
    let codes = [SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_UNIQUE];
    matches!(error, Error::SqliteFailure(failure, _) if codes.contains(&failure.extended_code))
}

/// A statement names a table or column that is absent.
pub(super) fn is_missing(error: &Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::Unknown)
        || matches!(error, Error::SqlInputError { .. })
}
