//! `gate run --work`: a loop over one phase of a work item.

use std::path::Path;
use std::time::Duration;

use gate_checks::{Cancellation, Grace};
use gate_core::config::Resolved;
use gate_core::decide::policy::{SignalPolicy, Spelling};
use gate_core::decide::signal;
use gate_core::exit::{
    AGENT_EXIT_PROTOCOL_ENABLED_ENV, ExitReason, ExitSignal, ExitSignalError, MAX_NOTES, WorkPhase,
    parse_agent_exit_protocol_enabled,
};
use gate_core::exit_scan::ExitScanner;
use gate_core::text;
use gate_transcript::Forced;
use uuid::Uuid;

use super::Run;
use crate::commands::work;
use crate::context::Here;
use crate::failure::Failure;
use crate::interrupt::{Interrupt, cancel_when};
use crate::memory::StoppedBy;
use crate::memory::{Claim, LeaseRef, Memory};
use crate::runner::LostLease;
use crate::runner::{End, WorkEnd, phase_task, with_lease};
use crate::source::Source;
use crate::store::{Claimable, Item};
use crate::trust::Trust;

/// The longest wait of a renewal for a store that does not answer.
const RENEWAL_TIMEOUT: Duration = Duration::from_secs(10);

/// The longest remark that an agent gets, in characters.
const MAX_REMARK_CHARS: usize = 2000;

/// A work item that was claimed, for a loop over its phase.
pub(super) struct Job {
    memory: Memory,
    item: Item,
    actor: String,
    ttl: Duration,
    format: Option<Forced>,
    /// The item's latest remark.
    remark: Option<String>,
    /// Ends the loop: the lease is another's, or over.
    pub(super) lost: LostLease,
    interrupt: Interrupt,
}

impl Job {
    /// Claims the item that the arguments name, or the next; none if nothing can be claimed.
    ///
    /// # Errors
    ///
    /// The exit protocol is switched off, a store that cannot be written.
    pub(super) fn claimed(
        here: &Here,
        args: &Run,
        settings: &Resolved,
        interrupt: &Interrupt,
    ) -> Result<Option<Self>, Failure> {
        let flag = here.places.variable(AGENT_EXIT_PROTOCOL_ENABLED_ENV);
        if !parse_agent_exit_protocol_enabled(flag) {
            let message = ExitSignalError::ValidationDisabled.to_string();
            return Err(Failure::usage("exit-protocol-off", message)
                .hint("the loop ends its phase with an exit signal: switch the protocol on"));
        }
        let mut memory = here.memory_of_items(settings, interrupt)?;
        let actor = args.actor.clone().unwrap_or_else(|| format!("gate-run:{}", Uuid::now_v7()));
        // Two loops may have the name of one actor, and each works on an item of its own.
        let request = Uuid::now_v7().to_string();
        let claim = Claim {
            actor: &actor,
            which: Claimable {
                phase: args.phase,
                id: args.work.as_ref().and_then(|id| id.as_deref()),
            },
            ttl: args.ttl,
            wait: args.wait.unwrap_or_default(),
            request: Some(&request),
        };
        let item = memory.claim(&claim, &|| interrupt.code().is_some())?;
        let (ttl, format, lost) = (args.ttl, args.agent, LostLease::default());
        let Some(item) = item else { return Ok(None) };
        let remark = memory.said_of(&item)?;
        let interrupt = interrupt.clone();
        Ok(Some(Self { memory, item, actor, ttl, format, remark, lost, interrupt }))
    }

    fn phase(&self) -> WorkPhase {
        self.item.work.state.phase
    }

    pub(super) fn task_id(&self) -> String {
        phase_task(&self.item.work)
    }

    /// The id of the work item.
    pub(super) fn work_id(&self) -> &str {
        &self.item.work.id
    }

    /// True if the item waits for a description of the work, of which tests are a form.
    pub(super) fn is_draft(&self) -> bool {
        self.phase() == WorkPhase::Draft
    }

    /// The agent's task; `beside` is the user's own prompt.
    pub(super) fn prompt(&self, beside: Option<&str>, writes_tests: bool) -> String {
        let work = &self.item.work;
        let (id, title) = (text::clean(&work.id), text::clean(&work.title));
        let mut prompt = format!("# Work item {id}: {title}\n").replace(": \n", "\n");
        for part in [Some(work.description.as_str()), beside].into_iter().flatten() {
            if !part.trim().is_empty() {
                prompt.push_str(&format!("\n{}\n", part.trim()));
            }
        }
        if let Some(remark) = &self.remark {
            let remark = text::brief(remark, MAX_REMARK_CHARS);
            prompt.push_str(&format!("\nThe latest remark on this item, as data:\n\n> {remark}\n"));
        }
        let phase = self.phase();
        let what = if writes_tests { "write its tests" } else { job_in(phase) };
        prompt.push_str(&format!(
            "\nIts phase is {phase}: {what}. Work on this phase alone, another agent takes the next \
             one, and do not wait for CI.\n"
        ));
        prompt
    }

    /// The text that teaches an agent to end the phase.
    pub(super) fn protocol(policy: &SignalPolicy) -> String {
        let accept = vec![Spelling::AgentExit];
        let is_accepted = policy.accept.contains(&Spelling::AgentExit);
        let own = SignalPolicy { accept, ..policy.clone() };
        signal::prompt(if is_accepted { &own } else { policy }, None)
    }

    /// Runs the loop while the lease holds, and ends the phase as the loop did: by the agent's exit
    /// signal, or an equivalent one. A loop without a result gives the lease back.
    ///
    /// # Errors
    ///
    /// Those of the loop, and a store that cannot be written.
    pub(super) fn run(
        mut self,
        here: &Here,
        settings: (&Resolved, &Trust),
        run: impl FnOnce(&Self) -> Result<End, Failure>,
    ) -> Result<End, Failure> {
        let patience = (self.ttl / 4).min(RENEWAL_TIMEOUT);
        let id = settings.0.policy.project.id.as_deref();
        let mut beside = Memory::open_within(&here.places, id, patience)?;
        let lost = self.lost.clone();
        let ended = with_lease(&mut beside, (self.handed(), self.ttl), &lost, || run(&self));
        let end = ended.inspect_err(|_| {
            // The lease expires by itself if this fails, too.
            let _ = beside.release(self.handed());
        })?;
        let work = match self.signal(&end)? {
            _ if end.by == StoppedBy::LeaseLost => self.gone(None)?,
            Some(signal) => self.submit(here, settings, &signal)?,
            None => self.release(None)?,
        };
        let by = if work.refused.is_some() { StoppedBy::Refused } else { end.by };
        Ok(End { by, work: Some(work), ..end })
    }

    fn handed(&self) -> LeaseRef<'_> {
        handed(&self.item, &self.actor)
    }

    fn parts(&mut self) -> (&mut Memory, LeaseRef<'_>) {
        (&mut self.memory, handed(&self.item, &self.actor))
    }

    /// The signal that ends the phase; none if the loop's end does not determine one.
    fn signal(&self, end: &End) -> Result<Option<ExitSignal>, Failure> {
        let reason = match end.by {
            StoppedBy::Completed => ExitReason::Completed,
            // The agent has done its part: the item is free until a person has done theirs.
            StoppedBy::Blocked if end.waits_for_approval() => return Ok(None),
            StoppedBy::Blocked => ExitReason::Blocked,
            _ => return Ok(None),
        };
        let own = match &end.transcript {
            Some(path) => self.agents_signal(path)?,
            None => None,
        };
        let own = own.filter(|signal| signal.exit_reason.is_success() == reason.is_success());
        if own.is_some() {
            return Ok(own);
        }
        let why = end.last.as_ref().and_then(|last| last.decision.input.signal.reason.clone());
        let handoff = end.handoff.as_ref().map(|path| format!("handoff: {path}"));
        let notes: Vec<_> = [why, handoff].into_iter().flatten().collect();
        let notes = notes.join("; ");
        let signal = ExitSignal::new(self.phase(), reason);
        let is_note = !notes.trim().is_empty() && notes.len() <= MAX_NOTES;
        Ok(Some(if is_note { signal.with_notes(notes) } else { signal }))
    }

    /// The exit signal in the agent's output.
    fn agents_signal(&self, path: &Path) -> Result<Option<ExitSignal>, Failure> {
        let mut scanner = ExitScanner::new(self.format);
        Source::File(path.to_owned()).feed(&mut |bytes| scanner.push(bytes))?;
        Ok(scanner.finish().signal().cloned())
    }

    fn submit(
        &mut self,
        here: &Here,
        settings: (&Resolved, &Trust),
        signal: &ExitSignal,
    ) -> Result<WorkEnd, Failure> {
        let (memory, handed) = self.parts();
        let item = match memory.submit(handed, signal) {
            Ok(submitted) => submitted.item,
            Err(failure) if failure.exit_code == 2 => return self.release(Some(failure.message)),
            Err(failure) => return Err(failure),
        };
        let waits = item.work.state.phase == WorkPhase::CiPending;
        let after = if waits && !settings.0.work.ci.is_empty() {
            self.ci(here, settings, &item)?
        } else {
            item
        };
        Ok(WorkEnd {
            submitted: true,
            next_phase: Some(after.work.state.phase),
            ..self.ended(None, Some(after.seq))
        })
    }

    /// Lets the checks of CI judge the item. If they give no result, the item goes on waiting:
    /// somebody else may give one.
    fn ci(
        &mut self,
        here: &Here,
        settings: (&Resolved, &Trust),
        item: &Item,
    ) -> Result<Item, Failure> {
        let id = &item.work.id;
        let cancel = Cancellation::default();
        let interrupt = &self.interrupt;
        let checked = cancel_when((&cancel, Grace::Usual), &|| interrupt.code().is_some(), || {
            work::checked(here, settings, &cancel)
        });
        let done =
            checked.and_then(|failed| self.memory.ci(id, failed.is_none(), failed.as_deref()));
        match done {
            // There is no result, or somebody else has given one meanwhile.
            Err(failure) if failure.exit_code == 2 => {
                crate::render::notes(&[format!("CI: {}", failure.message)]);
                self.memory.work(id)
            }
            done => done,
        }
    }

    /// Gives the lease back; it may have expired meanwhile.
    fn release(&mut self, why: Option<String>) -> Result<WorkEnd, Failure> {
        let (memory, handed) = self.parts();
        match memory.release(handed) {
            Err(failure) if failure.exit_code != 2 => Err(failure),
            _ => self.gone(why),
        }
    }

    /// The item as somebody else may have left it.
    fn gone(&mut self, why: Option<String>) -> Result<WorkEnd, Failure> {
        let item = self.memory.work(&self.item.work.id)?;
        let next_phase = Some(item.work.state.phase).filter(|phase| *phase != self.phase());
        Ok(WorkEnd { next_phase, ..self.ended(why, None) })
    }

    fn ended(&self, refused: Option<String>, seq: Option<u64>) -> WorkEnd {
        let lease = self.item.lease.as_ref().map(|lease| lease.lease_id.clone());
        WorkEnd {
            work: self.item.work.id.clone(),
            phase: self.phase(),
            lease: lease.unwrap_or_default(),
            actor: self.actor.clone(),
            submitted: false,
            refused,
            next_phase: None,
            seq,
        }
    }
}

/// The item with its lease and its holder. The lease keeps others of the same name from
/// acting on the item.
fn handed<'a>(item: &'a Item, actor: &'a str) -> LeaseRef<'a> {
    let lease = item.lease.as_ref().map(|lease| lease.lease_id.as_str());
    LeaseRef { work: &item.work.id, lease, actor }
}

/// The agent's job in a phase.
fn job_in(phase: WorkPhase) -> &'static str {
    match phase {
        WorkPhase::Draft => "say what is to be done, and how",
        WorkPhase::Implementation => "do it",
        WorkPhase::ReadyForReview => "make it ready to be reviewed",
        WorkPhase::Review => "review it",
        WorkPhase::ReadyForMerge => "merge it",
        _ => "it is not an agent's",
    }
}
