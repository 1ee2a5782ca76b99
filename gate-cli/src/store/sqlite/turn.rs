//! Waiting for one's turn.

use std::thread;
use std::time::{Duration, Instant};

use super::super::error::StoreError;

/// The shortest and longest pause before one asks again, in microseconds.
const PAUSE: (u32, u32) = (1_000, 9_000);

/// How long one waits for one's turn. Everybody pauses as long on average,
/// whoever has waited long as well as who has just come, so that nobody is left
/// out; and not in step.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    place: &'a str,
    until: Instant,
}

impl<'a> Turn<'a> {
    pub(super) fn new(place: &'a str, patience: Duration) -> Self {
        Self { place, until: Instant::now() + patience }
    }

    /// Asks until the answer is another one than "busy".
    ///
    /// # Errors
    ///
    /// What the question returns, or [`StoreError::Busy`] after a last one.
    pub(super) fn take<T>(
        &self,
        mut ask: impl FnMut() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        loop {
            match ask() {
                Err(StoreError::Busy { .. }) if Instant::now() < self.until => {
                    thread::sleep(pause());
                }
                Err(StoreError::Busy { .. }) => {
                    return Err(StoreError::Busy { place: self.place.to_owned() });
                }
                answer => return answer,
            }
        }
    }
}

/// A pause of another length each time: the clock's last digits choose it.
fn pause() -> Duration {
    let digits = std::time::UNIX_EPOCH.elapsed().map_or(0, |since| since.subsec_nanos());
    let spread = digits.wrapping_mul(2_654_435_761) >> 8;
    Duration::from_micros(u64::from(PAUSE.0 + spread % (PAUSE.1 - PAUSE.0)))
}
