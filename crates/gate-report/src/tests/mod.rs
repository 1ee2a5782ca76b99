//! Tests of the whole: what runners really wrote, and what it comes to.

mod commands;
mod events;
mod fed;
mod junit_names;
mod laws;
mod messages;
mod mocha;
mod prepared;
mod protocol;
mod pytest;
mod tap_forms;
mod within;
mod wrote;
mod xml;

pub(super) use fed::{comes_to, outcome, report};
