//! Many windows: each place is looked up in a table.

use super::{Place, rarest};
use crate::decide::literal::Needle;

/// The length of a window, in bytes; shorter texts have shorter ones.
const WINDOW: usize = 3;

/// The windows by five bits of each of their bytes, which are the same for both
/// cases of a letter.
#[derive(Debug)]
pub(super) struct Table {
    /// One bit for each window.
    known: Box<[u64; 1 << 9]>,
    /// The windows, in order, with a text and where in it the window stands.
    texts: Vec<(u16, usize, usize)>,
}

impl Table {
    pub(super) fn of(texts: &[Needle]) -> Self {
        let mut known = Box::new([0; 1 << 9]);
        let mut windows = Vec::new();
        for (index, text) in texts.iter().enumerate() {
            let offset = rarest(text.as_bytes(), WINDOW);
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

    pub(super) fn find<T>(
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
