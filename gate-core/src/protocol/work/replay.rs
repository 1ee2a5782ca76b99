//! Replays a ledger's records of work items.

use std::collections::BTreeMap;

use super::super::ledger::{Hash, Record};
use super::said::Said;
use super::{Standing, WorkError, WorkItem};

/// The state of every item, by the records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Book {
    items: BTreeMap<String, Entry>,
}

/// One item, by the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its state.
    pub standing: Standing,
    /// The record that added it.
    pub added: u64,
    /// Its latest record.
    pub seq: u64,
    /// The hash of its texts, as [`WorkItem::texts`].
    pub texts: Hash,
}

impl Book {
    /// Takes the next record, which has to follow from those before it. Records of
    /// other types say nothing of work items.
    ///
    /// # Errors
    ///
    /// An item that is there already or not at all, and what [`Standing::taken`]
    /// says. Nothing of the record is taken then.
    pub fn apply(&mut self, record: &Record) -> Result<(), WorkError> {
        let seq = record.seq;
        let (id, entry) = match Said::of(record)? {
            None => return Ok(()),
            Some(Said::Added(item)) if self.items.contains_key(&item.id) => {
                return Err(WorkError::Exists(item.id));
            }
            Some(Said::Added(item)) => {
                let (standing, texts) = (item.standing, item.texts());
                (item.id, Entry { standing, added: seq, seq, texts })
            }
            Some(Said::Stepped(step)) => {
                let entry = self.item(&step.id);
                let entry = entry.ok_or_else(|| WorkError::NotFound(step.id.clone()))?;
                let standing = entry.standing.taken(&step, &record.actor)?;
                (step.id, Entry { standing, seq, ..entry })
            }
        };
        self.items.insert(id, entry);
        Ok(())
    }

    /// The state of an item.
    pub fn standing(&self, id: &str) -> Option<Standing> {
        self.item(id).map(|entry| entry.standing)
    }

    /// The item of this id.
    pub fn item(&self, id: &str) -> Option<Entry> {
        self.items.get(id).copied()
    }

    /// Every item, and what is said of it.
    pub fn items(&self) -> impl Iterator<Item = (&str, Entry)> {
        self.items.iter().map(|(id, entry)| (id.as_str(), *entry))
    }
}

impl Standing {
    /// The state that a record gives an item; `None` if the record is not about this item.
    ///
    /// # Errors
    ///
    /// A record that cannot be read.
    pub fn recorded(record: &Record, id: &str) -> Result<Option<Self>, WorkError> {
        Ok(match Said::of(record)? {
            Some(Said::Added(item)) if item.id == id => Some(item.standing),
            Some(Said::Stepped(step)) if step.id == id => Some(Self::after(&step)),
            _ => None,
        })
    }
}

impl WorkItem {
    /// True if a record added this item, with these texts.
    ///
    /// # Errors
    ///
    /// A record that cannot be read.
    pub fn is_added_by(&self, record: &Record) -> Result<bool, WorkError> {
        Ok(match Said::of(record)? {
            Some(Said::Added(item)) => (&item.id, item.texts()) == (&self.id, self.texts()),
            _ => false,
        })
    }
}
