//! Leases: a work item in one agent's hands, for a time.

use std::fmt;

use jiff::Timestamp;

use super::WorkError;

/// The state of a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseState {
    /// Its holder works.
    Active,
    /// Its holder gave it back, or ended the phase.
    Released,
    /// Its time is over, and anybody may claim the item.
    Expired,
}

/// A work item in one agent's hands. An item has one lease, the latest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// Its id.
    pub lease_id: String,
    /// The item.
    pub work_id: String,
    /// Its holder.
    pub actor_id: String,
    /// When it was given.
    pub issued_at: Timestamp,
    /// When it ends by itself; `None` if it was released.
    pub expires_at: Option<Timestamp>,
    /// Number of renewals.
    pub renewal_count: u64,
}

impl LeaseState {
    /// Its name.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Active => "ACTIVE",
            Self::Released => "RELEASED",
            Self::Expired => "EXPIRED",
        }
    }
}

impl fmt::Display for LeaseState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Lease {
    /// The state at a time. A lease has expired at the moment of its expiry.
    pub fn state(&self, now: Timestamp) -> LeaseState {
        match self.expires_at {
            None => LeaseState::Released,
            Some(expiry) if now >= expiry => LeaseState::Expired,
            Some(_) => LeaseState::Active,
        }
    }

    /// Checks that this actor holds it.
    ///
    /// # Errors
    ///
    /// A lease that is over, another holder's.
    pub fn check_holder(&self, actor: &str, now: Timestamp) -> Result<(), WorkError> {
        let lease = self.lease_id.clone();
        match self.state(now) {
            LeaseState::Active if self.actor_id == actor => Ok(()),
            LeaseState::Active => Err(WorkError::NotHolder { lease, actor: actor.to_owned() }),
            state => Err(WorkError::LeaseOver { lease, state }),
        }
    }

    /// The lease with a later end.
    ///
    /// # Errors
    ///
    /// A lease that is over, another holder's, an end that is not later.
    pub fn renewed(
        &self,
        actor: &str,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<Self, WorkError> {
        self.check_holder(actor, now)?;
        let lease = self.lease_id.clone();
        if let Some(current) = self.expires_at
            && until <= current
        {
            return Err(WorkError::NotExtended { lease, current, requested: until });
        }
        let renewal_count = self.renewal_count + 1;
        Ok(Self { expires_at: Some(until), renewal_count, ..self.clone() })
    }

    /// The lease, given back.
    ///
    /// # Errors
    ///
    /// A lease that is over, another holder's.
    pub fn released(&self, actor: &str, now: Timestamp) -> Result<Self, WorkError> {
        self.check_holder(actor, now)?;
        Ok(Self { expires_at: None, ..self.clone() })
    }
}
