//! Formats that outlive a decision and that others read: nothing here knows
//! how transcripts are read or how a decision is made.

pub mod bus;
pub mod exit;
pub mod fact;
pub mod handoff;
pub mod ledger;
pub mod run;
mod stamp;
pub mod work;
mod yaml;

pub use stamp::Stamp;
pub use yaml::YamlError;
