//! A commit whose answer was lost: was it kept?

use std::time::Instant;

use gate_core::ledger::Head;

use super::connection::Session;
use super::server::Server;
use super::transaction::Running;
use crate::error::StoreError;
use crate::view::View;

impl Server {
    /// Finds out what became of a commit that has no answer, and of the record that it appended
    /// last.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unreachable`] if nothing was kept, and `uncertain` if that cannot be found out.
    pub(super) fn settle(
        &self,
        project: &str,
        head: Head,
        uncertain: StoreError,
    ) -> Result<(), StoreError> {
        let began = Instant::now();
        for failed in 0.. {
            match self.holds(project, head) {
                Ok(true) => return Ok(()),
                Ok(false) => {
                    let what = "the connection broke before the commit".to_owned();
                    return Err(StoreError::Unreachable { place: self.place.clone(), what });
                }
                Err(error @ (StoreError::Unreachable { .. } | StoreError::Busy { .. }))
                    if self.outages.wait_for(began, failed, &error.to_string()) => {}
                Err(_) => break,
            }
        }
        Err(uncertain)
    }

    /// True if the ledger has this record. Whoever has the project's lock sees it: the server has
    /// ended the transaction that held the lock before.
    fn holds(&self, project: &str, head: Head) -> Result<bool, StoreError> {
        let session = Session::connect(self, self.outages.connecting)?;
        let mut running = Running::new(self, &session).in_transaction();
        running.run(&self.writing(project))?;
        if running.version()? == 0 {
            // The transaction would have made the tables.
            return Ok(false);
        }
        let kept = View::new(Box::new(running), project)?.entry(head.seq)?;
        Ok(kept.is_some_and(|sealed| sealed.hash == head.hash))
    }
}
