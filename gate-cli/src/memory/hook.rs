//! Records of hooks other than decisions: stops that were not judged, session starts, and
//! the switch that turns hooks off.

use gate_core::decide::run_state::RunState;
use gate_core::decide::timestamp;
use gate_core::history::kind;
use serde::{Deserialize, Serialize};

use super::body::draft;
use super::breakers::timestamp_in;
use super::decision_transaction::GATE;
use super::run_history::run_of;
use super::{Memory, now};
use crate::failure::Failure;
use crate::operator::Operator;

/// A stop that was not judged, or a session without a baseline.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct NotJudged<'a> {
    /// The agent's name.
    pub(crate) agent: &'a str,
    /// The client's id of the session.
    pub(crate) session: Option<&'a str>,
    pub(crate) why: &'a str,
}

#[derive(Serialize)]
struct NotJudgedBody<'a> {
    #[serde(flatten)]
    stop: &'a NotJudged<'a>,
    /// The work tree.
    tree: &'a str,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Switch {
    /// Hooks are switched off.
    pub(crate) off: bool,
    /// The end of that (RFC 3339, UTC); `None` if only an operator ends it.
    pub(crate) until: Option<String>,
    /// The time of the act.
    #[serde(default)]
    at: timestamp::Timestamp,
    /// The duration in milliseconds.
    #[serde(default)]
    for_ms: Option<u64>,
}

impl Switch {
    /// Hooks are off still.
    // Without comparable clocks a limited time counts as over: hooks must not stay off
    // because of a reboot or a changed clock.
    fn is_off(&self, now: &timestamp::Timestamp) -> bool {
        let is_over = self.for_ms.is_some_and(|length_ms| {
            now.since(&self.at).is_none_or(|elapsed_ms| elapsed_ms >= length_ms)
        });
        self.off && !is_over
    }
}

impl Memory {
    /// The switch as it is now.
    pub(crate) fn switch(&mut self) -> Result<Switch, Failure> {
        let sealed = self.retry(|memory| Ok(memory.view()?.latest_of_type(kind::SWITCH)?))?;
        let switch = sealed.and_then(|sealed| {
            let switch = sealed.record.body.get("switch")?.clone();
            serde_json::from_value::<Switch>(switch).ok()
        });
        Ok(switch.filter(|switch| switch.is_off(&now())).unwrap_or_default())
    }

    /// Switches hooks on, or off: for a number of milliseconds, or until an operator
    /// switches them on. Records the operator's act.
    pub(crate) fn set_switch(&mut self, off: bool, for_ms: Option<u64>) -> Result<Switch, Failure> {
        let switch = Switch { off, until: for_ms.and_then(timestamp_in), at: now(), for_ms };
        let operator = Operator::from_process();
        let body = serde_json::json!({ "switch": switch, "by": operator });
        self.append(&draft(kind::SWITCH, None, &operator.actor(), &body)?)?;
        Ok(switch)
    }

    /// Records a stop that was allowed without being judged.
    pub(crate) fn not_judged(&mut self, stop: &NotJudged<'_>) -> Result<(), Failure> {
        self.record_not_judged(kind::NOT_JUDGED, stop)
    }

    /// Records a stop that was allowed because gate could not decide.
    pub(crate) fn undecided(&mut self, stop: &NotJudged<'_>) -> Result<(), Failure> {
        self.record_not_judged(kind::UNDECIDED, stop)
    }

    /// Records the start of a session with its baseline.
    pub(crate) fn session_started(
        &mut self,
        agent: &str,
        session: &str,
        baseline: &str,
    ) -> Result<(), Failure> {
        let body = serde_json::json!({
            "agent": agent, "session": session, "baseline": baseline, "tree": self.tree
        });
        self.append(&draft(kind::BASELINE, Some(session), GATE, &body)?)?;
        Ok(())
    }

    /// Records the start of a session without a baseline of its own.
    pub(crate) fn no_baseline(&mut self, session: &NotJudged<'_>) -> Result<(), Failure> {
        self.record_not_judged(kind::NO_BASELINE, session)
    }

    fn record_not_judged(&mut self, kind: &str, stop: &NotJudged<'_>) -> Result<(), Failure> {
        let body = NotJudgedBody { stop, tree: &self.tree };
        self.append(&draft(kind, stop.session, GATE, &body)?)?;
        Ok(())
    }

    /// The state of a session's run after its last decision.
    pub(crate) fn run_of(&mut self, session: &str) -> Result<Option<RunState>, Failure> {
        let decision = self.retry(|memory| Ok(memory.view()?.latest_of_loop(session)?))?;
        Ok(decision.as_ref().map(run_of).transpose()?.map(|(_, run)| run))
    }
}
