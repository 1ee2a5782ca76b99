//! The explanation of each error code, for `gate explain`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use gate_core::decide::reason::Explanation;
use serde::Deserialize;

/// An explanation as `codes.toml` has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Page {
    what: String,
    why: String,
    example: String,
    next: String,
}

/// All pages by their code. The file is part of the program, and a test reads it: if it had a
/// mistake, there would be no pages, and nothing else would fail.
static PAGES: LazyLock<BTreeMap<String, Page>> =
    LazyLock::new(|| toml::from_str(include_str!("codes.toml")).unwrap_or_default());

/// The explanation of an error's code.
pub(crate) fn error_page(code: &str) -> Option<Explanation> {
    PAGES.get(code).map(explanation)
}

/// All error codes with their explanations, in alphabetical order.
pub(crate) fn error_pages() -> impl Iterator<Item = (&'static str, Explanation)> {
    PAGES.iter().map(|(code, page)| (code.as_str(), explanation(page)))
}

fn explanation(page: &'static Page) -> Explanation {
    Explanation {
        meaning: &page.what,
        cause: &page.why,
        example: &page.example,
        remedy: &page.next,
    }
}
