//! Whether the operator has approved what the project's settings say.
//!
//! A `gate.toml` names programs that gate starts, and says what the work has to pass:
//! all of it executes or weakens. So all of it is approved, by its digest
//! (`digest`), and what is approved is kept apart from the work (`approvals`, `texts`).
//! Where other settings stand there by now, what was approved decides.
//! What that means for one decision is `standing`'s; how hard it is to get around
//! all of it, `level`'s.
//!
//! Approving is the operator's act: `gate trust`, what `gate init` wrote, a file that
//! is named with `--config`, the machine's own `/etc/gate/gate.toml`, and `GATE_TRUST`.
//! No key of any file approves anything.

mod approvals;
mod approve;
mod digest;
mod given;
mod in_force;
mod level;
mod standing;
mod text;
mod texts;
mod told;

pub use approve::approve;
pub(crate) use approve::{Approved, withdraw};
pub(crate) use in_force::{settings_as_written, settings_in_force};
pub(crate) use level::{Claim, Level};
pub(crate) use standing::{Looked, Standing, Trust};

/// The code of an error: settings that nobody approved.
pub(crate) const NOT_TRUSTED: &str = "config-not-trusted";
