//! The records of a ledger, a line each.

pub mod card;
mod cost;

pub use cost::Costs;
