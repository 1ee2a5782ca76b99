//! Checks that the calling program brings.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use async_trait::async_trait;
use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::CheckPolicy;
use gate_core::text::brief;
use tokio::runtime::Builder;
use tokio::sync::oneshot;
use tokio::time::sleep;

use super::limit;
use crate::cancellation::Cancellation;
use crate::check::{Check, CheckContext, CheckId, OwnChecks};
use crate::decorate::BoundCheck;

/// The time that a check has to return after its cancellation. Then its thread is left behind.
const PATIENCE: Duration = Duration::from_secs(1);

/// The check of this name that the calling program brings, with the timeout and the retries of its
/// settings.
pub(super) fn planned(
    own_checks: &OwnChecks,
    name: &str,
    settings: &CheckPolicy,
) -> Option<Arc<dyn Check>> {
    let check = Arc::clone(own_checks.0.iter().find(|check| check.id().as_str() == name)?);
    Some(Arc::new(BoundCheck {
        check: Arc::new(OwnCheck(check)),
        limit: limit(settings),
        retries: settings.retry,
        takes_slot: true,
        cached: None,
    }))
}

/// A check on a thread of its own: it may block without keeping the others, or its timeout, from
/// running.
struct OwnCheck(Arc<dyn Check>);

#[async_trait]
impl Check for OwnCheck {
    fn id(&self) -> &CheckId {
        self.0.id()
    }

    async fn run(&self, cx: &CheckContext) -> Evidence {
        let (sender, receiver) = oneshot::channel();
        let (check, thread_cx) = (Arc::clone(&self.0), cx.clone());
        let thread = thread::Builder::new().name(self.id().to_string()).spawn(move || {
            let result = catch_unwind(AssertUnwindSafe(|| run_on_thread(&*check, &thread_cx)));
            // Nobody waits any more if the check was left behind.
            let _ = sender.send(result.unwrap_or_else(|panic| Err(panic_summary(&*panic))));
        });
        let result = match thread {
            Ok(_) => tokio::select! {
                biased;
                result = receiver => result.unwrap_or_else(|_| Err("its thread ended".to_owned())),
                () = end_of_patience(&cx.cancel) => {
                    Err("it went on after it was cancelled".to_owned())
                }
            },
            Err(error) => Err(format!("no thread can be started for it: {error}")),
        };
        let mut evidence =
            result.unwrap_or_else(|summary| self.evidence(Outcome::Inconclusive, summary));
        // A check of the calling program can give its record any summary and any name.
        evidence.summary = brief(&evidence.summary, 300);
        evidence.check = self.id().to_string();
        evidence
    }
}

/// Runs a check to its end on this thread.
fn run_on_thread(check: &dyn Check, cx: &CheckContext) -> Result<Evidence, String> {
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("it cannot be started: {error}"))?;
    Ok(runtime.block_on(check.run(cx)))
}

fn panic_summary(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    match text.or_else(|| panic.downcast_ref::<&str>().copied()) {
        Some(text) => format!("it panicked: {text}"),
        None => "it panicked".to_owned(),
    }
}

/// Returns when a check has had its time after its cancellation.
async fn end_of_patience(cancel: &Cancellation) {
    cancel.cancelled().await;
    tokio::select! {
        () = cancel.grace_over() => {}
        () = sleep(PATIENCE) => {}
    }
}
