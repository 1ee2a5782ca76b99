//! The machine's clocks.

use std::time::{SystemTime, UNIX_EPOCH};

use gate_core::decide::timestamp::Timestamp;
use gate_platform::boot_and_uptime;

/// The present time by both clocks. The wall clock can be set back; the time since the boot cannot.
pub(crate) fn now() -> Timestamp {
    let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let (boot, uptime_ms) = boot_and_uptime();
    Timestamp { boot, uptime_ms, wall_ms: u64::try_from(wall.as_millis()).unwrap_or(u64::MAX) }
}
