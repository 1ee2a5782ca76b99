//! The gate of a loop, with what it remembers of the same task's last loop.

use gate_checks::CheckSite;
use gate_checks::baseline::Baseline;
use gate_core::decide::first_tests::FirstTests;
use gate_core::decide::open_decisions::ConfirmedDecision;
use gate_core::decide::policy::When;

use super::decide_first;
use super::run_command::RunCommand;
use super::tests_first::Stage;
use crate::failure::Failure;
use crate::gate::Gate;
use crate::governance::Task;
use crate::memory::LoopId;

/// The gate of a loop, with the baseline that its decisions compare with, and the tests that were
/// written before its work.
pub(super) struct LoopGate {
    pub(super) gate: Gate,
    pub(super) baseline: Option<Baseline>,
    pub(super) first_tests: Option<FirstTests>,
}

impl RunCommand<'_> {
    /// Opens the gate of a loop, and takes its baseline.
    pub(super) fn loop_gate(
        &self,
        site: CheckSite,
        task: &Task,
        stage: Stage<'_>,
        id: LoopId<'_>,
        decided: &[ConfirmedDecision],
    ) -> Result<LoopGate, Failure> {
        let writes_tests = stage.writes_tests();
        let memory =
            self.invocation.memory_of_loop(&self.trust, &self.settings, &self.interrupt)?;
        let gate = Gate::open(self.settings.clone(), site)?.at(When::Run);
        let gate = match writes_tests {
            true => gate.writing_tests()?,
            false => gate.requiring(&decide_first::criteria(decided))?,
        };
        let gate = gate.remembering(memory).trusting(self.trust.clone())?;
        let tasks_baseline = gate.baseline_of_task(task.id())?;
        let is_locked = !writes_tests && (tasks_baseline.is_some() || stage.job.is_some());
        let first_tests = match gate.memory() {
            Some(mut memory) if is_locked => match memory.locked_tests(stage.subject()) {
                // The breaker reports lost state.
                Err(failure) if failure.lost_state().is_some() => None,
                locked => locked?.map(|locked| locked.tests),
            },
            _ => None,
        };
        let loops_baseline = match (&tasks_baseline, writes_tests) {
            (None, false) => gate.baseline_of_loop(id)?,
            _ => None,
        };
        let baseline = match tasks_baseline.or(loops_baseline) {
            Some(baseline) => Some(baseline),
            None => gate.take_baseline_if_wanted()?,
        };
        if let Some(baseline) = &baseline {
            if !writes_tests {
                gate.begin_loop(baseline, id)?;
            }
            // A loop that is resumed must not take this one's edits of tests for the original tests.
            if writes_tests || first_tests.is_some() {
                gate.keep_for_task(baseline, task.id())?;
            }
        }
        Ok(LoopGate { gate, baseline, first_tests })
    }
}
