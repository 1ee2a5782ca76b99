//! Finds any of some texts, without regard to the case of ASCII letters.
//!
//! Most transcripts are short, and an automaton takes longer to build than to
//! read one: so it is built only when enough text has gone by. Until then each
//! place is held against the texts that begin with its two bytes.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use aho_corasick::{AhoCorasick, AhoCorasickKind};

/// After so many bytes an automaton pays off.
const ENOUGH: usize = 128 << 10;

/// Texts to be found.
#[derive(Debug)]
pub(crate) struct Finder {
    texts: Vec<String>,
    /// The indices of the texts, in order of their first two bytes.
    order: Vec<(u16, u32)>,
    /// One bit for each two bytes that a text begins with.
    begins: Box<[u64]>,
    automaton: OnceLock<Option<AhoCorasick>>,
    searched: AtomicUsize,
}

impl Finder {
    /// A finder of these texts, each of two bytes or more.
    pub(crate) fn new(texts: Vec<String>) -> Self {
        let mut order: Vec<_> =
            (0u32..).zip(&texts).map(|(at, text)| (pair(text.as_bytes()), at)).collect();
        order.sort_unstable();
        let mut begins = vec![0; 1 << 10].into_boxed_slice();
        for (pair, _) in &order {
            begins[usize::from(pair >> 6)] |= 1 << (pair & 63);
        }
        Self { texts, order, begins, automaton: OnceLock::new(), searched: AtomicUsize::new(0) }
    }

    /// Where one of the texts stands at or after a byte: the one that begins
    /// or the one that ends first.
    pub(crate) fn find(&self, text: &str, from: usize) -> Option<usize> {
        if let Some(automaton) = self.automaton(text.len() - from) {
            return automaton.find(&text[from..]).map(|found| from + found.start());
        }
        let found = self.search(text.as_bytes(), from, |_| true);
        self.searched.fetch_add(found.unwrap_or(text.len()) - from, Ordering::Relaxed);
        found
    }

    /// The texts.
    pub(super) fn texts(&self) -> &[String] {
        &self.texts
    }

    /// Tells the index of each text wherever it stands.
    pub(crate) fn each(&self, text: &str, mut tell: impl FnMut(usize)) {
        if let Some(automaton) = self.automaton(text.len()) {
            let found = automaton.find_overlapping_iter(text);
            return found.for_each(|one| tell(one.pattern().as_usize()));
        }
        self.search(text.as_bytes(), 0, |index| {
            tell(index);
            false
        });
        self.searched.fetch_add(text.len(), Ordering::Relaxed);
    }

    /// Tells the texts that stand in a text, in order of their places, until
    /// one is enough; its place.
    fn search(
        &self,
        text: &[u8],
        from: usize,
        mut enough: impl FnMut(usize) -> bool,
    ) -> Option<usize> {
        let mut before = text.get(from).map_or(0, u8::to_ascii_lowercase);
        for (at, byte) in (from..).zip(text.get(from + 1..)?) {
            let byte = byte.to_ascii_lowercase();
            let two = u16::from_be_bytes([std::mem::replace(&mut before, byte), byte]);
            if self.begins[usize::from(two >> 6)] & (1 << (two & 63)) == 0 {
                continue;
            }
            let first = self.order.partition_point(|(pair, _)| *pair < two);
            let same = self.order[first..].iter().take_while(|(pair, _)| *pair == two);
            for (_, index) in same {
                let wanted = self.texts[*index as usize].as_bytes();
                let stands = text[at..].get(..wanted.len());
                if stands.is_some_and(|it| it.eq_ignore_ascii_case(wanted))
                    && enough(*index as usize)
                {
                    return Some(at);
                }
            }
        }
        None
    }

    fn automaton(&self, length: usize) -> Option<&AhoCorasick> {
        if length < ENOUGH && self.searched.load(Ordering::Relaxed) < ENOUGH {
            return None;
        }
        let mut builder = AhoCorasick::builder();
        builder.ascii_case_insensitive(true).kind(Some(AhoCorasickKind::DFA));
        self.automaton.get_or_init(|| builder.build(&self.texts).ok()).as_ref()
    }
}

/// The first two bytes, in lower case.
fn pair(bytes: &[u8]) -> u16 {
    let lower = |at: usize| bytes.get(at).map_or(0, u8::to_ascii_lowercase);
    u16::from_be_bytes([lower(0), lower(1)])
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXTS: [&str; 7] = ["done", "one", "no tasks", "All", "é!", "ne", "✅"];

    fn all(finder: &Finder, text: &str) -> Vec<usize> {
        let mut found = Vec::new();
        finder.each(text, |index| found.push(index));
        found.sort_unstable();
        found
    }

    #[test]
    fn it_finds_the_same_with_and_without_its_automaton() {
        let fresh = || Finder::new(TEXTS.map(str::to_owned).to_vec());
        let used = fresh();
        used.searched.store(ENOUGH, Ordering::Relaxed);
        for text in ["", "n", "DONE", "all is doNe ✅", "É! é!", "no tasksall", "gone alone"] {
            assert_eq!(all(&fresh(), text), all(&used, text), "{text}");
            assert_eq!(fresh().find(text, 0).is_some(), used.find(text, 0).is_some(), "{text}");
        }
        assert_eq!(fresh().find("done, done", 4), Some(6));
    }
}
