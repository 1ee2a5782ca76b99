//! Whether the work still means what it says: which files decide that, and what in
//! a change gets around the checks.

mod finding;
mod guarded;
mod language;
mod rule;
mod suite;
mod token;
mod view;

pub use finding::{Finding, Severity};
pub use guarded::{Guarded, guarded};
pub use language::Language;
pub use rule::{About, rules};
pub use view::Part;
