//! Captured text, made fit for a terminal.

/// The text without control characters and without marks that reorder or hide
/// text, on one line.
pub(super) fn plain(text: &str) -> String {
    text.chars()
        .filter_map(|c| {
            if c == '\n' || c == '\t' { Some(' ') } else { Some(c).filter(|c| is_plain(*c)) }
        })
        .collect()
}

/// The text, fit for one row of a card: plain, and at most 200 characters.
pub(super) fn brief(text: &str) -> String {
    let text = plain(text);
    match text.char_indices().nth(200) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn is_plain(c: char) -> bool {
    let reorders = matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{061c}');
    let hides = matches!(c, '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}');
    !c.is_control() && !reorders && !hides
}

#[cfg(test)]
mod tests {
    use super::{brief, plain};

    #[test]
    fn a_row_is_cut() {
        assert_eq!(brief(&"x".repeat(500)).chars().count(), 201);
        assert_eq!(brief("short"), "short");
    }

    #[test]
    fn control_and_bidi_characters_are_dropped() {
        assert_eq!(plain("a\u{1b}[2Jb\u{202e}c\u{200b}d\ne"), "a[2Jbcd e");
    }
}
