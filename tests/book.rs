//! The book in docs/book: its generated pages are up to date, its examples do what they show, its
//! links lead somewhere.

mod examples;
mod generated;
mod json;
mod links;
mod page;
mod settings;

use std::fs;

use crate::here::files;
use crate::needs::root;

/// The folder of the book's pages.
pub(crate) const SOURCES: &str = "docs/book/src";

/// The names of all pages, relative to [`SOURCES`].
pub(crate) fn pages() -> Vec<String> {
    let folder = root().join(SOURCES);
    let all = files(&folder).into_iter();
    let names = all.map(|path| path.strip_prefix(&folder).unwrap().display().to_string());
    names.filter(|name| name.ends_with(".md") && name != "SUMMARY.md").collect()
}

/// The text of a page.
fn read(page: &str) -> String {
    let file = root().join(SOURCES).join(page);
    fs::read_to_string(&file).unwrap_or_else(|error| panic!("{page} is missing: {error}"))
}
