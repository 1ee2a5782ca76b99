//! An earlier replay, to be compared with: the output of `replay --json`.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use super::list::{self, Kind};
use crate::failure::Failure;
use crate::replay::{Changed, ROW, ReplayRecord, ReplayVerdict};

const KIND: Kind = Kind { code: "comparison-invalid", what: "earlier replay" };

/// The verdicts of an earlier replay.
#[derive(Debug)]
pub(super) struct Earlier {
    /// By file and iteration; what was compared is taken out.
    all: BTreeMap<(String, u64), Option<ReplayVerdict>>,
}

#[derive(Deserialize)]
struct Line {
    schema: String,
    file: String,
    iteration: u64,
    verdict: Option<ReplayVerdict>,
}

impl Earlier {
    /// Reads it.
    ///
    /// # Errors
    ///
    /// A line that is no row of a replay.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let mut all = BTreeMap::new();
        list::each(path, KIND, &mut |line: Line, number| {
            if line.schema != ROW {
                let what = format!("`schema` is \"{}\"; expected \"{ROW}\"", line.schema);
                return Err(list::wrong(path, number, KIND, &what));
            }
            all.insert((line.file, line.iteration), line.verdict);
            Ok(())
        })?;
        Ok(Self { all })
    }

    /// What has changed of this row.
    pub(super) fn compare(&mut self, row: &ReplayRecord) -> Option<Changed> {
        let from = self.all.remove(&(row.file.clone(), row.iteration)).flatten();
        (from != row.verdict).then_some(Changed { from, to: row.verdict })
    }

    /// How many rows have no counterpart now.
    pub(super) fn gone(&self) -> usize {
        self.all.len()
    }
}
