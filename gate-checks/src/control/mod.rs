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
mod mocha;
mod names;
mod node;
mod pytest;
mod pytest_settings;
mod rust_source;
mod test_tree;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub(crate) use names::{ControlNames, FailureKind, FailureKinds};
pub(crate) use test_tree::{ChangedFiles, TestTree};

use crate::runner::Runner;
use names::ControlName;
use test_tree::{Draft, Namer};

/// A control that was planted.
#[derive(Debug)]
pub(crate) struct Control {
    pub(crate) names: ControlNames,
    files: Vec<PlantedFile>,
}

/// A file that holds tests of a control.
#[derive(Debug)]
struct PlantedFile {
    path: PathBuf,
    /// The file's own contents; `None` if the control made the file.
    original: Option<Vec<u8>>,
}

/// Plants a control where this command's runner finds it; `None` if no such place is known.
///
/// # Errors
///
/// A file that cannot be written.
pub(crate) fn plant(runner: Runner, tree: &TestTree<'_>) -> io::Result<Option<Control>> {
    let mut drafts = drafts(runner, tree, &mut ControlName::random);
    drafts.retain(|draft| tree.contains(&draft.file));
    if drafts.is_empty() { Ok(None) } else { write_control(drafts).map(Some) }
}

fn drafts(runner: Runner, tree: &TestTree<'_>, new_name: Namer<'_>) -> Vec<Draft> {
    match runner {
        Runner::Cargo | Runner::Nextest => cargo::drafts(tree, new_name),
        Runner::Pytest => pytest::drafts(tree, new_name),
        Runner::Jest | Runner::Vitest => jest::drafts(runner, tree, new_name),
        Runner::Node => node::drafts(tree, new_name),
        Runner::Go => go::drafts(tree, new_name),
        Runner::Mocha => mocha::drafts(tree, new_name),
        Runner::Unittest | Runner::Bats | Runner::Maven | Runner::Gradle => Vec::new(),
    }
}

fn write_control(drafts: Vec<Draft>) -> io::Result<Control> {
    let mut drafts_of_file: BTreeMap<PathBuf, Vec<Draft>> = BTreeMap::new();
    for draft in drafts {
        drafts_of_file.entry(draft.file.clone()).or_default().push(draft);
    }
    let mut control = Control { names: ControlNames::default(), files: Vec::new() };
    let mut names = Vec::new();
    for (file, drafts) in drafts_of_file {
        if let Err(error) = control.write_file(&file, &drafts) {
            // A file that cannot be removed is written anew before the next run.
            let _ = control.remove();
            return Err(error);
        }
        names.extend(drafts.into_iter().flat_map(|draft| draft.names));
    }
    control.names = names.into_iter().collect();
    Ok(control)
}

impl Control {
    fn write_file(&mut self, file: &Path, drafts: &[Draft]) -> io::Result<()> {
        let original = match fs::read(file) {
            Ok(contents) => Some(contents),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        let text = with_drafts(original.as_deref().unwrap_or_default(), drafts);
        // Remembered before it is written: half a file is taken away, too.
        self.files.push(PlantedFile { path: file.to_owned(), original });
        fs::write(file, text)
    }

    /// Takes the control away again.
    ///
    /// # Errors
    ///
    /// The first file that cannot be written or removed, after all others.
    pub(crate) fn remove(&self) -> io::Result<()> {
        let mut removed = Ok(());
        for planted in &self.files {
            let outcome = match &planted.original {
                Some(contents) => fs::write(&planted.path, contents),
                None => fs::remove_file(&planted.path),
            };
            removed = removed.and(outcome);
        }
        removed
    }
}

/// The contents of a file with these additions.
fn with_drafts(original: &[u8], drafts: &[Draft]) -> Vec<u8> {
    let mut sorted: Vec<_> = drafts.iter().collect();
    sorted.sort_by_key(|draft| draft.offset_in(original.len()));
    let (mut contents, mut copied) = (Vec::new(), 0);
    for draft in sorted {
        let offset = draft.offset_in(original.len());
        contents.extend_from_slice(&original[copied..offset]);
        contents.extend_from_slice(draft.text.as_bytes());
        copied = offset;
    }
    contents.extend_from_slice(&original[copied..]);
    contents
}
