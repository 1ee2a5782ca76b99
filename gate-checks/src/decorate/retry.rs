//! Running a failed check again.

use async_trait::async_trait;
use gate_core::decide::evidence::{Evidence, Outcome};
use serde_json::Value;

use super::Decoration;
use crate::check::{Check, CheckContext};
use crate::event::Event;

/// Runs a check that failed again, at most so many times. A later pass is a
/// pass that names what wavered; what could not be measured is not tried again.
pub(crate) struct Retry {
    pub(crate) times: u32,
}

#[async_trait]
impl Decoration for Retry {
    async fn run(&self, inner: &dyn Check, cx: &CheckContext) -> Evidence {
        let mut evidence = inner.run(cx).await;
        let mut wavered = Vec::new();
        for left in (0..self.times).rev() {
            if evidence.outcome != Outcome::Fail || cx.cancel.is_cancelled() {
                break;
            }
            cx.events.tell(Event::Retried { check: inner.id().clone(), left });
            wavered.extend(failed(&evidence));
            let before = evidence.duration_ms;
            evidence = inner.run(cx).await;
            evidence.duration_ms += before;
        }
        if evidence.outcome == Outcome::Pass {
            evidence.flaky.extend(wavered);
            evidence.flaky.sort();
            evidence.flaky.dedup();
        }
        evidence
    }
}

/// The failures of this run, by the names of tests if known.
fn failed(evidence: &Evidence) -> Vec<String> {
    let detail = evidence.detail.as_ref();
    let tests = detail.and_then(|detail| detail["tests"]["failed_tests"].as_array());
    let names = tests.into_iter().flatten().filter_map(Value::as_str);
    let names: Vec<_> = names.map(str::to_owned).collect();
    if names.is_empty() { vec![evidence.check.clone()] } else { names }
}
