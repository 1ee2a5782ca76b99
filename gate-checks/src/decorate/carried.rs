//! Going on with a check after the deadline.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::{CheckPolicy, Mode};

use super::{Decoration, shown};
use crate::cache::Work;
use crate::check::{Check, CheckContext};
use crate::late::{Earlier, Late};

/// Looks first for what came of it after an earlier deadline, and waits for that.
/// A check that outlives this deadline goes on without gate.
pub(crate) struct Carried {
    pub(crate) policy: CheckPolicy,
    pub(crate) late: Arc<Late>,
}

#[async_trait]
impl Decoration for Carried {
    async fn run(&self, inner: &dyn Check, cx: &CheckContext) -> Evidence {
        let work = Work { check: inner, policy: &self.policy, cx };
        match self.late.earlier(&work).await {
            Earlier::Ended(evidence) => return *evidence,
            Earlier::Running => return waited(inner, cx),
            Earlier::Nothing => {}
        }
        let began = Instant::now();
        let evidence = inner.run(cx).await;
        // What ended by itself has said what it has to say.
        if !cx.late.is_cancelled() || evidence.outcome != Outcome::Inconclusive {
            return evidence;
        }
        let after = format!("still running after {}", shown(whole(began.elapsed())));
        if cx.site.carrier.is_none() {
            let summary = format!(
                "{after}; `when = [\"check\", \"run\"]` keeps it out of hooks, \
                 `hook.budget` gives it more time"
            );
            return Evidence { outcome: Outcome::Inconclusive, summary, ..evidence };
        }
        let summary = match self.late.carry(&work) {
            Ok(()) => format!("{after}; it goes on, and the next stop waits for it"),
            Err(why) => format!("{after}, and given up: {why}; the next stop begins anew"),
        };
        Evidence { outcome: Outcome::Skipped, running: true, summary, ..evidence }
    }
}

/// The record of a check that somebody else still runs.
fn waited(inner: &dyn Check, cx: &CheckContext) -> Evidence {
    let evidence = Evidence::new(inner.id().as_str(), Mode::default(), Outcome::Inconclusive);
    if !cx.late.is_cancelled() {
        return Evidence { summary: "nobody waited for it any more".to_owned(), ..evidence };
    }
    let summary = "still running since an earlier stop; it goes on, and the next stop waits for it";
    let summary = summary.to_owned();
    Evidence { outcome: Outcome::Skipped, running: true, summary, ..evidence }
}

/// Whole seconds, where there are any.
fn whole(time: Duration) -> Duration {
    if time.as_secs() == 0 { time } else { Duration::from_secs(time.as_secs()) }
}
