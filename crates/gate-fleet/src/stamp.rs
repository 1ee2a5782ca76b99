//! A name that is a moment, for run folders and files of facts.

use std::fmt;

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// The moment at which a process began a run or a file: `20260220-1530450000-4121-1`.
///
/// UTC, to the second; the four digits behind it are always zeros, as
/// conductor-loop writes them, so only the process and its counter tell two
/// stamps of a second apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The moment.
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
    let moment = time.to_zoned(TimeZone::UTC).datetime();
    let (date, clock) = (moment.date(), moment.time());
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

/// The length of the [`Stamp`] that a text begins with; `None` if it begins with another text.
pub(super) fn leading_length(text: &str) -> Option<usize> {
    let (date, from_clock) = text.split_at_checked(8)?;
    let (clock, from_pid) = from_clock.strip_prefix('-')?.split_at_checked(10)?;
    let (pid, from_seq) = from_pid.strip_prefix('-')?.split_once('-')?;
    let seq_length = from_seq.bytes().take_while(u8::is_ascii_digit).count();
    let mut numbers = [date, clock, pid, &from_seq[..seq_length]].into_iter();
    let is_stamp = numbers.all(|number| !number.is_empty() && is_digits(number));
    is_stamp.then(|| text.len() - from_seq.len() + seq_length)
}

/// A text of nothing but digits.
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
        assert_eq!(leading_length(&stamp), Some(stamp.len()));
        assert_eq!(leading_length(&format!("{stamp}-db-schema.md")), Some(stamp.len()));
        assert_eq!(leading_length("20260220-153045"), None);
        assert_eq!(leading_length("2026022é-1530450000-4121-1"), None);
    }
}
