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
    /// The number of the record that added it.
    pub added: u64,
    /// The number of its latest record.
    pub seq: u64,
    /// The hash of its texts, as [`WorkItem::texts`].
    pub texts: Hash,
}

impl ReplayedItems {
    /// Takes the next record, which has to follow from those before it. Records of
    /// other types are not about work items.
    ///
    /// # Errors
    ///
    /// An item that is added twice or not at all, and the errors of [`ItemState::after_step`]. Nothing
    /// of the record is taken then.
    pub fn apply(&mut self, record: &Record) -> Result<(), WorkError> {
        let seq = record.seq;
        let (id, item) = match WorkEvent::from_record(record)? {
            None => return Ok(()),
            Some(WorkEvent::Added(item)) if self.items.contains_key(&item.id) => {
                return Err(WorkError::Exists(item.id));
            }
            Some(WorkEvent::Added(item)) => {
                let (state, texts) = (item.state, item.texts());
                (item.id, ReplayedItem { state, added: seq, seq, texts })
            }
            Some(WorkEvent::Stepped(step)) => {
                let item = self.item(&step.id);
                let item = item.ok_or_else(|| WorkError::NotFound(step.id.clone()))?;
                let state = item.state.after_step(&step, &record.actor)?;
                (step.id, ReplayedItem { state, seq, ..item })
            }
        };
        self.items.insert(id, item);
        Ok(())
    }

    /// The state of an item.
    pub fn state(&self, id: &str) -> Option<ItemState> {
        self.item(id).map(|item| item.state)
    }

    /// The item of this id.
    pub fn item(&self, id: &str) -> Option<ReplayedItem> {
        self.items.get(id).copied()
    }

    /// Every item, as the records have it.
    pub fn items(&self) -> impl Iterator<Item = (&str, ReplayedItem)> {
        self.items.iter().map(|(id, item)| (id.as_str(), *item))
    }
}

impl ItemState {
    /// The state that a record gives an item; `None` if the record is not about this item.
    ///
    /// # Errors
    ///
    /// A record that cannot be read.
    pub fn from_record(record: &Record, id: &str) -> Result<Option<Self>, WorkError> {
        Ok(match WorkEvent::from_record(record)? {
            Some(WorkEvent::Added(item)) if item.id == id => Some(item.state),
            Some(WorkEvent::Stepped(step)) if step.id == id => Some(Self::from_step(&step)),
            _ => None,
        })
    }
}

impl WorkItem {
    /// A record that added this item, with its texts as they are.
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
