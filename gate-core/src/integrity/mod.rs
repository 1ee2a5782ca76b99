//! Finds changes that get around the checks instead of doing the work.
//!
//! [`Examiner`] compares changed files with what they were: what no run of tests shows. Of tests and
//! their settings it says nothing: the tests of the baseline run over the work. [`weigh`] makes one
//! outcome of all findings.

mod agents;
mod assertion_helper;
mod changed;
mod compare;
mod finding;
mod guarded;
mod inline_tests;
mod language;
mod lexer;
mod manifest;
mod named;
mod outcome;
mod own_settings;
mod renamed;
mod rule;
mod shadowing;
mod source_coding;
mod tests_in_source;
mod token;

#[cfg(test)]
mod tests;

pub use agents::AGENT_SETTINGS;
pub use assertion_helper::is_assertion_helper;
pub use changed::{ChangedFile, MakeTarget, Surroundings};
pub use compare::Examiner;
pub use finding::{Finding, FindingList, Severity, capped};
pub use guarded::{Guarded, guarded, is_prose, loaded_by_itself};
pub use inline_tests::{has_inline_tests, with_baseline_inline_tests};
pub use language::Language;
pub use lexer::code_alone;
pub use manifest::{MergedManifest, idle_targets, merge_manifest, python_dependencies};
pub use named::{files_named_by_tests, may_name_files};
pub use outcome::{Allowed, Weighed, weigh};
pub use own_settings::decisive_part;
pub use renamed::{ProductNames, with_new_names};
pub use rule::{
    CRITERION, GIT, HARNESS, HOOK, OUTSIDE, PROTECTED, RuleInfo, SUBMODULE, TOOL, UNSEEN, rules,
};
pub use tests_in_source::{SourceTest, test_names, tests_in_source};
