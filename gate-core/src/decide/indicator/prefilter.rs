//! Finds any of some texts in long inputs, without regard to the case of ASCII
//! letters.
//!
//! Of each text it looks for a window of a few bytes that is rare in what agents
//! write, and holds the text against the places where one stands. Some windows are
//! searched for at once, by wide instructions, where both cases of a letter were made
//! one; for many of them, and where nothing may be prepared, each place is looked up
//! in a table.

mod sets;
mod table;
mod wide;

use crate::decide::literal::Needle;
use table::Table;
use wide::Wide;

/// A text, and where in it a window stands.
type Place = (usize, usize);

/// Texts to be found.
#[derive(Debug)]
pub(super) struct Prefilter {
    texts: Vec<Needle>,
    way: Way,
}

#[derive(Debug)]
enum Way {
    Nowhere,
    Wide(Wide),
    Table(Table),
}

impl Prefilter {
    /// A prefilter of these texts, each of two bytes or more, that is ready at once.
    pub(super) fn brief(texts: Vec<Needle>) -> Self {
        let way = if texts.is_empty() { Way::Nowhere } else { Way::Table(Table::of(&texts)) };
        Self { texts, way }
    }

    /// A prefilter of these texts, each of two bytes or more, for long inputs.
    pub(super) fn new(texts: Vec<Needle>) -> Self {
        let way = match Wide::of(&texts) {
            _ if texts.is_empty() => Way::Nowhere,
            Some(wide) => Way::Wide(wide),
            None => Way::Table(Table::of(&texts)),
        };
        Self { texts, way }
    }

    /// The first text that stands at or after a byte and that is enough: told its
    /// place and which it is. Texts are told in the order of their windows.
    pub(super) fn find(
        &self,
        bytes: &[u8],
        from: usize,
        mut enough: impl FnMut(usize, usize) -> bool,
    ) -> Option<(usize, usize)> {
        let stands = |at: usize, (index, offset): Place| {
            let text = self.texts[index].as_bytes();
            let begin = at.checked_sub(offset).filter(|begin| *begin >= from)?;
            let there = bytes.get(begin..begin + text.len())?;
            let stands = there.eq_ignore_ascii_case(text) && enough(begin, index);
            stands.then_some((begin, index))
        };
        match &self.way {
            Way::Nowhere => None,
            Way::Wide(wide) => wide.find(bytes, from, stands),
            Way::Table(table) => table.find(bytes, from, stands),
        }
    }
}

/// Where the window of a text stands, of so many bytes, that is worth looking for. Of
/// windows of frequent letters it is the last: words with one stem begin alike.
fn rarest(text: &[u8], length: usize) -> usize {
    let last = text.len().saturating_sub(length);
    let frequency = |at: &usize| {
        text[*at..]
            .iter()
            .take(length)
            .map(|byte| u32::from(WEIGHTS[usize::from(*byte)]))
            .sum::<u32>()
    };
    (0..=last).rev().min_by_key(frequency).unwrap_or(0)
}

static WEIGHTS: [u8; 256] = {
    let mut weights = [0; 256];
    let mut byte = 0;
    while byte < weights.len() {
        weights[byte] = weight(byte as u8);
        byte += 1;
    }
    weights
};

/// How frequent a byte is in English, code and escaped JSON: a logarithm, with
/// something for the second case that a letter has.
const fn weight(byte: u8) -> u8 {
    match byte.to_ascii_lowercase() {
        b' ' | b'e' => 20,
        b't' | b'a' | b'o' | b'i' | b'n' | b's' | b'r' => 19,
        b'l' | b'd' | b'c' | b'u' => 17,
        b'm' | b'p' | b'h' | b'f' | b'g' => 15,
        b'y' | b'w' | b'b' | b'v' => 13,
        b'k' | b'x' => 11,
        b'j' | b'q' | b'z' => 9,
        b'0'..=b'9' | b'_' | b'-' | b'.' | b',' | b'/' | b'"' | b'\\' => 12,
        _ => 6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_finds_what_stands_there_in_any_case() {
        let few = ["done", "no tasks", "é!", "✅", "if", "<promise>"];
        let many = (0..=wide::MOST).map(|number| format!("x{number}y")).collect();
        for texts in [few.map(Needle::from).to_vec(), many] {
            let prefilter = Prefilter::new(texts.clone());
            assert_eq!(matches!(prefilter.way, Way::Wide(_)), texts.len() <= wide::MOST);
            for (index, text) in texts.iter().enumerate() {
                let long = format!("{}{}..", "o".repeat(70), text.to_ascii_uppercase());
                assert_eq!(
                    prefilter.find(long.as_bytes(), 3, |_, _| true),
                    Some((70, index)),
                    "{text}"
                );
                assert_eq!(
                    prefilter.find(text.as_bytes(), 0, |_, _| true),
                    Some((0, index)),
                    "{text}"
                );
                assert_eq!(prefilter.find(text.as_bytes(), 1, |_, _| true), None, "{text}");
            }
        }
    }

    #[test]
    fn windows_are_rare_and_complete() {
        assert_eq!(rarest(b"complete</p", 3), 8);
    }
}
