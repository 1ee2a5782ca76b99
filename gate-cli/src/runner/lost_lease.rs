//! The flag of a lease that its loop has lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Set if the lease is over or belongs to somebody else. Clones are the same flag.
#[derive(Clone, Debug, Default)]
pub(crate) struct LostLease(Arc<AtomicBool>);

impl LostLease {
    pub(super) fn note(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_lost(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
