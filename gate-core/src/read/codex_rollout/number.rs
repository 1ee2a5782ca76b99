//! The numbers of texts, by which the two places of each are known to be one text.

/// Where a text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Model,
    Screen,
}

/// A text's number, of which the last bit tells where it stands. White space
/// around it does not count.
pub(super) fn number(text: &str, source: Source) -> u64 {
    let quoted = serde_json::to_string(text.trim()).unwrap_or_default();
    of(quoted.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(""), source)
}

/// The same of a text as it is escaped in JSON, where each of its characters is
/// written in the one way in which `serde_json` writes it too; nothing where it is
/// no text.
pub(super) fn number_of_escaped(escaped: &[u8], source: Source) -> Option<u64> {
    Some(of(trim(std::str::from_utf8(escaped).ok()?), source))
}

fn of(escaped: &str, source: Source) -> u64 {
    digest(escaped.as_bytes()) & !1 | u64::from(source == Source::Screen)
}

/// The text without white space around it, be it escaped or not.
fn trim(mut escaped: &str) -> &str {
    loop {
        let length = escaped.len();
        escaped = escaped.trim();
        escaped = BREAKS.iter().find_map(|it| escaped.strip_prefix(it)).unwrap_or(escaped);
        if let Some(rest) = BREAKS.iter().find_map(|it| escaped.strip_suffix(it)) {
            // Its backslash may be the second one of a pair, which is a character.
            let backslashes = rest.bytes().rev().take_while(|byte| *byte == b'\\').count();
            escaped = if backslashes % 2 == 0 { rest } else { escaped };
        }
        if escaped.len() == length {
            return escaped;
        }
    }
}

/// White space that JSON escapes.
const BREAKS: [&str; 3] = ["\\n", "\\r", "\\t"];

/// A number for some bytes: other bytes have another one, but for chance. Long
/// ones take a word at a time.
fn digest(bytes: &[u8]) -> u64 {
    let (pairs, rest) = bytes.as_chunks::<16>();
    let mut last = [0; 16];
    last[..rest.len()].copy_from_slice(rest);
    let sum = pairs.iter().fold(bytes.len() as u64 ^ KEYS[0], mix);
    mix(mix(sum, &last), &[0; 16])
}

/// A sum with sixteen bytes more: both halves of a product of theirs.
#[inline]
fn mix(sum: u64, bytes: &[u8; 16]) -> u64 {
    let both = u128::from_le_bytes(*bytes);
    let (one, other) = (both as u64 ^ sum, (both >> 64) as u64 ^ KEYS[1]);
    let product = u128::from(one) * u128::from(other);
    product as u64 ^ (product >> 64) as u64 ^ sum.rotate_left(23)
}

/// Bits without an order.
const KEYS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xd1b5_4a32_d192_ed03];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_text_has_one_number_escaped_or_not() {
        for text in [
            "",
            "done",
            " done\n",
            "\r\n\tdone\t\r\n ",
            "\u{3000}\u{a0}done \u{2003}",
            "a\\",
            "a\\n",
            "a\\\n",
            "\\n",
            "\\\\n\n",
            "n\\\\",
            "\"\n",
            "\"quoted\" and \\ and ünïcödé ✅\n\n",
            "a line that is longer than sixteen bytes\nand another one\n",
        ] {
            let quoted = serde_json::to_string(text).unwrap();
            let escaped = &quoted.as_bytes()[1..quoted.len() - 1];
            for source in [Source::Model, Source::Screen] {
                let number = number(text, source);
                assert_eq!(number_of_escaped(escaped, source), Some(number), "{text:?}");
                assert_eq!(number & 1 == 1, source == Source::Screen);
                let padded = super::number(&format!(" \t{text}\n "), source);
                assert_eq!(padded, number, "{text:?}");
            }
        }
        assert_eq!(number_of_escaped(b"\xff", Source::Model), None);
    }

    #[test]
    fn other_texts_have_other_numbers() {
        let long = "x".repeat(100);
        let mut texts: Vec<String> = (0..=100).map(|at| long[..at].to_owned()).collect();
        texts.extend((0..100).map(|at| format!("{}y{}", &long[..at], &long[at + 1..])));
        texts.extend((0..9).map(|at| format!("a{}b", "\0".repeat(at))));
        texts.extend((0..90_000).map(|number| format!("Step {number} of the plan is next.")));
        let numbers: HashSet<u64> = texts.iter().map(|text| number(text, Source::Model)).collect();
        assert_eq!(numbers.len(), texts.len());
    }
}
