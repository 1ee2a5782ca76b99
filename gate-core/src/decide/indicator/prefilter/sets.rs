//! In which order a searcher is told its windows.
//!
//! It deals them to some sets in turn. At each place it sees for all sets at once
//! whether each byte is like one that a window of the set has there, in its lower and
//! in its upper half, and only then compares windows, which takes longer by far. So
//! windows that are alike come into one set, and frequent ones apart. Whatever the
//! order is, the same is found.

use std::cmp::Reverse;

use super::weight;

/// How many sets there are for few windows, and for more (aho-corasick 1.1, "slim" and
/// "fat" Teddy).
const SETS: usize = 8;
const MORE_SETS: usize = 16;

/// How many windows are few.
const FEW: usize = 32;

/// Some windows, by their numbers.
struct Set {
    windows: Vec<usize>,
    likes: Vec<Like>,
    /// How often it is in question, beside other sets.
    frequency: u64,
}

/// Which bytes are like those that windows have at one place: a bit for each half.
#[derive(Clone, Copy)]
struct Like {
    lower: u16,
    upper: u16,
}

/// The numbers of the windows in the order in which they come into the best sets.
pub(super) fn order(windows: &[&[u8]]) -> Vec<usize> {
    let count = if windows.len() > FEW { MORE_SETS } else { SETS };
    // So many bytes are seen.
    let length = windows.iter().map(|window| window.len()).min().unwrap_or_default();
    let alone = |(number, window): (usize, &&[u8])| Set::of(number, &window[..length]);
    let mut sets: Vec<_> = windows.iter().enumerate().map(alone).collect();
    sets.sort_by_key(|set| Reverse(set.frequency));
    let others = sets.split_off(count.min(sets.len()));
    // Sets are dealt to in turn: so many have one more than the rest.
    let (least, mut larger) = (windows.len() / count, windows.len() % count);
    for one in others {
        let room = if larger > 0 { least + 1 } else { least };
        let open = sets.iter_mut().filter(|set| set.windows.len() < room);
        if let Some(best) = open.min_by_key(|set| set.frequency_with(&one) - set.frequency) {
            best.add(&one);
            larger -= usize::from(best.windows.len() > least);
        }
    }
    sets.sort_by_key(|set| Reverse(set.windows.len()));
    let turn = |turn| sets.iter().filter_map(move |set| set.windows.get(turn).copied());
    (0..=least).flat_map(turn).collect()
}

impl Set {
    fn of(number: usize, window: &[u8]) -> Self {
        let likes: Vec<_> = window.iter().copied().map(Like::of).collect();
        let frequency = likes.iter().map(|like| like.frequency()).product();
        Self { windows: vec![number], likes, frequency }
    }

    fn add(&mut self, other: &Self) {
        self.frequency = self.frequency_with(other);
        self.windows.extend(&other.windows);
        self.likes.iter_mut().zip(&other.likes).for_each(|(one, other)| *one = one.or(*other));
    }

    /// How often both would be in question as one.
    fn frequency_with(&self, other: &Self) -> u64 {
        let likes = self.likes.iter().zip(&other.likes);
        likes.map(|(one, other)| one.or(*other).frequency()).product()
    }
}

impl Like {
    fn of(byte: u8) -> Self {
        Self { lower: 1 << (byte & 15), upper: 1 << (byte >> 4) }
    }

    fn or(self, other: Self) -> Self {
        Self { lower: self.lower | other.lower, upper: self.upper | other.upper }
    }

    /// How often such a byte stands somewhere.
    fn frequency(self) -> u64 {
        let ones = |bits: u16| (0..16).filter(move |bit| bits >> bit & 1 != 0);
        let bytes =
            ones(self.upper).flat_map(|upper| ones(self.lower).map(move |it| upper << 4 | it));
        bytes.map(|byte: u8| 1 << (weight(byte) / 2)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sets that a searcher makes of windows in this order.
    fn dealt(windows: &[&str], order: &[usize], count: usize) -> Vec<Vec<String>> {
        let set = |first| order.iter().skip(first).step_by(count).map(|at| windows[*at].to_owned());
        let mut sets: Vec<Vec<_>> = (0..count).map(|first| set(first).collect()).collect();
        sets.iter_mut().for_each(|set| set.sort_unstable());
        sets
    }

    #[test]
    fn windows_that_are_alike_come_into_one_set() {
        // Lower halves are the same for `a` and `q`, and for `t` and `d`.
        let windows =
            ["eeee", "tttt", "aaaa", "oooo", "iiii", "nnnn", "ssss", "rrrr", "aqaq", "tdtd"];
        let bytes = windows.map(str::as_bytes);
        let order = order(&bytes);
        let sets = dealt(&windows, &order, SETS);
        assert!(sets.contains(&vec!["aaaa".to_owned(), "aqaq".to_owned()]), "{sets:?}");
        assert!(sets.contains(&vec!["tdtd".to_owned(), "tttt".to_owned()]), "{sets:?}");
    }

    #[test]
    fn each_window_has_its_place() {
        for count in [0, 1, 7, 8, 9, 31, 32, 33, 48, 49, 64] {
            let windows: Vec<_> = (0..count).map(|it| format!("{:04}", it * 97 % 89)).collect();
            let bytes: Vec<_> = windows.iter().map(String::as_bytes).collect();
            let mut order = order(&bytes);
            order.sort_unstable();
            assert!(order.into_iter().eq(0..count), "{count}");
        }
    }
}
