//! JSON Lines that a person gives: each line one object, and a complaint names
//! file, line and key.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde::de::DeserializeOwned;

use crate::failure::Failure;

/// What kind of list it is, for complaints.
#[derive(Clone, Copy)]
pub(super) struct Kind {
    /// The code of a line that is wrong.
    pub(super) code: &'static str,
    /// What is read.
    pub(super) what: &'static str,
}

/// Reads all objects, with their lines. Blank lines are passed over.
///
/// # Errors
///
/// A file that cannot be read; the first line that is no such object.
pub(super) fn each<T: DeserializeOwned>(
    path: &Path,
    kind: Kind,
    take: &mut dyn FnMut(T, usize) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let what = format!("read the {}", kind.what);
    let unreadable = |error| Failure::file("input-unreadable", &what, path, &error);
    let file = File::open(path).map_err(unreadable)?;
    for (at, line) in BufReader::new(file).lines().enumerate() {
        let line = line.map_err(unreadable)?;
        if line.trim().is_empty() {
            continue;
        }
        let object = serde_json::from_str(&line)
            .map_err(|error| wrong(path, at + 1, kind, &said(&error.to_string())))?;
        take(object, at + 1)?;
    }
    Ok(())
}

/// A complaint about a line.
pub(super) fn wrong(path: &Path, line: usize, kind: Kind, what: &str) -> Failure {
    let shown = path.display();
    let failure = Failure::usage(kind.code, format!("{shown}:{line}: {what}"));
    let key = what.split('`').nth(1).map(str::to_owned);
    Failure { file: Some(shown.to_string()), line: Some(line), key, ..failure }
}

/// A complaint without the place in its line, which is the file's first to it.
fn said(message: &str) -> String {
    message.rsplit_once(" at line ").map_or(message, |(said, _)| said).to_owned()
}
