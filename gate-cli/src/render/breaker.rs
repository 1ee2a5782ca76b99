//! A breaker's state and counters in words.

use gate_core::decide::breaker::{BreakerState, Counters};

/// A state in words.
pub(crate) fn state_name(state: BreakerState) -> &'static str {
    match state {
        BreakerState::Closed => "closed",
        BreakerState::HalfOpen => "half open",
        BreakerState::Open => "open",
        BreakerState::Isolated => "isolated",
    }
}

/// The counters that are not zero; none if all are.
pub(crate) fn counted(counters: &Counters) -> Option<String> {
    let all = [
        ("no exit", counters.no_exit),
        ("refused", counters.refused),
        ("no progress", counters.no_progress),
        ("same error", counters.same_error),
        ("inconclusive", counters.inconclusive),
        ("permission denied", counters.permission_denied),
        ("rate limited", counters.rate_limited),
    ];
    let counting = all.iter().filter(|(_, count)| *count > 0);
    let words: Vec<_> = counting.map(|(name, count)| format!("{name} {count}")).collect();
    (!words.is_empty()).then(|| words.join(", "))
}
