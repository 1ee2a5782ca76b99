//! Work items: tasks, each with the phase that it is in and the agent that has it.
//!
//! An item goes through the phases of the exit protocol
//! ([`WorkPhase`](gate_core::exit::WorkPhase)). Agents claim it for a phase; a [`Lease`] is theirs
//! alone until they release it or it expires. A valid exit signal ends the phase. Each [`Step`]
//! from one phase to another is a record of the ledger, and [`ReplayedItems`] checks that records
//! follow from each other: a step counts once, and leads only to the phases of the protocol.
//!
//! ```
//! use gate_fleet::work::{Cause, ItemState};
//! use gate_core::exit::WorkPhase;
//!
//! let draft = ItemState::added(WorkPhase::Draft);
//! let step = draft.step("W-1", Cause::Completed)?;
//! let moved = draft.after_step(&step, "agent-7")?;
//! assert_eq!(moved.phase, WorkPhase::Implementation);
//! assert!(moved.after_step(&step, "agent-7").is_err(), "it was taken already");
//! # Ok::<(), gate_fleet::work::WorkError>(())
//! ```
//!
//! No function keeps state: time and earlier state are parameters.

mod card;
mod error;
mod events;
mod lease;
mod name;
mod record;
mod replay;
mod state;
#[cfg(test)]
mod tests;

pub use card::{held_again, work_card, work_list};
pub use error::WorkError;
pub use events::{Added, Ended, Moved, kind};
pub use lease::{Lease, LeaseState};
pub use name::{MAX_DESCRIPTION, MAX_NAME, MAX_TITLE, WorkItem, check_actor};
pub use record::{LeaseRecord, StoredItem, WorkList, WorkRecord};
pub use replay::{ReplayedItem, ReplayedItems};
pub use state::{CI_PROCESSOR, CLAIMABLE, Cause, ItemState, Step, is_claimable};
