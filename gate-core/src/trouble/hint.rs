//! A cheap search for texts, before patterns are tried.

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
    first_text: [u8; BUCKETS],
    /// For each text another one that begins in the same way, or 0.
    next_text: [u8; MAX_TEXTS],
}

impl Hints {
    /// Prepares texts of three bytes or more, when gate is built.
    pub(super) const fn new(texts: &'static [&'static str]) -> Self {
        let mut first_text = [0; BUCKETS];
        let mut next_text = [0; MAX_TEXTS];
        let mut index = 0;
        while index < texts.len() {
            let bytes = texts[index].as_bytes();
            let bucket = bucket([bytes[0], bytes[1], bytes[2]]);
            next_text[index] = first_text[bucket];
            // Numbers begin at 1: 0 is the end of a chain.
            index += 1;
            first_text[bucket] = index as u8;
        }
        Self { texts, first_text, next_text }
    }

    /// One of the texts is in a text.
    pub(super) fn are_in(&self, text: &str) -> bool {
        self.find(text).is_some()
    }

    /// The offset of the first of them in a text.
    pub(super) fn find(&self, text: &str) -> Option<usize> {
        self.find_in(text.as_bytes())
    }

    fn find_in(&self, bytes: &[u8]) -> Option<usize> {
        let offsets = bytes.len().saturating_sub(2);
        let mut start = 0;
        // At most offsets no text begins: eight are examined one by one only if a text may begin
        // at one of them.
        while let Some(ten_bytes) = bytes.get(start..).and_then(<[u8]>::first_chunk::<10>) {
            let numbers = ten_bytes.windows(3).map(|three_bytes| self.text_number(three_bytes));
            if numbers.fold(0, |any_number, number| any_number | number) != 0
                && let Some(offset) =
                    (start..start + 8).find(|offset| self.begin(&bytes[*offset..]))
            {
                return Some(offset);
            }
            start += 8;
        }
        (start..offsets).find(|offset| self.begin(&bytes[*offset..]))
    }

    /// One of the texts begins these bytes.
    fn begin(&self, bytes: &[u8]) -> bool {
        let mut number = self.text_number(bytes);
        while let Some(index) = usize::from(number).checked_sub(1) {
            if bytes.starts_with(self.texts[index].as_bytes()) {
                return true;
            }
            number = self.next_text[index];
        }
        false
    }

    /// The number of a text that may begin as these three bytes or more do, or 0.
    fn text_number(&self, bytes: &[u8]) -> u8 {
        self.first_text[bucket([bytes[0], bytes[1], bytes[2]])]
    }
}

/// The bucket of three bytes. The factor is 2^32 divided by the golden ratio: Fibonacci hashing.
const fn bucket([first, second, third]: [u8; 3]) -> usize {
    let number = u32::from_le_bytes([first, second, third, 0]);
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
            assert!(!HINTS.are_in(text), "{text}");
        }
        for before in 0..40 {
            for (text, after) in [(" › ", 0), ("rror[", 0), ("NOT", 9)] {
                let long = format!("{}{text}{}", "r".repeat(before), "r".repeat(after));
                assert_eq!(HINTS.find(&long), Some(before), "{long}");
            }
        }
    }
}
