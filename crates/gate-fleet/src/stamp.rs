//! A name that is a moment: what run folders and files of facts are called by.

use std::fmt;

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// When and by whom something was begun: `20260220-1530450000-4121-1`.
///
/// UTC, to the second; the four digits behind it are always zeros, as
/// conductor-loop writes them, so only the process and its counter tell two
/// stamps of a second apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// When.
    pub time: Timestamp,
    /// The process that gives the name.
    pub pid: u32,
    /// Number of names given so far, this one included: from 1.
    pub seq: u64,
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}0000-{}-{}", compact(self.time), self.pid, self.seq)
    }
}

/// A moment as names spell it, in UTC: `20260220-153045`.
pub(super) fn compact(time: Timestamp) -> String {
    let at = time.to_zoned(TimeZone::UTC).datetime();
    let (date, clock) = (at.date(), at.time());
    format!(
        "{:04}{:02}{:02}-{:02}{:02}{:02}",
        date.year(),
        date.month(),
        date.day(),
        clock.hour(),
        clock.minute(),
        clock.second()
    )
}

/// The length of what [`Stamp`] begins a text with; none if it does not.
pub(super) fn leading(text: &str) -> Option<usize> {
    let (date, rest) = text.split_at_checked(8)?;
    let (clock, rest) = rest.strip_prefix('-')?.split_at_checked(10)?;
    let (pid, seq) = rest.strip_prefix('-')?.split_once('-')?;
    let digits = seq.bytes().take_while(u8::is_ascii_digit).count();
    let mut parts = [date, clock, pid, &seq[..digits]].into_iter();
    let is_stamp = parts.all(|part| !part.is_empty() && is_digits(part));
    is_stamp.then(|| text.len() - seq.len() + digits)
}

/// True if there is nothing but digits in it.
pub(super) fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_read_where_it_was_written() {
        let time: Timestamp = "2026-02-20T15:30:45.987654321Z".parse().unwrap();
        let stamp = Stamp { time, pid: 4121, seq: 1 }.to_string();
        assert_eq!(stamp, "20260220-1530450000-4121-1");
        assert_eq!(leading(&stamp), Some(stamp.len()));
        assert_eq!(leading(&format!("{stamp}-db-schema.md")), Some(stamp.len()));
        assert_eq!(leading("20260220-153045"), None);
        assert_eq!(leading("2026022é-1530450000-4121-1"), None);
    }
}
