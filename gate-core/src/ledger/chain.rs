//! Checks a ledger: each record against the one before it, and its end against a known
//! head.

use std::fmt;

use super::hash::Hash;
use super::head::Head;
use super::line::{self, LineError};
use super::moved_out::MovedOut;
use super::record::{Sealed, VERSION};

/// Verifies a ledger, record by record from the first one on. What was pushed
/// is not kept.
#[derive(Clone, Debug)]
pub struct Chain {
    head: Head,
    known_heads: Vec<Head>,
    moved_out: Vec<MovedOut>,
    missing: Missing,
    problem: Option<Problem>,
}

/// The first fault of a ledger. Every record before it is intact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The number of the faulty or missing record: the one that is expected
    /// where the ledger breaks. In an export it is the line.
    pub seq: u64,
    /// The fault.
    pub fault: Fault,
}

/// A fault of a record, or a record that is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// A line that is no record.
    Line(LineError),
    /// A record of an unknown version of the form.
    Version(u64),
    /// The record's content does not match its hash.
    Hash,
    /// Another number: records are missing, repeated or in another order.
    Number {
        /// The number that the record has.
        found: u64,
    },
    /// The hash of the record before it is another one.
    Link,
    /// The record of the known head's number is another one.
    Replaced,
    /// The ledger ends before the head that is known.
    Cut {
        /// The number of the known head.
        known: u64,
    },
}

/// A ledger that holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Intact {
    /// Its last record, whose number is the count of all records.
    pub head: Head,
    /// The last known head, which was found. Without a known head, records that are missing at
    /// the end cannot be noticed.
    pub known: Option<Head>,
}

/// Records that are missing because they were moved out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Missing {
    /// Their number.
    pub count: u64,
    /// The number of the first record behind them; 0 if no record is missing.
    pub first_behind: u64,
}

impl Chain {
    /// A ledger of which no head is known: a cut tail cannot be seen.
    pub fn new() -> Self {
        Self {
            head: Head::EMPTY,
            known_heads: Vec::new(),
            moved_out: Vec::new(),
            missing: Missing::default(),
            problem: None,
        }
    }

    /// With a known head, before the first record is pushed. Records may have come after it;
    /// of several known heads, each has to be found.
    #[must_use]
    pub fn against(mut self, known_head: Head) -> Self {
        self.known_heads.push(known_head);
        self
    }

    /// Without the records that were moved out of it, before the first record is pushed.
    #[must_use]
    pub fn without(self, moved_out: Vec<MovedOut>) -> Self {
        Self { moved_out, ..self }
    }

    /// The next record.
    ///
    /// # Errors
    ///
    /// The first faulty record; from then on always the same problem.
    pub fn push(&mut self, next: &Sealed) -> Result<(), Problem> {
        self.add(next, next.record.hash())
    }

    /// The next record, as a line of an export without its line break.
    ///
    /// # Errors
    ///
    /// As for [`Chain::push`], and a line that is no record in its canonical
    /// spelling.
    pub fn push_line(&mut self, line: &[u8]) -> Result<Sealed, Problem> {
        self.expect_unbroken()?;
        let line = line::read(line).or_else(|error| self.fail(self.head.seq + 1, error.into()))?;
        self.add(&line.sealed, line.hash)?;
        Ok(line.sealed)
    }

    /// The last record that holds.
    pub fn head(&self) -> Head {
        self.head
    }

    /// The records that were moved out, as far as the ledger was followed.
    pub fn missing(&self) -> Missing {
        self.missing
    }

    /// A number that the next record may have: the records before it are there or were moved out,
    /// and no more are missing than were moved out.
    pub fn may_follow(&self, next: u64) -> bool {
        let mut seq = self.head.seq + 1;
        let missing = self.missing.count.saturating_add(next.saturating_sub(seq));
        // Passes over each archive that may hold the next missing record.
        while seq < next
            && let Some(archive) = self.moved_out.iter().find(|archive| archive.may_hold(seq))
        {
            seq = archive.last.seq + 1;
        }
        let moved_out: u64 =
            self.moved_out.iter().map(|archive| archive.records).fold(0, u64::saturating_add);
        let is_in_range = self.head.seq < next && next <= seq && next < u64::MAX;
        is_in_range && missing <= moved_out
    }

    /// Checks the end of the ledger: no records follow.
    ///
    /// # Errors
    ///
    /// The first faulty record, and an end before the known head.
    pub fn end(&self) -> Result<Intact, Problem> {
        self.expect_unbroken()?;
        let last_known = self.known_heads.iter().max_by_key(|head| head.seq).copied();
        let seq = self.head.seq;
        let fault = match last_known {
            Some(known) if known.seq > seq => Fault::Cut { known: known.seq },
            _ if self.known_heads.iter().any(|head| head.seq == 0 && *head != Head::EMPTY) => {
                Fault::Replaced
            }
            known => return Ok(Intact { head: self.head, known }),
        };
        Err(Problem { seq: seq + 1, fault })
    }

    fn add(&mut self, next: &Sealed, hash: Hash) -> Result<(), Problem> {
        self.expect_unbroken()?;
        if let Some(fault) = self.fault(next, hash) {
            let number = next.record.seq;
            let seq = if self.may_follow(number) { number } else { self.head.seq + 1 };
            return self.fail(seq, fault);
        }
        let gap = next.record.seq - self.head.seq - 1;
        if gap > 0 {
            self.missing =
                Missing { count: self.missing.count + gap, first_behind: next.record.seq };
        }
        self.head = next.head();
        Ok(())
    }

    /// The fault of the next record, which should have this hash.
    fn fault(&self, next: &Sealed, hash: Hash) -> Option<Fault> {
        let record = &next.record;
        if record.v != VERSION {
            Some(Fault::Version(record.v.into()))
        } else if next.hash != hash {
            Some(Fault::Hash)
        } else if !self.may_follow(record.seq) {
            Some(Fault::Number { found: record.seq })
        } else if self.hash_before(record.seq).is_some_and(|hash| hash != record.prev) {
            Some(Fault::Link)
        } else {
            self.known_heads
                .iter()
                .any(|head| head.seq == record.seq && head.hash != hash)
                .then_some(Fault::Replaced)
        }
    }

    /// The hash of the record before the next one, if it is known.
    fn hash_before(&self, next: u64) -> Option<Hash> {
        let moved_out = self.moved_out.iter().map(|archive| archive.last);
        let mut heads =
            [self.head].into_iter().chain(moved_out).chain(self.known_heads.iter().copied());
        heads.find(|head| head.seq.checked_add(1) == Some(next)).map(|head| head.hash)
    }

    fn fail<T>(&mut self, seq: u64, fault: Fault) -> Result<T, Problem> {
        let problem = Problem { seq, fault };
        self.problem = Some(problem.clone());
        Err(problem)
    }

    /// A ledger that broke once does not hold, whatever its later records.
    fn expect_unbroken(&self) -> Result<(), Problem> {
        self.problem.clone().map_or(Ok(()), Err)
    }
}

impl From<LineError> for Fault {
    fn from(error: LineError) -> Self {
        match error {
            LineError::Version(version) => Self::Version(version),
            error => Self::Line(error),
        }
    }
}

impl Default for Chain {
    fn default() -> Self {
        Self::new()
    }
}

impl std::error::Error for Problem {}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seq = self.seq;
        let last = seq.saturating_sub(1);
        match &self.fault {
            Fault::Line(error) => write!(f, "line {seq} is no record: {error}"),
            Fault::Version(version) => {
                write!(
                    f,
                    "record {seq} is of version {version}, and only version {VERSION} is known"
                )
            }
            Fault::Hash => write!(f, "record {seq}: its hash does not fit what it says"),
            Fault::Number { found } => write_number_fault(f, seq, *found),
            Fault::Link if last == 0 => {
                write!(f, "record {seq} does not begin a ledger: it names a record before it")
            }
            Fault::Link => write!(f, "record {seq} does not follow record {last}"),
            Fault::Replaced => write!(f, "record {seq} is not the one that is known"),
            Fault::Cut { known } if last == 0 => {
                write!(f, "the ledger is empty, and record {known} is known")
            }
            Fault::Cut { known } => {
                write!(f, "the ledger ends at record {last}, and {known} is known")
            }
        }
    }
}

/// Writes that a record has another number than the one that is expected.
fn write_number_fault(f: &mut fmt::Formatter<'_>, seq: u64, number: u64) -> fmt::Result {
    let last = seq.saturating_sub(1);
    if number == 0 {
        return write!(f, "record {seq} has the number 0: numbers begin at 1");
    }
    if number <= last {
        return write!(f, "after record {last} comes record {number} again");
    }
    match number - 1 {
        last_missing if last_missing == seq => write!(f, "record {seq} is missing: ")?,
        last_missing => write!(f, "records {seq} to {last_missing} are missing: ")?,
    }
    match last {
        0 => write!(f, "the ledger begins with {number}"),
        last => write!(f, "after {last} comes {number}"),
    }
}
