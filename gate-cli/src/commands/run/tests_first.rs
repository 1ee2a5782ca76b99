//! `gate run --tests-first`: one loop writes tests that fail, and another one makes them pass.
//!
//! Between the two, the tests are locked: the baseline of the second loop holds them, and each of
//! its decisions runs them as they were then. A task keeps that baseline until its work is done, so
//! that a loop that is resumed does not take edited tests for the locked ones.

use std::fs;
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use gate_checks::baseline::BaselineError;
use gate_checks::worktree::WorkTree;
use gate_core::decide::evidence::Evidence;
use gate_core::decide::first_tests::FirstTests;
use gate_core::decide::open_decisions::ConfirmedDecision;
use gate_core::decide::policy::When;
use gate_core::text;

use super::decide_first::{self, decided_text};
use super::job::Job;
use super::run_command::RunCommand;
use crate::commands::common::{answered, can_ask, is_yes};
use crate::failure::Failure;
use crate::gate::Gate;
use crate::interrupt::Interrupt;
use crate::memory::{LockedTests, StoppedBy};
use crate::render;
use crate::runner::{End, TestsWritten};
use gate_card::diff;

/// The interval at which an open question looks for a signal to end.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The prompt's part about the first loop.
const WRITE_TESTS: &str = "\
## In this phase: tests only

Write tests for what the task asks for. Another turn writes the code, so do not write it now.

- Each new test has to fail now, because the behaviour is missing, and to pass once the task is done.
- Change tests and what they need (fixtures, snapshots) alone, and no other file.
- The tests have to load now: use what does not exist yet inside a test, not at the top of its file.
  Where the tests are compiled, they may lack the names that the task adds, and nothing else.
- Leave old tests as they are: they have to end as before.
- Afterwards nobody changes these tests. Signal completion when they run and fail for this reason.
";

/// The prompt's part about the second loop.
const MAKE_THEM_PASS: &str = "\
## In this phase: the code

Tests of this task are written already, and fail. Make them pass. They are locked: gate runs them as
they were written, so leave them as they are. If one of them is wrong, say which and why, and end with
the status BLOCKED.
";

/// One loop of a command.
#[derive(Clone, Copy)]
pub(super) struct Stage<'s> {
    /// The loop's task.
    pub(super) task: &'s str,
    /// The work item of the loop.
    pub(super) job: Option<&'s Job>,
    pub(super) writes: Writes<'s>,
}

/// The files that an agent writes in a loop.
#[derive(Clone, Copy)]
pub(super) enum Writes<'s> {
    /// All that the task asks for.
    Work,
    /// Nothing: the agent lists the open decisions of its task.
    Decisions,
    /// Tests alone.
    Tests {
        /// The task that they belong to.
        whole_task: &'s str,
        /// A person's remark on the tests of the loop before.
        remark: Option<&'s str>,
    },
}

/// A person's answer about the tests.
enum Confirmation {
    Lock,
    Stop,
    Remark(String),
}

impl<'s> Stage<'s> {
    /// A loop over the whole work.
    pub(super) fn whole(task: &'s str, job: Option<&'s Job>) -> Self {
        Self { task, job, writes: Writes::Work }
    }

    pub(super) fn writes_tests(&self) -> bool {
        matches!(self.writes, Writes::Tests { .. })
    }

    pub(super) fn lists_decisions(&self) -> bool {
        matches!(self.writes, Writes::Decisions)
    }

    /// The task, or the work item, whose tests are locked.
    pub(super) fn subject(&self) -> &'s str {
        match (self.job, self.writes) {
            (Some(job), _) => job.work_id(),
            (None, Writes::Tests { whole_task, .. }) => whole_task,
            (None, Writes::Work | Writes::Decisions) => self.task,
        }
    }

    /// The prompt with the instructions for this loop.
    pub(super) fn prompt(
        &self,
        task_text: String,
        first_tests: Option<&FirstTests>,
        decided: &[ConfirmedDecision],
    ) -> String {
        let task_text = match decided {
            [] => task_text,
            decided => format!("{}\n\n{}", task_text.trim_end(), decided_text(decided)),
        };
        let instructions = match (self.writes, first_tests) {
            (Writes::Tests { remark: None, .. }, _) => WRITE_TESTS.to_owned(),
            (Writes::Tests { remark: Some(remark), .. }, _) => {
                format!(
                    "{WRITE_TESTS}\nA person has looked at the tests so far, and says: {remark}\n"
                )
            }
            (Writes::Decisions, _) => decide_first::instructions(),
            (Writes::Work, Some(_)) => MAKE_THEM_PASS.to_owned(),
            (Writes::Work, None) => return task_text,
        };
        format!("{}\n\n{instructions}", task_text.trim_end())
    }
}

/// Fails if a person has to confirm the tests, and nobody is at the terminal.
pub(super) fn admit(confirm: bool) -> Result<(), Failure> {
    if confirm && !can_ask() {
        let message = "--confirm asks a person, and nobody is at the terminal";
        return Err(Failure::usage("no-terminal", message)
            .hint("leave it out, or start the loop in a terminal"));
    }
    Ok(())
}

/// A person's answer, in one line; `None` at the end of the input, and if the program is to end
/// before it.
pub(super) fn answer_until(
    question: &'static str,
    interrupt: &Interrupt,
) -> Result<Option<String>, Failure> {
    let (sender, receiver) = mpsc::channel();
    // Nothing ends a read from the terminal, so the thread is left to it.
    thread::spawn(move || sender.send(answered(question)));
    loop {
        match receiver.recv_timeout(POLL_INTERVAL) {
            Ok(answer) => return answer,
            Err(RecvTimeoutError::Timeout) if interrupt.code().is_none() => {}
            Err(_) => return Ok(None),
        }
    }
}

impl RunCommand<'_> {
    /// Runs both loops over a task. The first is left out if the task's tests are locked already.
    pub(super) fn tests_then_work(&self, task: &str) -> Result<End, Failure> {
        let mut tests_written = None;
        if self.gate()?.baseline_of_task(task)?.is_some() {
            let note = format!("the tests of {task} are locked already: the code comes next");
            render::notes(&[note]);
        } else {
            let end = self.write_tests(task, None)?;
            if end.stopped_by != StoppedBy::Completed {
                return Ok(end);
            }
            tests_written = end.tests_first;
        }
        let end = self.run_loop(Stage::whole(task, None))?;
        Ok(End { tests_first: tests_written, ..end })
    }

    /// Runs the loop that writes tests, and locks them. With `--confirm`, as often as a person has
    /// something to say about them.
    pub(super) fn write_tests(&self, whole_task: &str, job: Option<&Job>) -> Result<End, Failure> {
        let task = match job {
            Some(_) => whole_task.to_owned(),
            None => format!("{whole_task}-tests"),
        };
        let tester = self.tester().name.clone();
        let mut remark = None;
        render::notes(&[format!("tests first: {tester} writes them, and no code")]);
        loop {
            let writes = Writes::Tests { whole_task, remark: remark.as_deref() };
            let stage = Stage { task: &task, job, writes };
            let end = self.run_loop(stage)?;
            let evidence = end.last_record.iter().flat_map(|last| &last.decision.input.evidence);
            let first_tests = evidence.filter_map(Evidence::first_tests).next().unwrap_or_default();
            let tests_written = |locked| {
                Some(TestsWritten {
                    by: tester.clone(),
                    locked,
                    tests: first_tests.names(),
                    files: first_tests.files.clone(),
                })
            };
            if end.stopped_by != StoppedBy::Completed {
                return Ok(End { tests_first: tests_written(false), ..end });
            }
            let gate = self.gate()?;
            match self.confirm_tests(&gate, &task, &first_tests)? {
                Confirmation::Lock => {
                    self.lock_tests(&gate, stage, &first_tests)?;
                    return Ok(End { tests_first: tests_written(true), ..end });
                }
                Confirmation::Stop => {
                    let is_cancelled = self.interrupt.code().is_some();
                    let stopped_by =
                        if is_cancelled { StoppedBy::Cancelled } else { StoppedBy::NotConfirmed };
                    let resume = self.resume(stage);
                    return Ok(End {
                        stopped_by,
                        resume,
                        tests_first: tests_written(false),
                        ..end
                    });
                }
                Confirmation::Remark(text) => remark = Some(text),
            }
        }
    }

    /// A gate for the time between the loops.
    fn gate(&self) -> Result<Gate, Failure> {
        let site = self.invocation.site_under(&self.trust)?;
        Ok(Gate::open(self.settings.clone(), site)?.at(When::Run))
    }

    /// Locks the tests: the next loop compares with the tree as it stands now.
    fn lock_tests(
        &self,
        gate: &Gate,
        stage: Stage<'_>,
        first_tests: &FirstTests,
    ) -> Result<(), Failure> {
        let baseline = gate.take_baseline_if_wanted()?;
        // The two differ by the new tests alone, so the old tests need no second run.
        if let (Some(older), Some(newer)) = (gate.baseline_of_task(stage.task)?, &baseline) {
            gate.carry_tests(&older, newer, first_tests);
        }
        let code_by = stage.job.is_none().then(|| self.worker.name.clone());
        let mut memory = self.invocation.memory_under(&self.trust, &self.settings.policy)?;
        memory.lock_tests(&LockedTests {
            task: stage.subject().to_owned(),
            tests_by: self.tester().name.clone(),
            code_by: code_by.clone(),
            confirmed: self.args.confirm,
            baseline: baseline.as_ref().map(|baseline| baseline.digest().to_owned()),
            tests: first_tests.clone(),
        })?;
        // The next agent may have this item's code in another work tree.
        if let (Some(baseline), None) = (&baseline, stage.job) {
            gate.keep_for_task(baseline, stage.subject())?;
        }
        gate.forget_task(stage.task)?;
        let coder = code_by.map(|by| format!(", and {by} writes the code")).unwrap_or_default();
        let files = first_tests.files.join(", ");
        render::notes(&[format!("the tests are locked{coder}: {files}")]);
        Ok(())
    }

    /// With `--confirm`, shows the tests to a person, and asks.
    fn confirm_tests(
        &self,
        gate: &Gate,
        task: &str,
        first_tests: &FirstTests,
    ) -> Result<Confirmation, Failure> {
        if !self.args.confirm {
            return Ok(Confirmation::Lock);
        }
        let tree = WorkTree::open(gate.place()).map_err(BaselineError::from)?;
        let baseline = gate.baseline_of_task(task)?;
        for file in &first_tests.files {
            let path = Path::new(file);
            let old_content = match &baseline {
                Some(baseline) => baseline.content(&tree, path)?.map(|content| content.bytes),
                None => None,
            };
            let new_content = fs::read(tree.root().join(path)).ok();
            let diff = diff(path, old_content.as_deref(), new_content.as_deref());
            render::diagnose_as_is(&diff);
        }
        let built = first_tests.names().iter().map(|name| text::clean(name)).collect::<Vec<_>>();
        let files = first_tests.not_built.iter();
        let not_built = files.map(|file| format!("{} (not built)", text::clean(file)));
        let tests = built.into_iter().chain(not_built).collect::<Vec<_>>().join("\n  ");
        let tester = &self.tester().name;
        render::diagnose(&format!("{tester} wrote tests that fail now:\n  {tests}\n"));
        let question =
            "Lock these tests, and go on with the code? [y/N, or what is wrong with them]";
        let Some(answer) = answer_until(question, &self.interrupt)? else {
            render::diagnose_as_is("\n");
            return Ok(Confirmation::Stop);
        };
        Ok(match answer.to_lowercase().as_str() {
            _ if is_yes(&answer) => Confirmation::Lock,
            "" | "n" | "no" => Confirmation::Stop,
            _ => Confirmation::Remark(answer),
        })
    }
}
