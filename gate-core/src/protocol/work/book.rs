//! What the records of a ledger say of work items, one after another.

use std::collections::BTreeMap;

use super::super::exit::WorkPhase;
use super::super::ledger::Record;
use super::said::Said;
use super::{Standing, WorkError};

/// Where every item stands, by what the records say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Book {
    items: BTreeMap<String, (Standing, u64)>,
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
        let (id, standing) = match Said::of(record)? {
            None => return Ok(()),
            Some(Said::Added(item)) if self.items.contains_key(&item.id) => {
                return Err(WorkError::Exists(item.id));
            }
            Some(Said::Added(item)) => (item.id, item.standing),
            Some(Said::Stepped(step)) => {
                let standing = self.standing(&step.id);
                let standing = standing.ok_or_else(|| WorkError::NotFound(step.id.clone()))?;
                let after = standing.taken(&step, &record.actor)?;
                (step.id, after)
            }
        };
        self.items.insert(id, (standing, record.seq));
        Ok(())
    }

    /// Where an item stands.
    pub fn standing(&self, id: &str) -> Option<Standing> {
        self.items.get(id).map(|(standing, _)| *standing)
    }

    /// Where an item stands, and the number of the record that says so.
    pub fn item(&self, id: &str) -> Option<(Standing, u64)> {
        self.items.get(id).copied()
    }

    /// Every item, where it stands, and the number of the record that says so.
    pub fn items(&self) -> impl Iterator<Item = (&str, Standing, u64)> {
        self.items.iter().map(|(id, (standing, seq))| (id.as_str(), *standing, *seq))
    }
}

impl Standing {
    /// Where a record says that an item stands: the last one of the item that a
    /// row names. `None` where it says nothing of this item.
    ///
    /// # Errors
    ///
    /// A record that cannot be read.
    pub fn recorded(record: &Record, id: &str) -> Result<Option<(WorkPhase, u64)>, WorkError> {
        Ok(match Said::of(record)? {
            Some(Said::Added(item)) if item.id == id => Some((item.standing.phase, 0)),
            Some(Said::Stepped(step)) if step.id == id => Some((step.to, step.transition_count)),
            _ => None,
        })
    }
}
