//! Leases of work items: a claim, a renewal and a release change a row alone.

use std::time::{Duration, Instant};

use gate_fleet::work::{Lease, LeaseState, WorkError, actor, is_claimable};
use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

use super::super::Memory;
use super::again;
use super::verified_rows::{found, holds};
use crate::failure::Failure;
use crate::store::{Ask, Claimable, Item, Leases};

/// The wait after somebody else was faster.
const PAUSE: Duration = Duration::from_millis(20);

/// The longest sleep between two looks at a cancellation.
const MAX_POLL_INTERVAL: Duration = Duration::from_secs(1);

/// A claim.
#[derive(Clone, Copy, Debug)]
pub struct Claim<'a> {
    /// The claimant.
    pub actor: &'a str,
    /// The items to choose from.
    pub which: Claimable<'a>,
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
    /// The lease ends so long from now.
    Renewed(SignedDuration),
    Released,
}

impl Memory {
    /// Claims the next item; none if nothing can be claimed in time, or if `ended` returns true
    /// because nobody wants it any more.
    ///
    /// # Errors
    ///
    /// An actor's name that cannot be kept, a store that cannot be written, a row
    /// that its record contradicts.
    pub fn claim(
        &mut self,
        claim: &Claim<'_>,
        ended: &dyn Fn() -> bool,
    ) -> Result<Option<Item>, Failure> {
        actor(claim.actor)?;
        self.check_end()?;
        if let Some(id) = claim.which.id {
            self.work(id)?;
        }
        let until = Instant::now().checked_add(claim.wait);
        let left =
            || until.map_or(Duration::MAX, |at| at.saturating_duration_since(Instant::now()));
        loop {
            if let Some(item) = self.take(claim)? {
                return Ok(Some(item));
            }
            while self.is_idle(claim, left())? {
                if left().is_zero() || ended() {
                    return Ok(None);
                }
            }
            if left().is_zero() || ended() {
                return Ok(None);
            }
        }
    }

    /// Fails if the ledger has lost its end: nobody should work from an old state. Once is enough,
    /// because the work under a claim is compared again.
    fn check_end(&mut self) -> Result<(), Failure> {
        if !self.has_marked_record {
            self.retry_record(|memory| Ok(memory.view().map(drop)?))?;
            self.has_marked_record = true;
        }
        Ok(())
    }

    /// Why nobody can claim this item now; none if it can be claimed.
    ///
    /// # Errors
    ///
    /// None with this id, a store that cannot be read, a row that its record
    /// contradicts.
    pub fn unclaimable(&mut self, id: &str) -> Result<Option<WorkError>, Failure> {
        let (item, now) = self.retry(|memory| {
            let mut view = memory.view()?;
            Ok((found(&mut view, id)?, view.now()?))
        })?;
        let id = id.to_owned();
        let phase = item.work.state.phase;
        if !is_claimable(phase) {
            return Ok(Some(WorkError::NotClaimable { id, phase }));
        }
        let live = item.lease.filter(|lease| lease.state(now) == LeaseState::Active);
        Ok(live.map(|lease| WorkError::Leased { id, lease: lease.lease_id }))
    }

    /// Sleeps until something may be claimable. True if nothing is.
    fn is_idle(&mut self, claim: &Claim<'_>, left: Duration) -> Result<bool, Failure> {
        if left.is_zero() {
            return Ok(true);
        }
        match self.time_to_claimable(claim)? {
            Some(wait) if !wait.is_positive() => {
                // An item is there, and somebody else is just taking it, or it is ours.
                std::thread::sleep(PAUSE);
                return Ok(false);
            }
            wait => {
                let most = wait
                    .and_then(|wait| Duration::try_from(wait).ok())
                    .unwrap_or(MAX_POLL_INTERVAL);
                let at_most = most.min(MAX_POLL_INTERVAL).min(left);
                self.retry(|memory| Ok(memory.store.await_work(&memory.project, at_most)?))?;
            }
        }
        Ok(self.time_to_claimable(claim)?.is_none_or(|wait| wait.is_positive()))
    }

    /// The time until something can be claimed; none if nothing is going to be.
    fn time_to_claimable(&mut self, claim: &Claim<'_>) -> Result<Option<SignedDuration>, Failure> {
        let (now, at) = self.retry(|memory| {
            let mut view = memory.view()?;
            Ok((view.now()?, view.claimable_at(claim.which)?))
        })?;
        Ok(at.map(|at| at.duration_since(now)))
    }

    /// An item whose row differs from its records stays claimed, and is out of the way of others
    /// as long as that lease would last.
    fn take(&mut self, claim: &Claim<'_>) -> Result<Option<Item>, Failure> {
        let lease = claim.request.map_or_else(|| Uuid::now_v7().to_string(), str::to_owned);
        let ttl = ttl(claim.ttl)?;
        // The lease's id is the request's: an earlier request, or an earlier try, may have got an item.
        let mut may_have_item = claim.request.is_some();
        self.retry(|memory| {
            let mut leases = memory.lease()?;
            let now = leases.now()?;
            if !may_have_item
                && let Some(item) = leases.item_held(claim.actor, claim.which, now)?
                && holds(&mut leases, &item).is_ok()
            {
                let item = claim.extended(item, after(now, ttl)?, now, &mut leases)?;
                leases.commit()?;
                return Ok(Some(item));
            }
            let earlier = if may_have_item { leases.item_with_lease(&lease)? } else { None };
            if let Some(item) = &earlier {
                claim.is_answered_by(item, now)?;
            }
            let item = match earlier {
                Some(item) => Some(item),
                None => {
                    let until = after(now, ttl)?;
                    may_have_item = true;
                    let ask = Ask { lease: &lease, actor: claim.actor, now, until };
                    leases.claim(claim.which, ask)?
                }
            };
            let is_sound = item.as_ref().map_or(Ok(()), |item| holds(&mut leases, item));
            leases.commit()?;
            is_sound.map(|()| item)
        })
    }

    /// Renews a lease, which then ends so long from now.
    ///
    /// # Errors
    ///
    /// Nobody's or somebody else's lease, one that is over, one that would end
    /// earlier than it does.
    pub fn renew(&mut self, handed: LeaseRef<'_>, by: Duration) -> Result<Item, Failure> {
        self.change_lease(handed, LeaseChange::Renewed(ttl(by)?))
    }

    /// Gives a lease back.
    ///
    /// # Errors
    ///
    /// Nobody's or somebody else's lease, one that is over.
    pub fn release(&mut self, handed: LeaseRef<'_>) -> Result<Item, Failure> {
        self.change_lease(handed, LeaseChange::Released)
    }

    /// Puts another lease in the place of the one that somebody has.
    fn change_lease(&mut self, handed: LeaseRef<'_>, change: LeaseChange) -> Result<Item, Failure> {
        self.work(handed.work)?;
        let mut may_be_changed = false;
        self.retry(|memory| {
            again(|| {
                let mut leases = memory.lease()?;
                let item = found(&mut leases, handed.work)?;
                let now = leases.now()?;
                let before = handed.lease(&item)?;
                let is_released = before.actor_id == handed.actor && before.expires_at.is_none();
                let lease = match change {
                    LeaseChange::Renewed(by) => {
                        before.renewed(handed.actor, after(now, by)?, now)?
                    }
                    LeaseChange::Released if may_be_changed && is_released => return Ok(item),
                    LeaseChange::Released => before.released(handed.actor, now)?,
                };
                may_be_changed = true;
                leases.put_lease(&item, &lease, now)?;
                leases.commit()?;
                Ok(Item { lease: Some(lease), ..item })
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
        let held = item.lease.as_ref();
        let shorter = held.filter(|lease| lease.expires_at.is_some_and(|ends| ends < until));
        let Some(lease) = shorter else { return Ok(item) };
        let lease = lease.renewed(self.actor, until, now)?;
        leases.put_lease(&item, &lease, now)?;
        Ok(Item { lease: Some(lease), ..item })
    }

    /// Fails if the lease that this request got is over, or another actor's.
    fn is_answered_by(&self, item: &Item, now: Timestamp) -> Result<(), Failure> {
        let lease = item.lease.as_ref();
        lease.map_or(Ok(()), |lease| Ok(lease.is_held_by(self.actor, now)?))
    }
}

impl LeaseRef<'_> {
    /// The lease that it is about: the item's latest.
    pub(super) fn lease(&self, item: &Item) -> Result<Lease, Failure> {
        let lease = item
            .lease
            .as_ref()
            .filter(|lease| self.lease.is_none_or(|named| named == lease.lease_id));
        match (lease, self.lease) {
            (Some(lease), _) => Ok(lease.clone()),
            (None, Some(named)) => Err(WorkError::LeaseNotFound(named.to_owned()).into()),
            (None, None) => Err(WorkError::LeaseNotFound(format!("none of {}", self.work)).into()),
        }
    }
}

fn ttl(time: Duration) -> Result<SignedDuration, Failure> {
    let time = SignedDuration::try_from(time).ok().filter(|time| time.as_millis() > 0);
    time.ok_or_else(|| Failure::usage("usage", "a lease lasts a millisecond or more"))
}

fn after(now: Timestamp, time: SignedDuration) -> Result<Timestamp, Failure> {
    let at = now.checked_add(time).and_then(|at| Timestamp::from_millisecond(at.as_millisecond()));
    at.map_err(|_| Failure::usage("usage", "a lease has to end in this calendar"))
}
