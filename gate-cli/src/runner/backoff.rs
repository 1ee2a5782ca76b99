//! The waits of a loop whose agent cannot work: longer each time, up to a limit.

use std::time::{Duration, Instant};

use gate_core::config::{Backoff as Settings, Millis};
use gate_core::decide::iteration_facts::{Outage, OutageCause};
use jiff::{SignedDuration, Timestamp};

use gate_store::random_fraction;

/// The failed iterations since the agent last worked.
pub(super) struct Backoff {
    settings: Settings,
    /// The end of the first failed iteration.
    since: Option<Instant>,
    count: u64,
}

impl Backoff {
    pub(super) fn new(settings: Settings) -> Self {
        Self { settings, since: None, count: 0 }
    }

    pub(super) fn reset(&mut self) {
        (self.since, self.count) = (None, 0);
    }

    pub(super) fn count_failure(&mut self) {
        self.since.get_or_insert_with(Instant::now);
        self.count += 1;
    }

    /// Completes the outage, and returns the time of the next try: none if the loop gives
    /// up. `resets_at` is the end of the outage according to the service.
    pub(super) fn outage(
        &self,
        outage: Outage,
        resets_at: Option<Timestamp>,
    ) -> (Outage, Option<Timestamp>) {
        let now = Timestamp::now();
        let passed = self.since.map_or(Duration::ZERO, |since| since.elapsed());
        let limit = Duration::from_millis(self.settings.limit_ms);
        let left = limit.saturating_sub(passed);
        let resets_at = resets_at.filter(|at| *at > now);
        let too_late = resets_at.filter(|at| now.duration_until(*at) > signed(left));
        let allowed = Millis(self.settings.limit_ms);
        let outage = Outage { count: self.count + 1, ..outage };
        let why = match too_late {
            _ if outage.cause == OutageCause::Cancelled => None,
            Some(at) => Some(format!(
                "the limit ends at {at}, later than `[run] backoff_limit` ({allowed}) waits: {}",
                outage.text
            )),
            None if left.is_zero() => Some(format!(
                "the agent could not work in {} tries and {allowed} (`[run] backoff_limit`): {}{}",
                outage.count,
                outage.words(),
                stderr_clause(&outage.stderr)
            )),
            None => None,
        };
        let wait = self.settings.delay(self.count, random_fraction()).min(left);
        let next = if why.is_some() || outage.cause == OutageCause::Cancelled {
            None
        } else {
            // A service that says "in 120 ms" again and again is asked less often, too.
            now.checked_add(signed(wait)).ok().max(resets_at)
        };
        (Outage { gives_up: why, ..outage }, next)
    }
}

fn stderr_clause(stderr: &str) -> String {
    if stderr.is_empty() { String::new() } else { format!("; its standard error ends: {stderr}") }
}

fn signed(time: Duration) -> SignedDuration {
    SignedDuration::try_from(time).unwrap_or(SignedDuration::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: Settings = Settings { first_ms: 5_000, max_ms: 900_000, limit_ms: 21_600_000 };

    fn outage() -> Outage {
        Outage {
            cause: OutageCause::Connection,
            text: "API Error: Connection error.".to_owned(),
            stderr: "gone".to_owned(),
            count: 0,
            gives_up: None,
        }
    }

    #[test]
    fn a_loop_waits_until_the_time_that_the_service_says_and_gives_up_where_that_is_too_late() {
        let backoff = Backoff::new(SETTINGS);
        let at = |hours| Timestamp::now().checked_add(SignedDuration::from_hours(hours)).unwrap();
        let soon = at(5);
        assert_eq!(backoff.outage(outage(), Some(soon)).1, Some(soon));
        let at_once = Timestamp::now().checked_add(SignedDuration::from_millis(120)).unwrap();
        let next = backoff.outage(outage(), Some(at_once)).1.unwrap();
        assert!(Timestamp::now().duration_until(next) > SignedDuration::from_secs(3));
        let (late, next) = backoff.outage(outage(), Some(at(7)));
        assert!(late.gives_up.unwrap().contains("later than `[run] backoff_limit` (6h)"));
        assert_eq!(next, None);
    }

    #[test]
    fn a_loop_gives_up_by_the_clock_and_says_what_kept_the_agent_from_working() {
        let mut backoff = Backoff::new(Settings { limit_ms: 0, ..SETTINGS });
        backoff.count_failure();
        let (over, next) = backoff.outage(outage(), None);
        let why = over.gives_up.unwrap();
        assert!(why.starts_with("the agent could not work in 2 tries and 0s"), "{why}");
        assert!(why.contains("Connection error.; its standard error ends: gone"), "{why}");
        assert_eq!(next, None);
        let mut patient = Backoff::new(SETTINGS);
        (0..500).for_each(|_| patient.count_failure());
        assert_eq!(patient.outage(outage(), None).0.gives_up, None);
    }
}
