//! What hooks leave beside decisions: stops that were not judged, sessions that
//! began, and whether an operator switched hooks off.

use gate_core::decide::run_state::RunState;
use gate_core::decide::timestamp;
use gate_core::history::kind;
use gate_core::protocol::ledger::Draft;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::loops::run_of;
use super::turn::GATE;
use super::{Memory, body, now};
use crate::failure::Failure;
use crate::operator::Operator;

/// What a hook did not do: a stop that was let go without being judged, a session that
/// has no baseline.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct NotJudged<'a> {
    /// The agent's name.
    pub(crate) agent: &'a str,
    /// The client's id of the session.
    pub(crate) session: Option<&'a str>,
    /// Why.
    pub(crate) why: &'a str,
}

/// The body of its record.
#[derive(Serialize)]
struct Noted<'a> {
    #[serde(flatten)]
    stop: &'a NotJudged<'a>,
    /// The work tree.
    tree: &'a str,
}

/// Whether hooks hold agents here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Switch {
    /// Whether they are switched off.
    pub(crate) off: bool,
    /// Until when (RFC 3339, UTC); none where only an operator ends it.
    pub(crate) until: Option<String>,
    /// When that was said.
    #[serde(default)]
    at: timestamp::Timestamp,
    /// For how long, in milliseconds.
    #[serde(default)]
    for_ms: Option<u64>,
}

impl Switch {
    /// Whether it holds at this moment. A clock that cannot be compared ends an
    /// hour off at once.
    fn holds(&self, now: &timestamp::Timestamp) -> bool {
        let within = |long: u64| now.since(&self.at).is_some_and(|passed| passed < long);
        self.off && self.for_ms.is_none_or(within)
    }
}

impl Memory {
    /// Whether hooks are switched off now.
    ///
    /// # Errors
    ///
    /// A store that cannot be read.
    pub(crate) fn switch(&mut self) -> Result<Switch, Failure> {
        let last = self.read(|reading| Ok(reading.latest_of_type(kind::SWITCH)?))?;
        let said = last.and_then(|sealed| {
            let switch = sealed.record.body.get("switch")?.clone();
            serde_json::from_value::<Switch>(switch).ok()
        });
        Ok(said.filter(|switch| switch.holds(&now())).unwrap_or_default())
    }

    /// Switches hooks off, for so many milliseconds or until they are switched
    /// on; or on. Recorded as an operator's act.
    ///
    /// # Errors
    ///
    /// A store that cannot be written.
    pub(crate) fn set_switch(&mut self, off: bool, for_ms: Option<u64>) -> Result<Switch, Failure> {
        let end = |millis| {
            let wait = SignedDuration::from_millis(i64::try_from(millis).ok()?);
            Some(Timestamp::now().checked_add(wait).ok()?.to_string())
        };
        let switch = Switch { off, until: for_ms.and_then(end), at: now(), for_ms };
        let operator = Operator::from_process();
        let said = serde_json::json!({ "switch": switch, "by": operator });
        self.write(|writing| {
            writing.append(draft(kind::SWITCH, None, operator.actor(), &said)?)?;
            Ok(())
        })?;
        Ok(switch)
    }

    /// Records that a stop was let go without being judged.
    ///
    /// # Errors
    ///
    /// A store that cannot be written.
    pub(crate) fn not_judged(&mut self, stop: &NotJudged<'_>) -> Result<(), Failure> {
        self.note(kind::NOT_JUDGED, stop)
    }

    /// Records that a stop was let go because gate could not decide.
    ///
    /// # Errors
    ///
    /// A store that cannot be written.
    pub(crate) fn undecided(&mut self, stop: &NotJudged<'_>) -> Result<(), Failure> {
        self.note(kind::UNDECIDED, stop)
    }

    /// Records that a session has begun, and the baseline that was taken then.
    ///
    /// # Errors
    ///
    /// A store that cannot be written.
    pub(crate) fn began(
        &mut self,
        agent: &str,
        session: &str,
        baseline: &str,
    ) -> Result<(), Failure> {
        let tree = &self.tree.clone();
        let said = serde_json::json!({
            "agent": agent, "session": session, "baseline": baseline, "tree": tree
        });
        self.write(|writing| {
            let run = Some(session.to_owned());
            writing.append(draft(kind::BASELINE, run, GATE.to_owned(), &said)?)?;
            Ok(())
        })
    }

    /// Records that a session has begun, and why it has no baseline of its own.
    ///
    /// # Errors
    ///
    /// A store that cannot be written.
    pub(crate) fn no_baseline(&mut self, session: &NotJudged<'_>) -> Result<(), Failure> {
        self.note(kind::NO_BASELINE, session)
    }

    fn note(&mut self, kind: &str, stop: &NotJudged<'_>) -> Result<(), Failure> {
        let said = Noted { stop, tree: &self.tree.clone() };
        self.write(|writing| {
            let run = stop.session.map(str::to_owned);
            writing.append(draft(kind, run, GATE.to_owned(), &said)?)?;
            Ok(())
        })
    }

    /// The run of a session as its last decision left it.
    ///
    /// # Errors
    ///
    /// A store that cannot be read.
    pub(crate) fn run_of(&mut self, session: &str) -> Result<Option<RunState>, Failure> {
        let last = self.read(|reading| Ok(reading.latest_of_loop(session)?))?;
        Ok(last.as_ref().map(run_of).transpose()?.map(|(_, run)| run))
    }
}

fn draft(
    kind: &str,
    run: Option<String>,
    actor: String,
    said: &impl Serialize,
) -> Result<Draft, Failure> {
    let body = body::body(said)?;
    Ok(Draft { time: Timestamp::now().to_string(), kind: kind.to_owned(), run, actor, body })
}
