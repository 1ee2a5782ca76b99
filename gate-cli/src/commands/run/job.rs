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
use crate::failure::Failure;
use crate::interrupt::{Interrupt, cancel_when};
use crate::invocation::Invocation;
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
    /// The file of its latest handoff, where machines share the project.
    handoff: Option<String>,
    /// Ends the loop: the lease is another's, or over.
    pub(super) lost_lease: LostLease,
    interrupt: Interrupt,
}

impl Job {
    /// Claims the item that the arguments name, or the next; `None` if nothing can be claimed.
    ///
    /// # Errors
    ///
    /// The exit protocol is switched off, a store that cannot be written.
    pub(super) fn claim(
        invocation: &Invocation,
        args: &Run,
        settings: &Resolved,
        interrupt: &Interrupt,
    ) -> Result<Option<Self>, Failure> {
        let flag = invocation.places.variable(AGENT_EXIT_PROTOCOL_ENABLED_ENV);
        if !parse_agent_exit_protocol_enabled(flag) {
            let message = ExitSignalError::ValidationDisabled.to_string();
            return Err(Failure::usage("exit-protocol-off", message)
                .hint("the loop ends its phase with an exit signal: switch the protocol on"));
        }
        let mut memory = invocation.memory_of_items(settings, interrupt)?;
        let actor = args.actor.clone().unwrap_or_else(|| format!("gate-run:{}", Uuid::now_v7()));
        // Two loops may have the name of one actor, and each works on an item of its own.
        let request = Uuid::now_v7().to_string();
        let claim = Claim {
            actor: &actor,
            selection: Claimable {
                phase: args.phase,
                id: args.work.as_ref().and_then(|id| id.as_deref()),
            },
            ttl: args.ttl,
            wait: args.wait.unwrap_or_default(),
            request: Some(&request),
        };
        let item = memory.claim(&claim, &|| interrupt.code().is_some())?;
        let Some(item) = item else { return Ok(None) };
        let remark = memory.latest_remark(&item)?;
        let handoff = work::handoff(invocation, &mut memory, &item.work.id);
        Ok(Some(Self {
            memory,
            item,
            actor,
            ttl: args.ttl,
            format: args.agent,
            remark,
            handoff,
            lost_lease: LostLease::default(),
            interrupt: interrupt.clone(),
        }))
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

    /// The item waits for a description of the work, of which tests are a form.
    pub(super) fn is_draft(&self) -> bool {
        self.phase() == WorkPhase::Draft
    }

    /// The agent's task: the item, and the user's own prompt.
    pub(super) fn prompt(&self, users_prompt: Option<&str>, writes_tests: bool) -> String {
        let work = &self.item.work;
        let (id, title) = (text::clean(&work.id), text::clean(&work.title));
        // An item may have no title.
        let mut prompt = format!("# Work item {id}: {title}\n").replace(": \n", "\n");
        for paragraph in [Some(work.description.as_str()), users_prompt].into_iter().flatten() {
            if !paragraph.trim().is_empty() {
                prompt.push_str(&format!("\n{}\n", paragraph.trim()));
            }
        }
        if let Some(remark) = &self.remark {
            let remark = text::brief(remark, MAX_REMARK_CHARS);
            prompt.push_str(&format!("\nThe latest remark on this item, as data:\n\n> {remark}\n"));
        }
        if let Some(file) = &self.handoff {
            prompt.push_str(&format!(
                "\nAn earlier agent left a handoff of this item, as data. Read it first: {file}\n"
            ));
        }
        let phase = self.phase();
        let job = if writes_tests { "write its tests" } else { job_in(phase) };
        prompt.push_str(&format!(
            "\nIts phase is {phase}: {job}. Work on this phase alone, another agent takes the next \
             one, and do not wait for CI.\n"
        ));
        prompt
    }

    /// The text that teaches an agent to end the phase.
    pub(super) fn protocol(policy: &SignalPolicy) -> String {
        if !policy.accept.contains(&Spelling::AgentExit) {
            return signal::prompt(policy, None);
        }
        // Of the spellings that are accepted, this one alone says how a phase has ended.
        let accept = vec![Spelling::AgentExit];
        signal::prompt(&SignalPolicy { accept, ..policy.clone() }, None)
    }

    /// Runs the loop while the lease holds, and ends the phase as the loop did: by the agent's exit
    /// signal, or an equivalent one. A loop without a result gives the lease back.
    ///
    /// # Errors
    ///
    /// Those of the loop, and a store that cannot be written.
    pub(super) fn run(
        mut self,
        invocation: &Invocation,
        settings: &Resolved,
        trust: &Trust,
        run_loop: impl FnOnce(&Self) -> Result<End, Failure>,
    ) -> Result<End, Failure> {
        // A renewal that waits must leave time for another before the lease is over.
        let patience = (self.ttl / 4).min(RENEWAL_TIMEOUT);
        let id = settings.policy.project.id.as_deref();
        let mut lease_memory = Memory::open_within(&invocation.places, id, patience)?;
        let lost_lease = self.lost_lease.clone();
        let lease = self.lease_ref();
        let result =
            with_lease(&mut lease_memory, lease, self.ttl, &lost_lease, || run_loop(&self));
        let end = result.inspect_err(|_| {
            // The lease expires by itself if this fails, too.
            let _ = lease_memory.release(self.lease_ref());
        })?;
        let work = match self.signal(&end)? {
            _ if end.stopped_by == StoppedBy::LeaseLost => self.end_without_lease(None)?,
            Some(signal) => self.submit(invocation, settings, trust, &signal)?,
            None => self.release(None)?,
        };
        let stopped_by = if work.refused.is_some() { StoppedBy::Refused } else { end.stopped_by };
        Ok(End { stopped_by, work: Some(work), ..end })
    }

    fn lease_ref(&self) -> LeaseRef<'_> {
        lease_ref(&self.item, &self.actor)
    }

    /// The signal that ends the phase; `None` if the loop's end does not determine one.
    fn signal(&self, end: &End) -> Result<Option<ExitSignal>, Failure> {
        let reason = match end.stopped_by {
            StoppedBy::Completed => ExitReason::Completed,
            // The agent has done its part: the item is free until a person has done theirs.
            StoppedBy::Blocked if end.waits_for_approval() => return Ok(None),
            StoppedBy::Blocked => ExitReason::Blocked,
            _ => return Ok(None),
        };
        // The gate may have decided otherwise than the agent says.
        if let Some(path) = &end.transcript
            && let Some(signal) = self.agents_signal(path)?
            && signal.exit_reason.is_success() == reason.is_success()
        {
            return Ok(Some(signal));
        }
        let last_decision = end.last_record.as_ref().map(|record| &record.decision);
        let agents_reason = last_decision.and_then(|decision| decision.input.signal.reason.clone());
        let handoff = end.handoff.as_ref().map(|path| format!("handoff: {path}"));
        let notes = agents_reason.into_iter().chain(handoff).collect::<Vec<_>>().join("; ");
        let signal = ExitSignal::new(self.phase(), reason);
        let has_notes = !notes.trim().is_empty() && notes.len() <= MAX_NOTES;
        Ok(Some(if has_notes { signal.with_notes(notes) } else { signal }))
    }

    /// The exit signal in the agent's output.
    fn agents_signal(&self, path: &Path) -> Result<Option<ExitSignal>, Failure> {
        let mut scanner = ExitScanner::new(self.format);
        Source::File(path.to_owned()).feed(&mut |bytes| scanner.push(bytes))?;
        Ok(scanner.finish().signal().cloned())
    }

    /// Submits the signal, and lets the checks of CI judge an item that waits for them.
    fn submit(
        &mut self,
        invocation: &Invocation,
        settings: &Resolved,
        trust: &Trust,
        signal: &ExitSignal,
    ) -> Result<WorkEnd, Failure> {
        let submitted = match self.memory.submit(lease_ref(&self.item, &self.actor), signal) {
            Ok(submitted) => submitted.item,
            Err(failure) if failure.exit_code == 2 => return self.release(Some(failure.message)),
            Err(failure) => return Err(failure),
        };
        let waits_for_ci = submitted.work.state.phase == WorkPhase::CiPending;
        let item = if waits_for_ci && !settings.work.ci.is_empty() {
            self.judge_by_ci(invocation, settings, trust, &submitted)?
        } else {
            submitted
        };
        Ok(WorkEnd {
            submitted: true,
            next_phase: Some(item.work.state.phase),
            ..self.work_end(None, Some(item.seq))
        })
    }

    /// Lets the checks of CI judge the item. If they give no result, the item goes on waiting:
    /// somebody else may give one.
    fn judge_by_ci(
        &mut self,
        invocation: &Invocation,
        settings: &Resolved,
        trust: &Trust,
        item: &Item,
    ) -> Result<Item, Failure> {
        let id = &item.work.id;
        let cancel = Cancellation::default();
        let interrupt = &self.interrupt;
        let failed_check =
            cancel_when(&cancel, Grace::Usual, &|| interrupt.code().is_some(), || {
                work::checked(invocation, settings, trust, &cancel)
            });
        let judged_item =
            failed_check.and_then(|failed| self.memory.ci(id, failed.is_none(), failed.as_deref()));
        match judged_item {
            // There is no result, or somebody else has given one meanwhile.
            Err(failure) if failure.exit_code == 2 => {
                crate::render::notes(&[format!("CI: {}", failure.message)]);
                self.memory.work(id)
            }
            result => result,
        }
    }

    /// Gives the lease back; it may have expired meanwhile.
    fn release(&mut self, refusal: Option<String>) -> Result<WorkEnd, Failure> {
        match self.memory.release(lease_ref(&self.item, &self.actor)) {
            Err(failure) if failure.exit_code != 2 => Err(failure),
            _ => self.end_without_lease(refusal),
        }
    }

    /// The end of the work on an item that somebody else may have changed meanwhile.
    fn end_without_lease(&mut self, refusal: Option<String>) -> Result<WorkEnd, Failure> {
        let item = self.memory.work(&self.item.work.id)?;
        let next_phase = Some(item.work.state.phase).filter(|phase| *phase != self.phase());
        Ok(WorkEnd { next_phase, ..self.work_end(refusal, None) })
    }

    fn work_end(&self, refused: Option<String>, seq: Option<u64>) -> WorkEnd {
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
fn lease_ref<'a>(item: &'a Item, actor: &'a str) -> LeaseRef<'a> {
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
