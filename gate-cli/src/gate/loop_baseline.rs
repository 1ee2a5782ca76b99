//! The memory of a loop: it keeps its baseline until an `exit`, or a person's act.

use gate_checks::baseline::Baseline;
use gate_core::Verdict;

use super::Gate;
use crate::failure::Failure;
use crate::memory::{LoopId, run_before};
use crate::record::Record;
use crate::request::{Asker, Request};

/// The name under which the baseline of an accepted work is kept.
pub(crate) fn decided_on(digest: &str) -> String {
    format!("decided on: {digest}")
}

impl Gate {
    /// The baseline that a loop of `gate run` goes on from: that of the same task's last loop, if it
    /// ended without an `exit`. A commit or a `gate baseline` since then takes the tree as it is.
    ///
    /// # Errors
    ///
    /// A stored baseline that cannot be read.
    pub(crate) fn baseline_of_loop(&self, id: LoopId<'_>) -> Result<Option<Baseline>, Failure> {
        let Some(name) = self.loop_name(id)? else { return Ok(None) };
        let Some(kept) = Baseline::kept(&self.site, Some(&name))? else { return Ok(None) };
        let ended_at = Baseline::ended_at(&self.site, &name);
        let is_committed = ended_at.is_some() && ended_at != gate_checks::head(&self.site);
        // The one without a name is the one that `gate baseline` took for the next runs.
        let for_next_runs = Baseline::kept(&self.site, None)?;
        let is_taken_anew = for_next_runs.is_some_and(|baseline| baseline.is_newer_than(&kept));
        Ok((!is_committed && !is_taken_anew).then_some(kept))
    }

    /// Keeps the baseline of a loop for the next one of its task.
    ///
    /// # Errors
    ///
    /// A state folder that cannot be written.
    pub(crate) fn begin_loop(&self, baseline: &Baseline, id: LoopId<'_>) -> Result<(), Failure> {
        match self.loop_name(id)? {
            Some(name) => Ok(baseline.keep(&self.site, Some(&name))?),
            None => Ok(()),
        }
    }

    /// Ends a loop that began at a commit: with an `exit` its baseline is forgotten.
    ///
    /// # Errors
    ///
    /// A state folder that cannot be written.
    pub(crate) fn end_loop(
        &self,
        id: LoopId<'_>,
        began_at: Option<&str>,
        is_exit: bool,
    ) -> Result<(), Failure> {
        let Some(name) = self.loop_name(id)? else { return Ok(()) };
        if let (Some(began_at), Some(head)) = (began_at, gate_checks::head(&self.site)) {
            // Commits of this loop are no person's act for the others.
            Baseline::move_ends(&self.site, began_at, &head)?;
        }
        if is_exit {
            Baseline::forget(&self.site, Some(&name))?;
        } else if let Some(head) = gate_checks::head(&self.site) {
            Baseline::note_end(&self.site, &name, &head)?;
        }
        Ok(())
    }

    /// Keeps the baseline of a loop that ended under another name of its task, too.
    ///
    /// # Errors
    ///
    /// A state folder that cannot be written.
    pub(crate) fn remember_as(
        &self,
        baseline: Option<&Baseline>,
        id: LoopId<'_>,
    ) -> Result<(), Failure> {
        match (baseline, self.loop_name(id)?, gate_checks::head(&self.site)) {
            (Some(baseline), Some(name), Some(head)) => {
                baseline.keep(&self.site, Some(&name))?;
                Ok(Baseline::note_end(&self.site, &name, &head)?)
            }
            _ => Ok(()),
        }
    }

    /// The name of a loop; `None` without memory.
    fn loop_name(&self, id: LoopId<'_>) -> Result<Option<String>, Failure> {
        self.memory().map(|memory| memory.loop_name(id)).transpose()
    }

    /// Ends what a run remembers, after a decision: an `exit` forgets the baselines of its loop.
    /// Another end notes the commit, so that a later one is seen.
    pub(super) fn end_of_decision(&self, record: &Record, request: &Request) {
        let (Some(run), false) = (record.run.as_deref(), record.repeated) else { return };
        let site = &self.site;
        if record.decision.verdict != Verdict::Exit {
            // What is committed in a person's session is the person's act.
            if record.decision.input.observed.stop.is_some() && !request.turn.is_of_person() {
                self.note_stop(run, &request.asker, record.decision.stop);
            }
            return;
        }
        // A handoff of this work is compared with where it began.
        if let Ok(Some(kept)) = Baseline::kept(site, Some(run)) {
            let _ = kept.keep(site, Some(&decided_on(kept.digest())));
        }
        let mut ended_run = Some(run.to_owned());
        while let Some(run) = ended_run {
            let _ = Baseline::forget(site, Some(&run));
            ended_run = run_before(&run);
        }
        // One that a person took since this run began is for the next one.
        let for_next_runs = Baseline::kept(site, None).ok().flatten();
        let is_of_run = for_next_runs
            .is_some_and(|baseline| Some(baseline.digest()) == record.baseline.as_deref());
        if is_of_run {
            let _ = Baseline::forget(site, None);
        }
    }

    /// Notes the commit at which a headless agent was let go. One that was refused goes on. Without
    /// the note, the next run of the loop goes on from the same baseline.
    fn note_stop(&self, run: &str, asker: &Asker, is_let_go: bool) {
        let site = &self.site;
        let Some(head) = gate_checks::head(site) else { return };
        if let Some(session) = asker.session.as_deref()
            && let Ok(Some(session_baseline)) = Baseline::kept(site, Some(session))
        {
            let _ = Baseline::move_ends(site, session_baseline.commit(), &head);
        }
        if is_let_go {
            let _ = Baseline::note_end(site, run, &head);
        } else {
            Baseline::forget_end(site, run);
        }
    }
}
