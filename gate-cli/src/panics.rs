//! Panics, which are defects of gate: the place of each is kept in a file, so that there
//! is something to report.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::Write;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::{io, panic, thread};

use gate_core::state_folder::PANICS;
use gate_platform::{DirBuilderExt, OpenOptionsExt};
use jiff::Timestamp;

use crate::failure::Failure;
use crate::record::VERSION;
use crate::secrets;
use crate::settings::Places;

/// A log that has so many bytes is set aside for a new one.
const MAX_LOG_BYTES: u64 = 1 << 20;

/// The latest panic. A hook of panics cannot hand a value to the code that catches them.
static LATEST: Mutex<Option<LatestPanic>> = Mutex::new(None);

#[derive(Clone)]
struct LatestPanic {
    /// Its message with its place.
    message: String,
    /// The log that has it.
    log: Option<PathBuf>,
}

/// From now on stores each panic in the log of the state folder. Nothing is printed: the code
/// that catches the panic names the log.
pub(crate) fn log_all() {
    panic::set_hook(Box::new(|panic| {
        let message = secrets::masked(&message(panic));
        // Without a log, the failure shows the place itself.
        let log = log_panic(&message).ok();
        *LATEST.lock().unwrap_or_else(PoisonError::into_inner) = Some(LatestPanic { message, log });
    }));
}

/// Does the work; a panic is a failure like any other, with its exit code, and never
/// looks like an answer.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(failure()))
}

fn failure() -> Failure {
    let latest = LATEST.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let panic =
        latest.unwrap_or_else(|| LatestPanic { message: "no message".to_owned(), log: None });
    let message = format!("gate has a defect: {}", panic.message);
    let hint = match &panic.log {
        Some(log) => format!("please report it, with the last entry of {}", log.display()),
        None => "please report it, with this message".to_owned(),
    };
    let file = panic.log.map(|log| log.display().to_string());
    Failure { file, ..Failure::internal("defect", message).hint(hint) }
}

/// Message and place of a panic: `index out of bounds (gate-cli/src/a.rs:7:3)`.
fn message(panic: &PanicHookInfo<'_>) -> String {
    let text = panic.payload_as_str().unwrap_or("no message");
    match panic.location() {
        Some(place) => format!("{text} ({place})"),
        None => text.to_owned(),
    }
}

/// Adds a panic to the log, and returns the log's path.
fn log_panic(message: &str) -> io::Result<PathBuf> {
    let places = Places::from_process(std::env::current_dir()?);
    let state = places.state.ok_or(io::ErrorKind::NotFound)?;
    DirBuilder::new().recursive(true).mode(0o700).create(&state)?;
    let log = state.join(PANICS);
    set_aside(&log);
    let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(&log)?;
    file.write_all(entry(message).as_bytes())?;
    Ok(log)
}

/// Keeps the log short: an older one is replaced.
fn set_aside(log: &Path) {
    if fs::metadata(log).is_ok_and(|metadata| metadata.len() >= MAX_LOG_BYTES) {
        // If this fails, the log grows: that must not keep the new entry out.
        let _ = fs::rename(log, log.with_extension("log.old"));
    }
}

fn entry(message: &str) -> String {
    let time = Timestamp::now();
    let thread = thread::current();
    let name = thread.name().unwrap_or("unnamed");
    // Other arguments may be secret; the command is enough.
    let first_argument = std::env::args_os().nth(1).unwrap_or_default();
    let command = first_argument.to_string_lossy();
    let backtrace = Backtrace::force_capture();
    let trace = match backtrace.status() {
        BacktraceStatus::Captured => backtrace.to_string(),
        _ => "no backtrace\n".to_owned(),
    };
    format!("{time} gate {VERSION}, command {command}, thread {name}: {message}\n{trace}\n")
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    const PANICKING_TEST: &str = "panics::tests::panics_on_purpose";

    /// Not a test: the process that the tests below look at.
    #[test]
    #[ignore = "it panics on purpose, as another test asks"]
    fn panics_on_purpose() {
        log_all();
        let failure = guarded(|| -> Result<(), Failure> { panic!("the {} is gone", "index") });
        let failure = failure.unwrap_err();
        println!("{}|{}|{}", failure.exit_code, failure.message, failure.hint.unwrap());
    }

    fn output_of_panic(state: &Path) -> String {
        let mut test = Command::new(std::env::current_exe().unwrap());
        test.args(["--exact", PANICKING_TEST, "--ignored", "--nocapture"])
            .env("GATE_STATE_DIR", state);
        String::from_utf8(test.output().unwrap().stdout).unwrap()
    }

    #[test]
    fn a_defect_left_nothing_to_report() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        let output = output_of_panic(&state);
        let log = state.join(PANICS);
        assert!(output.contains("5|gate has a defect: the index is gone (gate-cli/src/panics.rs:"));
        assert!(output.contains(&format!("the last entry of {}", log.display())), "{output}");
        let text = fs::read_to_string(&log).unwrap();
        assert!(text.contains("the index is gone (gate-cli/src/panics.rs:"), "{text}");
        assert!(text.contains("panics_on_purpose"), "its backtrace: {text}");
    }

    #[test]
    fn a_defect_is_reported_even_if_no_log_can_be_written() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        fs::write(&state, "no folder").unwrap();
        let output = output_of_panic(&state);
        assert!(output.contains("5|gate has a defect: the index is gone"), "{output}");
        assert!(output.contains("with this message"), "{output}");
    }

    #[test]
    fn a_log_does_not_grow_without_end() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join(PANICS);
        fs::write(&log, vec![b'x'; MAX_LOG_BYTES as usize]).unwrap();
        set_aside(&log);
        assert!(!log.exists() && folder.path().join("panics.log.old").exists());
    }
}
