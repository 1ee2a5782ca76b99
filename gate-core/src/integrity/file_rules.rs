//! Rules about a file as a whole.

use super::changed::{Changed, text};
use super::finding::Finding;
use super::keys;
use super::language::Language;
use super::lexer::{Part, View};
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

/// Only comments, blank lines and names in a runner's settings are others.
pub(super) fn says_the_same(file: &Changed<'_>) -> bool {
    let (Some(before), Some(now)) = (file.before, file.now) else { return false };
    let (before, now) = (text(before), text(now));
    if keys::runs_the_same(file.path, &before, &now) {
        return true;
    }
    let [before, now] = [before, now].map(|text| {
        let lines = text.lines().map(|line| line.trim_end().to_owned());
        let is_setting =
            |line: &String| !line.trim().is_empty() && !line.trim_start().starts_with(['#', ';']);
        lines.filter(is_setting).collect::<Vec<_>>()
    });
    before == now && file.before != file.now
}

/// The language of the tests that a runner's settings are about.
pub(super) fn runner_language(path: &str) -> Option<Language> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let python =
        ["pytest.", ".pytest.", "sitecustomize.", "usercustomize.", "noxfile.", "entry_points."];
    let js = ["jest.", "vitest.", ".mocharc.", "ava.", "karma.", "babel.", ".babelrc"];
    let starts = |all: &[&str]| all.iter().any(|start| name.starts_with(start));
    if starts(&python) {
        Some(Language::Python)
    } else if starts(&js) {
        Some(Language::Js)
    } else if name == "nextest.toml" {
        Some(Language::Rust)
    } else {
        None
    }
}

/// Tests that were compiled with all others and are compiled under a further condition.
pub(super) fn fewer_compiled(file: &Changed<'_>, was: &View<'_>, is: &View<'_>) -> Option<Finding> {
    static PLAIN: Expression = Expression::new(r"#\[cfg\([ \t]*test[ \t]*\)\]");
    static MORE: Expression = Expression::new(r"#!?\[cfg\([ \t]*all\([^\]]*\btest\b");
    if Language::from_path(file.path) != Some(Language::Rust) {
        return None;
    }
    let lines = |view: &View<'_>, expression: &Expression| {
        let lines = (0..view.len()).filter(|at| expression.is_match(&view.part(*at, Part::Code)));
        lines.collect::<Vec<_>>()
    };
    let is_fewer = lines(is, &PLAIN).len() < lines(was, &PLAIN).len();
    let more = lines(is, &MORE);
    if !is_fewer || more.len() <= lines(was, &MORE).len() {
        return None;
    }
    let line = more.last()?;
    Some(rule::FEWER_COMPILED.finding(file.path).at(*line, is.line(*line)))
}
