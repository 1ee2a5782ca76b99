//! Controls: tests that have to fail, planted among those of a project.
//!
//! A check that passes with a control in its way passes whatever happens. A control
//! consists of several tests, and each fails in another way: it raises, it asserts, it
//! asserts among the tests of a file that is there. Their names cannot be known before, so
//! that a report that names them was made by a runner that ran them.

mod alone;
mod cargo;
mod cargo_package;
mod go;
mod javascript;
mod jest;
mod names;
mod node;
mod place;
mod pytest;
mod pytest_settings;
mod rust_source;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub(crate) use names::{Kind, Kinds, Names};
pub(crate) use place::{Changed, Place};

use crate::runner::Runner;
use names::Name;
use place::{Draft, Namer};

/// True for a text about the control with these names, or about one of its files.
pub(crate) fn is_about(text: &str, id: &Names) -> bool {
    id.occur_in(text)
}

/// A control that was planted.
#[derive(Debug)]
pub(crate) struct Control {
    /// The names that its tests have in reports, or parts of them.
    pub(crate) id: Names,
    files: Vec<Planted>,
}

/// A file that holds tests of a control.
#[derive(Debug)]
struct Planted {
    file: PathBuf,
    /// Contents of the file before, if there was one.
    before: Option<Vec<u8>>,
}

/// Plants a control where this command's runner finds it; none if no such place is known.
///
/// # Errors
///
/// A file that cannot be written.
pub(crate) fn plant(runner: Runner, place: &Place<'_>) -> io::Result<Option<Control>> {
    let mut drafts = drafts(runner, place, &mut Name::random);
    drafts.retain(|draft| place.holds(&draft.file));
    if drafts.is_empty() { Ok(None) } else { write(drafts).map(Some) }
}

fn drafts(runner: Runner, place: &Place<'_>, name: Namer<'_>) -> Vec<Draft> {
    match runner {
        Runner::Cargo | Runner::Nextest => cargo::drafts(place, name),
        Runner::Pytest => pytest::drafts(place, name),
        Runner::Jest | Runner::Vitest => jest::drafts(runner, place, name),
        Runner::Node => node::drafts(place, name),
        Runner::Go => go::drafts(place, name),
        Runner::Unittest | Runner::Mocha | Runner::Bats | Runner::Maven | Runner::Gradle => {
            Vec::new()
        }
    }
}

fn write(drafts: Vec<Draft>) -> io::Result<Control> {
    let mut files: BTreeMap<PathBuf, Vec<Draft>> = BTreeMap::new();
    for draft in drafts {
        files.entry(draft.file.clone()).or_default().push(draft);
    }
    let mut control = Control { id: Names::default(), files: Vec::new() };
    let mut names = Vec::new();
    for (file, drafts) in files {
        if let Err(error) = control.write(&file, &drafts) {
            // A file that cannot be removed is written anew before the next run.
            let _ = control.remove();
            return Err(error);
        }
        names.extend(drafts.into_iter().flat_map(|draft| draft.names));
    }
    control.id = names.into_iter().collect();
    Ok(control)
}

impl Control {
    fn write(&mut self, file: &Path, drafts: &[Draft]) -> io::Result<()> {
        let before = match fs::read(file) {
            Ok(before) => Some(before),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        let text = with(before.as_deref().unwrap_or_default(), drafts);
        self.files.push(Planted { file: file.to_owned(), before });
        fs::write(file, text)
    }

    /// Takes it away again.
    ///
    /// # Errors
    ///
    /// The first file that cannot be written or removed, after all others.
    pub(crate) fn remove(&self) -> io::Result<()> {
        let mut removed = Ok(());
        for planted in &self.files {
            let one = match &planted.before {
                Some(before) => fs::write(&planted.file, before),
                None => fs::remove_file(&planted.file),
            };
            removed = removed.and(one);
        }
        removed
    }
}

/// The contents of a file with these additions.
fn with(before: &[u8], drafts: &[Draft]) -> Vec<u8> {
    let mut sorted: Vec<_> = drafts.iter().collect();
    sorted.sort_by_key(|draft| draft.offset(before.len()));
    let (mut text, mut done) = (Vec::new(), 0);
    for draft in sorted {
        let offset = draft.offset(before.len());
        text.extend_from_slice(&before[done..offset]);
        text.extend_from_slice(draft.text.as_bytes());
        done = offset;
    }
    text.extend_from_slice(&before[done..]);
    text
}
