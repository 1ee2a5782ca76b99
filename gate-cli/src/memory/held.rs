//! What a run is held to: the settings that an operator approved, and the policy
//! that it is locked to.

use std::collections::BTreeMap;

use gate_core::Policy;
use gate_core::decide::run_state::RunState;
use gate_core::history::kind;
use gate_core::protocol::ledger::{Draft, Sealed};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::loops::Loop;
use super::{Memory, body};
use crate::failure::Failure;
use crate::operator::Operator;
use crate::record::Ledger;
use crate::store::{Reading, Writing};
use crate::trust::{Looked, Standing};

/// What is held against the settings of one decision.
#[derive(Clone, Debug, Default)]
pub(super) struct Held {
    /// What was approved, by the place of the settings.
    trusted: BTreeMap<String, String>,
    /// The policies that runs are locked to.
    locks: BTreeMap<String, String>,
}

/// What a decision is to be made under.
#[derive(Clone, Debug)]
pub(crate) struct Settings<'a> {
    pub(crate) looked: &'a Looked,
    /// The digest of the whole policy, whatever is left of it in this place.
    pub(crate) policy: &'a str,
}

/// `gate.lock.v1`: the policy that a run is locked to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Lock {
    /// Always `gate.lock.v1`.
    pub schema: &'static str,
    /// The run: the one that goes on, else the next one.
    pub run: String,
    /// The digest of the policy that it is locked to; none where it is not.
    pub policy: Option<String>,
    /// The record of the act.
    pub ledger: Option<Ledger>,
}

impl Held {
    pub(super) fn of(reading: &mut dyn Reading) -> Result<Self, Failure> {
        Ok(Self {
            trusted: table(reading.latest_of_type(kind::TRUST)?.as_ref(), "trusted"),
            locks: table(reading.latest_of_type(kind::LOCK)?.as_ref(), "locks"),
        })
    }

    /// How the settings stand, with what was approved before.
    pub(super) fn standing(&self, settings: &Settings<'_>) -> Standing {
        settings.looked.standing_with(&self.trusted)
    }

    /// Why nothing counts of what a run is decided under. `goes_on` is what the run
    /// was before; none where it begins.
    pub(super) fn tampered(
        &self,
        settings: &Settings<'_>,
        run: &str,
        goes_on: Option<&RunState>,
    ) -> Option<String> {
        let standing = self.standing(settings);
        let changed = settings.looked.tampered(goes_on, standing);
        let lock = self.locks.get(run).filter(|lock| *lock != settings.policy);
        changed.or_else(|| {
            lock.map(|lock| {
                format!(
                    "the run is locked to the policy {lock}, and settings, variables or flags make \
                     it another one, {}: they have to be again what they were, or a person ends \
                     the lock with `gate lock --release`",
                    settings.policy
                )
            })
        })
    }
}

/// A table that a record carries on from the one before it.
fn table<T: DeserializeOwned + Default>(sealed: Option<&Sealed>, member: &str) -> T {
    let value = sealed.and_then(|it| it.record.body.get(member).cloned());
    value.and_then(|value| serde_json::from_value(value).ok()).unwrap_or_default()
}

impl Memory {
    /// Records that the operator approved settings in this place, or took that back.
    ///
    /// # Errors
    ///
    /// A store that cannot be written.
    pub(crate) fn trust(
        &mut self,
        (place, digest): (&str, Option<&str>),
        operator: &Operator,
    ) -> Result<Ledger, Failure> {
        self.write(|writing| {
            let mut trusted = Held::of(writing)?.trusted;
            match digest {
                Some(digest) => drop(trusted.insert(place.to_owned(), digest.to_owned())),
                None => trusted.clear(),
            }
            let said = json!({ "place": place, "digest": digest });
            let body = json!({ "trust": said, "trusted": trusted, "by": operator });
            append(writing, kind::TRUST, None, operator, &body)
        })
    }

    /// Locks the run that goes on, or the next one, to a policy; or ends the lock.
    ///
    /// # Errors
    ///
    /// A store that cannot be written.
    pub(crate) fn lock(
        &mut self,
        of: &Loop<'_>,
        policy: Option<(&str, &Policy)>,
        operator: &Operator,
    ) -> Result<Lock, Failure> {
        let of = of.named(self)?;
        self.write(|writing| {
            let run = of.next(writing)?;
            let mut locks = Held::of(writing)?.locks;
            match policy {
                Some((digest, policy)) => {
                    writing.keep_policy(digest, &policy.canonical())?;
                    locks.insert(run.clone(), digest.to_owned());
                }
                None => drop(locks.remove(&run)),
            }
            let digest = policy.map(|(digest, _)| digest.to_owned());
            let said = json!({ "run": run, "policy": digest });
            let body = json!({ "lock": said, "locks": locks, "by": operator });
            let place = append(writing, kind::LOCK, Some(run.clone()), operator, &body)?;
            Ok(Lock { schema: "gate.lock.v1", run, policy: digest, ledger: Some(place) })
        })
    }
}

fn append(
    writing: &mut dyn Writing,
    kind: &str,
    run: Option<String>,
    operator: &Operator,
    said: &impl Serialize,
) -> Result<Ledger, Failure> {
    let sealed = writing.append(Draft {
        time: Timestamp::now().to_string(),
        kind: kind.to_owned(),
        run,
        actor: operator.actor(),
        body: body::body(said)?,
    })?;
    Ok(body::place(&sealed))
}
