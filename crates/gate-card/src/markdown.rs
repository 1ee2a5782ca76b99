//! Words of others in Markdown, which must not be read as Markdown.

use crate::text::{brief, plain};

/// A short text as code, fit for a cell of a table; nothing if it is empty.
pub fn code(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    format!("`{}`", brief(&plain(text)).replace('`', "'").replace('|', "\\|"))
}

/// Lines as a block of code, each after this indent.
pub fn block(text: &str, indent: &str) -> String {
    // A fence ends at a line of as many marks.
    let mut fence = "```".to_owned();
    while text.contains(&fence) {
        fence.push('`');
    }
    let lines = text.lines().map(|line| format!("{indent}{}\n", plain(line)));
    format!("{indent}{fence}text\n{}{indent}{fence}\n", lines.collect::<String>())
}
