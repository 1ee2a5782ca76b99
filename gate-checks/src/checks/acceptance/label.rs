//! The ids at the beginning of an item's text.
//!
//! `T004 [P] [US1] Add the flag` is called `T004`, `P` and `US1`: a word, and
//! what stands in brackets around it, as Spec Kit writes them.

/// Marks that may stand around an id.
const MARKS: &[char] = &[
    '*', '_', '`', '#', '(', ')', '[', ']', '{', '}', '~', '"', '\'', ':', ',', '.', ';', '-', '–',
    '—',
];

/// True if an item's text begins with this id.
pub(super) fn is_called(text: &str, id: &str) -> bool {
    let id = id.trim().trim_matches(MARKS);
    !id.is_empty()
        && (labels(text).any(|label| label.eq_ignore_ascii_case(id))
            || begins(text.trim_start_matches(MARKS), id))
}

/// True if a heading has this id as a word.
pub(super) fn holds_word(heading: &str, id: &str) -> bool {
    let (heading, id) = (heading.to_lowercase(), id.trim().trim_matches(MARKS).to_lowercase());
    !id.is_empty()
        && heading.match_indices(&id).any(|(at, _)| {
            let before = heading[..at].chars().next_back();
            before.is_none_or(|letter| !is_inner(letter)) && ends_word(&heading[at + id.len()..])
        })
}

/// True if a text begins with something like an id: `T004`, `bd-12`, `#42`, `1.2`.
pub(super) fn has_id(text: &str) -> bool {
    let is_number = text.strip_prefix('#').is_some_and(|rest| {
        rest.split_whitespace().next().is_some_and(|word| word.chars().all(|c| c.is_ascii_digit()))
    });
    is_number || labels(text).any(looks_like_id)
}

/// The first word and the groups in brackets around it.
fn labels(text: &str) -> impl Iterator<Item = &str> {
    let mut is_first = true;
    let words = text.split_whitespace().take_while(move |word| {
        let bare = word.trim_start_matches(['*', '_', '`']);
        let group = bare.starts_with('[') && bare.contains(']');
        let wanted = group || is_first;
        is_first = is_first && group;
        wanted
    });
    words.map(|word| word.trim_matches(MARKS)).filter(|word| !word.is_empty())
}

/// Letters and then digits, or numbers with dots between them.
fn looks_like_id(label: &str) -> bool {
    let digits = label.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let letters = label.len() - digits.len();
    let digits = digits.strip_prefix(['-', '_']).unwrap_or(digits);
    let numbered = digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.chars().all(|c| c.is_ascii_digit() || c == '.' || c == '-');
    numbered && ((1..=12).contains(&letters) || letters == 0 && label.contains('.'))
}

fn begins(text: &str, id: &str) -> bool {
    let start = text.get(..id.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(id)) && ends_word(&text[id.len()..])
}

/// True if a word ends before this text: `1` does not in `1.2`.
fn ends_word(rest: &str) -> bool {
    let mut chars = rest.chars();
    match chars.next() {
        Some('.') => chars.next().is_none_or(|c| !c.is_alphanumeric()),
        Some(c) => !is_inner(c),
        None => true,
    }
}

fn is_inner(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_' | '.')
}

#[cfg(test)]
mod tests {
    use super::{has_id, holds_word, is_called};

    #[test]
    fn an_item_is_called_by_what_it_begins_with() {
        for (text, id) in [
            ("T004 [P] [US1] Add the flag", "T004"),
            ("T004 [P] [US1] Add the flag", "US1"),
            ("[US1] T004: Add", "T004"),
            ("**T004**: Add", "t004"),
            ("#42 fix", "42"),
            ("#42 fix", "#42"),
            ("1.2 Parse", "1.2"),
            ("bd-12: parse", "bd-12"),
            ("Add the flag, with tests", "add the flag"),
        ] {
            assert!(is_called(text, id), "{text:?} {id:?}");
        }
    }

    #[test]
    fn an_item_is_not_called_by_a_part_of_its_id_or_by_later_words() {
        for (text, id) in [
            ("T0045 Add", "T004"),
            ("T004 Add", "T00"),
            ("1.2 Parse", "1"),
            ("bd-12.1 parse", "bd-12"),
            ("Add what T004 needs", "T004"),
            ("T004 Add [US1]", "US1"),
            ("Add", ""),
            ("- -", "-"),
        ] {
            assert!(!is_called(text, id), "{text:?} {id:?}");
        }
    }

    #[test]
    fn a_heading_holds_whole_words() {
        assert!(holds_word("Phase 3: User Story 1 (US1)", "us1"));
        assert!(holds_word("Task 4: parse", "4") && holds_word("Task 4: parse", "task 4"));
        assert!(!holds_word("Task 42", "4") && !holds_word("Task 4.2", "4"));
        assert!(!holds_word("PRE-US1", "US1") && !holds_word("x", ""));
        assert!(holds_word("É US1", "us1"));
    }

    #[test]
    fn ids_are_told_from_words() {
        for text in ["T001 a", "US-1: a", "#42 a", "1.2 a", "[bd-12] a"] {
            assert!(has_id(text), "{text}");
        }
        for text in ["Add 3 flags", "3 flags", "2026-01-29 notes", "utf8mb4 tables", "#hash"] {
            assert!(!has_id(text), "{text}");
        }
    }
}
