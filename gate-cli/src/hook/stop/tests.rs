//! The time of a stop's hook.

use serde_json::{Value, json};

use gate_core::decide::situation::Presence;

use super::*;
use crate::agent::Agent;
use crate::hook::{ClientStart, Payload, client};

/// The times for checks and for the store of a stop whose hook may take so long.
fn times(payload: &Value, deadline: Duration) -> (Duration, Duration) {
    let payload = Payload::new(payload, &[]);
    let event = client(Agent::Codex).event(&payload);
    let called_at = Instant::now();
    let presence = Presence::Unknown;
    let start = ClientStart { outer_agent: None, presence, unknown_entry: None };
    let call = HookCall { agent: Agent::Codex, payload, event, start, called_at, deadline };
    (call.time_left(), call.store_timeout())
}

#[test]
fn checks_leave_time_for_the_answer() {
    let second = Duration::from_secs(1);
    for (deadline, longest, store_timeout) in [
        (540 * second, 538 * second, 10 * second),
        (80 * second, 78 * second, 10 * second),
        (4 * second, 3 * second, second / 2),
        (Duration::ZERO, Duration::ZERO, Duration::ZERO),
    ] {
        let (check_time, timeout) = times(&json!({}), deadline);
        let is_near = check_time <= longest && check_time + second >= longest;
        assert!(is_near, "{deadline:?}: {check_time:?}");
        assert_eq!(timeout, store_timeout, "{deadline:?}");
    }
}
