//! The literals that any match of an expression must hold.
//!
//! They make a search fast: an expression is compiled and tried only on a line that
//! holds one literal of each of its groups.

use memchr::memchr2;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Hir, HirKind};

/// A larger group is dropped: to look for it takes longer than to try the expression.
const MAX_GROUP_LITERALS: usize = 64;

/// Literals in lower case, one of which stands in every match.
pub(crate) type Group = Vec<String>;

/// The groups of an expression, the one most worth looking for first; none
/// if the expression has no text worth looking for.
///
/// # Errors
///
/// The expression cannot be parsed.
pub(crate) fn required(source: &str) -> Result<Vec<Group>, Box<regex_syntax::Error>> {
    let hir = ParserBuilder::new().multi_line(true).build().parse(source).map_err(Box::new)?;
    let mut groups = groups(&hir);
    groups.retain(|group| shortest(group) >= 2);
    groups.sort_by_key(|group| std::cmp::Reverse(worth(group)));
    Ok(groups)
}

/// The text holds a literal of each group.
pub(crate) fn may_match(groups: &[Group], text: &[u8]) -> bool {
    groups.iter().all(|group| group.iter().any(|literal| stands_in(text, literal.as_bytes())))
}

/// The text holds a literal, which is in lower case, in any case of ASCII letters.
fn stands_in(text: &[u8], literal: &[u8]) -> bool {
    let Some(first) = literal.first() else {
        return true;
    };
    let mut at = 0;
    while let Some(found) = memchr2(*first, first.to_ascii_uppercase(), &text[at..]) {
        let stands = text[at + found..].get(..literal.len());
        if stands.is_some_and(|stands| stands.eq_ignore_ascii_case(literal)) {
            return true;
        }
        at += found + 1;
    }
    false
}

fn groups(hir: &Hir) -> Vec<Group> {
    match hir.kind() {
        HirKind::Literal(literal) => {
            caseless_run(&literal.0).map(|text| vec![text]).into_iter().collect()
        }
        HirKind::Repetition(repetition) if repetition.min > 0 => groups(&repetition.sub),
        HirKind::Capture(capture) => groups(&capture.sub),
        HirKind::Concat(parts) => parts.iter().flat_map(groups).collect(),
        HirKind::Alternation(branches) => union(branches).into_iter().collect(),
        HirKind::Empty | HirKind::Class(_) | HirKind::Look(_) | HirKind::Repetition(_) => {
            Vec::new()
        }
    }
}

/// One text of each branch.
fn union(branches: &[Hir]) -> Option<Group> {
    let best = branches.iter().map(|branch| groups(branch).into_iter().max_by_key(worth));
    let mut texts = best.collect::<Option<Vec<_>>>()?.concat();
    texts.sort_unstable();
    texts.dedup();
    (texts.len() <= MAX_GROUP_LITERALS).then_some(texts)
}

/// The longest run of characters that the search compares as the expression
/// does: ASCII letters, and what has no case.
fn caseless_run(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?;
    let has_case = |c: char| !c.is_ascii() && (c.is_lowercase() || c.is_uppercase());
    let run = text.split(has_case).max_by_key(|run| run.len())?;
    (!run.is_empty()).then(|| run.to_ascii_lowercase())
}

/// Long texts are rare, and few texts are found fast.
fn worth(group: &Group) -> (usize, usize) {
    (shortest(group), MAX_GROUP_LITERALS.saturating_sub(group.len()))
}

fn shortest(group: &Group) -> usize {
    group.iter().map(|text| text.len()).min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::required;

    #[track_caller]
    fn check(source: &str, groups: &[&[&str]]) {
        assert_eq!(required(source).expect("it parses"), groups, "{source}");
    }

    #[test]
    fn the_texts_of_a_sequence_the_longest_first() {
        check("no tasks are.*left", &[&["no tasks are"], &["left"]]);
        check("<promise>COMPLETE</promise>", &[&["<promise>complete</promise>"]]);
        check(r"\btests?\b", &[&["test"]]);
    }

    #[test]
    fn one_text_of_each_branch() {
        check("(?:works|is done)", &[&["is done", "works"]]);
        check(
            r"\b(?:all|every)\b.*\b(?:complete|finished)\b",
            &[&["complete", "finished"], &["all", "every"]],
        );
        check("(?:passed|✅)", &[&["passed", "✅"]]);
        check("尚未|未完成", &[&["尚未", "未完成"]]);
    }

    #[test]
    fn some_expressions_have_none() {
        check(r"\d+", &[]);
        check("(?:a|done)", &[]);
        check("(?:done)?", &[]);
        check("é", &[]);
        assert!(required("(").is_err());
    }
}
