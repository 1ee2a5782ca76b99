//! Writes out for ASCII what would mean Unicode in an expression.

/// `\b` and `\B` look at ASCII letters alone: with Unicode's they would slow
/// down the search through every text that is not English.
pub(super) fn with_ascii_boundaries(source: &str) -> String {
    let mut text = String::with_capacity(source.len());
    let mut chars = source.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            text.push(c);
            continue;
        }
        match chars.next() {
            // `\b{start}` is another assertion, which has no form for ASCII.
            Some(boundary @ ('b' | 'B')) if !chars.as_str().starts_with('{') => {
                text.extend(["(?-u:\\", &boundary.to_string(), ")"]);
            }
            Some(escaped) => text.extend(['\\', escaped]),
            None => text.push('\\'),
        }
    }
    text
}

/// Writes out `\w`, `\W`, `\d` and `\s`, within a class and outside of one.
/// `\W` does not stand within a class.
pub(super) fn with_ascii_classes(source: &str) -> String {
    let mut text = String::with_capacity(source.len());
    let (mut chars, mut is_in_class) = (source.chars(), false);
    while let Some(c) = chars.next() {
        match c {
            '\\' => match (chars.next(), is_in_class) {
                (Some('w'), true) => text.push_str("0-9A-Za-z_"),
                (Some('w'), false) => text.push_str("[0-9A-Za-z_]"),
                (Some('W'), false) => text.push_str("[^0-9A-Za-z_]"),
                (Some('d'), true) => text.push_str("0-9"),
                (Some('d'), false) => text.push_str("[0-9]"),
                (Some('s'), true) => text.push_str(r"\t-\r "),
                (Some('s'), false) => text.push_str(r"[\t-\r ]"),
                (Some(escaped), _) => text.extend(['\\', escaped]),
                (None, _) => text.push('\\'),
            },
            '[' | ']' => {
                is_in_class = c == '[';
                text.push(c);
            }
            c => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boundaries_are_ascii_and_escapes_stay() {
        assert_eq!(with_ascii_boundaries(r"\bdone\b"), r"(?-u:\b)done(?-u:\b)");
        assert_eq!(with_ascii_boundaries(r"\\b\."), r"\\b\.");
        assert_eq!(with_ascii_boundaries(r"\b{start}done"), r"\b{start}done");
    }

    #[test]
    fn own_expressions_know_ascii_alone() {
        assert_eq!(
            with_ascii_classes(r"[^\w\n]*\W\d\[\s"),
            r"[^0-9A-Za-z_\n]*[^0-9A-Za-z_][0-9]\[[\t-\r ]"
        );
    }
}
