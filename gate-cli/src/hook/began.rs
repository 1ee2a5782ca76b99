//! A session that begins: the work tree as it is then is what its stops are
//! compared with.
//!
//! Nothing is said to the client: what it would be told, its model would read. A
//! baseline that cannot be taken holds nobody up; the session is then compared with
//! history, which forgives an agent nothing.

use std::time::{Duration, Instant};

use gate_checks::CheckSite;
use gate_checks::baseline::Baseline;
use gate_core::decide::policy::{Judge, When};

use super::{Event, nested};
use crate::agent::{Agent, IN_RUN};
use crate::context::Here;
use crate::failure::Failure;
use crate::gate::Gate;
use crate::memory::{Memory, NotJudged};
use crate::settings::Selection;
use crate::trust;

/// The longest that a session waits for its baseline, below what `gate install`
/// tells clients to wait.
const LONGEST: Duration = Duration::from_secs(20);

/// The longest that a store is waited for.
const PATIENCE_OF_STORE: Duration = Duration::from_secs(2);

/// A session that begins.
pub(crate) struct Began<'e> {
    pub(crate) agent: Agent,
    pub(crate) event: &'e Event,
    /// When the hook was called.
    pub(crate) at: Instant,
    /// How long it may take.
    pub(crate) deadline: Duration,
}

impl Began<'_> {
    /// Takes the baseline of the session, where it has to have one. That, and why
    /// there is none, is recorded.
    ///
    /// # Errors
    ///
    /// Settings that cannot be used, a tree that cannot be read in time, a store
    /// that cannot be written.
    pub(crate) fn keep(&self, here: &Here) -> Result<(), Failure> {
        let Some(session) = self.event.run() else { return Ok(()) };
        let (settings, trust) = trust::settings_in_force(&here.places, &Selection::default())?;
        let never = settings.policy.hook.judge == Judge::Never;
        let callers_files = self.event.transcript.iter().cloned().collect();
        let site = CheckSite { callers_files, ..here.site_under(&trust)? };
        let gate = Gate::open(settings, site)?.at(When::Hook);
        if never || !gate.compares_in_a_session() {
            return Ok(());
        }
        let mut memory = here.memory_under(&trust, gate.policy(), PATIENCE_OF_STORE)?;
        if memory.switch()?.off || !is_new(&gate, &mut memory, &session)? {
            return Ok(());
        }
        // The loop around it has a baseline of its own.
        if here.places.variable(IN_RUN).is_some() {
            return Ok(());
        }
        match self.taken(here, &gate, &session) {
            Ok(Some(taken)) => memory.began(self.agent.name(), &session, taken.digest()),
            Ok(None) => Ok(()),
            Err(failure) => {
                let (agent, why) = (self.agent.name(), failure.message.as_str());
                // What keeps gate from taking it may keep it from recording, too.
                let _ = memory.no_baseline(&NotJudged { agent, session: Some(&session), why });
                Err(failure)
            }
        }
    }

    fn taken(&self, here: &Here, gate: &Gate, session: &str) -> Result<Option<Baseline>, Failure> {
        if let Some(outer) = nested::outer(self.agent, &here.places) {
            let message = format!("another agent started this client: {outer}");
            return Err(Failure::usage("under-an-agent", message));
        }
        gate.take_baseline_until(session, self.at + LONGEST.min(self.deadline * 3 / 4))
    }
}

/// Whether nothing is known of the session yet: neither a baseline, also one that
/// was taken by hand for it, nor a decision, nor that it has begun before. What is
/// there later may be its agent's own.
fn is_new(gate: &Gate, memory: &mut Memory, session: &str) -> Result<bool, Failure> {
    let site = gate.place();
    Ok(Baseline::begins(site, session)?
        && Baseline::kept(site, Some(session))?.is_none()
        && Baseline::kept(site, None)?.is_none()
        && memory.run_of(session)?.is_none())
}
