//! A cheap look for texts, before a pack is read.

/// Texts, in this case, that are looked for together: in one pass, at the
/// places where two bytes stand that one of them begins with.
pub(super) struct Hints {
    texts: &'static [&'static str],
    /// One bit for each two bytes.
    begins: [u64; 1 << 10],
}

impl Hints {
    /// Prepares texts of two bytes or more, when gate is built.
    pub(super) const fn new(texts: &'static [&'static str]) -> Self {
        let mut begins = [0; 1 << 10];
        let mut at = 0;
        while at < texts.len() {
            let bytes = texts[at].as_bytes();
            let two = pair(bytes[0], bytes[1]);
            begins[two >> 6] |= 1 << (two & 63);
            at += 1;
        }
        Self { texts, begins }
    }

    /// Whether one of them stands in a text.
    pub(super) fn stand_in(&self, text: &str) -> bool {
        self.stand_in_bytes(text.as_bytes())
    }

    /// Whether one of them stands in some bytes.
    pub(super) fn stand_in_bytes(&self, bytes: &[u8]) -> bool {
        bytes.windows(2).enumerate().any(|(at, two)| {
            let two = pair(two[0], two[1]);
            let begins = self.begins[two >> 6] & (1 << (two & 63)) != 0;
            begins && self.texts.iter().any(|hint| bytes[at..].starts_with(hint.as_bytes()))
        })
    }
}

const fn pair(one: u8, other: u8) -> usize {
    (one as usize) << 8 | other as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_stands_anywhere_in_its_case() {
        static HINTS: Hints = Hints::new(&["rror:", " › ", "OK"]);
        for text in ["error: x", "a › b", "OK", "rrrror:"] {
            assert!(HINTS.stand_in(text), "{text}");
        }
        for text in ["", "r", "rror", "ERROR:", "ok", "O K"] {
            assert!(!HINTS.stand_in(text), "{text}");
        }
    }
}
