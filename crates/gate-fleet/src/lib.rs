//! The formats of many agents at work on one project. Each can be read and written
//! without gate: they are plain Markdown, YAML and JSON in files.
//!
//! * [`run`]: run folders; [`bus`]: what agents and runners write to each other;
//!   [`fact`]: findings that other agents may rely on;
//! * [`handoff`]: the state of the work, from one agent to the next;
//! * [`notice`]: messages, facts and handoffs as records that machines share;
//! * [`exit`], [`work`]: the agent exit protocol, and the work items that it moves.
//!
//! [`disk`] keeps run folders, buses and facts in files, and [`durable`] makes files last. All else
//! has no input, output, clock or environment of its own.
#![doc = include_str!("../README.md")]

// A test alone derives schemas: what gate prints are files. See gate-derive.
#[cfg(not(feature = "schemas"))]
extern crate gate_derive as schemars;

pub mod bus;
pub mod disk;
pub mod durable;
pub mod exit;
pub mod fact;
pub mod handoff;
pub mod notice;
pub mod run;
mod stamp;
mod tree;
pub mod work;
mod yaml;

pub use stamp::Stamp;
pub use yaml::YamlError;
