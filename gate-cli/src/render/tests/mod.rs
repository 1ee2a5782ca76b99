//! Cards and lines for a person, and JSON for a program.

mod breakers;
mod cards;
mod explained;
mod items;
mod json;
mod ledgers;
mod log;
mod loops;
mod remarks;

/// A text without colours.
fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}
