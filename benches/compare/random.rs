//! Numbers that look random and are the same in every run (xorshift).

/// A source of numbers.
pub(crate) struct Random(u64);

impl Random {
    /// The numbers of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// One below an end.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).map_or(0, |number| number % end.max(1))
    }

    /// One of some things.
    pub(crate) fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }

    /// One of some things, the first ones more often: as words are.
    pub(crate) fn common<'a>(&mut self, of: &[&'a str]) -> &'a str {
        let end = 1 + self.below(of.len());
        of[self.below(end)]
    }

    /// A length around a middle: a few are an eighth or eight times of it.
    pub(crate) fn length(&mut self, middle: usize) -> usize {
        let octaves = (0..3).map(|_| self.below(1001)).sum::<usize>();
        let times = ((octaves as f64 - 1500.0) / 500.0).exp2();
        ((middle as f64 * times) as usize).max(20)
    }

    /// So many hexadecimal digits.
    pub(crate) fn digits(&mut self, count: usize) -> String {
        (0..count).map(|_| self.one(&DIGITS)).collect()
    }
}

const DIGITS: [&str; 16] =
    ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "a", "b", "c", "d", "e", "f"];
