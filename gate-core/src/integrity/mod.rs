//! Finds changes that get around the checks instead of doing the work.
//!
//! [`Examiner`] compares changed files with what they were: guarded files ([`guarded`]), guarded
//! keys of manifests, tests one by one, and added lines by the rules of the pack `integrity`
//! ([`rules`]). [`weigh`] makes one outcome of all findings.

mod abstract_methods;
mod agents;
mod assertion_helper;
mod changed;
mod ci;
mod claim;
mod commands;
mod compare;
mod direction;
mod file_rules;
mod finding;
mod finding_list;
mod guarded;
mod inline_tests;
mod keys;
mod known_tests;
mod language;
mod lexer;
mod lines;
mod loaded;
mod outcome;
mod place;
mod rule;
mod shadowing;
mod statements;
mod test_edit;
mod test_names;
mod tests_in_source;
mod token;

#[cfg(test)]
mod tests;

pub use agents::AGENT_SETTINGS;
pub use assertion_helper::is_assertion_helper;
pub use changed::{Around, Changed};
pub use compare::Examiner;
pub use finding::{Finding, Severity};
pub use finding_list::{FindingList, capped};
pub use guarded::{Guarded, guarded, is_prose};
pub use inline_tests::{has_inline_tests, with_baseline_inline_tests};
pub use keys::{
    MergedManifest, decisive, idle_targets, merge_manifest, python_dependencies,
    selects_the_same_tests,
};
pub use language::Language;
pub use lexer::{Part, code_alone};
pub use loaded::loaded_by_itself;
pub use outcome::{Allowed, Weighed, weigh};
pub use rule::{
    About, CRITERION, GIT, HARNESS, HOOK, OUTSIDE, SUBMODULE, TOOL, UNCHANGED, UNSEEN,
    is_beyond_tests, rules,
};
pub use test_edit::{ChangedProduct, TestEdit, compare_test_edit};
pub use test_names::test_names;
pub use tests_in_source::tests_in_source;
