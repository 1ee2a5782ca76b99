//! The steps around the run of a check: the cache, a slot of the machine, retries, a timeout.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::CheckPolicy;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::cache::{CachedCommand, EvidenceCache, Work};
use crate::cancellation::{CancelReason, Grace};
use crate::check::{Check, CheckContext};
use crate::event::Event;
use crate::id::CheckId;

/// A check with the steps around its run.
pub(crate) struct BoundCheck {
    pub(crate) check: Arc<dyn Check>,
    /// The longest run. A check that is ended then is inconclusive: its outcome is not known.
    pub(crate) limit: Duration,
    /// The most further runs after a failure. A later pass is a pass that names the flaky tests. An
    /// inconclusive check does not run again.
    pub(crate) retries: u32,
    /// The check waits for one of the machine's slots, if checks are bound to them.
    pub(crate) takes_slot: bool,
    /// Set if an earlier record can take the place of a run.
    pub(crate) cached: Option<Cached>,
}

/// The cache of a check that runs a command.
pub(crate) struct Cached {
    pub(crate) policy: CheckPolicy,
    pub(crate) command: CachedCommand,
    pub(crate) cache: Arc<EvidenceCache>,
}

#[async_trait]
impl Check for BoundCheck {
    fn id(&self) -> &CheckId {
        self.check.id()
    }

    async fn run(&self, cx: &CheckContext) -> Evidence {
        let Some(Cached { policy, command, cache }) = &self.cached else {
            return self.run_in_slot(cx).await;
        };
        let work = Work { check: self.id(), policy, command, cx };
        if let Some(earlier_record) = cache.find(&work) {
            return earlier_record;
        }
        let mut evidence = self.run_in_slot(cx).await;
        // The stored record holds no secrets either.
        cx.masker.evidence(&mut evidence);
        cache.offer(&work, &evidence);
        evidence
    }
}

/// A shorter wait is not reported.
const MIN_REPORTED_WAIT: Duration = Duration::from_secs(1);

/// Summary of a check that was given no slot in time.
pub(crate) const NO_SLOT: &str = "it waited for a check slot of this machine, and none was free \
                                  in time: `machine_jobs` in [checks] says how many there are";

impl BoundCheck {
    async fn run_in_slot(&self, cx: &CheckContext) -> Evidence {
        let slots = if self.takes_slot { cx.slots.as_ref() } else { None };
        let Some(slots) = slots else { return self.run_with_retries(cx).await };
        let (arrival, check) = (Instant::now(), self.id());
        let mut has_waited = false;
        let slot = slots.take(&cx.cancel, || {
            has_waited = true;
            cx.options.events.send(Event::Waiting { check: check.clone() });
        });
        let Some(_slot) = slot.await else { return check.record(Outcome::Inconclusive, NO_SLOT) };
        if has_waited {
            cx.options.events.send(Event::Started { check: check.clone() });
        }
        let wait = arrival.elapsed();
        let mut evidence = self.run_with_retries(cx).await;
        note_wait(&mut evidence, wait);
        evidence
    }

    async fn run_with_retries(&self, cx: &CheckContext) -> Evidence {
        let mut evidence = self.run_within_limit(cx).await;
        let mut failed_once = Vec::new();
        for remaining in (0..self.retries).rev() {
            if evidence.outcome != Outcome::Fail || cx.cancel.is_cancelled() {
                break;
            }
            cx.options.events.send(Event::Retried { check: self.id().clone(), left: remaining });
            failed_once.extend(failed_tests(&evidence));
            let earlier_ms = evidence.duration_ms;
            evidence = self.run_within_limit(cx).await;
            evidence.duration_ms += earlier_ms;
        }
        if evidence.outcome == Outcome::Pass {
            evidence.flaky.extend(failed_once);
            evidence.flaky.sort();
            evidence.flaky.dedup();
        }
        evidence
    }

    async fn run_within_limit(&self, cx: &CheckContext) -> Evidence {
        let began = Instant::now();
        let cancel = cx.cancel.child();
        let cx = CheckContext { cancel: cancel.clone(), ..cx.clone() };
        let running = self.check.run(&cx);
        tokio::pin!(running);
        let evidence = tokio::select! {
            evidence = &mut running => evidence,
            () = sleep(self.limit) => {
                cancel.cancel(CancelReason::Deadline, Grace::Usual);
                let mut evidence = running.await;
                evidence.outcome = Outcome::Inconclusive;
                let limit = shown(self.limit);
                evidence.with_summary(format!("it did not end within {limit} and was ended"))
            }
        };
        // A check that ran a program has that program's time.
        if evidence.duration_ms == 0 { evidence.with_duration(began.elapsed()) } else { evidence }
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

/// The failures of this run, by the names of tests, else by that of the check.
fn failed_tests(evidence: &Evidence) -> Vec<String> {
    let detail = evidence.detail.as_ref();
    let tests = detail.and_then(|detail| detail["tests"]["failed_tests"].as_array());
    let names: Vec<_> =
        tests.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
    if names.is_empty() { vec![evidence.check.clone()] } else { names }
}

/// Notes a check's wait for its slot, unless it was short.
fn note_wait(evidence: &mut Evidence, wait: Duration) {
    if wait < MIN_REPORTED_WAIT {
        return;
    }
    let millis = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
    let detail = evidence.detail.get_or_insert_with(|| json!({}));
    if let Some(detail) = detail.as_object_mut() {
        detail.insert("waited_for_slot_ms".to_owned(), json!(millis));
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
