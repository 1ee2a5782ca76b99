//! Replays a ledger's records of work items.

use std::collections::BTreeMap;

use super::events::WorkEvent;
use super::{ItemState, WorkError, WorkItem};
use gate_core::ledger::{Hash, Record};

/// The state of every item, by the records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplayedItems {
    items: BTreeMap<String, ReplayedItem>,
}

/// One item, by the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayedItem {
    /// Its state.
    pub state: ItemState,
    /// The record that added it.
    pub added: u64,
    /// Its latest record.
    pub seq: u64,
    /// The hash of its texts, as [`WorkItem::texts`].
    pub texts: Hash,
}

impl ReplayedItems {
    /// Takes the next record, which has to follow from those before it. Records of
    /// other types say nothing of work items.
    ///
    /// # Errors
    ///
    /// An item that is there already or not at all, and the errors of [`ItemState::taken`]. Nothing
    /// of the record is taken then.
    pub fn apply(&mut self, record: &Record) -> Result<(), WorkError> {
        let seq = record.seq;
        let (id, entry) = match WorkEvent::from_record(record)? {
            None => return Ok(()),
            Some(WorkEvent::Added(item)) if self.items.contains_key(&item.id) => {
                return Err(WorkError::Exists(item.id));
            }
            Some(WorkEvent::Added(item)) => {
                let (state, texts) = (item.state, item.texts());
                (item.id, ReplayedItem { state, added: seq, seq, texts })
            }
            Some(WorkEvent::Stepped(step)) => {
                let entry = self.item(&step.id);
                let entry = entry.ok_or_else(|| WorkError::NotFound(step.id.clone()))?;
                let state = entry.state.taken(&step, &record.actor)?;
                (step.id, ReplayedItem { state, seq, ..entry })
            }
        };
        self.items.insert(id, entry);
        Ok(())
    }

    /// The state of an item.
    pub fn state(&self, id: &str) -> Option<ItemState> {
        self.item(id).map(|entry| entry.state)
    }

    /// The item of this id.
    pub fn item(&self, id: &str) -> Option<ReplayedItem> {
        self.items.get(id).copied()
    }

    /// Every item, as the records have it.
    pub fn items(&self) -> impl Iterator<Item = (&str, ReplayedItem)> {
        self.items.iter().map(|(id, entry)| (id.as_str(), *entry))
    }
}

impl ItemState {
    /// The state that a record gives an item; `None` if the record is not about this item.
    ///
    /// # Errors
    ///
    /// A record that cannot be read.
    pub fn recorded(record: &Record, id: &str) -> Result<Option<Self>, WorkError> {
        Ok(match WorkEvent::from_record(record)? {
            Some(WorkEvent::Added(item)) if item.id == id => Some(item.state),
            Some(WorkEvent::Stepped(step)) if step.id == id => Some(Self::after(&step)),
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
        Ok(match WorkEvent::from_record(record)? {
            Some(WorkEvent::Added(item)) => (&item.id, item.texts()) == (&self.id, self.texts()),
            _ => false,
        })
    }
}
