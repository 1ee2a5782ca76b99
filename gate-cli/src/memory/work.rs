//! Work items: who has which, and the steps that they take.
//!
//! A claim, a renewal and a release change a row alone. A step is a record, and
//! the row follows it in the same transaction: what no record says is believed
//! of no row.

mod verified_rows;

use std::time::{Duration, Instant};

use gate_core::exit::{ExitHandlerError, ExitSignal, Session, WorkPhase};
use gate_core::ledger::{Body, Draft};
use gate_fleet::work::{
    Added, CI_PROCESSOR, Cause, Ended, ItemState, Lease, LeaseState, Moved, Step, WorkError,
    WorkItem, actor, is_claimable, kind,
};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use uuid::Uuid;

pub(super) use self::verified_rows::all;
use self::verified_rows::{found, holds};
use super::{Memory, body};
use crate::failure::Failure;
use crate::operator::Operator;
use crate::store::{Ask, Claimable, Item, Transaction};

/// Tries of a change that others get in the way of.
const TRIES: usize = 8;

/// The wait after somebody else was faster.
const PAUSE: Duration = Duration::from_millis(20);

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
}

/// An item in somebody's hands, as they say.
#[derive(Clone, Copy, Debug)]
pub struct LeaseRef<'a> {
    /// The item.
    pub work: &'a str,
    /// The lease, where they name it.
    pub lease: Option<&'a str>,
    /// The lease's holder.
    pub actor: &'a str,
}

/// A change of a lease by its holder.
#[derive(Clone, Copy, Debug)]
enum LeaseChange {
    /// It ends so long from now.
    Renewed(SignedDuration),
    Released,
}

/// An accepted exit signal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submitted {
    /// The item, in its next phase.
    pub item: Item,
    /// The signal.
    pub signal: ExitSignal,
    /// The record of it.
    pub seq: u64,
}

impl Memory {
    /// Adds an item. Without an actor it is the operator's act.
    ///
    /// # Errors
    ///
    /// An item with its id, an actor's name that cannot be kept, a store that
    /// cannot be written.
    pub fn add_work(&mut self, work: &WorkItem, by: Option<&str>) -> Result<Item, Failure> {
        let by = actor_of(by)?;
        let added = body::body(&Added::new(work))?;
        let mut transaction = self.begin()?;
        let seq = transaction.append(draft(kind::ADDED, &by, added))?.record.seq;
        if !transaction.add_item(work, seq)? {
            return Err(WorkError::Exists(work.id.clone()).into());
        }
        transaction.commit()?;
        Ok(Item { work: work.clone(), added: seq, seq, lease: None })
    }

    /// The item with this id.
    ///
    /// # Errors
    ///
    /// None with this id, a store that cannot be read, a row that its record
    /// contradicts.
    pub fn work(&mut self, id: &str) -> Result<Item, Failure> {
        found(&mut *self.read()?, id)
    }

    /// The items in the order of their adding, those that are wanted.
    ///
    /// # Errors
    ///
    /// A store that cannot be read.
    pub fn works(&mut self, wanted: impl Fn(&Item) -> bool) -> Result<Vec<Item>, Failure> {
        all(&mut *self.read()?, wanted)
    }

    /// The time by the clock that leases run by.
    ///
    /// # Errors
    ///
    /// A store that cannot be read.
    pub fn lease_time(&mut self) -> Result<Timestamp, Failure> {
        Ok(self.read()?.now()?)
    }

    /// Claims the next item; none where nothing can be claimed in time, or where
    /// `ended` says that nobody wants it any more.
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

    /// Why nobody can claim this item now, where that is so.
    ///
    /// # Errors
    ///
    /// None with this id, a store that cannot be read, a row that its record
    /// contradicts.
    pub fn unclaimable(&mut self, id: &str) -> Result<Option<WorkError>, Failure> {
        let mut view = self.read()?;
        let (item, now, id) = (found(&mut *view, id)?, view.now()?, id.to_owned());
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
                // It is there, and somebody else is just taking it, or it is ours.
                std::thread::sleep(PAUSE);
                return Ok(false);
            }
            wait => {
                let most = wait
                    .and_then(|wait| Duration::try_from(wait).ok())
                    .unwrap_or(MAX_POLL_INTERVAL);
                self.store.await_work(&self.project, most.min(MAX_POLL_INTERVAL).min(left))?;
            }
        }
        Ok(self.time_to_claimable(claim)?.is_none_or(|wait| wait.is_positive()))
    }

    /// The time until something can be claimed; none if nothing is going to be.
    fn time_to_claimable(&mut self, claim: &Claim<'_>) -> Result<Option<SignedDuration>, Failure> {
        let mut view = self.read()?;
        let (now, at) = (view.now()?, view.claimable_at(claim.which)?);
        Ok(at.map(|at| at.duration_since(now)))
    }

    /// An item whose records do not say what its row does stays claimed, and is out of
    /// the way of others as long as that lease would hold.
    fn take(&mut self, claim: &Claim<'_>) -> Result<Option<Item>, Failure> {
        let lease = Uuid::now_v7().to_string();
        let ttl = ttl(claim.ttl)?;
        let mut leases = self.lease()?;
        let now = leases.now()?;
        let until = after(now, ttl)?;
        let ask = Ask { lease: &lease, actor: claim.actor, now, until };
        let item = leases.claim(claim.which, ask)?;
        let is_sound = item.as_ref().map_or(Ok(()), |item| holds(&mut *leases, item));
        leases.commit()?;
        is_sound.map(|()| item)
    }

    /// Lets a lease hold for so long from now.
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
        again(|| {
            let mut leases = self.lease()?;
            let item = found(&mut *leases, handed.work)?;
            let now = leases.now()?;
            let before = handed.lease(&item)?;
            let lease = match change {
                LeaseChange::Renewed(by) => before.renewed(handed.actor, after(now, by)?, now)?,
                LeaseChange::Released => before.released(handed.actor, now)?,
            };
            leases.put_lease(&item, &lease, now)?;
            leases.commit()?;
            Ok(Item { lease: Some(lease), ..item })
        })
    }

    /// Accepts an exit signal: it is recorded, the item goes to its next phase and
    /// the lease is over, or nothing of it.
    ///
    /// # Errors
    ///
    /// Nobody's or somebody else's lease, one that is over, a signal that is
    /// invalid or of another phase. Nothing is written then.
    pub fn submit(
        &mut self,
        handed: LeaseRef<'_>,
        signal: &ExitSignal,
    ) -> Result<Submitted, Failure> {
        // A signal that is refused touches nothing, not even to undo it.
        let mut view = self.read()?;
        handed.ends(&found(&mut *view, handed.work)?, signal, view.now()?)?;
        drop(view);
        let (item, seq) = again(|| {
            let mut transaction = self.begin()?;
            let item = found(&mut *transaction, handed.work)?;
            let ended = handed.ends(&item, signal, transaction.now()?)?;
            let body = body::masked(&ended)?;
            stepped(transaction, item, &ended.work, (kind::ENDED, handed.actor, body))
        })?;
        Ok(Submitted { item, signal: signal.clone(), seq })
    }

    /// Lets a blocked item go on: in the phase that it was blocked in, or in one
    /// before it.
    ///
    /// # Errors
    ///
    /// An item that is not blocked, a phase beyond.
    pub fn unblock(
        &mut self,
        id: &str,
        to: Option<WorkPhase>,
        (by, reason): (Option<&str>, Option<&str>),
    ) -> Result<Item, Failure> {
        let by = actor_of(by)?;
        self.moved(id, &by, reason, |state| match to {
            Some(phase) => state.back_to(id, phase),
            None => state.step(id, Cause::Unblocked),
        })
    }

    /// Takes what continuous integration came to.
    ///
    /// # Errors
    ///
    /// An item that does not wait for it.
    pub fn ci(&mut self, id: &str, passed: bool, reason: Option<&str>) -> Result<Item, Failure> {
        let cause = if passed { Cause::CiPassed } else { Cause::CiFailed };
        self.moved(id, CI_PROCESSOR, reason, |state| state.step(id, cause))
    }

    /// Takes a step that no signal makes.
    fn moved(
        &mut self,
        id: &str,
        by: &str,
        reason: Option<&str>,
        step: impl Fn(&ItemState) -> Result<Step, WorkError>,
    ) -> Result<Item, Failure> {
        step(&self.work(id)?.work.state)?;
        let (item, _) = again(|| {
            let mut transaction = self.begin()?;
            let item = found(&mut *transaction, id)?;
            let moved = Moved { work: step(&item.work.state)?, reason: reason.map(str::to_owned) };
            let body = body::masked(&moved)?;
            stepped(transaction, item, &moved.work, (kind::MOVED, by, body))
        })?;
        Ok(item)
    }

    /// The notes or the reason of the item's latest step: from the agent before, from CI, or from
    /// the person who unblocked it.
    ///
    /// # Errors
    ///
    /// A store that cannot be read.
    pub fn said_of(&mut self, item: &Item) -> Result<Option<String>, Failure> {
        let sealed = self.read()?.entry(item.seq)?;
        let body = sealed.as_ref().map(|sealed| &sealed.record.body);
        let notes = body.and_then(|body| body.get("event")?.get("notes"));
        let said =
            notes.or_else(|| body.and_then(|body| body.get("reason"))).and_then(Value::as_str);
        Ok(said.map(str::to_owned))
    }
}

/// The longest sleep between two looks at a cancellation.
const MAX_POLL_INTERVAL: Duration = Duration::from_secs(1);

impl LeaseRef<'_> {
    /// The lease that it is about: the item's latest.
    fn lease(&self, item: &Item) -> Result<Lease, Failure> {
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

    /// The record of a phase that a signal ends.
    fn ends(&self, item: &Item, signal: &ExitSignal, now: Timestamp) -> Result<Ended, Failure> {
        let lease = self.lease(item)?;
        lease.is_held_by(self.actor, now)?;
        let state = item.work.state;
        let session = Session {
            session_id: lease.lease_id,
            actor_id: lease.actor_id,
            active_phase: Some(state.phase).filter(|phase| is_claimable(*phase)),
        };
        let result = session.accept(signal.clone(), now, Uuid::now_v7());
        let result = result.map_err(|error: ExitHandlerError| {
            Failure::usage("exit-signal-refused", error.to_string())
        })?;
        let work = state.step(&item.work.id, signal.exit_reason.into())?;
        Ok(Ended { event: result.event, work })
    }
}

/// Records a step, and lets the item follow it.
fn stepped(
    mut transaction: Transaction<'_>,
    item: Item,
    step: &Step,
    (kind, by, body): (&str, &str, Body),
) -> Result<(Item, u64), Failure> {
    let after = item.work.state.taken(step, by)?;
    let seq = transaction.append(draft(kind, by, body))?.record.seq;
    transaction.move_item(&item, &after, seq)?;
    transaction.commit()?;
    let lease = item.lease.map(|lease| Lease { expires_at: None, ..lease });
    let work = WorkItem { state: after, ..item.work };
    Ok((Item { work, seq, lease, ..item }, seq))
}

/// Does it again where others have changed the item meanwhile.
fn again<T>(mut work: impl FnMut() -> Result<T, Failure>) -> Result<T, Failure> {
    for _ in 1..TRIES {
        match work() {
            Err(failure) if failure.code == "state-busy" => {}
            done => return done,
        }
    }
    work()
}

pub(super) fn draft(kind: &str, actor: &str, body: Body) -> Draft {
    let (time, kind, actor) = (Timestamp::now().to_string(), kind.to_owned(), actor.to_owned());
    Draft { time, kind, run: None, actor, body }
}

/// The named actor, or the operator of this process.
fn actor_of(named: Option<&str>) -> Result<String, Failure> {
    let Some(named) = named else { return Ok(Operator::from_process().actor()) };
    actor(named)?;
    Ok(named.to_owned())
}

fn ttl(time: Duration) -> Result<SignedDuration, Failure> {
    let time = SignedDuration::try_from(time).ok().filter(|time| time.as_millis() > 0);
    time.ok_or_else(|| Failure::usage("usage", "a lease lasts a millisecond or more"))
}

fn after(now: Timestamp, time: SignedDuration) -> Result<Timestamp, Failure> {
    let at = now.checked_add(time).and_then(|at| Timestamp::from_millisecond(at.as_millisecond()));
    at.map_err(|_| Failure::usage("usage", "a lease has to end in this calendar"))
}
