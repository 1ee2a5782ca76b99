//! The leased work items of a store.

use gate_fleet::work::{Lease, LeaseState, WorkItem};

use super::Memory;
use super::work::all;
use crate::failure::Failure;

impl Memory {
    /// The work items with a live lease, of all projects in the store, each with its project.
    ///
    /// # Errors
    ///
    /// A store that cannot be read, a row that its record contradicts.
    pub(crate) fn leased_items(&mut self) -> Result<Vec<(String, WorkItem)>, Failure> {
        let (mut view, _) = self.examine()?;
        let projects = view.projects()?;
        drop(view);
        let mut leased = Vec::new();
        for project in projects {
            let (mut view, _) = self.store.examine(&project)?;
            let now = view.now()?;
            let is_live = |lease: &Lease| lease.state(now) == LeaseState::Active;
            let items = all(&mut view, |item| item.lease.as_ref().is_some_and(is_live))?;
            drop(view);
            leased.extend(items.into_iter().map(|item| (project.clone(), item.work)));
        }
        Ok(leased)
    }
}
