//! Errors that end the program without a decision, and the page of each.

mod pages;

pub use gate_core::Failure;

pub(crate) use pages::{error_page, error_pages};
