//! An earlier replay, to be compared with: the output of `replay --json`.

use std::collections::BTreeMap;
use std::path::Path;

use super::list::{self, Kind};
use super::report::SUMMARY;
use crate::failure::Failure;
use crate::replay::{Changed, ROW, ReplayRecord, ReplayVerdict};

const KIND: Kind = Kind {
    code: "comparison-invalid",
    what: "earlier replay",
    line: "a row of `gate replay --json`",
};

/// The command whose output can be compared with.
const OLD: &str = "`gate replay --json`";

/// The verdicts of an earlier replay.
#[derive(Debug)]
pub(super) struct EarlierReplay {
    /// By file and iteration; what was compared is taken out.
    all: BTreeMap<(String, u64), Option<ReplayVerdict>>,
}

impl EarlierReplay {
    /// Reads it.
    ///
    /// # Errors
    ///
    /// A line that is no row of a replay; a file without any.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let mut all = BTreeMap::new();
        list::each(path, KIND, &mut |row| {
            let schema = row.need::<String>("schema", ROW)?;
            if schema == SUMMARY {
                return Ok(());
            }
            if schema != ROW {
                let what = format!("`schema` is \"{schema}\"; expected \"{ROW}\"");
                return Err(row.wrong("schema", &what));
            }
            let file = row.need::<String>("file", "the name of a file")?;
            let iteration = row.need::<u64>("iteration", "a whole number")?;
            let verdict = row.need::<Option<ReplayVerdict>>("verdict", "a verdict or null")?;
            all.insert((file, iteration), verdict);
            Ok(())
        })?;
        if all.is_empty() {
            let shown = path.display().to_string();
            let message = format!("{shown}: no row in it; expected the output of {OLD}");
            return Err(Failure { file: Some(shown), ..Failure::usage(KIND.code, message) });
        }
        Ok(Self { all })
    }

    /// The change of this row's verdict.
    pub(super) fn compare(&mut self, row: &ReplayRecord) -> Option<Changed> {
        let from = self.all.remove(&(row.file.clone(), row.iteration)).flatten();
        (from != row.verdict).then_some(Changed { from, to: row.verdict })
    }

    /// Number of rows without a counterpart now.
    pub(super) fn gone(&self) -> usize {
        self.all.len()
    }
}
