//! Decorators of checks: a timeout, a retry, a slot of the machine, and the cache.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::{CheckPolicy, Mode};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::cache::{CachedCommand, EvidenceCache, Work};
use crate::cancellation::{CancelReason, Grace};
use crate::check::{Check, CheckContext};
use crate::event::Event;
use crate::id::CheckId;

/// A wrapper around a check, which may skip the run and may change the record.
#[async_trait]
pub(crate) trait Decoration: Send + Sync {
    async fn run(&self, inner: &dyn Check, cx: &CheckContext) -> Evidence;
}

/// A check in a wrapper.
pub(crate) fn decorated(
    inner: Arc<dyn Check>,
    decoration: impl Decoration + 'static,
) -> Arc<dyn Check> {
    Arc::new(Decorated { inner, decoration })
}

struct Decorated<D> {
    inner: Arc<dyn Check>,
    decoration: D,
}

#[async_trait]
impl<D: Decoration> Check for Decorated<D> {
    fn id(&self) -> &CheckId {
        self.inner.id()
    }

    async fn run(&self, cx: &CheckContext) -> Evidence {
        self.decoration.run(&*self.inner, cx).await
    }
}

/// Ends a check that runs longer than its timeout. Such a check is inconclusive: its outcome is not
/// known.
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
                let mut evidence = run.await;
                evidence.outcome = Outcome::Inconclusive;
                let limit = shown(self.limit);
                evidence.with_summary(format!("it did not end within {limit} and was ended"))
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
            cx.events.send(Event::Retried { check: inner.id().clone(), left });
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

/// A shorter wait is not reported.
const MIN_REPORTED_WAIT: Duration = Duration::from_secs(1);

/// Summary of a check that was given no slot in time.
pub(crate) const NO_SLOT: &str = "it waited for a check slot of this machine, and none was free \
                                  in time: `machine_jobs` in [checks] says how many there are";

/// Runs a check once it has one of the machine's slots, if checks are bound to them.
pub(crate) struct Slotted;

#[async_trait]
impl Decoration for Slotted {
    async fn run(&self, inner: &dyn Check, cx: &CheckContext) -> Evidence {
        let Some(slots) = &cx.slots else { return inner.run(cx).await };
        let (came, check) = (Instant::now(), inner.id());
        let mut waited = false;
        let slot = slots.take(&cx.cancel, || {
            waited = true;
            cx.events.send(Event::Waiting { check: check.clone() });
        });
        let Some(_slot) = slot.await else {
            let record = Evidence::new(check.as_str(), Mode::default(), Outcome::Inconclusive);
            return record.with_summary(NO_SLOT);
        };
        if waited {
            cx.events.send(Event::Started { check: check.clone() });
        }
        let time = came.elapsed();
        let mut evidence = inner.run(cx).await;
        note(&mut evidence, time);
        evidence
    }
}

/// Notes a check's wait for its slot, unless it was short.
fn note(evidence: &mut Evidence, time: Duration) {
    if time < MIN_REPORTED_WAIT {
        return;
    }
    let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let detail = evidence.detail.get_or_insert_with(|| json!({}));
    if let Some(detail) = detail.as_object_mut() {
        detail.insert("waited_for_slot_ms".to_owned(), json!(millis));
    }
}

/// Looks for an earlier record first, and offers a new one.
pub(crate) struct Cached {
    pub(crate) policy: CheckPolicy,
    pub(crate) command: CachedCommand,
    pub(crate) cache: Arc<EvidenceCache>,
}

#[async_trait]
impl Decoration for Cached {
    async fn run(&self, inner: &dyn Check, cx: &CheckContext) -> Evidence {
        let work = Work { check: inner.id(), policy: &self.policy, command: &self.command, cx };
        if let Some(earlier) = self.cache.find(&work) {
            return earlier;
        }
        let mut evidence = inner.run(cx).await;
        // What is kept holds no secrets either.
        cx.masker.evidence(&mut evidence);
        self.cache.offer(&work, &evidence);
        evidence
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
