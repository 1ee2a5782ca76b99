//! Foreign text, made fit to be shown and recorded.

use std::fmt::Display;

use anstream::adapter::strip_str;

/// One line without terminal escapes, control characters other than tab, and
/// marks that hide or reorder text.
pub fn clean(line: &str) -> String {
    if line.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t')) {
        return line.to_owned();
    }
    let stripped = strip_str(line).to_string();
    let one_line = stripped.replace(['\r', '\n'], " ");
    one_line.chars().filter(|char| is_plain(*char)).collect()
}

/// The same, line by line.
pub fn clean_lines(text: &str) -> String {
    if text.chars().all(|char| is_plain(char) || char == '\n') {
        return text.to_owned();
    }
    text.split('\n').map(clean).collect::<Vec<_>>().join("\n")
}

/// The text on one line, clean, and at most so many characters of it.
pub fn brief(text: &str, max_chars: usize) -> String {
    let line = clean(text).replace('\t', " ");
    match line.char_indices().nth(max_chars) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// The most names that a sentence gives, as a rule.
pub const MAX_NAMES: usize = 3;

/// The longest name that a sentence gives whole, in characters.
const MAX_NAME_CHARS: usize = 120;

/// The first `max_names` of these names, and the number of the others.
pub fn some_names(names: &[String], max_names: usize) -> String {
    let first_names = names.iter().take(max_names).map(|name| brief(name, MAX_NAME_CHARS));
    let list = first_names.collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(max_names) {
        0 => list,
        left_out => format!("{list} and {left_out} more"),
    }
}

/// Whole lines of the text, at most so many characters. If not all fit, lines in the middle
/// go: the first ones hold the assertion, the last ones the end. A single line that is too
/// long is cut.
pub fn whole_lines(text: &str, max_chars: usize) -> String {
    let lines: Vec<_> = text.lines().collect();
    let lengths: Vec<_> = lines.iter().map(|line| line.chars().count() + 1).collect();
    if lengths.iter().sum::<usize>() <= max_chars + 1 {
        return lines.join("\n");
    }
    // The ellipsis in place of the middle takes a line.
    let room = max_chars.saturating_sub(2);
    let head_count = fitting_count(&lengths, room / 2);
    let room_left = room - lengths[..head_count].iter().sum::<usize>();
    let tail_count = fitting_count(lengths[head_count..].iter().rev(), room_left);
    if head_count + tail_count == 0 {
        return brief(lines.first().copied().unwrap_or_default(), max_chars.saturating_sub(1));
    }
    let (head, tail) = (&lines[..head_count], &lines[lines.len() - tail_count..]);
    [head, &["…"], tail].concat().join("\n")
}

/// The number of lengths, from the first on, that fit into the room together.
fn fitting_count<'a>(lengths: impl IntoIterator<Item = &'a usize>, room: usize) -> usize {
    let mut room_left = room;
    let lengths = lengths.into_iter();
    let fitting = lengths.map_while(|length| {
        room_left = room_left.checked_sub(*length)?;
        Some(())
    });
    fitting.count()
}

/// `1 check`, `2 checks`.
pub fn counted<N: Copy + Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    let ending = if count == N::from(1) { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

/// A word as a shell takes it: in quotes if it needs them.
pub fn shell_word(word: &str) -> String {
    // Without a comma, braces stand for nothing.
    let is_plain = |char: char| char.is_alphanumeric() || "/._-+:@%={}".contains(char);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// A number of bytes for a person, in steps of a thousand: `3.2 GB`.
pub fn readable_size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

/// A character that is shown as it is: it neither hides, reorders nor breaks text, and no
/// terminal obeys it.
pub fn is_plain(char: char) -> bool {
    let reorders =
        matches!(char, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let hides = matches!(char, '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' | '\u{061c}');
    let breaks = matches!(char, '\u{2028}' | '\u{2029}');
    char == '\t' || !(char.is_control() || reorders || hides || breaks)
}

#[cfg(test)]
mod tests {
    use super::{brief, clean, readable_size, shell_word, whole_lines};

    #[test]
    fn a_word_is_quoted_for_a_shell_where_it_has_to_be() {
        for (word, expected) in [
            ("plain-1.2/a_b:c+d@e%f=g{h}", "plain-1.2/a_b:c+d@e%f=g{h}"),
            ("", "''"),
            ("a b", "'a b'"),
            ("it's", r"'it'\''s'"),
            ("$x", "'$x'"),
            ("{a,b}", "'{a,b}'"),
            ("é", "é"),
            ("a\nb", "'a\nb'"),
        ] {
            assert_eq!(shell_word(word), expected);
        }
    }

    #[test]
    fn a_long_text_loses_whole_lines_of_its_middle() {
        let text = "first\nsecond\nthird\nfourth\nlast";
        assert_eq!(whole_lines(text, 100), text);
        assert_eq!(whole_lines(text, 30), text);
        assert_eq!(whole_lines(text, 20), "first\n…\nfourth\nlast");
        assert_eq!(whole_lines(text, 12), "…\nlast");
        assert_eq!(whole_lines("abcdef", 4), "abc…");
        for longest in 0..40 {
            assert!(whole_lines(text, longest).chars().count() <= longest.max(1), "{longest}");
        }
    }

    #[test]
    fn escapes_and_hidden_marks_are_dropped() {
        let dirty = "a\u{1b}[2J\u{1b}]52;c;eA==\u{7}b\u{202e}c\u{200b}\td\re\nf";
        assert_eq!(clean(dirty), "abc\td e f");
    }

    #[test]
    fn sizes_are_written_in_steps_of_a_thousand() {
        for (bytes, expected) in [
            (0, "0 bytes"),
            (999, "999 bytes"),
            (1_000, "1.0 kB"),
            (1_549, "1.5 kB"),
            (1_000_000, "1.0 MB"),
            (2_500_000_000, "2.5 GB"),
            (7_000_000_000_000, "7000.0 GB"),
        ] {
            assert_eq!(readable_size(bytes), expected);
        }
    }

    #[test]
    fn a_brief_text_is_one_line_and_cut() {
        assert_eq!(brief("a\n b\u{1b}[0m\tc", 9), "a  b c");
        assert_eq!(brief("abcdef", 3), "abc…");
        assert_eq!(brief("ab", 2), "ab");
    }
}
