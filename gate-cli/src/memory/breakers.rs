//! The breakers that are not closed, and whose they are.

use std::collections::BTreeMap;

use gate_core::Policy;
use gate_core::decide::breaker::{Breaker, BreakerState};
use gate_core::decide::timestamp;
use gate_core::history::{Owner, State, kind};
use gate_core::protocol::ledger::Sealed;
use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{body, now};
use crate::failure::Failure;
use crate::store::Reading;

/// How many of the latest steps of breakers are looked at, and of the latest acts
/// of operators.
const LATEST: usize = 1_000;

/// A breaker that could be tried for so long, in milliseconds, holds nobody up:
/// whoever it stopped has not come back.
const FORGOTTEN: u64 = 12 * 60 * 60 * 1_000;

/// Which breakers are meant.
#[derive(Clone, Copy, Debug)]
pub enum Which<'a> {
    /// Those of this work tree.
    Here,
    /// That of this task, and those of its loops.
    Task(&'a str),
    /// That of this run, loop or session.
    Run(&'a str),
}

/// A breaker that is not closed, and whose it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OpenBreaker {
    /// Whose it is: a loop's own, or a task's, which an operator holds.
    pub owner: Owner,
    /// The same in words.
    pub whose: String,
    /// The loop's name; none of a task's.
    #[serde(rename = "loop")]
    pub name: Option<String>,
    /// The task; empty where none is named.
    pub task: String,
    /// The agent whose stop opened it.
    pub agent: Option<String>,
    /// The client's id of the session.
    pub session: Option<String>,
    /// Whether it is of this work tree, or holds whatever the work tree.
    pub here: bool,
    /// Its state.
    pub state: BreakerState,
    /// What opened it, by the name of the setting that limits it; or `operator`.
    pub trip: Option<String>,
    /// What opened it, in words.
    pub message: Option<String>,
    /// When it came into this state (RFC 3339, UTC).
    pub since: String,
    /// When a probe may be tried (RFC 3339, UTC); none where only an operator
    /// can close it.
    pub probe_at: Option<String>,
    /// The command that closes it.
    pub reset: String,
}

impl OpenBreaker {
    /// Whether it lets nobody through, or one probe at most.
    pub(crate) fn stops(&self) -> bool {
        matches!(self.state, BreakerState::Open | BreakerState::Isolated)
    }

    fn is(&self, which: Which<'_>) -> bool {
        match which {
            Which::Here => self.here && (self.owner == Owner::Loop || self.task.is_empty()),
            Which::Task(task) => self.task == task,
            Which::Run(name) => {
                [&self.name, &self.session].iter().any(|it| it.as_deref() == Some(name))
            }
        }
    }
}

/// Those that are meant come first, what an operator holds before all others.
pub(super) fn sorted(mut open: Vec<OpenBreaker>, which: Which<'_>) -> Vec<OpenBreaker> {
    open.retain(|it| matches!(which, Which::Here) || it.is(which));
    open.sort_by_key(|it| (!it.is(which), !it.stops(), it.owner));
    open
}

/// Those that are meant.
pub(super) fn meant<'o>(
    open: &'o [OpenBreaker],
    which: Which<'o>,
) -> impl Iterator<Item = &'o OpenBreaker> {
    open.iter().filter(move |it| it.is(which))
}

/// All that are not closed in the project, the latest first.
pub(super) fn open(
    reading: &mut dyn Reading,
    tree: &str,
    policy: &Policy,
) -> Result<Vec<OpenBreaker>, Failure> {
    let now = now();
    let mut latest = BTreeMap::<_, (u64, State, Sealed)>::new();
    for kind in [kind::TRANSITION, kind::ACT] {
        for sealed in reading.entries_of_type(kind, LATEST)? {
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
        let is_shown = |it: &Breaker| !it.is_closed() && !is_forgotten(it, &now, policy);
        if let Some(breaker) = breaker.filter(is_shown) {
            let decided = state.name.as_deref().map(|name| reading.latest_of_loop(name));
            let decided = decided.transpose()?.flatten();
            open.push(described((&state, &breaker), &sealed, decided.as_ref(), (tree, policy)));
        }
    }
    Ok(open)
}

/// Whether it was tripped long ago, could be tried since, and nobody did.
fn is_forgotten(breaker: &Breaker, now: &timestamp::Timestamp, policy: &Policy) -> bool {
    let long_ago =
        |at: &timestamp::Timestamp| now.since(at).is_some_and(|passed| passed >= FORGOTTEN);
    match breaker.state {
        BreakerState::Open => {
            let is_cool = breaker.cools_in(now, policy) == Some(0);
            is_cool && breaker.stood.as_ref().is_some_and(|stood| long_ago(&stood.at))
        }
        BreakerState::HalfOpen => breaker.probe.as_ref().is_some_and(|it| long_ago(&it.since)),
        BreakerState::Isolated | BreakerState::Closed => false,
    }
}

fn described(
    (state, breaker): (&State, &Breaker),
    sealed: &Sealed,
    decided: Option<&Sealed>,
    (tree, policy): (&str, &Policy),
) -> OpenBreaker {
    let of = |pointer: &str| {
        let body = Value::from(decided?.record.body.clone());
        Some(body.pointer(pointer)?.as_str()?.to_owned())
    };
    let agent = of("/decision/observed/stop/agent");
    let session = of("/decision/observed/session");
    let trip = breaker.trip.as_ref();
    let of_tree = sealed.record.body.get("tree").and_then(Value::as_str);
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
        here: state.owner == Owner::Task || of_tree == Some(tree),
        state: breaker.state,
        trip: trip.map(|trip| trip.cause.name().to_owned()),
        message: trip.map(|trip| trip.message.clone()),
        since: sealed.record.time.clone(),
        probe_at: breaker.cools_in(&now(), policy).and_then(later),
        reset: format!("gate breaker reset{option}{name} --reason …"),
    }
}

/// Whose a breaker is, in words.
fn whose(state: &State, agent: Option<&str>) -> String {
    let name = state.name.as_deref().unwrap_or_default();
    match (state.owner, agent, state.task.as_str()) {
        (Owner::Task, _, "") => "all work without a task, by an operator".to_owned(),
        (Owner::Task, _, task) => format!("the task {task}, by an operator"),
        (Owner::Loop, Some(agent), _) if super::naming::is_of_prompt(name) => {
            format!("{agent} with one prompt, {name}")
        }
        (Owner::Loop, Some(agent), _) => format!("the {agent} session {name}"),
        (Owner::Loop, None, "") => format!("the loop {name}"),
        (Owner::Loop, None, task) => format!("the loop {name} over the task {task}"),
    }
}

/// A name as a shell takes it for one word.
fn quoted(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.:/#@%+,=".contains(c);
    if !name.starts_with('-') && name.chars().all(is_plain) {
        return name.to_owned();
    }
    format!("'{}'", name.replace('\'', r"'\''"))
}

/// The time so many milliseconds from now.
pub(super) fn later(millis: u64) -> Option<String> {
    let wait = SignedDuration::from_millis(i64::try_from(millis).ok()?);
    Some(Timestamp::now().checked_add(wait).ok()?.to_string())
}
