//! The book in docs/book: its generated pages can be made, its examples do what they show, its links
//! lead somewhere.

mod examples;
mod generated;
mod links;
mod page;

use std::collections::BTreeSet;
use std::fs;

use self::generated::GENERATED;
use crate::here::files;
use crate::needs::root;

/// The folder of the book's pages.
pub(crate) const SOURCES: &str = "docs/book/src";

/// The names of all pages, relative to [`SOURCES`].
pub(crate) fn pages() -> Vec<String> {
    let folder = root().join(SOURCES);
    let paths = files(&folder).into_iter();
    let names = paths.map(|path| path.strip_prefix(&folder).unwrap().display().to_string());
    let written = names.filter(|name| name.ends_with(".md") && name != "SUMMARY.md");
    let made = GENERATED.keys().map(|&name| name.to_owned());
    // mdBook leaves an empty page on the disk where it puts one that is made.
    written.chain(made).collect::<BTreeSet<_>>().into_iter().collect()
}

/// The text of a page.
pub(crate) fn read(page: &str) -> String {
    if let Some(text) = GENERATED.get(page) {
        return text.clone();
    }
    let file = root().join(SOURCES).join(page);
    fs::read_to_string(&file).unwrap_or_else(|error| panic!("{page} is missing: {error}"))
}
