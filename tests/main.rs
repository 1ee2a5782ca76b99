//! The tests of the workspace: the program as its users see it, its contracts,
//! and the rules of the house. One file a subject.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

mod check;
mod check_contract;
mod check_settings;
mod checks;
mod checks_tree;
mod config;
mod corpus;
mod doctor;
mod examples;
mod explain;
mod here;
mod hostile;
mod init;
mod loops;
mod needs;
mod plugins;
mod processes;
mod prompt;
mod reports;
mod runners;
mod scan;
mod schemas;
mod support;
mod tidy;
mod tidy_docs;
