//! A bound on how long a check may run.

use std::time::Duration;

use async_trait::async_trait;
use gate_core::decide::evidence::{Evidence, Outcome};
use tokio::time::sleep;

use super::Decoration;
use crate::cancellation::{CancelReason, Grace};
use crate::check::{Check, CheckContext};

/// Ends a check that runs longer than its timeout. What did not end in time is
/// inconclusive: nobody knows what it would have said.
pub(crate) struct Timeout {
    pub(crate) limit: Duration,
}

#[async_trait]
impl Decoration for Timeout {
    async fn run(&self, inner: &dyn Check, cx: &CheckContext) -> Evidence {
        let cancel = cx.cancel.child();
        let cx = CheckContext { cancel: cancel.clone(), ..cx.clone() };
        let run = inner.run(&cx);
        tokio::pin!(run);
        tokio::select! {
            evidence = &mut run => evidence,
            () = sleep(self.limit) => {
                cancel.cancel(CancelReason::Deadline, Grace::Usual);
                let evidence = run.await;
                Evidence {
                    outcome: Outcome::Inconclusive,
                    summary: format!("it did not end within {} and was ended", shown(self.limit)),
                    ..evidence
                }
            }
        }
    }
}

/// `90s`, `10m`, `1500ms`: as settings write it.
pub(crate) fn shown(limit: Duration) -> String {
    let millis = limit.as_millis();
    match (millis % 60_000, millis % 1_000) {
        (0, _) => format!("{}m", millis / 60_000),
        (_, 0) => format!("{}s", millis / 1_000),
        _ => format!("{millis}ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_shown_as_it_is_written() {
        for (millis, text) in [(600_000, "10m"), (90_000, "90s"), (1_500, "1500ms")] {
            assert_eq!(shown(Duration::from_millis(millis)), text);
        }
    }
}
