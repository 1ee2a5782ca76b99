//! Check slots bound the checks that run at once on this machine, in all loops together.
//!
//! A slot is a file of the user's state folder that is locked while a check runs. The
//! system unlocks the file when the process is gone, however it ended. A waiting check
//! polls. No check waits for a second slot while it has one, so that no check waits for ever.

use std::fs::{File, TryLockError};
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;
use tokio::time::sleep;

use crate::cancellation::Cancellation;
use crate::site::CheckSite;
use crate::store;

/// The variable that all processes of a check have. A gate among them takes no slot: the
/// check has one, and would wait for itself.
pub(crate) const IN_CHECK: &str = "_GATE_CHECK_SLOT";

/// Time between two attempts to get a slot.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The slots of a machine, as far as these checks are bound to them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Slots {
    #[serde(with = "crate::path_text")]
    folder: PathBuf,
    /// Number of slots.
    pub(crate) count: u32,
}

/// A slot that is held until this is dropped.
#[derive(Debug)]
pub(crate) struct Slot(#[expect(dead_code, reason = "closed, it is unlocked")] Option<File>);

impl Slots {
    /// The slots at a site. `None` if there is no bound or no state, or if this gate runs within a
    /// check that has a slot.
    pub(crate) fn at(site: &CheckSite, count: u32) -> Option<Self> {
        let folder = site.slots.clone()?;
        let is_bound = count > 0 && site.variable(IN_CHECK).is_none();
        is_bound.then_some(Self { folder, count })
    }

    /// Waits for a slot; `None` if the check is cancelled. Calls `on_wait` once, if no slot is free at
    /// first.
    pub(crate) async fn take(&self, cancel: &Cancellation, on_wait: impl FnOnce()) -> Option<Slot> {
        let mut on_wait = Some(on_wait);
        loop {
            match self.try_take() {
                Ok(Some(slot)) => return Some(slot),
                // A folder that cannot be used keeps no check from running.
                Err(_) => return Some(Slot(None)),
                Ok(None) => {}
            }
            if let Some(on_wait) = on_wait.take() {
                on_wait();
            }
            tokio::select! {
                () = cancel.cancelled() => return None,
                () = sleep(POLL_INTERVAL) => {}
            }
        }
    }

    fn try_take(&self) -> io::Result<Option<Slot>> {
        store::make_folder(&self.folder)?;
        for number in 0..self.count {
            let path = self.folder.join(number.to_string());
            let file = File::options().create(true).append(true).open(path)?;
            match file.try_lock() {
                Ok(()) => return Ok(Some(Slot(Some(file)))),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use tokio::runtime::Builder;

    use super::*;
    use crate::cancellation::{CancelReason, Grace};

    fn slots(site: &CheckSite) -> Slots {
        Slots::at(site, 2).unwrap()
    }

    #[test]
    fn there_are_as_many_slots_as_the_settings_say_and_each_comes_back() {
        let folder = tempfile::tempdir().unwrap();
        let site = CheckSite { slots: Some(folder.path().join("slots")), ..CheckSite::new("/p") };
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let cancel = Cancellation::default();
            let one = slots(&site).take(&cancel, || panic!("one is free")).await.unwrap();
            let two = slots(&site).take(&cancel, || panic!("one is free")).await.unwrap();
            let soon = cancel.clone();
            assert!(
                slots(&site)
                    .take(&cancel, move || soon.cancel(CancelReason::Unwanted, Grace::Usual))
                    .await
                    .is_none()
            );
            drop(one);
            let again = Cancellation::default();
            assert!(slots(&site).take(&again, || panic!("one is free")).await.is_some());
            drop(two);
        });
    }

    #[test]
    fn no_bound_no_state_and_a_check_of_a_gate_have_none() {
        let site = CheckSite { slots: Some("/s".into()), ..CheckSite::new("/p") };
        assert!(Slots::at(&site, 1).is_some());
        assert_eq!(Slots::at(&site, 0), None);
        assert_eq!(Slots::at(&CheckSite::new("/p"), 1), None);
        let environment = vec![(IN_CHECK.to_owned(), "1".to_owned())];
        assert_eq!(Slots::at(&CheckSite { environment, ..site }, 1), None);
    }

    #[test]
    fn a_folder_that_cannot_be_made_keeps_no_check_from_running() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let site = CheckSite { slots: Some(file.path().join("slots")), ..CheckSite::new("/p") };
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let cancel = Cancellation::default();
        let slot = runtime.block_on(slots(&site).take(&cancel, || ()));
        assert!(slot.is_some());
    }
}
