//! Formats that outlive a decision and that others read: nothing here knows
//! how transcripts are read or how a decision is made.

pub mod ledger;
