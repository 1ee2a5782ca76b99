//! What a person says that transcripts hold: JSONL of `{"file", "label"}`.
//!
//! A label is about the end of its file, which is its last iteration, unless
//! `"iteration": N` says which one. `null`, or no label at all, judges nothing.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use super::inputs::FileId;
use super::list::{self, Kind};
use crate::failure::Failure;
use crate::replay::Label;

const KIND: Kind = Kind { code: "labels-invalid", what: "labels" };

/// The labels of all files.
#[derive(Debug, Default)]
pub(super) struct Labels {
    all: BTreeMap<(FileId, Option<u64>), Labelled>,
    /// How many files are labelled and not there.
    pub(super) missing: u64,
}

/// One label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Labelled {
    pub(super) label: Label,
    pub(super) ambiguous: bool,
}

/// One line. Other keys are the owner's.
#[derive(Deserialize)]
struct Line {
    file: String,
    iteration: Option<u64>,
    label: Option<String>,
    #[serde(default)]
    ambiguous: bool,
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
        list::each(path, KIND, &mut |line: Line, number| {
            let Some(label) = &line.label else { return Ok(()) };
            let label = known(label).map_err(|what| list::wrong(path, number, KIND, &what))?;
            let Some(id) = FileId::of(&folder.join(&line.file)) else {
                labels.missing += 1;
                return Ok(());
            };
            let new = Labelled { label, ambiguous: line.ambiguous };
            match labels.all.insert((id, line.iteration), new) {
                Some(old) if old != new => {
                    let what = format!("`file` {} has another label before", line.file);
                    Err(list::wrong(path, number, KIND, &what))
                }
                _ => Ok(()),
            }
        })?;
        Ok(labels)
    }

    /// Whether a file has a label.
    pub(super) fn has(&self, id: FileId) -> bool {
        self.all.range((id, None)..=(id, Some(u64::MAX))).next().is_some()
    }

    /// The label of an iteration, which may be the last of its file.
    pub(super) fn get(&self, id: FileId, iteration: u64, last: bool) -> Option<Labelled> {
        let own = self.all.get(&(id, Some(iteration)));
        own.or_else(|| self.all.get(&(id, None)).filter(|_| last)).copied()
    }
}

fn known(label: &str) -> Result<Label, String> {
    use Label::{Blocked, ClaimsDone, Continue, Exit, Unrelated};
    let all = [Exit, ClaimsDone, Continue, Blocked, Unrelated];
    all.into_iter().find(|known| known.name() == label).ok_or_else(|| {
        let names: Vec<_> = all.iter().map(|known| known.name()).collect();
        format!("`label` is \"{label}\"; expected one of {}, or null", names.join(", "))
    })
}
