//! Codes of reasons, warnings and errors in words.

use gate_core::decide::reason::Explanation;

use crate::render::page::{Mark, Page};

/// A code with its meaning, its cause, an example and the remedy.
pub(crate) fn code_page(code: &str, explanation: Explanation) -> String {
    let mut page = Page::new();
    page.text(code);
    page.blank();
    page.text(explanation.what);
    page.blank();
    page.row("why", explanation.why);
    page.row("example", explanation.example);
    page.row("next", explanation.next);
    page.into_text()
}

/// All codes by group, a row each.
pub(crate) fn code_list(groups: &[(&str, Vec<(&str, Explanation)>)]) -> String {
    let all = groups.iter().flat_map(|(_, codes)| codes);
    let longest = all.map(|(code, _)| code.len()).max().unwrap_or_default();
    let mut page = Page::new().with_labels(longest);
    for (number, (title, codes)) in groups.iter().enumerate() {
        if number > 0 {
            page.blank();
        }
        page.head(Mark::None, title, "");
        page.blank();
        for (code, explanation) in codes {
            page.row(code, explanation.what);
        }
    }
    page.into_text()
}
