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
pub enum BreakerSelector<'a> {
    /// The breakers of this work tree.
    ThisTree,
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
    /// The breaker belongs to this work tree, or to all.
    #[serde(rename = "here")]
    pub is_of_this_tree: bool,
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
    /// The breaker stops its loops: it is open or isolated.
    pub(crate) fn stops(&self) -> bool {
        matches!(self.state, BreakerState::Open | BreakerState::Isolated)
    }

    fn is_selected(&self, selector: BreakerSelector<'_>) -> bool {
        match selector {
            BreakerSelector::ThisTree => {
                self.is_of_this_tree && (self.owner == Owner::Loop || self.task.is_empty())
            }
            BreakerSelector::Task(task) => self.task == task,
            BreakerSelector::Run(name) => {
                self.name.as_deref() == Some(name) || self.session.as_deref() == Some(name)
            }
        }
    }
}

/// Selected breakers first; among them those that stop somebody, tasks before loops.
pub(super) fn sorted(
    mut open: Vec<OpenBreaker>,
    selector: BreakerSelector<'_>,
) -> Vec<OpenBreaker> {
    open.retain(|breaker| {
        matches!(selector, BreakerSelector::ThisTree) || breaker.is_selected(selector)
    });
    open.sort_by_key(|breaker| (!breaker.is_selected(selector), !breaker.stops(), breaker.owner));
    open
}

pub(super) fn selected<'o>(
    open: &'o [OpenBreaker],
    selector: BreakerSelector<'o>,
) -> impl Iterator<Item = &'o OpenBreaker> {
    open.iter().filter(move |breaker| breaker.is_selected(selector))
}

/// The latest recorded state of a breaker's owner.
struct LatestState {
    state: State,
    sealed: Sealed,
}

/// All breakers of the project that are not closed, the latest first.
pub(super) fn open(
    view: &mut View<'_>,
    tree: &str,
    policy: &Policy,
) -> Result<Vec<OpenBreaker>, Failure> {
    let now = now();
    let mut open = Vec::new();
    for latest in latest_states(view)? {
        let state = &latest.state;
        let breaker = match state.owner {
            Owner::Loop => Some(state.breaker.clone()),
            Owner::Task => state.breaker.as_hold(),
        };
        let Some(breaker) = breaker else { continue };
        if breaker.is_closed() || is_forgotten(&breaker, &now, policy) {
            continue;
        }
        let decision = match state.name.as_deref() {
            Some(name) => view.latest_of_loop(name)?,
            None => None,
        };
        open.push(describe(&latest, &breaker, decision.as_ref(), tree, policy));
    }
    Ok(open)
}

/// The latest state of each owner, the latest of all first.
fn latest_states(view: &mut View<'_>) -> Result<Vec<LatestState>, Failure> {
    let mut by_owner = BTreeMap::<_, LatestState>::new();
    for kind in [kind::TRANSITION, kind::ACT] {
        for sealed in view.entries_of_type(kind, MAX_RECORDS)? {
            // Acts such as `gate baseline` change no breaker.
            if sealed.record.body.get("state").is_none() {
                continue;
            }
            let state = body::state_of(&sealed)?;
            let (owner, name) = state.key();
            let key = (owner, name.to_owned());
            let seq = sealed.record.seq;
            if by_owner.get(&key).is_none_or(|latest| latest.sealed.record.seq < seq) {
                by_owner.insert(key, LatestState { state, sealed });
            }
        }
    }
    let mut states: Vec<_> = by_owner.into_values().collect();
    states.sort_by_key(|latest| std::cmp::Reverse(latest.sealed.record.seq));
    Ok(states)
}

/// The breaker could have been tried long ago, and nobody did.
fn is_forgotten(breaker: &Breaker, now: &timestamp::Timestamp, policy: &Policy) -> bool {
    let last_change = match breaker.state {
        BreakerState::Open if breaker.cools_in(now, policy) == Some(0) => {
            breaker.snapshot.as_ref().map(|snapshot| &snapshot.at)
        }
        BreakerState::HalfOpen => breaker.probe.as_ref().map(|probe| &probe.since),
        BreakerState::Open | BreakerState::Isolated | BreakerState::Closed => None,
    };
    let age_ms = last_change.and_then(|time| now.since(time));
    age_ms.is_some_and(|age_ms| age_ms >= FORGOTTEN_AFTER_MS)
}

/// A breaker that is not closed, as answers show it. `decision` is the latest of its loop.
fn describe(
    latest: &LatestState,
    breaker: &Breaker,
    decision: Option<&Sealed>,
    tree: &str,
    policy: &Policy,
) -> OpenBreaker {
    let LatestState { state, sealed } = latest;
    let decision_body = decision.map(|sealed| Value::from(sealed.record.body.clone()));
    let agent = text_at(decision_body.as_ref(), "/decision/observed/stop/agent");
    let session = text_at(decision_body.as_ref(), "/decision/observed/session");
    let trip = breaker.trip.as_ref();
    let breakers_tree = sealed.record.body.get("tree").and_then(Value::as_str);
    let (option, name) = match (state.owner, state.name.as_deref(), state.task.as_str()) {
        (Owner::Loop, Some(name), _) => (" --run ", quoted(name)),
        (_, _, "") => ("", String::new()),
        (_, _, task) => (" --task ", quoted(task)),
    };
    OpenBreaker {
        owner: state.owner,
        whose: owner_words(state, agent.as_deref()),
        name: state.name.clone(),
        task: state.task.clone(),
        agent,
        session,
        is_of_this_tree: state.owner == Owner::Task || breakers_tree == Some(tree),
        state: breaker.state,
        trip: trip.map(|trip| trip.cause.name().to_owned()),
        message: trip.map(|trip| trip.message.clone()),
        since: sealed.record.time.clone(),
        probe_at: breaker.cools_in(&now(), policy).and_then(timestamp_in),
        reset: format!("gate breaker reset{option}{name} --reason …"),
    }
}

fn text_at(body: Option<&Value>, pointer: &str) -> Option<String> {
    Some(body?.pointer(pointer)?.as_str()?.to_owned())
}

/// The owner in words.
fn owner_words(state: &State, agent: Option<&str>) -> String {
    let name = state.name.as_deref().unwrap_or_default();
    // Only the decision on a stop names an agent: such a loop is the session of a client.
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
pub(super) fn timestamp_in(millis: u64) -> Option<String> {
    let duration = SignedDuration::from_millis(i64::try_from(millis).ok()?);
    Some(Timestamp::now().checked_add(duration).ok()?.to_string())
}
