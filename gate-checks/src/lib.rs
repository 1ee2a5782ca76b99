//! Gathers the evidence that [`gate_core`] weighs.
//!
//! [`gather`] takes a policy and runs its checks at a [`CheckSite`]. Every
//! configured check leaves one record, and none of them is a bool: a check that
//! gives no answer is inconclusive. Whoever shows progress gets an [`Event`] for
//! each step.
//!
//! * [`baseline`]: the work tree before the agent acted;
//! * [`check`]: the interface of checks, and their input;
//! * [`process`]: programs, bounded and ended with all their descendants;
//! * [`report`]: test results, structured;
//! * [`worktree`]: the files of the work, and their digest;
//! * [`path_text`]: paths in JSON;
//! * [`project`]: the commands that check a project.
#![doc = include_str!("../README.md")]

// A test alone derives schemas: what gate prints are files. See gate-derive.
#[cfg(not(feature = "schemas"))]
extern crate gate_derive as schemars;

pub mod baseline;
mod cache;
mod cancellation;
pub mod check;
mod checks;
mod control;
mod copy;
mod decorate;
mod disk_usage;
mod doctor;
mod event;
mod failure;
mod gather;
mod id;
mod logs;
pub mod path_text;
pub mod process;
mod programs;
pub mod project;
mod prune;
mod remove;
mod schedule;
mod scripts;
mod seal;
mod settings;
mod site;
mod slots;
mod store;
mod temporary;
mod too_long;
mod workspace;
pub mod worktree;

pub use cancellation::{CancelReason, Cancellation, Grace};
pub use check::{Checks, GatherOptions, OwnChecks};
pub use checks::{
    BASE_UNREAD, PluginAnswer, PluginOutcome, PluginRequest, RedTests, RequiredTests, RerunTree,
    SealedTrial, TooSlow, carry_tests, is_test_allowed, learn_tests, red_tests, required_tests,
    rerun, tests_first_policy, try_sealed_tests, unknown_superseded,
};
pub use doctor::{
    Finding, Level, Proof, SelfTestOutcome, examine, examine_surroundings, self_test,
};
pub use event::{Event, Events};
pub use gate_report as report;
use gate_report::runners as runner;
pub use gate_report::runners::{is_python, is_runner, program_name};
pub use gather::{
    GatherError, Gathered, TreeChange, changed_files, committed_files, gather, head,
    is_uncommitted, list_files, look,
};
pub use programs::{Program, programs, starts_program};
pub use prune::{PruneFailure, PruneOptions, Pruned, PrunedKind, prune};
pub use scripts::named_scripts;
pub use seal::{
    Seal, SealError, SealResult, add_seal, note_tried, remove_seal, sealed_checks, seals,
};
pub use settings::{BadSetting, validate, validate_glob};
pub use site::{CheckSite, HandoffProblem, HandoffReader, environment};
pub use temporary::Temporary;
