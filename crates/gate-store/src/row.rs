//! A record as a row, and back. Others can edit a table, so a row is read with distrust.

use gate_core::ledger::{Body, Hash, Record, Sealed};
use serde_json::Value;

use super::error::StoreError;
use super::sql::Cell;

/// The record in a row: its body is spelled canonically, and its look-up columns repeat its body. Its
/// hash is not compared.
pub(super) fn read(cells: Vec<Cell>) -> Result<Sealed, StoreError> {
    let mut row = Row::from_ledger(cells);
    let record = Record {
        seq: row.number("seq")?,
        v: row.number("v")?,
        time: row.text("time")?,
        kind: row.text("type")?,
        run: row.maybe_text("run")?,
        actor: row.text("actor")?,
        body: row.body()?,
        prev: row.hash("prev")?,
    };
    let hash = row.hash("hash")?;
    row.check_keys(&Keys::new(&record))?;
    Ok(Sealed { record, hash })
}

/// The record, after a comparison with its hash.
pub(super) fn proven(sealed: Sealed) -> Result<Sealed, StoreError> {
    if sealed.record.hash() == sealed.hash {
        return Ok(sealed);
    }
    Err(StoreError::Corrupt {
        seq: Some(sealed.record.seq),
        column: Some("hash".to_owned()),
        reason: "it is not the hash of the record".to_owned(),
    })
}

/// A row that is being read, column after column, in the order of `statements.rs`.
pub(super) struct Row {
    seq: Option<u64>,
    cells: std::vec::IntoIter<Cell>,
}

impl Row {
    pub(super) fn new(cells: Vec<Cell>) -> Self {
        Self { seq: None, cells: cells.into_iter() }
    }

    fn from_ledger(cells: Vec<Cell>) -> Self {
        let seq = match cells.first() {
            Some(Cell::Integer(seq)) => u64::try_from(*seq).ok(),
            _ => None,
        };
        Self { seq, ..Self::new(cells) }
    }

    fn next_cell(&mut self) -> Cell {
        self.cells.next().unwrap_or(Cell::Null)
    }

    pub(super) fn corrupt(&self, column: &str, reason: impl Into<String>) -> StoreError {
        StoreError::Corrupt {
            seq: self.seq,
            column: Some(column.to_owned()),
            reason: reason.into(),
        }
    }

    pub(super) fn maybe_text(&mut self, column: &str) -> Result<Option<String>, StoreError> {
        match self.next_cell() {
            Cell::Null => Ok(None),
            Cell::Text(text) => Ok(Some(text)),
            Cell::Integer(_) => Err(self.corrupt(column, "text is expected, not a number")),
            Cell::Other(kind) => Err(self.corrupt(column, format!("text is expected, not {kind}"))),
        }
    }

    pub(super) fn text(&mut self, column: &str) -> Result<String, StoreError> {
        self.maybe_text(column)?.ok_or_else(|| self.corrupt(column, "it is empty"))
    }

    pub(super) fn maybe_number(&mut self, column: &str) -> Result<Option<i64>, StoreError> {
        match self.next_cell() {
            Cell::Null => Ok(None),
            Cell::Integer(number) => Ok(Some(number)),
            Cell::Text(_) => Err(self.corrupt(column, "a number is expected, not text")),
            Cell::Other(kind) => {
                Err(self.corrupt(column, format!("a number is expected, not {kind}")))
            }
        }
    }

    pub(super) fn number<T: TryFrom<i64>>(&mut self, column: &str) -> Result<T, StoreError> {
        let number = self.maybe_number(column)?;
        let number = number.ok_or_else(|| self.corrupt(column, "it is empty"))?;
        T::try_from(number).map_err(|_| self.corrupt(column, format!("{number} is out of range")))
    }

    fn hash(&mut self, column: &str) -> Result<Hash, StoreError> {
        let text = self.text(column)?;
        text.parse().map_err(|_| self.corrupt(column, "it is no hash"))
    }

    fn body(&mut self) -> Result<Body, StoreError> {
        let text = self.text("body")?;
        let body: Body =
            serde_json::from_str(&text).map_err(|error| self.corrupt("body", error.to_string()))?;
        if body.canonical() != text {
            return Err(self.corrupt("body", "it is not spelled canonically"));
        }
        Ok(body)
    }

    /// Compares the look-up columns, which come last in a row.
    fn check_keys(&mut self, keys: &Keys) -> Result<(), StoreError> {
        self.check_key("task", keys.task.as_ref())?;
        self.check_key("loop", keys.in_loop.as_ref())?;
        let iteration = self.maybe_number("iteration")?;
        if iteration.map(u64::try_from) != keys.iteration.map(Ok) {
            return Err(self.corrupt("iteration", FOREIGN));
        }
        self.check_key("decision_id", keys.decision_id.as_ref())
    }

    fn check_key(&mut self, column: &str, key: Option<&String>) -> Result<(), StoreError> {
        let stored = self.maybe_text(column)?;
        if stored.as_ref() == key { Ok(()) } else { Err(self.corrupt(column, FOREIGN)) }
    }
}

const FOREIGN: &str = "it is not what the body says";

/// The look-up columns of a record, which repeat parts of its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Keys {
    /// The task: `state.task`; empty if no task is named.
    pub(super) task: Option<String>,
    /// The loop: `state.loop`.
    pub(super) in_loop: Option<String>,
    /// The iteration's number: `state.iteration`.
    pub(super) iteration: Option<u64>,
    /// The decision's id: `decision.decision_id`; only a decision has one.
    pub(super) decision_id: Option<String>,
}

impl Keys {
    /// A record's keys. A key that the body lacks, or that has another type there, is `None`.
    pub(super) fn new(record: &Record) -> Self {
        let (state, decision) = (record.body.get("state"), record.body.get("decision"));
        Self {
            task: text(state, "task"),
            in_loop: text(state, "loop"),
            iteration: state.and_then(|state| state.get("iteration")?.as_u64()),
            decision_id: text(decision, "decision_id"),
        }
    }
}

fn text(object: Option<&Value>, key: &str) -> Option<String> {
    Some(object?.get(key)?.as_str()?.to_owned())
}
