//! Waiting times before another try.

use std::time::Duration;

use gate_core::config::Backoff;
use uuid::Uuid;

/// The wait after `failed` earlier failures: twice as long each time, and up to a fifth
/// more or less by `chance` (0 to 1), so that loops do not come all at once.
pub(crate) fn delay(settings: &Backoff, failed: u64, chance: f64) -> Duration {
    let times = 1_u64.checked_shl(u32::try_from(failed).unwrap_or(u32::MAX)).unwrap_or(u64::MAX);
    let whole = settings.first_ms.saturating_mul(times).min(settings.max_ms);
    let millis = (whole as f64 * (0.8 + 0.4 * chance)) as u64;
    Duration::from_millis(millis.min(settings.max_ms))
}

/// A number from 0 to 1.
pub(crate) fn random_fraction() -> f64 {
    // The end of such an id is random.
    (Uuid::now_v7().as_u128() & u128::from(u32::MAX)) as f64 / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: Backoff = Backoff { first_ms: 5_000, max_ms: 900_000, limit_ms: 21_600_000 };

    #[test]
    fn each_wait_is_twice_the_one_before_and_none_is_longer_than_the_longest() {
        let seconds = |failed| delay(&SETTINGS, failed, 0.5).as_secs();
        assert_eq!([0, 1, 2, 3, 7, 8, 99].map(seconds), [5, 10, 20, 40, 640, 900, 900]);
        assert_eq!(delay(&SETTINGS, 0, 0.0).as_millis(), 4_000);
        assert_eq!(delay(&SETTINGS, 0, 1.0).as_millis(), 6_000);
        assert!((0.0..=1.0).contains(&random_fraction()));
    }
}
