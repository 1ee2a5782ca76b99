//! Whether the work still means what it says: which files decide that, and what in
//! a change gets around the checks.
//!
//! [`Examiner`] holds changed files against what they were: guarded files
//! ([`guarded`]), guarded keys of manifests, tests one by one,
//! and added lines by the rules of the pack `integrity` ([`rules`]). [`weigh`] says
//! what all findings come to.

mod examine;
mod finding;
mod guarded;
mod keys;
mod language;
mod lines;
mod place;
mod rule;
mod shadow;
mod suite;
mod token;
mod view;
mod weigh;

#[cfg(test)]
mod tests;

pub use examine::{Around, Changed, Examiner};
pub use finding::{Finding, Severity};
pub use guarded::{Guarded, guarded};
pub use keys::{decisive, idle_targets, python_dependencies};
pub use language::Language;
pub use rule::{About, CRITERION, GIT, HOOK, TOOL, UNCHANGED, UNSEEN, rules};
pub use view::Part;
pub use weigh::{Allowed, Weighed, weigh};
