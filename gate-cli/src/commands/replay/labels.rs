//! A person's labels of transcripts: JSONL of `{"file", "label"}`.
//!
//! A label is about the last iteration of its file, unless `"iteration": N` names
//! another one. `null` judges nothing.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::inputs::FileId;
use super::list::{self, Kind, Object};
use crate::failure::Failure;
use crate::replay::Label;

const KIND: Kind = Kind {
    code: "labels-invalid",
    what: "labels",
    line: "an object such as {\"file\": \"a.log\", \"label\": \"exit\"}",
};

/// The labels of all files.
#[derive(Debug, Default)]
pub(super) struct Labels {
    all: BTreeMap<(FileId, Option<u64>), Entry>,
    /// Labels that match no file.
    idle: Vec<Idle>,
}

/// One label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Labelled {
    pub(super) label: Label,
    pub(super) ambiguous: bool,
}

#[derive(Debug)]
struct Entry {
    labelled: Labelled,
    line: usize,
    file: String,
    /// True if an iteration was judged by it.
    used: AtomicBool,
}

/// A label that judges nothing, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Idle {
    /// Its line, from 1.
    pub(super) line: usize,
    pub(super) why: String,
}

impl Labels {
    /// Reads labels; files are named from the folder that they stand in.
    ///
    /// # Errors
    ///
    /// A line that is no label, an unknown label, a file with two labels.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let folder = path.parent().unwrap_or(Path::new("."));
        let mut labels = Self::default();
        list::each(path, KIND, &mut |line| labels.add(folder, line))?;
        Ok(labels)
    }

    /// Adds the label in a line. Other keys are the owner's, and are ignored.
    fn add(&mut self, folder: &Path, line: &Object<'_>) -> Result<(), Failure> {
        let file: String = line.need("file", "the name of a file")?;
        let iteration: Option<u64> =
            line.get::<Option<u64>>("iteration", "a whole number from 1")?.flatten();
        if iteration == Some(0) {
            let what = "`iteration` is 0; expected a whole number from 1";
            return Err(line.wrong("iteration", what));
        }
        let ambiguous = line.get("ambiguous", "true or false")?.unwrap_or(false);
        let names = names();
        let label: Option<String> = line.need("label", &names)?;
        let Some(label) = label else { return Ok(()) };
        let label = known(&label).ok_or_else(|| {
            line.wrong("label", &format!("`label` is \"{label}\"; expected {names}"))
        })?;
        let found = fs::metadata(folder.join(&file)).ok();
        let Some(id) = found.as_ref().filter(|metadata| !metadata.is_dir()).map(FileId::from)
        else {
            let what = if found.is_some() { "is a folder" } else { "is not there" };
            self.idle.push(Idle { line: line.line, why: format!("{file} {what}") });
            return Ok(());
        };
        let labelled = Labelled { label, ambiguous };
        let entry = Entry { labelled, line: line.line, file, used: AtomicBool::new(false) };
        match self.all.insert((id, iteration), entry) {
            Some(old) if old.labelled != labelled => {
                let (file, before) = (old.file, old.line);
                let what = format!("`file` {file} has another label in line {before}");
                Err(line.wrong("file", &what))
            }
            _ => Ok(()),
        }
    }

    /// The labelled files, as they are named from the folder of the labels.
    pub(super) fn paths(&self, labels: &Path) -> Vec<PathBuf> {
        let folder = labels.parent().unwrap_or(Path::new("."));
        self.all.values().map(|entry| folder.join(&entry.file)).collect()
    }

    pub(super) fn has(&self, id: FileId) -> bool {
        self.all.range((id, None)..=(id, Some(u64::MAX))).next().is_some()
    }

    /// The label of an iteration, which may be the last of its file.
    pub(super) fn get(&self, id: FileId, iteration: u64, last: bool) -> Option<Labelled> {
        let own = self.all.get(&(id, Some(iteration)));
        // The label of a file is about its last iteration, even if that one has its own.
        let whole = if last { self.all.get(&(id, None)) } else { None };
        own.into_iter().chain(whole).for_each(|label| label.used.store(true, Ordering::Relaxed));
        own.or(whole).map(|label| label.labelled)
    }

    /// The labels that judge nothing, now that these files were read: their file is missing, or has
    /// no such iteration. Labels of other files may be used another time.
    pub(super) fn idle(&self, read: &HashSet<FileId>) -> Vec<Idle> {
        let unused = self
            .all
            .iter()
            .filter(|((id, _), entry)| read.contains(id) && !entry.used.load(Ordering::Relaxed));
        let unused = unused.filter_map(|((_, iteration), entry)| {
            let why = format!("{} has no iteration {}", entry.file, (*iteration)?);
            Some(Idle { line: entry.line, why })
        });
        let mut all: Vec<_> = self.idle.iter().cloned().chain(unused).collect();
        all.sort();
        all
    }
}

/// The allowed labels, for error messages.
fn names() -> String {
    let names: Vec<_> = ALL.iter().map(|known| known.name()).collect();
    format!("one of {}, or null", names.join(", "))
}

const ALL: [Label; 5] =
    [Label::Exit, Label::ClaimsDone, Label::Continue, Label::Blocked, Label::Unrelated];

fn known(label: &str) -> Option<Label> {
    ALL.into_iter().find(|known| known.name() == label)
}
