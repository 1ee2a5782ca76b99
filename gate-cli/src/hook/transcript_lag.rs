//! Detects a transcript that is behind its client: some clients write it while the hook
//! runs.
//!
//! If gate judged an older message, it could pass work that is not done, or refuse work
//! that is. So the event is compared with the end of the file.

use std::path::Path;

use jiff::Timestamp;
use serde_json::Value;

use super::payload::Payload;
use crate::clients::LagSign;
use crate::tool_inputs::tail;

/// Bytes at a transcript's end that are compared with the event.
const TAIL_BYTES: u64 = 256 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TranscriptLag {
    /// It holds the last message, or nothing shows that it does not.
    UpToDate,
    /// It may be behind. After a while gate takes it as it is.
    Likely,
    /// It is behind, so it cannot be used for this stop.
    Certain,
}

/// The last records of a transcript, the latest first.
pub(crate) struct RecentRecords(String);

impl RecentRecords {
    /// Empty if the file cannot be read.
    pub(super) fn read(file: &Path) -> Self {
        Self(tail(file, TAIL_BYTES).unwrap_or_default())
    }

    /// The first and the last line may be torn; such lines are left out.
    pub(super) fn records(&self) -> impl Iterator<Item = Value> {
        self.0.rsplit('\n').filter_map(|line| serde_json::from_str(line).ok())
    }
}

/// Milliseconds since 1970, from such a number or from an RFC 3339 text.
pub(super) fn timestamp(value: Option<&Value>) -> Option<i64> {
    let time = value?;
    time.as_i64().or_else(|| Some(time.as_str()?.parse::<Timestamp>().ok()?.as_millisecond()))
}

/// Compares the event with the transcript by a sign of the client's.
pub(super) fn by_sign(
    sign: &LagSign,
    payload: &Payload<'_>,
    latest: &RecentRecords,
    last_message: &str,
) -> TranscriptLag {
    match sign {
        LagSign::End { key, chars, is_certain } => match payload.text(key) {
            Some(sent) if !ends_alike(sent, last_message, chars.unwrap_or(usize::MAX)) => {
                if *is_certain {
                    TranscriptLag::Certain
                } else {
                    TranscriptLag::Likely
                }
            }
            _ => TranscriptLag::UpToDate,
        },
        LagSign::Record(key) => match payload.text(key) {
            Some(id) if !latest.records().any(|record| record["id"] == id) => {
                TranscriptLag::Certain
            }
            _ => TranscriptLag::UpToDate,
        },
    }
}

/// Compares the last `length` characters that the client sent with the end of the last
/// message, without white space.
fn ends_alike(sent: &str, last_message: &str, length: usize) -> bool {
    let sent_chars = without_whitespace(sent);
    let message_chars = without_whitespace(last_message);
    let sent_end = &sent_chars[sent_chars.len().saturating_sub(length)..];
    // Either may be the longer one: some clients send the texts of the whole turn.
    !message_chars.is_empty()
        && (message_chars.ends_with(sent_end) || sent_end.ends_with(&message_chars))
}

fn without_whitespace(text: &str) -> Vec<char> {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_timestamp_is_read_in_both_ways() {
        let rfc_3339 = json!("2026-11-21T20:49:21.298Z");
        assert_eq!(timestamp(Some(&rfc_3339)), Some(1_795_294_161_298));
        assert_eq!(timestamp(Some(&json!(1_795_294_161_298_i64))), Some(1_795_294_161_298));
        assert_eq!(timestamp(Some(&json!(true))), None);
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
            RecentRecords::read(&file).records().map(|record| record["n"].as_i64()).collect();
        assert_eq!(numbers, [Some(2), Some(1)]);
        assert_eq!(RecentRecords::read(Path::new("/nowhere")).records().count(), 0);
    }
}
