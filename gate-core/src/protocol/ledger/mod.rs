//! The ledger: what happened, in a chain that nobody can change unseen.
//!
//! Each record holds the hash of the one before it, and its own hash is BLAKE3
//! over its whole canonical JSON (RFC 8785), so that an edit of any field, a
//! removal, an insertion or another order breaks the chain at a record that can
//! be named. A tail that was cut off breaks nothing: that takes a [`Head`] that
//! is kept elsewhere.

mod body;
mod hash;
mod record;

pub use body::{Body, BodyError};
pub use hash::{BadHash, Hash};
pub use record::{Draft, Head, Record, Sealed, VERSION};
