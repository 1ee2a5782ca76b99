//! The machine's clocks.

use std::time::{SystemTime, UNIX_EPOCH};

use gate_core::decide::timestamp::Timestamp;

/// The present time by both clocks. The wall clock can be set back; the time since the boot cannot.
pub(crate) fn now() -> Timestamp {
    let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let (boot, uptime_ms) = boot_and_uptime();
    Timestamp { boot, uptime_ms, wall_ms: u64::try_from(wall.as_millis()).unwrap_or(u64::MAX) }
}

/// The boot id, and the milliseconds since the boot, with the time in suspend.
#[cfg(target_os = "linux")]
fn boot_and_uptime() -> (String, u64) {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let uptime = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let millis = uptime.tv_sec.saturating_mul(1000).saturating_add(uptime.tv_nsec / 1_000_000);
    (id.trim().to_owned(), u64::try_from(millis).unwrap_or_default())
}

/// Without a boot id only the wall clock counts.
#[cfg(not(target_os = "linux"))]
fn boot_and_uptime() -> (String, u64) {
    (String::new(), 0)
}
