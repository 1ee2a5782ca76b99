//! PostgreSQL's errors as errors of a store.

use std::error::Error as _;
use std::io;

use tokio_postgres::Error;
use tokio_postgres::error::DbError;

use super::super::error::StoreError;

/// The error in words without credentials.
pub(super) fn store_error(place: &str, error: &Error) -> StoreError {
    match error.as_db_error() {
        Some(answer) => answer_error(place, answer),
        None if is_silence(error) => {
            StoreError::Unreachable { place: place.to_owned(), what: words(error) }
        }
        None => StoreError::Refused { place: place.to_owned(), what: words(error) },
    }
}

/// An error of COMMIT. Without the database's answer it is unknown whether the work was kept;
/// the answer of a database that is shutting down proves nothing either, nor does that of a pooler
/// that has lost the database.
pub(super) fn commit_error(place: &str, error: &Error) -> StoreError {
    let proves = |code: &str| !code.starts_with("57P") && !code.starts_with("08");
    if error.code().is_some_and(|code| proves(code.code())) {
        store_error(place, error)
    } else {
        uncertain(place, words(error))
    }
}

pub(super) fn uncertain(place: &str, what: String) -> StoreError {
    StoreError::Uncertain { place: place.to_owned(), what }
}

/// The database has not answered for too long.
pub(super) fn silent(place: &str) -> StoreError {
    StoreError::Unreachable { place: place.to_owned(), what: SILENT.to_owned() }
}

pub(super) const SILENT: &str = "no answer in time";

/// The network did not let a connection through.
pub(super) fn unreachable(place: &str, error: &io::Error) -> StoreError {
    StoreError::Unreachable { place: place.to_owned(), what: error.to_string() }
}

/// True if another try may help: not if a certificate was refused, or a password.
fn is_silence(error: &Error) -> bool {
    let cause = error.source().and_then(|cause| cause.downcast_ref::<io::Error>());
    let is_refused = |cause: &io::Error| {
        cause.kind() == io::ErrorKind::PermissionDenied
            || cause.get_ref().is_some_and(|inner| inner.is::<rustls::Error>())
    };
    error.is_closed() || cause.is_some_and(|cause| !is_refused(cause))
}

/// The server's words without the name of the user who asks.
fn without_user(message: &str) -> String {
    let mut text = message.to_owned();
    for word in ["user", "role"] {
        let start = format!("{word} \"");
        if let Some((before, rest)) = text.split_once(&start)
            && let Some((_, after)) = rest.split_once('"')
        {
            text = format!("{before}this {word}{after}");
        }
    }
    text
}

fn words(error: &Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

fn answer_error(place: &str, answer: &DbError) -> StoreError {
    let (code, message) = (answer.code().code(), answer.message());
    let place = place.to_owned();
    let what = format!("{message} ({code})");
    match code {
        // Starting, stopping, too many connections; a standby that a failover has not promoted yet.
        "57P01" | "57P02" | "57P03" | "53300" | "25006" => StoreError::Unreachable { place, what },
        "0A000" if message.contains("recovery") => StoreError::Unreachable { place, what },
        _ if code.starts_with("08") => StoreError::Unreachable { place, what },
        // A lock, a deadlock, a conflict, a time limit of the database's own.
        "55P03" | "40P01" | "40001" | "57014" => StoreError::Busy { place },
        // A missing table or column, damaged data or index.
        "42P01" | "42703" | "XX001" | "XX002" => StoreError::corrupt(what),
        _ if code.starts_with("28") => {
            let what = format!("it does not let this user in: {} ({code})", without_user(message));
            StoreError::Refused { place, what }
        }
        // A full disk, no memory, an input or output error.
        _ if code.starts_with("53") || code.starts_with("58") => {
            StoreError::Unwritable { path: place, what }
        }
        _ => StoreError::Refused { place, what },
    }
}
