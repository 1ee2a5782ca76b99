//! Messages for a person about stops that a hook let go.

use gate_core::Decision;
use gate_core::decide::situation::Released;

use super::text::plain;

/// An agent was let go, and its work is not done.
pub(crate) fn let_go(agent: &str, decision: &Decision) -> String {
    let reasons: Vec<_> = decision.reasons.iter().map(|reason| plain(&reason.message)).collect();
    let next = decision.next.as_deref().unwrap_or("`gate last` shows the decision");
    format!("gate let {agent} stop, NOT done: {}; next: {}", reasons.join("; "), plain(next))
}

/// An agent was let go without a verdict that ends the work.
pub(crate) fn released(agent: &str, decision: &Decision) -> String {
    let reasons: Vec<_> = decision.reasons.iter().map(|reason| plain(&reason.message)).collect();
    let what = reasons.join("; ");
    match decision.released {
        Some(Released::Green) => format!("gate: {what}"),
        Some(Released::Red) => {
            format!("gate let {agent} stop, NOT done: {what}; `gate last` shows the failures")
        }
        _ => format!("gate let {agent} stop, not checked: {what}"),
    }
}
