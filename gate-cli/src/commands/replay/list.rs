//! JSON Lines that a person gives: each line one object, and a complaint names
//! file, line and key, and what was expected there.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use gate_core::text::brief;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::failure::Failure;

/// Characters of a wrong value that are shown.
const SHOWN: usize = 60;

/// Kind of a list, for error messages.
#[derive(Clone, Copy)]
pub(super) struct Kind {
    /// The code of a line that is wrong.
    pub(super) code: &'static str,
    /// Name of the list.
    pub(super) what: &'static str,
    /// Name of a line.
    pub(super) line: &'static str,
}

/// One object, and where it stands.
pub(super) struct Object<'a> {
    path: &'a Path,
    kind: Kind,
    /// Its line, from 1.
    pub(super) line: usize,
    keys: BTreeMap<String, &'a RawValue>,
}

impl Object<'_> {
    /// The value of a key; `None` if it is absent.
    ///
    /// # Errors
    ///
    /// A value of another type than expected.
    pub(super) fn get<T: DeserializeOwned>(
        &self,
        key: &str,
        expected: &str,
    ) -> Result<Option<T>, Failure> {
        let Some(value) = self.keys.get(key) else { return Ok(None) };
        serde_json::from_str(value.get()).map(Some).map_err(|_| {
            let value = brief(value.get(), SHOWN);
            self.wrong(key, &format!("`{key}` is {value}; expected {expected}"))
        })
    }

    /// The value of a key that has to be there.
    ///
    /// # Errors
    ///
    /// No value, or one of another type than expected.
    pub(super) fn need<T: DeserializeOwned>(
        &self,
        key: &str,
        expected: &str,
    ) -> Result<T, Failure> {
        self.get(key, expected)?
            .ok_or_else(|| self.wrong(key, &format!("`{key}` is missing; expected {expected}")))
    }

    /// A complaint about a key.
    pub(super) fn wrong(&self, key: &str, what: &str) -> Failure {
        // Whoever prints a failure that has a key puts the file before it.
        let failure = Failure::usage(self.kind.code, format!("line {}: {what}", self.line));
        Failure { key: Some(key.to_owned()), ..placed(failure, self.path, self.line) }
    }
}

/// Reads all objects, with their lines. Blank lines are passed over.
///
/// # Errors
///
/// A file that cannot be read; the first line that is no such object.
pub(super) fn each(
    path: &Path,
    kind: Kind,
    take: &mut dyn FnMut(&Object<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let what = format!("read the {}", kind.what);
    let unreadable = |error| Failure::file("input-unreadable", &what, path, &error);
    let file = File::open(path).map_err(unreadable)?;
    for (at, text) in BufReader::new(file).lines().enumerate() {
        let text = text.map_err(unreadable)?;
        if text.trim().is_empty() {
            continue;
        }
        let keys = serde_json::from_str(&text)
            .map_err(|error| no_object(path, at + 1, kind, error.is_eof()))?;
        take(&Object { path, kind, line: at + 1, keys })?;
    }
    Ok(())
}

fn no_object(path: &Path, line: usize, kind: Kind, torn: bool) -> Failure {
    let found = if torn { "the line ends within its object" } else { "this is no JSON object" };
    let message = format!("{}: line {line}: {found}; expected {}", path.display(), kind.line);
    placed(Failure::usage(kind.code, message), path, line)
}

fn placed(failure: Failure, path: &Path, line: usize) -> Failure {
    Failure { file: Some(path.display().to_string()), line: Some(line), ..failure }
}
