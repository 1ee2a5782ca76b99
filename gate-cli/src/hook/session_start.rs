//! The start of a session. Its stops are compared with the work tree as it is now.
//!
//! gate replies nothing to the client, since the model would read the reply. A baseline
//! that cannot be taken holds nobody up: the session is then compared with history,
//! which forgives an agent nothing.

use std::time::Duration;

use gate_checks::CheckSite;
use gate_checks::baseline::Baseline;
use gate_core::decide::policy::{Judge, When};

use super::session::Session;
use super::turn_context::PersonsPrompt;
use super::typed::is_orphan;
use super::{HookCall, TurnContext};
use crate::agent::IN_RUN;
use crate::failure::Failure;
use crate::gate::{Gate, before_unchecked};
use crate::invocation::Invocation;
use crate::memory::{Memory, NotJudged};
use crate::settings::Selection;
use crate::trust;

/// Less than the time that `gate install` makes clients wait for this hook.
const BASELINE_TIMEOUT: Duration = Duration::from_secs(20);

const STORE_TIMEOUT: Duration = Duration::from_secs(2);

impl HookCall<'_> {
    /// Handles the start of a session: its stops are compared with the tree as it is.
    ///
    /// Fails as [`HookCall::take_baseline`] does.
    pub(crate) fn begin_session(&self, invocation: &Invocation) -> Result<(), Failure> {
        self.take_baseline(invocation, None)?;
        // The agent of a run is that run's.
        if invocation.places.variable(IN_RUN).is_none()
            && let Some(mut turn) = TurnContext::open(invocation, self.agent, &self.event, None)
        {
            turn.begin_session(self.start.is_nested());
        }
        Ok(())
    }

    /// Handles the end of a session. It counts only if the client itself started this hook, with no
    /// tool of its agent in between.
    pub(crate) fn end_session(&self, invocation: &Invocation) {
        let (state, session) = (invocation.places.state.as_deref(), self.event.session.as_deref());
        if !self.start.is_nested()
            && !is_orphan()
            && let Some(session) =
                Session::open(state, &invocation.places.top(), self.agent, session)
        {
            session.end();
        }
    }

    /// Takes the baseline of the session if it needs one, and records that, or why there is none.
    /// `prompt` is a person's: then the baseline is the tree as it is, since earlier changes are not
    /// the turn's. If it fails, the session has no baseline.
    ///
    /// Fails on settings that cannot be used, a tree that cannot be read in time, and a store that
    /// cannot be written.
    pub(super) fn take_baseline(
        &self,
        invocation: &Invocation,
        prompt: Option<PersonsPrompt>,
    ) -> Result<(), Failure> {
        let Some(session) = self.event.run() else { return Ok(()) };
        let (settings, trust) =
            trust::settings_in_force(&invocation.places, &Selection::default())?;
        let is_never_judged = settings.policy.hook.judge == Judge::Never;
        let callers_files = self.event.transcript.iter().cloned().collect();
        let site = CheckSite { callers_files, ..invocation.site_under(&trust)? };
        let gate = Gate::open(settings, site)?.at(When::Hook);
        if is_never_judged || !gate.compares_in_a_session() {
            return Ok(());
        }
        let mut memory = invocation.memory_within(&trust, gate.policy(), STORE_TIMEOUT)?;
        if memory.switch()?.off {
            return Ok(());
        }
        let is_new = match (is_new(&gate, &mut memory, &session), prompt) {
            // A damaged baseline is no reason not to take this one.
            (Err(_), Some(_)) => false,
            (is_new, _) => is_new?,
        };
        // A loop around the client has a baseline of its own.
        if !(is_new || prompt.is_some()) || invocation.places.variable(IN_RUN).is_some() {
            return Ok(());
        }
        if let Some(prompt) = prompt {
            keep_unchecked(gate.place(), &session, prompt)?;
        }
        match self.baseline(&gate, &session) {
            Ok(Some(baseline)) if is_new => {
                memory.session_started(self.agent.name(), &session, baseline.digest())
            }
            Ok(_) => Ok(()),
            Err(failure) => {
                Baseline::forget(gate.place(), Some(&session))?;
                let agent = self.agent.name();
                let not_judged =
                    NotJudged { agent, session: Some(&session), why: failure.message.as_str() };
                // The same cause may keep gate from recording, too.
                let _ = memory.no_baseline(&not_judged);
                Err(failure)
            }
        }
    }

    fn baseline(&self, gate: &Gate, session: &str) -> Result<Option<Baseline>, Failure> {
        // The tree may hold changes of the agent that started this one; as a baseline it would
        // forgive them.
        if let Some(trace) = &self.start.outer_agent {
            let message = format!("another agent started this client: {trace}");
            return Err(Failure::usage("under-an-agent", message));
        }
        let timeout = BASELINE_TIMEOUT.min(self.deadline * 3 / 4);
        gate.take_baseline_until(session, self.called_at + timeout)
    }
}

/// Keeps the tree from before changes that were never checked, or forgets it.
fn keep_unchecked(site: &CheckSite, session: &str, prompt: PersonsPrompt) -> Result<(), Failure> {
    let name = before_unchecked(session);
    match prompt {
        PersonsPrompt::AfterCheckedChanges => {
            Baseline::forget(site, Some(&name))?;
        }
        // The oldest of these trees stays, so that several unchecked turns are checked together.
        PersonsPrompt::AfterUncheckedChanges => {
            if Baseline::kept(site, Some(&name)).is_ok_and(|kept| kept.is_none())
                && let Ok(Some(last)) = Baseline::kept(site, Some(session))
            {
                last.keep(site, Some(&name))?;
            }
        }
    }
    Ok(())
}

/// The session has no baseline (its own or one taken by hand), no decision and no earlier start.
/// Later the work tree may hold the agent's own changes.
fn is_new(gate: &Gate, memory: &mut Memory, session: &str) -> Result<bool, Failure> {
    let site = gate.place();
    Ok(Baseline::begins(site, session)?
        && Baseline::kept(site, Some(session))?.is_none()
        && Baseline::kept(site, None)?.is_none()
        && memory.run_of(session)?.is_none())
}
