//! The operator's approval of a project's settings.
//!
//! A `gate.toml` names programs that gate starts, and the conditions that the work has to
//! meet: each part of it can execute something or weaken gate. So the operator approves
//! all of it, by its digest (`digest`). Approvals and approved texts are kept apart from
//! the work (`approvals`, `approved_texts`). If the settings change without an approval,
//! the approved text decides. `trust_state` has the consequences for a decision, `level`
//! the trust levels.
//!
//! Only the operator approves: by `gate trust` or `gate init`, by a file after
//! `--config`, by the machine's own `/etc/gate/gate.toml`, or by `GATE_TRUST`. No key of
//! any file approves anything.

mod approvals;
mod approve;
mod approved_texts;
mod digest;
mod level;
mod message;
mod settings_text;
#[cfg(test)]
mod tests;
mod trust_state;

pub use approve::approve;
pub(crate) use approve::{Approved, withdraw};
pub(crate) use level::{Claim, Level};
pub(crate) use trust_state::{
    NearestApproval, Trust, TrustReport, TrustState, settings_as_written, settings_in_force,
};

/// The error code for settings that nobody approved.
pub(crate) const NOT_TRUSTED: &str = "config-not-trusted";
