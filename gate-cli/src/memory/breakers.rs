//! Lists the breakers that are not closed, with their owners.

use std::collections::BTreeMap;

use gate_core::Policy;
use gate_core::decide::breaker::{Breaker, BreakerState};
use gate_core::decide::timestamp;
use gate_core::history::{Owner, State, kind};
use gate_core::ledger::Sealed;
use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{body, now};
use crate::failure::Failure;
use crate::store::View;

/// The latest records of each kind that are searched.
const MAX_RECORDS: usize = 1_000;

/// A breaker that could have been tried for so long, in milliseconds, is not listed: its
/// loop has not come back.
const FORGOTTEN_AFTER_MS: u64 = 12 * 60 * 60 * 1_000;

/// A selection of breakers.
#[derive(Clone, Copy, Debug)]
pub enum Which<'a> {
    /// The breakers of this work tree.
    Here,
    /// The breaker of this task, and those of its loops.
    Task(&'a str),
    /// The breaker of this run, loop or session.
    Run(&'a str),
}

/// A breaker that is not closed.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OpenBreaker {
    /// The owner: a loop, or a task that an operator holds.
    pub owner: Owner,
    /// The owner in words.
    pub whose: String,
    /// The loop's name; null for a task.
    #[serde(rename = "loop")]
    pub name: Option<String>,
    /// The task, or empty.
    pub task: String,
    /// The agent whose stop opened the breaker.
    pub agent: Option<String>,
    /// The client's id of the session.
    pub session: Option<String>,
    /// True if the breaker belongs to this work tree, or to all.
    pub here: bool,
    /// The breaker's state.
    pub state: BreakerState,
    /// The cause: the name of a setting with a limit, or `operator`.
    pub trip: Option<String>,
    /// The cause as a sentence.
    pub message: Option<String>,
    /// The time of the last change of the state (RFC 3339, UTC).
    pub since: String,
    /// The time at which a probe may be tried (RFC 3339, UTC); null if only an operator
    /// can close the breaker.
    pub probe_at: Option<String>,
    /// The command that closes the breaker.
    pub reset: String,
}

impl OpenBreaker {
    /// True if open or isolated.
    pub(crate) fn stops(&self) -> bool {
        matches!(self.state, BreakerState::Open | BreakerState::Isolated)
    }

    fn is_selected(&self, which: Which<'_>) -> bool {
        match which {
            Which::Here => self.here && (self.owner == Owner::Loop || self.task.is_empty()),
            Which::Task(task) => self.task == task,
            Which::Run(name) => {
                self.name.as_deref() == Some(name) || self.session.as_deref() == Some(name)
            }
        }
    }
}

/// Selected breakers first; among them those that stop somebody, tasks before loops.
pub(super) fn sorted(mut open: Vec<OpenBreaker>, which: Which<'_>) -> Vec<OpenBreaker> {
    open.retain(|breaker| matches!(which, Which::Here) || breaker.is_selected(which));
    open.sort_by_key(|breaker| (!breaker.is_selected(which), !breaker.stops(), breaker.owner));
    open
}

pub(super) fn selected<'o>(
    open: &'o [OpenBreaker],
    which: Which<'o>,
) -> impl Iterator<Item = &'o OpenBreaker> {
    open.iter().filter(move |breaker| breaker.is_selected(which))
}

/// All breakers of the project that are not closed, the latest first.
pub(super) fn open(
    reading: &mut View<'_>,
    tree: &str,
    policy: &Policy,
) -> Result<Vec<OpenBreaker>, Failure> {
    let now = now();
    let mut latest = BTreeMap::<_, (u64, State, Sealed)>::new();
    for kind in [kind::TRANSITION, kind::ACT] {
        for sealed in reading.entries_of_type(kind, MAX_RECORDS)? {
            if sealed.record.body.get("state").is_none() {
                continue;
            }
            let state = body::state_of(&sealed)?;
            let (owner, name) = state.key();
            let key = (owner, name.to_owned());
            let seq = sealed.record.seq;
            if latest.get(&key).is_none_or(|(known, ..)| *known < seq) {
                latest.insert(key, (seq, state, sealed));
            }
        }
    }
    let mut latest: Vec<_> = latest.into_values().collect();
    latest.sort_by_key(|(seq, ..)| std::cmp::Reverse(*seq));
    let mut open = Vec::new();
    for (_, state, sealed) in latest {
        let breaker = match state.owner {
            Owner::Loop => Some(state.breaker.clone()),
            Owner::Task => state.breaker.as_hold(),
        };
        let Some(breaker) = breaker else { continue };
        if breaker.is_closed() || is_forgotten(&breaker, &now, policy) {
            continue;
        }
        let decision = state.name.as_deref().map(|name| reading.latest_of_loop(name));
        let decision = decision.transpose()?.flatten();
        open.push(describe((&state, &breaker), &sealed, decision.as_ref(), (tree, policy)));
    }
    Ok(open)
}

/// True if the breaker could have been tried long ago, and nobody did.
fn is_forgotten(breaker: &Breaker, now: &timestamp::Timestamp, policy: &Policy) -> bool {
    let last_change = match breaker.state {
        BreakerState::Open if breaker.cools_in(now, policy) == Some(0) => {
            breaker.stood.as_ref().map(|stood| &stood.at)
        }
        BreakerState::HalfOpen => breaker.probe.as_ref().map(|probe| &probe.since),
        BreakerState::Open | BreakerState::Isolated | BreakerState::Closed => None,
    };
    let passed = last_change.and_then(|at| now.since(at));
    passed.is_some_and(|passed| passed >= FORGOTTEN_AFTER_MS)
}

fn describe(
    (state, breaker): (&State, &Breaker),
    sealed: &Sealed,
    decision: Option<&Sealed>,
    (tree, policy): (&str, &Policy),
) -> OpenBreaker {
    let decision = decision.map(|sealed| Value::from(sealed.record.body.clone()));
    let agent = text_at(decision.as_ref(), "/decision/observed/stop/agent");
    let session = text_at(decision.as_ref(), "/decision/observed/session");
    let trip = breaker.trip.as_ref();
    let own_tree = sealed.record.body.get("tree").and_then(Value::as_str);
    let (option, name) = match (state.owner, state.name.as_deref(), state.task.as_str()) {
        (Owner::Loop, Some(name), _) => (" --run ", quoted(name)),
        (_, _, "") => ("", String::new()),
        (_, _, task) => (" --task ", quoted(task)),
    };
    OpenBreaker {
        owner: state.owner,
        whose: whose(state, agent.as_deref()),
        name: state.name.clone(),
        task: state.task.clone(),
        agent,
        session,
        here: state.owner == Owner::Task || own_tree == Some(tree),
        state: breaker.state,
        trip: trip.map(|trip| trip.cause.name().to_owned()),
        message: trip.map(|trip| trip.message.clone()),
        since: sealed.record.time.clone(),
        probe_at: breaker.cools_in(&now(), policy).and_then(later),
        reset: format!("gate breaker reset{option}{name} --reason …"),
    }
}

fn text_at(body: Option<&Value>, pointer: &str) -> Option<String> {
    Some(body?.pointer(pointer)?.as_str()?.to_owned())
}

/// The owner in words.
fn whose(state: &State, agent: Option<&str>) -> String {
    let name = state.name.as_deref().unwrap_or_default();
    match (state.owner, agent, state.task.as_str()) {
        (Owner::Task, _, "") => "all work without a task, by an operator".to_owned(),
        (Owner::Task, _, task) => format!("the task {task}, by an operator"),
        (Owner::Loop, Some(agent), _) if super::naming::is_prompt_loop(name) => {
            format!("{agent} with one prompt, {name}")
        }
        (Owner::Loop, Some(agent), _) => format!("the {agent} session {name}"),
        (Owner::Loop, None, "") => format!("the loop {name}"),
        (Owner::Loop, None, task) => format!("the loop {name} over the task {task}"),
    }
}

/// Quotes a name for a shell if it needs quotes.
fn quoted(name: &str) -> String {
    if !name.starts_with('-') && name.chars().all(is_plain) {
        return name.to_owned();
    }
    format!("'{}'", name.replace('\'', r"'\''"))
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-_.:/#@%+,=".contains(c)
}

/// The time this many milliseconds from now (RFC 3339).
pub(super) fn later(millis: u64) -> Option<String> {
    let wait = SignedDuration::from_millis(i64::try_from(millis).ok()?);
    Some(Timestamp::now().checked_add(wait).ok()?.to_string())
}
