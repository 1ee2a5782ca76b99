//! PostgreSQL's errors as errors of a store.

use std::error::Error as _;
use std::io;

use tokio_postgres::Error;
use tokio_postgres::error::DbError;

use super::super::error::StoreError;

/// The error of a statement or of an attempt to connect, without credentials.
pub(super) fn store_error(place: &str, error: &Error) -> StoreError {
    match error.as_db_error() {
        Some(answer) => answer_error(place, answer),
        None if is_silence(error) => {
            StoreError::Unreachable { place: place.to_owned(), reason: error_text(error) }
        }
        None => StoreError::Refused { place: place.to_owned(), reason: error_text(error) },
    }
}

/// An error of COMMIT. Without the database's answer it is unknown whether the work was kept;
/// the answer of a database that is shutting down proves nothing either, nor does that of a pooler
/// that has lost the database.
pub(super) fn commit_error(place: &str, error: &Error) -> StoreError {
    // 57P is a shutdown, 08 a broken connection.
    let is_proof = |code: &str| !code.starts_with("57P") && !code.starts_with("08");
    if error.code().is_some_and(|code| is_proof(code.code())) {
        store_error(place, error)
    } else {
        uncertain(place, error_text(error))
    }
}

pub(super) fn uncertain(place: &str, reason: String) -> StoreError {
    StoreError::Uncertain { place: place.to_owned(), reason }
}

/// The database has not answered for too long.
pub(super) fn silent(place: &str) -> StoreError {
    StoreError::Unreachable { place: place.to_owned(), reason: SILENT.to_owned() }
}

pub(super) const SILENT: &str = "no answer in time";

/// The network did not let a connection through.
pub(super) fn unreachable(place: &str, error: &io::Error) -> StoreError {
    StoreError::Unreachable { place: place.to_owned(), reason: error.to_string() }
}

/// The database is silent, so another attempt may help. Not if a certificate was refused, or a
/// password.
fn is_silence(error: &Error) -> bool {
    let cause = error.source().and_then(|cause| cause.downcast_ref::<io::Error>());
    let is_refused = |cause: &io::Error| {
        cause.kind() == io::ErrorKind::PermissionDenied
            || cause.get_ref().is_some_and(|inner| inner.is::<rustls::Error>())
    };
    error.is_closed() || cause.is_some_and(|cause| !is_refused(cause))
}

/// The server's message without the name of the user who asks.
fn without_user(message: &str) -> String {
    let mut text = message.to_owned();
    for word in ["user", "role"] {
        let start = format!("{word} \"");
        if let Some((head, quoted)) = text.split_once(&start)
            && let Some((_, tail)) = quoted.split_once('"')
        {
            text = format!("{head}this {word}{tail}");
        }
    }
    text
}

fn error_text(error: &Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

fn answer_error(place: &str, answer: &DbError) -> StoreError {
    let (code, message) = (answer.code().code(), answer.message());
    let place = place.to_owned();
    let reason = format!("{message} ({code})");
    match code {
        // Starting, stopping, too many connections; a standby that a failover has not promoted yet.
        "57P01" | "57P02" | "57P03" | "53300" | "25006" => {
            StoreError::Unreachable { place, reason }
        }
        "0A000" if message.contains("recovery") => StoreError::Unreachable { place, reason },
        _ if code.starts_with("08") => StoreError::Unreachable { place, reason },
        // A lock, a deadlock, a conflict, a time limit of the database's own.
        "55P03" | "40P01" | "40001" | "57014" => StoreError::Busy { place },
        // A missing table or column, damaged data or index.
        "42P01" | "42703" | "XX001" | "XX002" => StoreError::corrupt(reason),
        _ if code.starts_with("28") => {
            let reason =
                format!("it does not let this user in: {} ({code})", without_user(message));
            StoreError::Refused { place, reason }
        }
        // A full disk, no memory, an input or output error.
        _ if code.starts_with("53") || code.starts_with("58") => {
            StoreError::Unwritable { path: place, reason }
        }
        _ => StoreError::Refused { place, reason },
    }
}
