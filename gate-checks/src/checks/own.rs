//! Checks that the calling program brings.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use async_trait::async_trait;
use gate_core::config::{self, Layer};
use gate_core::decide::checks::CheckKind;
use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::{CheckPolicy, Policy};
use gate_core::text::brief;
use tokio::runtime::Builder;
use tokio::sync::oneshot;
use tokio::time::sleep;

use super::limit;
use crate::cancellation::Cancellation;
use crate::check::{Check, CheckContext, CheckId};
use crate::decorate::BoundCheck;
use crate::settings::BadSetting;

/// Time that a check has to return after its cancellation. Then its thread is left behind.
const PATIENCE: Duration = Duration::from_secs(1);

/// Checks that the calling program brings. They run in its process, beside those of the policy.
#[derive(Clone, Default)]
pub struct OwnChecks(Vec<Arc<dyn Check>>);

impl OwnChecks {
    /// Adds a check. If the policy has settings for its name, they give its mode and its
    /// timeout; without them it is required, with the default timeout.
    pub fn add(&mut self, check: impl Check + 'static) {
        self.0.push(Arc::new(check));
    }

    /// The names of the checks.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|check| check.id().as_str())
    }

    /// Keeps the checks that a policy has.
    pub fn retain_in(&mut self, policy: &Policy) {
        self.0.retain(|check| policy.checks.contains_key(check.id().as_str()));
    }

    /// The policy with these checks.
    ///
    /// # Errors
    ///
    /// A name that two checks have, that is no name of a check, that a built-in check has, or whose
    /// settings have a command.
    pub fn in_policy<'p>(&self, policy: &'p Policy) -> Result<Cow<'p, Policy>, BadSetting> {
        let mut all = Cow::Borrowed(policy);
        for (index, name) in self.names().enumerate() {
            let bad = |problem: &str| BadSetting {
                key: format!("checks.{name}"),
                problem: problem.to_owned(),
            };
            if self.names().take(index).any(|earlier| earlier == name) {
                return Err(bad("two checks of the calling program have this name"));
            }
            if !all.checks.contains_key(name) {
                let alone = Layer::checks([name]).and_then(|layer| config::resolve(&[layer], None));
                let mut alone = alone.map_err(|error| bad(&error.message()))?;
                all.to_mut().checks.extend(alone.policy.checks.remove_entry(name));
            }
            let kind = all.checks.get(name).map(|check| CheckKind::for_check(name, check));
            if kind != Some(CheckKind::Plugin) {
                return Err(bad("the calling program has a check of this name. Give it another \
                                name: this one is built in, or its settings have a command"));
            }
        }
        Ok(all)
    }

    /// The check of this name, with the timeout and the retries of its settings.
    pub(super) fn planned(&self, name: &str, settings: &CheckPolicy) -> Option<Arc<dyn Check>> {
        let check = Arc::clone(self.0.iter().find(|check| check.id().as_str() == name)?);
        Some(Arc::new(BoundCheck {
            check: Arc::new(OwnCheck(check)),
            limit: limit(settings),
            retries: settings.retry,
            takes_slot: true,
            cached: None,
        }))
    }
}

impl fmt::Debug for OwnChecks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
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
        let (check, own_cx) = (Arc::clone(&self.0), cx.clone());
        let thread = thread::Builder::new().name(self.id().to_string()).spawn(move || {
            let ended = catch_unwind(AssertUnwindSafe(|| run_here(&*check, &own_cx)));
            // Nobody waits any more if the check was left behind.
            let _ = sender.send(ended.unwrap_or_else(|panic| Err(panicked(&*panic))));
        });
        let ended = match thread {
            Ok(_) => tokio::select! {
                biased;
                ended = receiver => ended.unwrap_or_else(|_| Err("its thread ended".to_owned())),
                () = patience(&cx.cancel) => Err("it went on after it was cancelled".to_owned()),
            },
            Err(error) => Err(format!("no thread can be started for it: {error}")),
        };
        let found = ended.unwrap_or_else(|summary| self.evidence(Outcome::Inconclusive, summary));
        let summary = brief(&found.summary, 300);
        let mut evidence = found.with_summary(summary);
        evidence.check = self.id().to_string();
        evidence
    }
}

/// Runs a check to its end on this thread.
fn run_here(check: &dyn Check, cx: &CheckContext) -> Result<Evidence, String> {
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("it cannot be started: {error}"))?;
    Ok(runtime.block_on(check.run(cx)))
}

fn panicked(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    match text.or_else(|| panic.downcast_ref::<&str>().copied()) {
        Some(text) => format!("it panicked: {text}"),
        None => "it panicked".to_owned(),
    }
}

/// Returns when a check has had its time after its cancellation.
async fn patience(cancel: &Cancellation) {
    cancel.cancelled().await;
    tokio::select! {
        () = cancel.grace_over() => {}
        () = sleep(PATIENCE) => {}
    }
}
