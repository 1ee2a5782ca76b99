//! Controls: tests that have to fail, planted among those of a project.
//!
//! A check that passes with a control in its way passes whatever happens. A
//! control has a name that nobody can know before, so that a report that
//! names it was made by a runner that ran it.

mod bats;
mod cargo;
mod draft;
mod exit_code;
mod go;
mod jest;
mod junit;
mod node;
mod place;
mod pytest;
mod pytest_settings;
mod recognise;
mod runner;
mod selection;
#[cfg(test)]
mod tests;
mod unittest;

use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::path::PathBuf;

pub(crate) use place::Place;
pub(crate) use recognise::{RunnerCommand, recognise};
pub(crate) use runner::Runner;

use draft::Draft;

/// Message of every control when it fails.
const FAILURE_MESSAGE: &str = "gate's control has to fail";

/// True for a text about the control with this name, or about its file. Runners spell the
/// name differently; its number is the same in all spellings.
pub(crate) fn is_about(text: &str, id: &str) -> bool {
    let number = id.rsplit('_').next().unwrap_or(id);
    text.contains(number) || text.contains(FAILURE_MESSAGE)
}

/// A control that was planted.
#[derive(Debug)]
pub(crate) struct Control {
    /// The file that holds it.
    pub(crate) file: PathBuf,
    /// The name that it has in reports, or a part of it.
    pub(crate) id: String,
    /// Contents of the file before, if there was one.
    before: Option<Vec<u8>>,
}

/// Plants a control where the runner finds it; none where no place is known in
/// which this command would.
///
/// # Errors
///
/// A file that cannot be written.
pub(crate) fn plant(runner: Runner, place: &Place<'_>) -> io::Result<Option<Control>> {
    let id = random_name();
    let draft = draft(runner, place, &id).filter(|draft| place.holds(&draft.file));
    draft.map(|draft| write(draft, id)).transpose()
}

fn draft(runner: Runner, place: &Place<'_>, id: &str) -> Option<Draft> {
    match runner {
        Runner::Cargo | Runner::Nextest => cargo::draft(place, id),
        Runner::Pytest => pytest::draft(place, id),
        Runner::Unittest => unittest::draft(place, id),
        Runner::Jest | Runner::Vitest => jest::draft(runner, place, id),
        Runner::Node => node::draft(place, id),
        Runner::Go => go::draft(place, id),
        Runner::Bats => bats::draft(place, id),
        Runner::Maven | Runner::Gradle => junit::draft(place, id),
    }
}

fn write(draft: Draft, id: String) -> io::Result<Control> {
    let before = match fs::read(&draft.file) {
        Ok(before) => Some(before),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    if let Some(folder) = draft.file.parent() {
        fs::create_dir_all(folder)?;
    }
    let text = [before.as_deref().unwrap_or_default(), draft.text.as_bytes()].concat();
    fs::write(&draft.file, text)?;
    Ok(Control { file: draft.file, id, before })
}

impl Control {
    /// Takes it away again.
    ///
    /// # Errors
    ///
    /// A file that cannot be written or removed.
    pub(crate) fn remove(&self) -> io::Result<()> {
        match &self.before {
            Some(before) => fs::write(&self.file, before),
            None => fs::remove_file(&self.file),
        }
    }
}

/// A name that was never used: every runner takes it as a part of its own.
fn random_name() -> String {
    // A hasher's keys are the randomness that the standard library offers.
    let random = RandomState::new().build_hasher().finish();
    format!("gate_control_{random:016x}")
}
