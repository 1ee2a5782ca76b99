//! A point in time on three clocks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A point in time. While the machine runs its boot-time clock counts, which
/// nobody can set and which goes on in suspend; across a restart, and between
/// machines, only the wall clock is left.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Moment")]
pub struct Timestamp {
    /// The id of this start of the machine; empty if the system has none.
    pub boot: String,
    /// Milliseconds since the machine was started.
    pub uptime_ms: u64,
    /// Milliseconds since 1970.
    pub wall_ms: u64,
}

impl Timestamp {
    /// The time since `earlier`, in milliseconds. `None` if the clock went backwards.
    pub fn since(&self, earlier: &Self) -> Option<u64> {
        if self.boot == earlier.boot && !self.boot.is_empty() {
            self.uptime_ms.checked_sub(earlier.uptime_ms)
        } else {
            self.wall_ms.checked_sub(earlier.wall_ms)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(boot: &str, uptime_ms: u64, wall_ms: u64) -> Timestamp {
        Timestamp { boot: boot.to_owned(), uptime_ms, wall_ms }
    }

    #[test]
    fn a_wall_clock_that_is_set_changes_nothing_while_the_machine_runs() {
        assert_eq!(at("a", 500, 10).since(&at("a", 200, 9_000)), Some(300));
        assert_eq!(at("a", 100, 9_000).since(&at("a", 200, 10)), None);
    }

    #[test]
    fn across_a_restart_the_wall_clock_counts_and_never_backwards() {
        assert_eq!(at("b", 5, 900).since(&at("a", 800, 300)), Some(600));
        assert_eq!(at("b", 5, 200).since(&at("a", 800, 300)), None);
        assert_eq!(at("", 5, 900).since(&at("", 800, 300)), Some(600));
    }
}
