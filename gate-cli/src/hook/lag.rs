//! Whether a transcript is behind what its client says: some clients write it
//! while the hook runs.
//!
//! An old word in the place of the last one could pass, or refuse work that is
//! done. So what a client tells of the stop is held against the end of the file.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use jiff::Timestamp;
use serde_json::Value;

/// How much of a transcript's end is looked at, in bytes.
const END: u64 = 256 << 10;

/// How a transcript stands to the stop that it is read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Lag {
    /// It holds the last word, as far as anybody can tell.
    None,
    /// It may be behind; after a while it is taken as it is.
    Likely,
    /// It is behind: it says nothing of this stop.
    Sure,
}

/// The last records of a transcript, the latest first.
pub(crate) struct Latest(Vec<u8>);

impl Latest {
    /// Those of a file; none where it cannot be read.
    pub(super) fn of(file: &Path) -> Self {
        let end = || -> io::Result<Vec<u8>> {
            let mut file = File::open(file)?;
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(length.saturating_sub(END)))?;
            let mut end = Vec::new();
            file.take(END).read_to_end(&mut end)?;
            Ok(end)
        };
        Self(end().unwrap_or_default())
    }

    /// The records, as far as they are whole.
    pub(super) fn records(&self) -> impl Iterator<Item = Value> {
        let lines = self.0.rsplit(|byte| *byte == b'\n');
        lines.filter_map(|line| serde_json::from_slice(line).ok())
    }
}

/// The moment that a client names, in milliseconds since 1970: as a number of
/// them, or in words.
pub(super) fn moment(value: Option<&Value>) -> Option<i64> {
    let value = value?;
    value.as_i64().or_else(|| Some(value.as_str()?.parse::<Timestamp>().ok()?.as_millisecond()))
}

/// Whether what a client tells ends as the last word does, white space apart.
pub(super) fn ends_alike(told: &str, said: &str, length: usize) -> bool {
    let bare = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<Vec<_>>();
    let (told, said) = (bare(told), bare(said));
    let end = &told[told.len().saturating_sub(length)..];
    !said.is_empty() && (said.ends_with(end) || end.ends_with(&said))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_moment_is_read_in_both_ways() {
        let words = json!("2026-11-21T20:49:21.298Z");
        assert_eq!(moment(Some(&words)), Some(1_795_294_161_298));
        assert_eq!(moment(Some(&json!(1_795_294_161_298_i64))), Some(1_795_294_161_298));
        assert_eq!(moment(Some(&json!(true))), None);
    }

    #[test]
    fn ends_are_compared_without_white_space() {
        assert!(ends_alike("Looks fine.All is done.\n\nOK", "All is done.\nOK", 99));
        assert!(ends_alike("I start. All is done. is do ne.", "All is done.", 6));
        assert!(!ends_alike("Looks fine. More is left.", "All is done.", 32));
        assert!(!ends_alike("", "", 9));
    }

    #[test]
    fn the_latest_record_comes_first_and_a_torn_one_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.jsonl");
        std::fs::write(&file, "{\"n\":1}\n{\"n\":2}\n{\"n\":").unwrap();
        let numbers: Vec<_> =
            Latest::of(&file).records().map(|record| record["n"].as_i64()).collect();
        assert_eq!(numbers, [Some(2), Some(1)]);
        assert_eq!(Latest::of(Path::new("/nowhere")).records().count(), 0);
    }
}
