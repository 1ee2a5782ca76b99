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
    first_failure_at: Option<Instant>,
    failures: u64,
}

/// An outage, with the consequence for the loop.
pub(super) struct CountedOutage {
    pub(super) outage: Outage,
    /// The time of the next try; `None` if the loop gives up.
    pub(super) retry_at: Option<Timestamp>,
}

impl Backoff {
    pub(super) fn new(settings: Settings) -> Self {
        Self { settings, first_failure_at: None, failures: 0 }
    }

    pub(super) fn reset(&mut self) {
        (self.first_failure_at, self.failures) = (None, 0);
    }

    pub(super) fn count_failure(&mut self) {
        self.first_failure_at.get_or_insert_with(Instant::now);
        self.failures += 1;
    }

    /// Completes an outage by its number, and decides if the loop tries again. `resets_at` is the end
    /// of the outage according to the service.
    pub(super) fn count_outage(
        &self,
        outage: Outage,
        resets_at: Option<Timestamp>,
    ) -> CountedOutage {
        let outage = Outage { count: self.failures + 1, ..outage };
        // A stop from outside is no failure of the agent: the loop neither waits nor gives up.
        if outage.cause == OutageCause::Cancelled {
            return CountedOutage { outage, retry_at: None };
        }
        let now = Timestamp::now();
        let limit = Duration::from_millis(self.settings.limit_ms);
        let passed = self.first_failure_at.map_or(Duration::ZERO, |first| first.elapsed());
        let time_left = limit.saturating_sub(passed);
        let resets_at = resets_at.filter(|time| *time > now);
        let too_late = resets_at.filter(|time| now.duration_until(*time) > signed(time_left));
        let shown_limit = Millis(self.settings.limit_ms);
        let gives_up = match too_late {
            Some(time) => Some(format!(
                "the limit ends at {time}, later than `[run] backoff_limit` ({shown_limit}) waits: {}",
                outage.text
            )),
            None if time_left.is_zero() => Some(format!(
                "the agent could not work in {} tries and {shown_limit} (`[run] backoff_limit`): {}{}",
                outage.count,
                outage.words(),
                stderr_clause(&outage.stderr)
            )),
            None => None,
        };
        let retry_at = if gives_up.is_some() {
            None
        } else {
            let wait = self.settings.delay(self.failures, random_fraction()).min(time_left);
            // A service that says "in 120 ms" again and again is asked less often, too.
            now.checked_add(signed(wait)).ok().max(resets_at)
        };
        CountedOutage { outage: Outage { gives_up, ..outage }, retry_at }
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
        let in_hours =
            |hours| Timestamp::now().checked_add(SignedDuration::from_hours(hours)).unwrap();
        let soon = in_hours(5);
        assert_eq!(backoff.count_outage(outage(), Some(soon)).retry_at, Some(soon));
        let at_once = Timestamp::now().checked_add(SignedDuration::from_millis(120)).unwrap();
        let retry_at = backoff.count_outage(outage(), Some(at_once)).retry_at.unwrap();
        assert!(Timestamp::now().duration_until(retry_at) > SignedDuration::from_secs(3));
        let late = backoff.count_outage(outage(), Some(in_hours(7)));
        let gives_up = late.outage.gives_up.unwrap();
        assert!(gives_up.contains("later than `[run] backoff_limit` (6h)"), "{gives_up}");
        assert_eq!(late.retry_at, None);
    }

    #[test]
    fn a_loop_gives_up_by_the_clock_and_says_what_kept_the_agent_from_working() {
        let mut backoff = Backoff::new(Settings { limit_ms: 0, ..SETTINGS });
        backoff.count_failure();
        let last = backoff.count_outage(outage(), None);
        let gives_up = last.outage.gives_up.unwrap();
        assert!(gives_up.starts_with("the agent could not work in 2 tries and 0s"), "{gives_up}");
        assert!(
            gives_up.contains("Connection error.; its standard error ends: gone"),
            "{gives_up}"
        );
        assert_eq!(last.retry_at, None);
        let mut patient = Backoff::new(SETTINGS);
        (0..500).for_each(|_| patient.count_failure());
        assert_eq!(patient.count_outage(outage(), None).outage.gives_up, None);
    }
}
