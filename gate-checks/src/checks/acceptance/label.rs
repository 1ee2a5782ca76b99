//! The ids at the beginning of an item's text.
//!
//! `T004 [P] [US1] Add the flag` is called `T004`, `P` and `US1`: a word, and the groups in brackets
//! around it, as Spec Kit writes them.

/// Punctuation that may stand around an id.
const PUNCTUATION: &[char] = &[
    '*', '_', '`', '#', '(', ')', '[', ']', '{', '}', '~', '"', '\'', ':', ',', '.', ';', '-', '–',
    '—',
];

/// An item's text that begins with this id.
pub(super) fn is_called(text: &str, id: &str) -> bool {
    let id = id.trim().trim_matches(PUNCTUATION);
    !id.is_empty()
        && (labels(text).any(|label| label.eq_ignore_ascii_case(id))
            || has_prefix(text.trim_start_matches(PUNCTUATION), id))
}

/// A heading that has this id as a word.
pub(super) fn has_word(heading: &str, id: &str) -> bool {
    let heading = heading.to_lowercase();
    let id = id.trim().trim_matches(PUNCTUATION).to_lowercase();
    !id.is_empty()
        && heading.match_indices(&id).any(|(start, _)| {
            let end = start + id.len();
            let char_before = heading[..start].chars().next_back();
            char_before.is_none_or(|char| !is_part_of_id(char)) && is_end_of_id(&heading[end..])
        })
}

/// A text that begins with something like an id: `T004`, `bd-12`, `#42`, `1.2`.
pub(super) fn has_id(text: &str) -> bool {
    let number = text.strip_prefix('#').and_then(|number| number.split_whitespace().next());
    let is_number = number.is_some_and(|word| word.chars().all(|char| char.is_ascii_digit()));
    is_number || labels(text).any(is_like_id)
}

/// The first word and the groups in brackets around it.
fn labels(text: &str) -> impl Iterator<Item = &str> {
    let mut is_before_word = true;
    let words = text.split_whitespace().take_while(move |word| {
        let unmarked = word.trim_start_matches(['*', '_', '`']);
        let is_group = unmarked.starts_with('[') && unmarked.contains(']');
        let is_label = is_group || is_before_word;
        is_before_word = is_before_word && is_group;
        is_label
    });
    words.map(|word| word.trim_matches(PUNCTUATION)).filter(|word| !word.is_empty())
}

/// Letters and then digits, or numbers with dots between them. A number alone or a date is none.
fn is_like_id(label: &str) -> bool {
    let after_letters = label.trim_start_matches(|char: char| char.is_ascii_alphabetic());
    let letters = label.len() - after_letters.len();
    let number = after_letters.strip_prefix(['-', '_']).unwrap_or(after_letters);
    let is_number = number.starts_with(|char: char| char.is_ascii_digit())
        && number.chars().all(|char| char.is_ascii_digit() || char == '.' || char == '-');
    is_number && ((1..=12).contains(&letters) || letters == 0 && label.contains('.'))
}

fn has_prefix(text: &str, id: &str) -> bool {
    text.get(..id.len()).is_some_and(|prefix| prefix.eq_ignore_ascii_case(id))
        && is_end_of_id(&text[id.len()..])
}

/// No id goes on with this text. `1` does in `1.2`.
fn is_end_of_id(text: &str) -> bool {
    let mut chars = text.chars();
    match chars.next() {
        Some('.') => chars.next().is_none_or(|char| !char.is_alphanumeric()),
        Some(char) => !is_part_of_id(char),
        None => true,
    }
}

fn is_part_of_id(char: char) -> bool {
    char.is_alphanumeric() || matches!(char, '-' | '_' | '.')
}

#[cfg(test)]
mod tests {
    use super::{has_id, has_word, is_called};

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
        assert!(has_word("Phase 3: User Story 1 (US1)", "us1"));
        assert!(has_word("Task 4: parse", "4") && has_word("Task 4: parse", "task 4"));
        assert!(!has_word("Task 42", "4") && !has_word("Task 4.2", "4"));
        assert!(!has_word("PRE-US1", "US1") && !has_word("x", ""));
        assert!(has_word("É US1", "us1"));
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
