//! Texts that any match of an expression must hold.
//!
//! They are what makes a search fast: one pass looks for the texts of all
//! patterns, and an expression is compiled and tried only on a line that holds
//! one of its own.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Hir, HirKind};

/// The most texts that are looked for on behalf of one expression.
const MOST: usize = 64;

/// A set of texts in lower case, one of which stands in every match; none
/// where the expression has no such set worth looking for.
///
/// # Errors
///
/// The expression cannot be parsed.
pub(crate) fn required(source: &str) -> Result<Option<Vec<String>>, Box<regex_syntax::Error>> {
    let hir = ParserBuilder::new().multi_line(true).build().parse(source).map_err(Box::new)?;
    Ok(of(&hir).filter(|texts| shortest(texts) >= 2))
}

fn of(hir: &Hir) -> Option<Vec<String>> {
    match hir.kind() {
        HirKind::Literal(literal) => ascii_run(&literal.0).map(|text| vec![text]),
        HirKind::Repetition(repetition) if repetition.min > 0 => of(&repetition.sub),
        HirKind::Capture(capture) => of(&capture.sub),
        HirKind::Concat(parts) => parts.iter().filter_map(of).max_by_key(|texts| worth(texts)),
        HirKind::Alternation(branches) => union(branches),
        HirKind::Empty | HirKind::Class(_) | HirKind::Look(_) | HirKind::Repetition(_) => None,
    }
}

/// One text of each branch.
fn union(branches: &[Hir]) -> Option<Vec<String>> {
    let mut texts = branches.iter().map(of).collect::<Option<Vec<_>>>()?.concat();
    texts.sort_unstable();
    texts.dedup();
    (texts.len() <= MOST).then_some(texts)
}

/// The longest run of ASCII: other letters have more than one lower case.
fn ascii_run(bytes: &[u8]) -> Option<String> {
    let run = bytes.split(|byte| !byte.is_ascii()).max_by_key(|run| run.len())?;
    let text = String::from_utf8(run.to_ascii_lowercase()).ok()?;
    (!text.is_empty()).then_some(text)
}

/// Long texts are rare, and few texts are found fast.
fn worth(texts: &[String]) -> (usize, usize) {
    (shortest(texts), MOST.saturating_sub(texts.len()))
}

fn shortest(texts: &[String]) -> usize {
    texts.iter().map(String::len).min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::required;

    #[track_caller]
    fn check(source: &str, texts: &[&str]) {
        let found = required(source).expect("it parses").expect("it has texts");
        assert_eq!(found, texts, "{source}");
    }

    #[test]
    fn the_longest_text_of_a_sequence() {
        check("no tasks are.*left", &["no tasks are"]);
        check("<promise>COMPLETE</promise>", &["<promise>complete</promise>"]);
        check(r"\btests?\b", &["test"]);
    }

    #[test]
    fn one_text_of_each_branch() {
        check("(?:works|is done)", &["is done", "works"]);
        check(r"\b(?:all|every)\b.*\b(?:complete|finished)\b", &["complete", "finished"]);
    }

    #[test]
    fn some_expressions_have_none() {
        assert_eq!(required(r"\d+").unwrap(), None);
        assert_eq!(required("(?:a|done)").unwrap(), None);
        assert_eq!(required("(?:done)?").unwrap(), None);
        assert!(required("(").is_err());
    }
}
