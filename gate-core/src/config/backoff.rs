//! Waiting times before another try.

use std::time::Duration;

/// Waiting times of a loop while its agent cannot work, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// The first wait.
    pub first_ms: u64,
    /// The longest wait.
    pub max_ms: u64,
    /// Time that the loop goes on without one iteration in which the agent worked.
    pub limit_ms: u64,
}

impl Backoff {
    /// The wait after `failures` earlier failures: twice as long each time, and up to a fifth more or
    /// less by `chance` (0 to 1), so that loops do not come all at once.
    pub fn delay(&self, failures: u64, chance: f64) -> Duration {
        let factor = 1_u64.checked_shl(u32::try_from(failures).unwrap_or(u32::MAX));
        let wait_ms = self.first_ms.saturating_mul(factor.unwrap_or(u64::MAX)).min(self.max_ms);
        let spread_ms = (wait_ms as f64 * (0.8 + 0.4 * chance)) as u64;
        Duration::from_millis(spread_ms.min(self.max_ms))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: Backoff = Backoff { first_ms: 5_000, max_ms: 900_000, limit_ms: 21_600_000 };

    #[test]
    fn each_wait_is_twice_the_one_before_and_none_is_longer_than_the_longest() {
        let seconds = |failures| SETTINGS.delay(failures, 0.5).as_secs();
        assert_eq!([0, 1, 2, 3, 7, 8, 99].map(seconds), [5, 10, 20, 40, 640, 900, 900]);
        assert_eq!(SETTINGS.delay(0, 0.0).as_millis(), 4_000);
        assert_eq!(SETTINGS.delay(0, 1.0).as_millis(), 6_000);
    }
}
