//! Refusals of requests about work items.

use gate_core::Failure;
use gate_core::exit::WorkPhase;
use jiff::Timestamp;

use super::lease::LeaseState;

/// The fault for which a request about a work item is refused. Nothing has changed then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WorkError {
    /// There is no such item.
    #[error("work not found: {0}")]
    NotFound(String),
    /// An item with this id is there already.
    #[error("work already exists: {0}")]
    Exists(String),
    /// A name that cannot be kept.
    #[error("{subject} {fault}")]
    Unfit {
        /// Description of the name, such as `the work's id`.
        subject: &'static str,
        /// The fault, in words.
        fault: String,
    },
    /// The item is in another phase.
    #[error("invalid transition from {from} via {event}")]
    Invalid {
        /// The phase that it is in.
        from: WorkPhase,
        /// The refused event.
        event: &'static str,
    },
    /// No step leads there.
    #[error("transition from {from} to {to} is not allowed")]
    NotAllowed {
        /// The phase that it is in.
        from: WorkPhase,
        /// The phase that it was to go to.
        to: WorkPhase,
    },
    /// The step was taken already, or one before it was not.
    #[error(
        "sequence mismatch for work {id}: expected transition_count {expected}, event implies {implied}"
    )]
    Sequence {
        /// The item.
        id: String,
        /// The number of the next step.
        expected: u64,
        /// The number that it has.
        implied: u64,
    },
    /// A phase that no agent claims, such as one that waits for CI.
    #[error("work item {id} is in phase {phase}, which nobody claims")]
    NotClaimable {
        /// The item.
        id: String,
        /// Its phase.
        phase: WorkPhase,
    },
    /// Another actor has it.
    #[error("work item {id} already has an active lease: {lease}")]
    Leased {
        /// The item.
        id: String,
        /// The lease.
        lease: String,
    },
    /// There is no such lease: it never was, or the item was claimed anew since.
    #[error("lease not found: {0}")]
    LeaseNotFound(String),
    /// The lease is over.
    #[error("lease {lease} is already in terminal state: {state}")]
    LeaseOver {
        /// The lease.
        lease: String,
        /// Its final state.
        state: LeaseState,
    },
    /// The lease is another actor's.
    #[error("unauthorized operation on lease {lease}: actor {actor} is not the lease holder")]
    NotHolder {
        /// The lease.
        lease: String,
        /// The actor of the request.
        actor: String,
    },
    /// The lease would not end later than it does.
    #[error("renewal for lease {lease} must extend expiration: current={current}, new={requested}")]
    NotExtended {
        /// The lease.
        lease: String,
        /// When it expires.
        current: Timestamp,
        /// When it would expire.
        requested: Timestamp,
    },
    /// A record whose body does not fit its type.
    #[error("record {seq}: {fault}")]
    Unreadable {
        /// The record's number.
        seq: u64,
        /// The fault, in words.
        fault: String,
    },
}

impl From<WorkError> for Failure {
    fn from(error: WorkError) -> Self {
        use WorkError::{
            Exists, Invalid, LeaseNotFound, LeaseOver, Leased, NotAllowed, NotClaimable,
            NotExtended, NotFound, NotHolder, Sequence, Unreadable,
        };
        let code = match &error {
            NotFound(_) => "work-unknown",
            Exists(_) => "work-exists",
            Invalid { .. } | NotAllowed { .. } | NotClaimable { .. } | Sequence { .. } => {
                "work-phase"
            }
            Leased { .. } => "work-leased",
            LeaseNotFound(_) | LeaseOver { .. } => "lease-over",
            NotHolder { .. } => "lease-not-yours",
            NotExtended { .. } => "lease-not-extended",
            Unreadable { .. } => return Self::internal("state-corrupt", error.to_string()),
            _ => "usage",
        };
        Self::usage(code, error.to_string())
    }
}
