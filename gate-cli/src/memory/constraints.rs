//! The constraints of a run: the settings that an operator approved, and the policy that
//! the run is locked to.

use std::collections::BTreeMap;

use gate_core::Policy;
use gate_core::decide::run_state::RunState;
use gate_core::history::kind;
use gate_core::ledger::{Draft, Sealed};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::run_history::Loop;
use super::{Memory, body, made_at};
use crate::failure::Failure;
use crate::operator::Operator;
use crate::record::Ledger;
use crate::store::{Lookup, Reading, Writing};
use crate::trust::{TrustReport, TrustState};

/// The approvals and locks that the ledger has.
#[derive(Clone, Debug, Default)]
pub(super) struct RunConstraints {
    /// The digests of approved settings, by their path within the project.
    trusted: BTreeMap<String, String>,
    /// The digests of the policies that runs are locked to, by run.
    locks: BTreeMap<String, String>,
}

/// The settings of a decision.
#[derive(Clone, Debug)]
pub(crate) struct Settings<'a> {
    pub(crate) report: &'a TrustReport,
    /// The digest of the whole policy, with the checks that do not run here.
    pub(crate) policy: &'a str,
}

/// `gate.lock.v1`: the policy that a run is locked to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Lock {
    /// Always `gate.lock.v1`.
    pub schema: &'static str,
    /// The current run, or the next one if none goes on.
    pub run: String,
    /// The digest of the policy; null if the run is not locked.
    pub policy: Option<String>,
    /// The record of the lock or its release.
    pub ledger: Option<Ledger>,
}

impl RunConstraints {
    /// All that [`RunConstraints::read`] looks up.
    pub(super) fn lookups() -> [Lookup<'static>; 2] {
        [Lookup::LatestOfType(kind::TRUST, 1), Lookup::LatestOfType(kind::LOCK, 1)]
    }

    pub(super) fn read(reading: &mut dyn Reading) -> Result<Self, Failure> {
        Ok(Self {
            trusted: table(reading.latest_of_type(kind::TRUST)?.as_ref(), "trusted"),
            locks: table(reading.latest_of_type(kind::LOCK)?.as_ref(), "locks"),
        })
    }

    pub(super) fn trust_state(&self, settings: &Settings<'_>) -> TrustState {
        settings.report.state_with(&self.trusted)
    }

    /// The reason why nothing counts in a run, because its settings changed or do not match
    /// its lock. `earlier` is the state of a run that goes on.
    pub(super) fn tampered(
        &self,
        settings: &Settings<'_>,
        run: &str,
        earlier: Option<&RunState>,
    ) -> Option<String> {
        if let Some(why) = settings.report.tampered(earlier, self.trust_state(settings)) {
            return Some(why);
        }
        let lock = self.locks.get(run).filter(|lock| *lock != settings.policy)?;
        Some(format!(
            "the run is locked to the policy {lock}, and settings, variables or flags make it \
             another one, {}: they have to be again what they were, or a person ends the lock \
             with `gate lock --release`",
            settings.policy
        ))
    }
}

/// A table of the latest record of a kind. Each such record has the whole table.
fn table<T: DeserializeOwned + Default>(sealed: Option<&Sealed>, member: &str) -> T {
    let value = sealed.and_then(|sealed| sealed.record.body.get(member).cloned());
    value.and_then(|value| serde_json::from_value(value).ok()).unwrap_or_default()
}

impl Memory {
    /// Records an approval of the settings at a path within the project. Without a digest
    /// it records that all approvals are withdrawn.
    pub(crate) fn trust(
        &mut self,
        (place, digest): (&str, Option<&str>),
        operator: &Operator,
    ) -> Result<Ledger, Failure> {
        let (time, actor) = (Timestamp::now().to_string(), operator.actor());
        self.retry(|memory, is_again| {
            let mut transaction = memory.begin()?;
            if is_again
                && let Some(kept) = made_at(&mut *transaction, kind::TRUST, (&time, &actor))?
            {
                return Ok(body::place(&kept));
            }
            let mut trusted = RunConstraints::read(&mut *transaction)?.trusted;
            match digest {
                Some(digest) => drop(trusted.insert(place.to_owned(), digest.to_owned())),
                None => trusted.clear(),
            }
            let change = json!({ "place": place, "digest": digest });
            let body = json!({ "trust": change, "trusted": trusted, "by": operator });
            let place = append(&mut *transaction, (kind::TRUST, &time), None, operator, &body)?;
            transaction.commit()?;
            Ok(place)
        })
    }

    /// Locks a loop's current run, or its next one, to a policy. Without a policy it ends
    /// the lock.
    pub(crate) fn lock(
        &mut self,
        loop_args: &Loop<'_>,
        policy: Option<(&str, &Policy)>,
        operator: &Operator,
    ) -> Result<Lock, Failure> {
        let named = loop_args.named(self)?;
        let digest = policy.map(|(digest, _)| digest.to_owned());
        let (time, actor) = (Timestamp::now().to_string(), operator.actor());
        let (run, place) = self.retry(|memory, is_again| {
            let mut transaction = memory.begin()?;
            let run = named.current_run(&mut *transaction)?;
            if is_again && let Some(kept) = made_at(&mut *transaction, kind::LOCK, (&time, &actor))?
            {
                return Ok((run, body::place(&kept)));
            }
            let mut locks = RunConstraints::read(&mut *transaction)?.locks;
            match policy {
                Some((digest, policy)) => {
                    transaction.keep_policy(digest, &policy.canonical())?;
                    locks.insert(run.clone(), digest.to_owned());
                }
                None => drop(locks.remove(&run)),
            }
            let change = json!({ "run": run, "policy": digest });
            let body = json!({ "lock": change, "locks": locks, "by": operator });
            let place =
                append(&mut *transaction, (kind::LOCK, &time), Some(run.clone()), operator, &body)?;
            transaction.commit()?;
            Ok((run, place))
        })?;
        Ok(Lock { schema: "gate.lock.v1", run, policy: digest, ledger: Some(place) })
    }
}

fn append(
    writing: &mut dyn Writing,
    (kind, time): (&str, &str),
    run: Option<String>,
    operator: &Operator,
    body: &impl Serialize,
) -> Result<Ledger, Failure> {
    let sealed = writing.append(Draft {
        time: time.to_owned(),
        kind: kind.to_owned(),
        run,
        actor: operator.actor(),
        body: body::body(body)?,
    })?;
    Ok(body::place(&sealed))
}
