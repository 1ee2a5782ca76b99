//! The literals that any match of an expression must hold.
//!
//! They make a search fast: an expression is compiled and tried only on a line that
//! holds one literal of each of its groups.

use std::borrow::Cow;

use memchr::memchr2;
use regex_syntax::hir::{Hir, HirKind};

/// A larger group is dropped: to look for it takes longer than to try the expression.
const MAX_GROUP_LITERALS: usize = 64;

/// Literals in lower case, one of which stands in every match.
pub(crate) type Group = Vec<String>;

/// The groups of an expression, the one most worth looking for first; empty
/// if the expression has no text worth looking for.
pub(crate) fn required(tree: &Hir) -> Vec<Group> {
    let mut groups = groups(tree);
    groups.retain(|group| shortest(group) >= 2);
    groups.sort_by_key(|group| std::cmp::Reverse(worth(group)));
    groups
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
    let mut remaining = text;
    while let Some(start) = memchr2(*first, first.to_ascii_uppercase(), remaining) {
        let piece = remaining[start..].get(..literal.len());
        if piece.is_some_and(|piece| piece.eq_ignore_ascii_case(literal)) {
            return true;
        }
        remaining = &remaining[start + 1..];
    }
    false
}

/// No letter of a text is of another script than Latin: Cyrillic, Chinese,
/// Japanese, Korean and more.
pub(crate) fn is_latin(text: &str) -> bool {
    // The first bytes of these letters in UTF-8.
    !text.bytes().any(|byte| matches!(byte, 0xd0..=0xdf | 0xe3..=0xed))
}

/// A text in lower case, in which each character keeps its place. A few characters whose
/// lower case takes more or fewer bytes, such as `İ` and `ẞ`, stay as they are.
pub(crate) fn in_lower_case(text: &str) -> Cow<'_, str> {
    match text.chars().any(|c| lower_case(c) != c) {
        true => Cow::Owned(text.chars().map(lower_case).collect()),
        false => Cow::Borrowed(text),
    }
}

fn lower_case(c: char) -> char {
    let mut lower = c.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(letter), None) if letter.len_utf8() == c.len_utf8() => letter,
        _ => c,
    }
}

/// The pairs of neighbouring bytes in a text, in lower case, as a filter: a literal that it
/// does not hold stands nowhere in the text.
#[derive(Debug)]
pub(crate) struct Pairs([u64; 64]);

impl Pairs {
    pub(crate) fn new(text: &str) -> Self {
        let mut pairs = Self([0; 64]);
        for pair in text.as_bytes().windows(2) {
            let (word, bit) = Self::place(pair[0], pair[1]);
            pairs.0[word] |= bit;
        }
        pairs
    }

    /// A cheap test of a literal in lower case that only excludes: several pairs share a bit.
    pub(crate) fn may_hold(&self, literal: &str) -> bool {
        literal.as_bytes().windows(2).all(|pair| {
            let (word, bit) = Self::place(pair[0], pair[1]);
            self.0[word] & bit != 0
        })
    }

    fn place(first: u8, second: u8) -> (usize, u64) {
        let [first, second] = [first, second].map(|byte| byte.to_ascii_lowercase());
        let mixed = usize::from(first).wrapping_mul(67) ^ usize::from(second).wrapping_mul(31);
        ((mixed >> 6) & 63, 1 << (mixed & 63))
    }
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
    let best_groups = branches.iter().map(|branch| groups(branch).into_iter().max_by_key(worth));
    let mut texts = best_groups.collect::<Option<Vec<_>>>()?.concat();
    texts.sort_unstable();
    texts.dedup();
    (texts.len() <= MAX_GROUP_LITERALS).then_some(texts)
}

/// The longest run of characters that the search compares as the expression
/// does: ASCII letters, and characters without case.
fn caseless_run(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?;
    let run = text
        .split(|c: char| !c.is_ascii() && (c.is_lowercase() || c.is_uppercase()))
        .max_by_key(|run| run.len())?;
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
    use std::borrow::Cow;
    use std::collections::BTreeSet;

    use regex_syntax::ParserBuilder;

    use super::{Pairs, in_lower_case, is_latin, required};

    #[track_caller]
    fn check(source: &str, groups: &[&[&str]]) {
        let parsed = ParserBuilder::new().multi_line(true).build().parse(source);
        assert_eq!(required(&parsed.expect("it parses")), groups, "{source}");
    }

    #[test]
    fn the_texts_of_a_sequence_the_longest_first() {
        check("no tasks are.*left", &[&["no tasks are"], &["left"]]);
        check("<promise>COMPLETE</promise>", &[&["<promise>complete</promise>"]]);
        check(r"\btests?\b", &[&["test"]]);
        check("(?:done )+now", &[&["done "], &["now"]]);
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
    fn pairs_hide_no_text() {
        let text = "All Tests pass: все тесты прошли, 测试通过 ✅";
        let pairs = Pairs::new(text);
        let lower = text.to_ascii_lowercase();
        let places: Vec<_> = lower.char_indices().map(|(at, _)| at).collect();
        for (index, start) in places.iter().enumerate() {
            for end in &places[index..] {
                assert!(pairs.may_hold(&lower[*start..*end]), "{}", &lower[*start..*end]);
            }
        }
        assert!(!pairs.may_hold("zebra") && !pairs.may_hold("nicht"));
    }

    #[test]
    fn most_pairs_of_letters_have_a_place_of_their_own() {
        let places: BTreeSet<_> = (b'a'..=b'z')
            .flat_map(|first| (b'a'..=b'z').map(move |second| Pairs::place(first, second)))
            .collect();
        assert!(places.len() > 600, "{}", places.len());
    }

    #[test]
    fn letters_of_other_scripts_are_seen() {
        assert!(is_latin("Erledigt — für alle ✅ é 🎉"));
        for text in ["готово", "完成", "完了しました", "완료"] {
            assert!(!is_latin(text), "{text}");
        }
    }

    #[test]
    fn lower_case_moves_no_character() {
        for (text, lower) in [
            ("NÃO está CONCLUÍDO", "não está concluído"),
            ("РАБОТА ЕЩЁ НЕ ГОТОВА ✅", "работа ещё не готова ✅"),
            ("NOT done", "not done"),
            ("İŞ GROẞ \u{212a}", "İş groẞ \u{212a}"),
        ] {
            assert_eq!(in_lower_case(text), lower);
            assert_eq!(text.len(), lower.len());
        }
        for text in ["not done", "完成了", "não"] {
            assert!(matches!(in_lower_case(text), Cow::Borrowed(_)), "{text}");
        }
    }

    #[test]
    fn some_expressions_have_none() {
        check(r"\d+", &[]);
        check("(?:a|done)", &[]);
        check("(?:done)?", &[]);
        check("é", &[]);
    }
}
