//! How gate reads expressions, in text alone: what is written out before an
//! expression is compiled, and the key by which a prepared one is found.
//!
//! The build script reads this file too, so that what it prepares is what
//! would be compiled; it depends on nothing.

/// Who wrote an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Author {
    /// Gate itself. In its expressions `\w`, `\d` and `\s` mean ASCII:
    /// Unicode's classes take longer to compile than a decision takes.
    Gate,
    /// Settings and packs.
    Settings,
}

/// The expression as the compiler is given it.
pub(crate) fn written_out(source: &str, author: Author) -> String {
    match author {
        Author::Gate => with_ascii_boundaries(&with_ascii_classes(source)),
        Author::Settings => with_ascii_boundaries(source),
    }
}

/// What a prepared expression is looked up by (FNV-1a over author and source).
pub(crate) const fn key(source: &str, author: Author) -> u64 {
    let bytes = source.as_bytes();
    let mut hash = 0xcbf2_9ce4_8422_2325_u64 ^ author as u64;
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u64).wrapping_mul(0x0100_0000_01b3);
        at += 1;
    }
    hash
}

/// `\b` and `\B` look at ASCII letters alone: with Unicode's they would slow
/// down the search through every text that is not English.
fn with_ascii_boundaries(source: &str) -> String {
    let mut text = String::with_capacity(source.len());
    let mut rest = source.chars();
    while let Some(c) = rest.next() {
        match (c, c == '\\') {
            (_, true) => match rest.next() {
                Some(boundary @ ('b' | 'B')) if !rest.as_str().starts_with('{') => {
                    text.extend(["(?-u:\\", &boundary.to_string(), ")"]);
                }
                Some(other) => text.extend(['\\', other]),
                None => text.push('\\'),
            },
            (c, false) => text.push(c),
        }
    }
    text
}

/// Writes out `\w`, `\W`, `\d` and `\s`, within a class and outside of one.
/// `\W` does not stand within a class.
fn with_ascii_classes(source: &str) -> String {
    let mut text = String::with_capacity(source.len());
    let (mut rest, mut class) = (source.chars(), false);
    while let Some(c) = rest.next() {
        match c {
            '\\' => match (rest.next(), class) {
                (Some('w'), true) => text.push_str("0-9A-Za-z_"),
                (Some('w'), false) => text.push_str("[0-9A-Za-z_]"),
                (Some('W'), false) => text.push_str("[^0-9A-Za-z_]"),
                (Some('d'), true) => text.push_str("0-9"),
                (Some('d'), false) => text.push_str("[0-9]"),
                (Some('s'), true) => text.push_str(r"\t\n\r "),
                (Some('s'), false) => text.push_str(r"[\t\n\r ]"),
                (Some(other), _) => text.extend(['\\', other]),
                (None, _) => text.push('\\'),
            },
            '[' | ']' => {
                class = c == '[';
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
    }

    #[test]
    fn own_expressions_know_ascii_alone() {
        assert_eq!(
            with_ascii_classes(r"[^\w\n]*\W\d\[\s"),
            r"[^0-9A-Za-z_\n]*[^0-9A-Za-z_][0-9]\[[\t\n\r ]"
        );
    }

    #[test]
    fn who_wrote_it_is_part_of_the_key() {
        assert_ne!(key(r"\w", Author::Gate), key(r"\w", Author::Settings));
    }
}
