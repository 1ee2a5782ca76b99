//! A record as one line of an export: its canonical JSON with the member
//! `hash` in its place.

use serde::{Deserialize, Serialize};

use super::body::{Body, MAX_EXACT};
use super::hash::Hash;
use super::record::{Record, Sealed, VERSION};
use crate::digest;

/// The longest line that is read, in bytes.
pub const LONGEST_LINE: usize = 64 << 20;

/// A line that is no record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LineError {
    /// It has no characters.
    #[error("it is empty")]
    Empty,
    /// It is longer than [`LONGEST_LINE`].
    #[error("it is longer than 64 MiB")]
    Long,
    /// It is no text.
    #[error("it is not UTF-8")]
    NotUtf8,
    /// It is no JSON, or not the JSON of a record.
    #[error("column {column}: {reason}")]
    Malformed {
        /// Column, in bytes from 1.
        column: usize,
        /// The fault; it may quote the line.
        reason: String,
    },
    /// A record of an unknown version of the form.
    #[error("it is of version {0}, and only version {VERSION} is known")]
    Version(u64),
    /// It is a record, but not in the one spelling that records have.
    #[error("column {column}: from here on it is not the canonical spelling of its record")]
    Spelling {
        /// Column at which it departs, in bytes from 1.
        column: usize,
    },
}

impl Sealed {
    /// The record as a line of JSONL, without the line break: its canonical
    /// JSON with the member `hash` added.
    pub fn to_line(&self) -> String {
        digest::canonical(&HashedRecord { record: &self.record, hash: &self.hash })
    }

    /// Reads a line, without its line break, that [`Sealed::to_line`] wrote.
    /// Its hash is not checked.
    ///
    /// # Errors
    ///
    /// Any text but the canonical spelling of a record with its hash: a member
    /// that is missing, unknown or there twice, a number that is no exact
    /// integer, another order, white space.
    pub fn from_line(line: &[u8]) -> Result<Self, LineError> {
        Ok(read(line)?.sealed)
    }
}

/// A line that was read.
pub(super) struct ReadLine {
    pub(super) sealed: Sealed,
    /// The hash that the record should have.
    pub(super) hash: Hash,
}

/// Reads a line, and hashes its record on the way.
pub(super) fn read(line: &[u8]) -> Result<ReadLine, LineError> {
    let sealed = parse(line)?;
    if let Some(column) = first_difference(line, sealed.to_line().as_bytes()) {
        return Err(LineError::Spelling { column });
    }
    Ok(ReadLine { hash: sealed.record.hash(), sealed })
}

/// The column from which on two texts differ.
fn first_difference(line: &[u8], canonical: &[u8]) -> Option<usize> {
    if line == canonical {
        return None;
    }
    let bytes = line.iter().zip(canonical);
    Some(1 + bytes.take_while(|(byte, canonical_byte)| byte == canonical_byte).count())
}

fn parse(line: &[u8]) -> Result<Sealed, LineError> {
    match line.len() {
        0 => return Err(LineError::Empty),
        1..=LONGEST_LINE => {}
        _ => return Err(LineError::Long),
    }
    let text = str::from_utf8(line).map_err(|_| LineError::NotUtf8)?;
    let line: Line = serde_json::from_str(text).map_err(|error| malformed(text, &error))?;
    if line.v != u64::from(VERSION) {
        return Err(LineError::Version(line.v));
    }
    Ok(line.sealed())
}

/// The fault of a line that is not the JSON of a record. A record of another version may
/// have other members, so a foreign version is reported first.
fn malformed(text: &str, error: &serde_json::Error) -> LineError {
    let version = serde_json::from_str::<Versioned>(text).map(|line| line.v);
    if let Some(version) = version.ok().filter(|version| *version != u64::from(VERSION)) {
        return LineError::Version(version);
    }
    let reason_and_place = error.to_string();
    let reason = match reason_and_place.rsplit_once(" at line ") {
        Some((reason, _place)) => reason.to_owned(),
        None => reason_and_place,
    };
    LineError::Malformed { column: error.column(), reason }
}

#[derive(Deserialize)]
struct Versioned {
    v: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    actor: String,
    body: Body,
    hash: Hash,
    prev: Hash,
    #[serde(deserialize_with = "Option::deserialize")]
    run: Option<String>,
    #[serde(deserialize_with = "exact")]
    seq: u64,
    time: String,
    #[serde(rename = "type")]
    kind: String,
    v: u64,
}

#[derive(Serialize)]
struct HashedRecord<'a> {
    #[serde(flatten)]
    record: &'a Record,
    hash: &'a Hash,
}

impl Line {
    fn sealed(self) -> Sealed {
        let Self { actor, body, hash, prev, run, seq, time, kind, v: _ } = self;
        Sealed { record: Record { v: VERSION, seq, time, kind, run, actor, body, prev }, hash }
    }
}

fn exact<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let number = u64::deserialize(deserializer)?;
    if number <= MAX_EXACT {
        return Ok(number);
    }
    Err(serde::de::Error::custom(format_args!("seq {number}: it is at most 2^53-1")))
}
