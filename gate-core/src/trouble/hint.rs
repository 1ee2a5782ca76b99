//! A cheap look for texts, before patterns are tried.

/// The number of buckets that three bytes hash to.
const BUCKETS: usize = 1 << 12;

/// The most texts that are looked for together.
const MAX_TEXTS: usize = 64;

/// Texts that are searched for in one pass, with regard to case: at the offsets whose
/// three bytes begin one of them.
pub(super) struct Hints {
    texts: &'static [&'static str],
    /// For each bucket, the number of a text whose first three bytes hash to it, from 1;
    /// or 0.
    first: [u8; BUCKETS],
    /// For each text another one that begins in the same way, or 0.
    next: [u8; MAX_TEXTS],
}

impl Hints {
    /// Prepares texts of three bytes or more, when gate is built.
    pub(super) const fn new(texts: &'static [&'static str]) -> Self {
        let (mut first, mut next) = ([0; BUCKETS], [0; MAX_TEXTS]);
        let mut at = 0;
        while at < texts.len() {
            let bytes = texts[at].as_bytes();
            let place = place([bytes[0], bytes[1], bytes[2]]);
            next[at] = first[place];
            at += 1;
            first[place] = at as u8;
        }
        Self { texts, first, next }
    }

    pub(super) fn stand_in(&self, text: &str) -> bool {
        self.find(text).is_some()
    }

    /// The offset of the first of them in a text.
    pub(super) fn find(&self, text: &str) -> Option<usize> {
        self.find_in(text.as_bytes())
    }

    fn find_in(&self, bytes: &[u8]) -> Option<usize> {
        let places = bytes.len().saturating_sub(2);
        let mut from = 0;
        // At most places no text begins: eight are examined one by one only if a text may begin at
        // one of them.
        while let Some(ten) = bytes.get(from..).and_then(<[u8]>::first_chunk::<10>) {
            let any = ten.windows(3).fold(0, |any, three| any | self.number(three));
            if any != 0
                && let Some(at) = (from..from + 8).find(|at| self.begins(&bytes[*at..]))
            {
                return Some(at);
            }
            from += 8;
        }
        (from..places).find(|at| self.begins(&bytes[*at..]))
    }

    /// True if one of the texts begins these bytes.
    fn begins(&self, bytes: &[u8]) -> bool {
        match self.number(bytes) {
            0 => false,
            number => self.begin(number, bytes),
        }
    }

    /// The number of a text that begins as these three bytes or more do, or 0.
    fn number(&self, bytes: &[u8]) -> u8 {
        self.first[place([bytes[0], bytes[1], bytes[2]])]
    }

    /// True if the bytes begin with text `number`, or with another text in its chain.
    fn begin(&self, mut number: u8, bytes: &[u8]) -> bool {
        while let Some(index) = usize::from(number).checked_sub(1) {
            if bytes.starts_with(self.texts[index].as_bytes()) {
                return true;
            }
            number = self.next[index];
        }
        false
    }
}

/// The bucket of three bytes.
const fn place([one, two, three]: [u8; 3]) -> usize {
    let number = u32::from_le_bytes([one, two, three, 0]);
    (number.wrapping_mul(0x9e37_79b1) >> 20) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_stands_anywhere_in_its_case() {
        static HINTS: Hints = Hints::new(&["rror:", "rror[", " › ", "NOT"]);
        for (text, at) in [("error: x", 1), ("a › b", 1), ("NOT", 0), ("rrrror[", 2)] {
            assert_eq!(HINTS.find(text), Some(at), "{text}");
        }
        for text in ["", "r", "rr", "rror", "rror;", "ERROR:", "not", "N OT"] {
            assert!(!HINTS.stand_in(text), "{text}");
        }
        for before in 0..40 {
            for (text, after) in [(" › ", 0), ("rror[", 0), ("NOT", 9)] {
                let long = format!("{}{text}{}", "r".repeat(before), "r".repeat(after));
                assert_eq!(HINTS.find(&long), Some(before), "{long}");
            }
        }
    }
}
