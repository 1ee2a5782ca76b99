//! Sources in another coding, in which no rule can read them.

use super::changed::Changed;
use super::finding::Finding;
use super::language::Language;
use super::rule;
use crate::decide::expression::Expression;

/// A source of Python that says it is written in another coding than it was.
pub(super) fn other_coding(
    file: &Changed<'_>,
    before: Option<&str>,
    now: Option<&str>,
) -> Option<Finding> {
    static CODING: Expression = Expression::new(r"^[ \t\x0c]*#.*?coding[:=][ \t]*");
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
    if Language::from_path(file.path) != Some(Language::Python) {
        return None;
    }
    let coding = |text: &str| {
        text.lines().take(2).enumerate().find_map(|(at, line)| {
            let name = &line[CODING.find(line)?.end..];
            let end = name.find(|c: char| !(c.is_alphanumeric() || "-_.".contains(c)));
            Some((at, name[..end.unwrap_or(name.len())].to_ascii_lowercase()))
        })
    };
    let (line, name) = coding(now?)?;
    let was = before.and_then(coding).is_some_and(|(_, was)| was == name);
    let is_plain = PLAIN.contains(&name.as_str());
    (!is_plain && !was).then(|| rule::CODING.finding(file.path).at(line, &name))
}
