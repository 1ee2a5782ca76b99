//! Settings: from text to a [`Policy`](crate::decide::policy::Policy).
//!
//! A [`Layer`] is one source of settings, read literally ([`RawConfig`]: every
//! key optional). [`resolve()`] lays them over each other, key by key, above the
//! embedded [`DEFAULT`], and builds the policy. Every error has its place (file,
//! line, column and key), the expected value, and the nearest known name.
//!
//! No function touches a file or the environment: the caller gives text and
//! variables.

mod backoff;
mod cross;
#[cfg(feature = "schemas")]
mod derived_schema;
mod error;
mod gone;
mod import;
mod key;
mod layer;
mod locate;
mod lock;
mod matcher;
mod merge;
mod nearest;
mod pack;
mod raw;
mod resolve;
mod schema;
mod serde_message;
mod show;
mod spelled;
mod table;
mod unit;
mod validate;

#[cfg(test)]
mod tests;

pub use backoff::Backoff;
#[cfg(feature = "schemas")]
pub use derived_schema::schema;
pub(crate) use error::Fault;
pub use error::{ConfigError, Excerpt, Problem};
pub use import::{Imported, import};
pub use layer::{Layer, MAX_SETTINGS_BYTES, Origin, environment};
pub use lock::{Lock, LockedAttempt};
pub use nearest::nearest as nearest_name;
pub(crate) use pack::breaker_rules;
pub use pack::{BREAKER_PACKS, PACKS, Pack, PackPattern, REPORTS, Rule, Sample};
pub use raw::*;
pub use resolve::{ConfigWarning, Resolved, Setting, resolve};
pub use show::show;
pub(crate) use table::settings;
pub use unit::{ByteSize, Dollars, Millis};

/// The embedded default: the lowest layer, and the documentation of every key.
pub const DEFAULT: &str = include_str!("default.toml");
