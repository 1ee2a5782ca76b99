//! Numbers that look random, from a seed.

/// A sequence of numbers. The same seed gives the same sequence.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        // Seeds that differ little begin far apart. Zero would stay zero.
        Self(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number from 0 to below `limit`.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    /// An event that happens so often, in percent.
    pub(crate) fn happens(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}
