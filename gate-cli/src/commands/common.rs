//! Parts that several commands share.

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::time::Duration;

use gate_core::Policy;
use gate_platform::{RealPath, permissions};
use jiff::Timestamp;

use crate::failure::Failure;
use crate::render::{print, print_text};
use crate::settings::Places;

/// Exit code of a command that did its work.
pub(super) const DONE: u8 = 0;

/// The time of this age; the earliest representable time if that would be still earlier.
pub(super) fn ago(age: Duration) -> Timestamp {
    Timestamp::now().checked_sub(age).unwrap_or(Timestamp::MIN)
}

/// Fails if no check has this name, which is the value of `--only`.
pub(super) fn known_check(policy: &Policy, name: &str) -> Result<(), Failure> {
    if policy.checks.contains_key(name) {
        return Ok(());
    }
    let names: Vec<_> = policy.checks.keys().map(String::as_str).collect();
    let message = format!("--only {name}: no such check is configured");
    let failure = Failure::usage("unknown-check", message);
    let hint = format!("configured are {}", names.join(", "));
    Err(if names.is_empty() { failure } else { failure.hint(hint) })
}

/// Fails for the home folder and the root of the file system: such a project would hold
/// everything of the person's.
pub(super) fn no_home(places: &Places, folder: &Path) -> Result<(), Failure> {
    let home = places.variable("HOME").and_then(|home| Path::new(home).real_path().ok());
    let is_home = folder.parent().is_none() || home.is_some_and(|home| home == folder);
    if !is_home {
        return Ok(());
    }
    let message = format!("{} is no project: it holds everything of yours", folder.display());
    Err(no_project(&message))
}

/// The failure in a folder that is no project.
pub(super) fn no_project(message: &str) -> Failure {
    Failure::usage("no-project", message).hint(
        "cd into a project and `gate setup`; a new one begins with `git init`. \
         `gate demo` shows what gate does",
    )
}

/// A person at a terminal can answer a question.
pub(super) fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks a person. No answer, or any other than yes, is no.
pub(super) fn agreed(question: &str) -> Result<bool, Failure> {
    Ok(is_yes(&answer(&format!("{question} [y/N]"))?))
}

/// A person's answer to a question, in one line; empty without one.
pub(super) fn answer(question: &str) -> Result<String, Failure> {
    Ok(answered(question)?.unwrap_or_default())
}

/// As [`answer`]; `None` at the end of the input.
pub(super) fn answered(question: &str) -> Result<Option<String>, Failure> {
    let mut answer = String::new();
    let bytes = io::stderr()
        .write_all(format!("{question} ").as_bytes())
        .and_then(|()| io::stdin().read_line(&mut answer))
        .map_err(|error| Failure::internal("answer-unread", format!("cannot ask: {error}")))?;
    Ok((bytes > 0).then(|| answer.trim().to_owned()))
}

pub(super) fn is_yes(answer: &str) -> bool {
    matches!(answer.to_lowercase().as_str(), "y" | "yes")
}

/// The name of standard output for a file.
const STDOUT: &str = "-";

/// Writes a page of HTML to a file, or to standard output.
pub(super) fn write_page(name: &str, file: &Path, html: &str) -> Result<(), Failure> {
    if file == Path::new(STDOUT) {
        return print(html);
    }
    let action = format!("write the {name} to");
    fs::write(file, html)
        .map_err(|error| Failure::file("report-unwritable", &action, file, &error))?;
    print_text(&format!("wrote {}\n", file.display()))
}

/// Writes a file whole or not at all, a pipe or a device as it is.
pub(super) fn write_file(file: &Path, text: &[u8]) -> io::Result<()> {
    match file.real_path() {
        Ok(file) if file.is_file() => replace(&file, text),
        Ok(file) => fs::write(file, text),
        Err(_) => replace(file, text),
    }
}

fn replace(file: &Path, text: &[u8]) -> io::Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    // A temporary file is its owner's alone. This one gets what the umask leaves, as others do.
    if let Some(permissions) = permissions(0o666) {
        builder.permissions(permissions);
    }
    let mut temporary = builder.tempfile_in(folder.unwrap_or(Path::new(".")))?;
    temporary.write_all(text)?;
    temporary.persist(file).map(drop).map_err(|error| error.error)
}
