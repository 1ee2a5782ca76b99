//! Some windows at once, by wide instructions.

use std::cmp::Reverse;

use aho_corasick::packed::{Config, MatchKind, Searcher};

use super::{Place, rarest, sets};
use crate::decide::literal::Needle;

/// The longest window, in bytes: the searcher sees no more bytes at once.
const LONGEST: usize = 4;

/// The length of the windows of few texts, and how many are few: they stand in few
/// places, however short they are, and less has to be seen.
const SHORT: usize = 3;
const FEW: usize = 8;

/// The most windows that are searched for at once.
pub(super) const MOST: usize = 64;

/// How much is searched at once, in bytes.
const BLOCK: usize = 1 << 10;

/// The bit in which the cases of a letter differ.
const CASE: u8 = b'a' ^ b'A';

/// The windows with the bit set that tells cases apart, as what they are looked
/// for in has it set.
#[derive(Debug)]
pub(super) struct Wide {
    searcher: Searcher,
    /// Where each stands.
    texts: Vec<Vec<Place>>,
}

impl Wide {
    /// The windows of these texts, or shorter texts whole; none where they are too many.
    pub(super) fn of(texts: &[Needle]) -> Option<Self> {
        let mut windows: Vec<(Vec<u8>, Vec<Place>)> = Vec::new();
        let length = if texts.len() > FEW { LONGEST } else { SHORT };
        for (index, text) in texts.iter().enumerate() {
            let offset = rarest(text.as_bytes(), length);
            let window = &text.as_bytes()[offset..text.len().min(offset + length)];
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
        let order: Vec<_> = windows.iter().map(|(window, _)| window.as_slice()).collect();
        let (windows, texts): (Vec<_>, Vec<_>) =
            sets::order(&order).into_iter().map(|at| windows[at].clone()).unzip();
        let mut builder = Config::new()
            .match_kind(MatchKind::LeftmostLongest)
            .heuristic_pattern_limits(false)
            .builder();
        builder.extend(windows);
        Some(Self { searcher: builder.build()?, texts })
    }

    pub(super) fn find<T>(
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
            at = if end == bytes.len() { end } else { end + 1 - LONGEST };
        }
        None
    }
}

/// Of windows that begin at one place the longest is found: it stands for those that
/// it begins with.
fn share(windows: &mut [(Vec<u8>, Vec<Place>)]) {
    windows.sort_by_key(|(window, _)| Reverse(window.len()));
    for index in 1..windows.len() {
        let (longer, shorter) = windows.split_at_mut(index);
        let (window, texts) = &shorter[0];
        let longer = longer.iter_mut().filter(|(longer, _)| longer.starts_with(window));
        longer.for_each(|(_, all)| all.extend(texts));
    }
}
