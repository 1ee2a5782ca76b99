//! The tests of the workspace: the program as its users see it, its contracts,
//! and the rules of the house. One file a subject.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

mod attacks;
mod baseline;
mod breaker;
mod bus;
mod bus_crowd;
mod check;
mod check_contract;
mod check_settings;
mod checks;
mod checks_tree;
mod clients;
mod config;
mod corpus;
mod crowd;
mod disk;
mod doctor;
mod examples;
mod exit;
mod exit_conformance;
mod exit_signal;
mod explain;
mod facts;
mod faults;
mod field_loops;
mod fooled;
mod fooled_cargo;
mod fooled_others;
mod governance;
mod governance_cases;
mod governance_formats;
mod handoff;
mod handoff_cases;
mod handoff_check;
mod handoff_claims;
mod here;
mod honest;
mod hostile;
mod init;
mod injection;
mod install;
mod install_agents;
mod install_doctor;
mod install_fix;
mod install_opencode;
mod integrations;
mod integrity;
mod large;
mod ledger;
mod lock;
mod log;
mod loops;
mod lost_state;
mod needs;
mod operator;
mod operator_checks;
mod plugins;
mod private_state;
mod processes;
mod prompt;
mod replay;
mod replay_ended;
mod replay_given;
mod replay_inputs;
mod reports;
mod run;
mod run_faults;
mod run_handoff;
mod run_work;
mod runners;
mod scan;
mod schemas;
mod secrets;
mod stops;
mod store;
mod store_damage;
mod store_items;
mod store_items_kept;
mod store_postgres;
mod store_sqlite;
mod store_tamper;
mod support;
mod tail;
mod tidy;
mod tidy_docs;
mod tokens;
mod tokens_loops;
mod trust;
mod trust_changed;
mod turns;
mod work;
mod work_ci;
mod work_conformance;
mod work_crowd;
mod work_refused;
mod work_reset;
mod work_tamper;
