//! Finds any of some texts in long inputs, without regard to the case of ASCII
//! letters.
//!
//! Of each text it looks for a window of three bytes that is rare in what
//! agents write, and holds the text against the places where one stands. Some
//! windows are searched for at once, by wide instructions, where both cases of a
//! letter were made one; for many of them, each place is looked up in a table.

use std::cmp::Reverse;

use aho_corasick::packed::{Config, MatchKind, Searcher};

use crate::decide::literal::Needle;

/// The length of a window, in bytes; shorter texts have shorter ones.
const WINDOW: usize = 3;

/// The most windows that are searched for at once.
const MOST: usize = 44;

/// How much is searched at once, in bytes.
const BLOCK: usize = 1 << 10;

/// The bit in which the cases of a letter differ.
const CASE: u8 = b'a' ^ b'A';

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
    Wide(Windows),
    Table(Table),
}

/// The windows with the bit set that tells cases apart, as what they are looked
/// for in has it set.
#[derive(Debug)]
struct Windows {
    searcher: Searcher,
    /// Where each stands.
    texts: Vec<Vec<Place>>,
}

/// The windows by five bits of each of their bytes, which are the same for both
/// cases of a letter.
#[derive(Debug)]
struct Table {
    /// One bit for each window.
    known: Box<[u64; 1 << 9]>,
    /// The windows, in order, with a text and where in it the window stands.
    texts: Vec<(u16, usize, usize)>,
}

impl Prefilter {
    /// A prefilter of these texts, each of two bytes or more, that is ready at once.
    pub(super) fn brief(texts: Vec<Needle>) -> Self {
        let way = if texts.is_empty() { Way::Nowhere } else { Way::Table(Table::of(&texts)) };
        Self { texts, way }
    }

    /// A prefilter of these texts, each of two bytes or more, for long inputs.
    pub(super) fn new(texts: Vec<Needle>) -> Self {
        let way = match Windows::of(&texts) {
            _ if texts.is_empty() => Way::Nowhere,
            Some(windows) => Way::Wide(windows),
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
            Way::Wide(windows) => windows.find(bytes, from, stands),
            Way::Table(table) => table.find(bytes, from, stands),
        }
    }
}

impl Windows {
    fn of(texts: &[Needle]) -> Option<Self> {
        let mut windows: Vec<(Vec<u8>, Vec<Place>)> = Vec::new();
        for (index, text) in texts.iter().enumerate() {
            let offset = rarest(text.as_bytes());
            let window = &text.as_bytes()[offset..text.len().min(offset + WINDOW)];
            let window: Vec<u8> = window.iter().map(|byte| byte | CASE).collect();
            match windows.iter_mut().find(|(known, _)| *known == window) {
                Some((_, texts)) => texts.push((index, offset)),
                None => windows.push((window, vec![(index, offset)])),
            }
        }
        if windows.len() > MOST {
            return None;
        }
        share(&mut windows);
        let mut builder = Config::new()
            .match_kind(MatchKind::LeftmostFirst)
            .heuristic_pattern_limits(false)
            .builder();
        builder.extend(windows.iter().map(|(window, _)| window));
        let searcher = builder.build()?;
        Some(Self { searcher, texts: windows.into_iter().map(|(_, texts)| texts).collect() })
    }

    fn find<T>(
        &self,
        bytes: &[u8],
        from: usize,
        mut stands: impl FnMut(usize, Place) -> Option<T>,
    ) -> Option<T> {
        let (mut block, mut at) = ([0; BLOCK], from);
        while at < bytes.len() {
            let end = bytes.len().min(at + BLOCK);
            let caseless = &mut block[..end - at];
            caseless.iter_mut().zip(&bytes[at..end]).for_each(|(to, byte)| *to = byte | CASE);
            let mut next = 0;
            while let Some(found) = self.searcher.find_in(&*caseless, (next..end - at).into()) {
                let texts = &self.texts[found.pattern().as_usize()];
                let mut texts = texts.iter();
                if let Some(text) = texts.find_map(|text| stands(at + found.start(), *text)) {
                    return Some(text);
                }
                next = found.start() + 1;
            }
            // A window may stand across the end.
            at = if end == bytes.len() { end } else { end + 1 - WINDOW };
        }
        None
    }
}

/// Of windows that begin at one place the first one is found: the longest, which
/// stands for those that it begins with.
fn share(windows: &mut [(Vec<u8>, Vec<Place>)]) {
    windows.sort_by_key(|(window, _)| Reverse(window.len()));
    for index in 1..windows.len() {
        let (longer, shorter) = windows.split_at_mut(index);
        let (window, texts) = &shorter[0];
        let longer = longer.iter_mut().filter(|(longer, _)| longer.starts_with(window));
        longer.for_each(|(_, all)| all.extend(texts));
    }
}

impl Table {
    fn of(texts: &[Needle]) -> Self {
        let mut known = Box::new([0; 1 << 9]);
        let mut windows = Vec::new();
        for (index, text) in texts.iter().enumerate() {
            let offset = rarest(text.as_bytes());
            let window = &text.as_bytes()[offset..text.len().min(offset + WINDOW)];
            // A window of two bytes goes with each third.
            let thirds = if window.len() < WINDOW { 0..32 } else { window[2]..window[2] + 1 };
            windows.extend(thirds.map(|third| (key(window[0], window[1], third), index, offset)));
        }
        for (key, ..) in &windows {
            known[usize::from(key >> 6)] |= 1 << (key & 63);
        }
        windows.sort_unstable();
        Self { known, texts: windows }
    }

    fn find<T>(
        &self,
        bytes: &[u8],
        from: usize,
        mut stands: impl FnMut(usize, Place) -> Option<T>,
    ) -> Option<T> {
        let mut at = from;
        while let Some(found) = self.next(bytes, at) {
            let key = key_at(bytes, found);
            let first = self.texts.partition_point(|(known, ..)| *known < key);
            let same = self.texts[first..].iter().take_while(|(known, ..)| *known == key);
            let mut same = same.map(|&(_, index, offset)| (index, offset));
            if let Some(text) = same.find_map(|text| stands(found, text)) {
                return Some(text);
            }
            at = found + 1;
        }
        None
    }

    /// The next place of a window, four places at a time.
    fn next(&self, bytes: &[u8], from: usize) -> Option<usize> {
        let mut at = from;
        while let Some(&[a, b, c, d, e, f]) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
            let four = [key(a, b, c), key(b, c, d), key(c, d, e), key(d, e, f)];
            if four.map(|key| self.knows(key)).contains(&true) {
                return (at..).zip(four).find(|(_, key)| self.knows(*key)).map(|(at, _)| at);
            }
            at += four.len();
        }
        (at..bytes.len().saturating_sub(1)).find(|at| self.knows(key_at(bytes, *at)))
    }

    #[inline]
    fn knows(&self, key: u16) -> bool {
        self.known[usize::from(key >> 6) & 0x1ff] >> (key & 63) & 1 != 0
    }
}

/// The key of the window at a place; the last one may be of two bytes.
fn key_at(bytes: &[u8], at: usize) -> u16 {
    key(bytes[at], bytes[at + 1], bytes.get(at + 2).copied().unwrap_or_default())
}

#[inline]
fn key(one: u8, two: u8, three: u8) -> u16 {
    let five = |byte: u8| u16::from(byte & 31);
    five(one) << 10 | five(two) << 5 | five(three)
}

/// Where the window of a text stands that is worth looking for.
fn rarest(text: &[u8]) -> usize {
    let last = text.len().saturating_sub(WINDOW);
    let frequency = |at: &usize| {
        text[*at..]
            .iter()
            .take(WINDOW)
            .map(|byte| u32::from(WEIGHTS[usize::from(*byte)]))
            .sum::<u32>()
    };
    (0..=last).min_by_key(frequency).unwrap_or(0)
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
        let many = (0..=MOST).map(|number| format!("x{number}y").into()).collect();
        for texts in [few.map(Needle::from).to_vec(), many] {
            let prefilter = Prefilter::new(texts.clone());
            assert_eq!(matches!(prefilter.way, Way::Wide(_)), texts.len() <= MOST);
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
        assert_eq!(rarest(b"complete</p"), 8);
    }
}
