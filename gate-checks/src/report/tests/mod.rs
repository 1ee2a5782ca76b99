//! Tests of the whole: what runners really wrote, and what it comes to.

mod fed;
mod laws;
mod prepared;
mod protocol;
mod within;
mod wrote;
mod xml;

pub(super) use fed::{comes_to, outcome, report};
