//! Sources in another coding, in which no rule can read them.

use super::finding::Finding;
use super::language::Language;
use super::rule;
use crate::decide::expression::Expression;

/// A source of Python that says it is written in another coding than it was.
pub(super) fn other_coding(
    path: &str,
    old_text: Option<&str>,
    new_text: Option<&str>,
) -> Option<Finding> {
    static CODING: Expression = Expression::new(r"^[ \t\x0c]*#.*?coding[:=][ \t]*");
    /// Codings in which code reads as in ASCII.
    const PLAIN: &[&str] = &[
        "utf-8",
        "utf8",
        "utf_8",
        "ascii",
        "us-ascii",
        "latin-1",
        "latin1",
        "iso-8859-1",
        "iso-8859-15",
        "cp1252",
    ];
    if Language::from_path(path) != Some(Language::Python) {
        return None;
    }
    // Python looks at the first two lines alone.
    let declaration = |text: &str| {
        text.lines().take(2).enumerate().find_map(|(line, text)| {
            let name = &text[CODING.find(text)?.end..];
            let end = name.find(|c: char| !(c.is_alphanumeric() || "-_.".contains(c)));
            Some((line, name[..end.unwrap_or(name.len())].to_ascii_lowercase()))
        })
    };
    let (line, coding) = declaration(new_text?)?;
    let is_old = old_text.and_then(declaration).is_some_and(|(_, old_coding)| old_coding == coding);
    let is_plain = PLAIN.contains(&coding.as_str());
    (!is_plain && !is_old).then(|| rule::CODING.finding(path).at(line, &coding))
}
