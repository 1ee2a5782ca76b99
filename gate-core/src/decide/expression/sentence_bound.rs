//! Finds the expressions that look no further than to the end of a sentence.

/// The characters that end a sentence.
const ENDS: [char; 3] = ['.', '!', '?'];

/// No match of an expression holds a character that ends a sentence, and none depends on
/// where the line begins or ends. It may then be tried on each sentence by itself. An expression
/// with syntax that is rare in packs is taken for unbound, which is only slower.
pub(super) fn is_sentence_bound(source: &str) -> bool {
    let mut chars = source.chars().peekable();
    while let Some(c) = chars.next() {
        let is_bound = match c {
            '\\' => chars.next().is_some_and(is_bound_escape),
            '[' => is_bound_class(&mut chars),
            // Of groups with a question mark only `(?:` is read: flags may change the rules.
            '(' if chars.peek() == Some(&'?') => chars.nth(1) == Some(':'),
            '^' | '$' | '.' | '!' => false,
            _ => true,
        };
        if !is_bound {
            return false;
        }
    }
    true
}

/// Reads a class up to its end: a bound one has no character that ends a sentence.
fn is_bound_class(chars: &mut impl Iterator<Item = char>) -> bool {
    let mut class = String::new();
    while let Some(c) = chars.next().filter(|c| *c != ']') {
        class.push(c);
        if c == '\\' {
            class.extend(chars.next());
        }
    }
    if let Some(excluded) = class.strip_prefix('^') {
        return ENDS.iter().all(|end| excluded.contains(*end)) && !excluded.contains('\\');
    }
    let mut chars = class.chars();
    while let Some(c) = chars.next() {
        let is_bound = match c {
            '\\' => chars.next().is_some_and(is_bound_escape),
            c => !ENDS.contains(&c),
        };
        if !is_bound {
            return false;
        }
    }
    // No range that begins with a letter has such a character; others may, as `0-z`.
    let mut ranges = class.trim_end_matches('-').match_indices('-');
    ranges.all(|(dash, _)| class[..dash].ends_with(char::is_alphabetic))
}

fn is_bound_escape(c: char) -> bool {
    matches!(c, 'b' | 's' | 'd' | 'w')
}

#[cfg(test)]
mod tests {
    use regex_syntax::hir::{Class, Hir, HirKind};

    use super::*;
    use crate::config::Pack;
    use crate::decide::pattern::Matcher;

    #[test]
    fn a_gap_that_ends_with_the_sentence_is_bound() {
        for source in [
            r"\ball\b[^.!?]*\bdone\b",
            r"tasks?[^.!?,;]+(?:is|are) [a-z]+",
            r"[\s_-]x",
            "tasks (are) done",
        ] {
            assert!(is_sentence_bound(source), "{source}");
        }
    }

    #[test]
    fn whatever_reaches_further_is_not() {
        for source in [
            "all tasks.*completed",
            r"^\s*done",
            "done$",
            "done!",
            r"v1\.2",
            r"\S+",
            "`[^`]+`",
            r"[^.!?\w]",
            "[.!*]",
            "[ -/]",
            "[0-z]",
            "(?s:x)",
            r"a\zb",
        ] {
            assert!(!is_sentence_bound(source), "{source}");
        }
    }

    /// The expression's syntax tree can match a character that ends a sentence, or an anchor.
    fn reaches_further(hir: &Hir) -> bool {
        match hir.kind() {
            HirKind::Empty => false,
            HirKind::Literal(literal) => literal.0.iter().any(|byte| b".!?".contains(byte)),
            HirKind::Class(Class::Unicode(class)) => ENDS.iter().any(|end| {
                class.ranges().iter().any(|range| (range.start()..=range.end()).contains(end))
            }),
            HirKind::Class(Class::Bytes(_)) => true,
            HirKind::Look(look) => !matches!(
                look,
                regex_syntax::hir::Look::WordAscii | regex_syntax::hir::Look::WordUnicode
            ),
            HirKind::Repetition(repetition) => reaches_further(&repetition.sub),
            HirKind::Capture(capture) => reaches_further(&capture.sub),
            HirKind::Concat(parts) | HirKind::Alternation(parts) => {
                parts.iter().any(reaches_further)
            }
        }
    }

    #[test]
    fn the_syntax_trees_of_all_packs_agree() {
        let mut bound = 0;
        for name in ["completion", "seed"] {
            for one in Pack::named(name).unwrap().unwrap().patterns {
                let Matcher::Regex(source) = &one.pattern.matcher else { continue };
                let parser = regex_syntax::ParserBuilder::new().multi_line(true).build();
                let hir = { parser }.parse(source).unwrap();
                if is_sentence_bound(source) {
                    bound += 1;
                    assert!(!reaches_further(&hir), "{source}");
                }
            }
        }
        assert!(bound >= 8, "only {bound} patterns are bound");
    }
}
