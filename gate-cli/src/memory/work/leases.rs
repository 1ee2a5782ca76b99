//! Leases of work items: a claim, a renewal and a release change a row alone.

use std::time::{Duration, Instant};

use gate_fleet::work::{Lease, LeaseState, WorkError, check_actor, is_claimable};
use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

use super::super::Memory;
use super::retry_if_busy;
use super::verified_rows::{verified_item, verify};
use crate::failure::Failure;
use crate::store::{Claimable, Item, LeaseRequest, Leases};

/// The wait after another claimant was faster.
const PAUSE: Duration = Duration::from_millis(20);

/// The longest sleep between two looks at a cancellation.
const MAX_POLL_INTERVAL: Duration = Duration::from_secs(1);

/// A claim.
#[derive(Clone, Copy, Debug)]
pub struct Claim<'a> {
    /// The claimant.
    pub actor: &'a str,
    /// The items to choose from.
    pub selection: Claimable<'a>,
    /// The lifetime of the lease.
    pub ttl: Duration,
    /// The longest wait for an item.
    pub wait: Duration,
    /// The request's id, which becomes the lease's: another claim with it gets the same item.
    /// Without one, who holds an item already gets that one again.
    pub request: Option<&'a str>,
}

/// The lease of an item, as its holder names it.
#[non_exhaustive]
#[derive(Clone, Copy, Debug)]
pub struct LeaseRef<'a> {
    /// The item.
    pub work: &'a str,
    /// The lease's id, if the holder names it.
    pub lease: Option<&'a str>,
    /// The lease's holder.
    pub actor: &'a str,
}

/// A change of a lease by its holder.
#[derive(Clone, Copy, Debug)]
enum LeaseChange {
    /// The lease ends after this time from now.
    Renewed(SignedDuration),
    Released,
}

impl Memory {
    /// Claims the next item; `None` if nothing can be claimed in time, or if `is_cancelled` returns
    /// true because nobody wants it any more.
    ///
    /// # Errors
    ///
    /// An actor's name that cannot be kept, a store that cannot be written, a row
    /// that its record contradicts.
    pub fn claim(
        &mut self,
        claim: &Claim<'_>,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<Option<Item>, Failure> {
        check_actor(claim.actor)?;
        self.require_whole_ledger()?;
        if let Some(id) = claim.selection.id {
            self.work(id)?;
        }
        let deadline = Instant::now().checked_add(claim.wait);
        // A wait beyond the clock's range has no end.
        let remaining =
            || deadline.map_or(Duration::MAX, |end| end.saturating_duration_since(Instant::now()));
        loop {
            if let Some(item) = self.try_claim(claim)? {
                return Ok(Some(item));
            }
            loop {
                let may_be_claimable = self.await_claimable(claim, remaining())?;
                if remaining().is_zero() || is_cancelled() {
                    return Ok(None);
                }
                if may_be_claimable {
                    break;
                }
            }
        }
    }

    /// Fails if the ledger has lost its end: nobody should work from an old state. Once is enough,
    /// because the work under a claim is compared again.
    fn require_whole_ledger(&mut self) -> Result<(), Failure> {
        if !self.has_marked_record {
            self.retry_record(|memory| Ok(memory.view().map(drop)?))?;
            self.has_marked_record = true;
        }
        Ok(())
    }

    /// The reason why nobody can claim this item now; `None` if it can be claimed.
    ///
    /// # Errors
    ///
    /// No item with this id, a store that cannot be read, a row that its record
    /// contradicts.
    pub fn unclaimable(&mut self, id: &str) -> Result<Option<WorkError>, Failure> {
        let (item, now) = self.retry(|memory| {
            let mut view = memory.view()?;
            Ok((verified_item(&mut view, id)?, view.now()?))
        })?;
        let id = id.to_owned();
        let phase = item.work.state.phase;
        if !is_claimable(phase) {
            return Ok(Some(WorkError::NotClaimable { id, phase }));
        }
        let active_lease = item.lease.filter(|lease| lease.state(now) == LeaseState::Active);
        Ok(active_lease.map(|lease| WorkError::Leased { id, lease: lease.lease_id }))
    }

    /// Sleeps until an item may be claimable, but for a short time at most. Returns false if there
    /// is still nothing to claim.
    fn await_claimable(&mut self, claim: &Claim<'_>, max_sleep: Duration) -> Result<bool, Failure> {
        if max_sleep.is_zero() {
            return Ok(false);
        }
        match self.time_to_claimable(claim)? {
            Some(time) if !time.is_positive() => {
                // An item is there, and somebody else is just taking it, or it is ours.
                std::thread::sleep(PAUSE);
                return Ok(true);
            }
            time => {
                let sleep = time
                    .and_then(|time| Duration::try_from(time).ok())
                    .unwrap_or(MAX_POLL_INTERVAL)
                    .min(MAX_POLL_INTERVAL)
                    .min(max_sleep);
                self.retry(|memory| Ok(memory.store.await_work(&memory.project, sleep)?))?;
            }
        }
        Ok(self.time_to_claimable(claim)?.is_some_and(|time| !time.is_positive()))
    }

    /// The time until an item can be claimed; `None` if no lease is going to end.
    fn time_to_claimable(&mut self, claim: &Claim<'_>) -> Result<Option<SignedDuration>, Failure> {
        let (now, claimable_at) = self.retry(|memory| {
            let mut view = memory.view()?;
            Ok((view.now()?, view.claimable_at(claim.selection)?))
        })?;
        Ok(claimable_at.map(|time| time.duration_since(now)))
    }

    /// Claims an item if one is free. An item whose row differs from its records stays claimed, and
    /// is out of the way of others as long as that lease would last.
    fn try_claim(&mut self, claim: &Claim<'_>) -> Result<Option<Item>, Failure> {
        let lease = claim.request.map_or_else(|| Uuid::now_v7().to_string(), str::to_owned);
        let ttl = lease_duration(claim.ttl)?;
        // The lease's id is the request's: an earlier request, or an earlier try, may have got an item.
        let mut may_have_item = claim.request.is_some();
        self.retry(|memory| {
            let mut leases = memory.begin_leases()?;
            let now = leases.now()?;
            if !may_have_item
                && let Some(item) = leases.item_held(claim.actor, claim.selection, now)?
                && verify(&mut leases, &item).is_ok()
            {
                let item = claim.extended(item, lease_end(now, ttl)?, now, &mut leases)?;
                leases.commit()?;
                return Ok(Some(item));
            }
            let claimed_before = if may_have_item { leases.item_with_lease(&lease)? } else { None };
            let item = match claimed_before {
                Some(item) => {
                    claim.is_answered_by(&item, now)?;
                    Some(item)
                }
                None => {
                    let until = lease_end(now, ttl)?;
                    // If the answer to this change is lost, the next try finds its item.
                    may_have_item = true;
                    let request = LeaseRequest { lease: &lease, actor: claim.actor, now, until };
                    leases.claim(claim.selection, request)?
                }
            };
            let verified = item.as_ref().map_or(Ok(()), |item| verify(&mut leases, item));
            leases.commit()?;
            verified.map(|()| item)
        })
    }

    /// Renews a lease, which then ends after this time from now.
    ///
    /// # Errors
    ///
    /// Nobody's or somebody else's lease, one that is over, one that would end
    /// earlier than it does.
    pub fn renew(&mut self, lease_ref: LeaseRef<'_>, ttl: Duration) -> Result<Item, Failure> {
        self.change_lease(lease_ref, LeaseChange::Renewed(lease_duration(ttl)?))
    }

    /// Gives a lease back.
    ///
    /// # Errors
    ///
    /// Nobody's or somebody else's lease, one that is over.
    pub fn release(&mut self, lease_ref: LeaseRef<'_>) -> Result<Item, Failure> {
        self.change_lease(lease_ref, LeaseChange::Released)
    }

    /// Puts another lease in the place of the one that somebody has.
    fn change_lease(
        &mut self,
        lease_ref: LeaseRef<'_>,
        change: LeaseChange,
    ) -> Result<Item, Failure> {
        let LeaseRef { work, actor, .. } = lease_ref;
        self.work(work)?;
        let mut may_be_changed = false;
        self.retry(|memory| {
            retry_if_busy(|| {
                let mut leases = memory.begin_leases()?;
                let item = verified_item(&mut leases, work)?;
                let now = leases.now()?;
                let old_lease = lease_ref.lease(&item)?;
                let is_released = old_lease.actor_id == actor && old_lease.expires_at.is_none();
                let new_lease = match change {
                    LeaseChange::Renewed(ttl) => {
                        old_lease.renewed(actor, lease_end(now, ttl)?, now)?
                    }
                    // An earlier try has released it, and only its answer was lost.
                    LeaseChange::Released if may_be_changed && is_released => return Ok(item),
                    LeaseChange::Released => old_lease.released(actor, now)?,
                };
                may_be_changed = true;
                leases.put_lease(&item, &new_lease, now)?;
                leases.commit()?;
                Ok(Item { lease: Some(new_lease), ..item })
            })
        })
    }
}

impl Claim<'_> {
    /// An item that its claimant holds, for as long as a new claim would last.
    fn extended(
        &self,
        item: Item,
        until: Timestamp,
        now: Timestamp,
        leases: &mut Leases<'_>,
    ) -> Result<Item, Failure> {
        let lease = item.lease.as_ref();
        let shorter_lease = lease.filter(|lease| lease.expires_at.is_some_and(|end| end < until));
        let Some(old_lease) = shorter_lease else { return Ok(item) };
        let new_lease = old_lease.renewed(self.actor, until, now)?;
        leases.put_lease(&item, &new_lease, now)?;
        Ok(Item { lease: Some(new_lease), ..item })
    }

    /// Fails if the lease that this request got is over, or another actor's.
    fn is_answered_by(&self, item: &Item, now: Timestamp) -> Result<(), Failure> {
        let lease = item.lease.as_ref();
        lease.map_or(Ok(()), |lease| Ok(lease.check_holder(self.actor, now)?))
    }
}

impl LeaseRef<'_> {
    /// The lease that it is about: the item's latest.
    pub(super) fn lease(&self, item: &Item) -> Result<Lease, Failure> {
        let lease = item
            .lease
            .as_ref()
            .filter(|lease| self.lease.is_none_or(|lease_id| lease_id == lease.lease_id));
        match (lease, self.lease) {
            (Some(lease), _) => Ok(lease.clone()),
            (None, Some(lease_id)) => Err(WorkError::LeaseNotFound(lease_id.to_owned()).into()),
            (None, None) => Err(WorkError::LeaseNotFound(format!("none of {}", self.work)).into()),
        }
    }
}

fn lease_duration(ttl: Duration) -> Result<SignedDuration, Failure> {
    let duration = SignedDuration::try_from(ttl).ok();
    duration
        .filter(|duration| duration.as_millis() > 0)
        .ok_or_else(|| Failure::usage("usage", "a lease lasts a millisecond or more"))
}

/// The end of a lease, in the whole milliseconds that a row holds.
fn lease_end(now: Timestamp, ttl: SignedDuration) -> Result<Timestamp, Failure> {
    now.checked_add(ttl)
        .and_then(|end| Timestamp::from_millisecond(end.as_millisecond()))
        .map_err(|_| Failure::usage("usage", "a lease has to end in this calendar"))
}
