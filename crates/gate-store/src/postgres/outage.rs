//! A commit whose answer was lost: was it kept?

use std::time::Instant;

use gate_core::ledger::Head;

use super::connection::Session;
use super::server::Server;
use super::transaction::Running;
use crate::error::StoreError;
use crate::view::View;

impl Server {
    /// Finds out what became of a commit that has no answer, by the record that it appended last.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unreachable`] if nothing was kept, and `uncertain` if the database does not
    /// tell.
    pub(super) fn settle(
        &self,
        project: &str,
        head: Head,
        uncertain: StoreError,
    ) -> Result<(), StoreError> {
        let start = Instant::now();
        for failures in 0.. {
            match self.holds(project, head) {
                Ok(true) => return Ok(()),
                Ok(false) => {
                    let reason = "the connection broke before the commit".to_owned();
                    return Err(StoreError::Unreachable { place: self.place.clone(), reason });
                }
                Err(error @ (StoreError::Unreachable { .. } | StoreError::Busy { .. }))
                    if self.outages.wait_for(start, failures, &error.to_string()) => {}
                Err(_) => break,
            }
        }
        Err(uncertain)
    }

    /// The ledger has this record. It is read under the project's lock: the server has ended the
    /// earlier transaction then, which held that lock.
    fn holds(&self, project: &str, head: Head) -> Result<bool, StoreError> {
        let session = Session::connect(self, self.outages.connecting)?;
        let mut running = Running::new(self, &session).in_transaction();
        running.run(&self.begin_change(project))?;
        if running.version()? == 0 {
            // The transaction would have made the tables.
            return Ok(false);
        }
        let entry = View::new(Box::new(running), project)?.entry(head.seq)?;
        Ok(entry.is_some_and(|sealed| sealed.hash == head.hash))
    }
}
