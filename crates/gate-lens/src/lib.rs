//! Looks back: what past transcripts and the records of decisions show.
//!
//! It knows transcripts, the decision and its records. Nothing here runs a check, opens a store or
//! decides about work that goes on.

// A test alone derives schemas: what gate prints are files. See gate-derive.
#[cfg(not(feature = "schemas"))]
extern crate gate_derive as schemars;

pub mod audit;
pub mod log;
pub mod loops;
pub mod read;
pub mod replay;
pub mod report;
pub mod share;
pub mod tune;
