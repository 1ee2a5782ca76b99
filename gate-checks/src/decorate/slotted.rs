//! Waiting until the machine has room for a check.

use std::time::{Duration, Instant};

use async_trait::async_trait;
use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::Mode;
use serde_json::json;

use super::Decoration;
use crate::check::{Check, CheckContext};
use crate::event::Event;

/// A shorter wait is not told.
const MIN_REPORTED_WAIT: Duration = Duration::from_secs(1);

/// Summary of a check that was given no slot in time.
pub(crate) const NO_SLOT: &str = "it waited for a check slot of this machine, and none was free \
                                  in time: `machine_jobs` in [checks] says how many there are";

/// Runs a check once it has one of the machine's slots, where checks are bound to them.
pub(crate) struct Slotted;

#[async_trait]
impl Decoration for Slotted {
    async fn run(&self, inner: &dyn Check, cx: &CheckContext) -> Evidence {
        let Some(slots) = &cx.slots else { return inner.run(cx).await };
        let (came, check) = (Instant::now(), inner.id());
        let mut waited = false;
        let slot = slots.take(&cx.cancel, || {
            waited = true;
            cx.events.tell(Event::Waiting { check: check.clone() });
        });
        let Some(_slot) = slot.await else {
            let record = Evidence::new(check.as_str(), Mode::default(), Outcome::Inconclusive);
            return Evidence { summary: NO_SLOT.to_owned(), ..record };
        };
        if waited {
            cx.events.tell(Event::Started { check: check.clone() });
        }
        let time = came.elapsed();
        let mut evidence = inner.run(cx).await;
        note(&mut evidence, time);
        evidence
    }
}

/// Notes how long a check waited, where anybody would notice.
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
