//! Ids of messages.

use std::fmt;

use jiff::Timestamp;

use crate::stamp::compact;

/// A message's id, as `MSG-20260220-153045-500000000-PID04121-0001`: its
/// moment to the nanosecond, its process and the process's counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageId {
    /// When it was written.
    pub time: Timestamp,
    /// The process that writes it.
    pub pid: u32,
    /// Number of messages written so far, this one included: from 1.
    pub seq: u64,
}

impl MessageId {
    /// True if a text has the form of an id.
    pub fn is_one(text: &str) -> bool {
        let form = "MSG-00000000-000000-000000000-PID00000-0000";
        let mut pairs = text.bytes().zip(form.bytes());
        text.len() == form.len()
            && pairs.all(|(byte, sample)| match sample {
                b'0' => byte.is_ascii_digit(),
                _ => byte == sample,
            })
    }
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.time.as_nanosecond().rem_euclid(1_000_000_000);
        let (pid, seq) = (self.pid % 100_000, self.seq % 10_000);
        write!(f, "MSG-{}-{nanos:09}-PID{pid:05}-{seq:04}", compact(self.time))
    }
}
