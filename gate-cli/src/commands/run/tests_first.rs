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
use gate_core::decide::policy::When;
use gate_core::text;

use super::job::Job;
use super::{RunCommand, Setting};
use crate::commands::common::{answer, can_ask, is_yes};
use crate::context::Here;
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
    /// Tests alone.
    Tests {
        /// The task that they belong to.
        whole: &'s str,
        /// A person's remark on the tests of the loop before.
        remark: Option<&'s str>,
    },
}

/// A person's answer about the tests.
enum Answer {
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

    /// The task, or the work item, whose tests are locked.
    pub(super) fn subject(&self) -> &'s str {
        match (self.job, self.writes) {
            (Some(job), _) => job.work_id(),
            (None, Writes::Tests { whole, .. }) => whole,
            (None, Writes::Work) => self.task,
        }
    }

    /// The prompt with the instructions for this loop.
    pub(super) fn prompt(&self, prompt: String, first: Option<&FirstTests>) -> String {
        let more = match (self.writes, first) {
            (Writes::Tests { remark: None, .. }, _) => WRITE_TESTS.to_owned(),
            (Writes::Tests { remark: Some(remark), .. }, _) => {
                format!(
                    "{WRITE_TESTS}\nA person has looked at the tests so far, and says: {remark}\n"
                )
            }
            (Writes::Work, Some(_)) => MAKE_THEM_PASS.to_owned(),
            (Writes::Work, None) => return prompt,
        };
        format!("{}\n\n{more}", prompt.trim_end())
    }
}

/// Fails if a person has to confirm the tests, and none is at the terminal.
pub(super) fn admit(confirm: bool) -> Result<(), Failure> {
    if confirm && !can_ask() {
        let message = "--confirm asks a person, and nobody is at the terminal";
        return Err(Failure::usage("no-terminal", message)
            .hint("leave it out, or start the loop in a terminal"));
    }
    Ok(())
}

/// A person's answer, in one line; none if the program is to end before it.
fn answer_until(question: &'static str, interrupt: &Interrupt) -> Result<Option<String>, Failure> {
    let (answered, answers) = mpsc::channel();
    // Nothing ends a read from the terminal, so the thread is left to it.
    thread::spawn(move || answered.send(answer(question)));
    loop {
        match answers.recv_timeout(POLL_INTERVAL) {
            Ok(answer) => return answer.map(Some),
            Err(RecvTimeoutError::Timeout) if interrupt.code().is_none() => {}
            Err(_) => return Ok(None),
        }
    }
}

impl RunCommand<'_> {
    /// Runs both loops over a task. The first is left out if the task's tests are locked already.
    pub(super) fn tests_then_work(
        &self,
        here: &Here,
        setting: &Setting,
        interrupt: &Interrupt,
        task: &str,
    ) -> Result<End, Failure> {
        let mut tests_first = None;
        if self.gate(here, setting)?.baseline_of_task(task)?.is_some() {
            let note = format!("the tests of {task} are locked already: the code comes next");
            render::notes(&[note]);
        } else {
            let end = self.write_tests(here, setting, interrupt, (task, None))?;
            if end.by != StoppedBy::Completed {
                return Ok(end);
            }
            tests_first = end.tests_first;
        }
        let end = self.looped(here, setting, interrupt, Stage::whole(task, None))?;
        Ok(End { tests_first, ..end })
    }

    /// Runs the loop that writes tests, and locks them. With `--confirm`, as often as a person has
    /// something to say about them.
    pub(super) fn write_tests(
        &self,
        here: &Here,
        setting: &Setting,
        interrupt: &Interrupt,
        (whole, job): (&str, Option<&Job>),
    ) -> Result<End, Failure> {
        let task = if job.is_some() { whole.to_owned() } else { format!("{whole}-tests") };
        let by = self.tester().name.clone();
        let mut remark = None;
        render::notes(&[format!("tests first: {by} writes them, and no code")]);
        loop {
            let writes = Writes::Tests { whole, remark: remark.as_deref() };
            let stage = Stage { task: &task, job, writes };
            let end = self.looped(here, setting, interrupt, stage)?;
            let evidence = end.last.iter().flat_map(|last| &last.decision.input.evidence);
            let first = evidence.filter_map(Evidence::first_tests).next().unwrap_or_default();
            let written = |locked| {
                let (by, tests, files) = (by.clone(), first.names(), first.files.clone());
                Some(TestsWritten { by, locked, tests, files })
            };
            if end.by != StoppedBy::Completed {
                return Ok(End { tests_first: written(false), ..end });
            }
            let gate = self.gate(here, setting)?;
            match self.confirmed(&gate, &task, (&first, interrupt))? {
                Answer::Lock => {
                    self.lock(here, setting, &gate, (stage, &first))?;
                    return Ok(End { tests_first: written(true), ..end });
                }
                Answer::Stop => {
                    let is_answered = interrupt.code().is_none();
                    let by =
                        if is_answered { StoppedBy::NotConfirmed } else { StoppedBy::Cancelled };
                    let resume = self.resume(stage);
                    return Ok(End { by, resume, tests_first: written(false), ..end });
                }
                Answer::Remark(text) => remark = Some(text),
            }
        }
    }

    /// A gate for the time between the loops.
    fn gate(&self, here: &Here, (settings, trust): &Setting) -> Result<Gate, Failure> {
        Ok(Gate::open(settings.clone(), here.site_under(trust)?)?.at(When::Run))
    }

    /// Locks the tests: the next loop compares with the tree as it stands now.
    fn lock(
        &self,
        here: &Here,
        (settings, trust): &Setting,
        gate: &Gate,
        (stage, first): (Stage<'_>, &FirstTests),
    ) -> Result<(), Failure> {
        let taken = gate.take_baseline_if_wanted()?;
        if let (Some(before), Some(taken)) = (gate.baseline_of_task(stage.task)?, &taken) {
            gate.carry_tests((&before, taken), first);
        }
        let code_by = stage.job.is_none().then(|| self.worker.name.clone());
        let mut memory = here.memory_under(trust, &settings.policy)?;
        memory.lock_tests(&LockedTests {
            task: stage.subject().to_owned(),
            tests_by: self.tester().name.clone(),
            code_by: code_by.clone(),
            confirmed: self.args.confirm,
            baseline: taken.as_ref().map(|taken| taken.digest().to_owned()),
            tests: first.clone(),
        })?;
        // The next agent may have this item's code in another work tree.
        if let (Some(taken), None) = (&taken, stage.job) {
            gate.keep_for_task(taken, stage.subject())?;
        }
        gate.forget_task(stage.task)?;
        let code = code_by.map(|by| format!(", and {by} writes the code")).unwrap_or_default();
        render::notes(&[format!("the tests are locked{code}: {}", first.files.join(", "))]);
        Ok(())
    }

    /// With `--confirm`, shows the tests to a person, and asks.
    fn confirmed(
        &self,
        gate: &Gate,
        task: &str,
        (first, interrupt): (&FirstTests, &Interrupt),
    ) -> Result<Answer, Failure> {
        if !self.args.confirm {
            return Ok(Answer::Lock);
        }
        let tree = WorkTree::open(gate.place()).map_err(BaselineError::from)?;
        let baseline = gate.baseline_of_task(task)?;
        for file in &first.files {
            let path = Path::new(file);
            let before = baseline.as_ref().map(|before| before.content(&tree, path)).transpose()?;
            let before = before.flatten().map(|before| before.bytes);
            let now = fs::read(tree.root().join(path)).ok();
            render::diagnose_as_is(&diff(path, before.as_deref(), now.as_deref()));
        }
        let mut lines: Vec<_> = first.names().iter().map(|name| text::clean(name)).collect();
        lines.extend(
            first.not_built.iter().map(|file| format!("{} (not built)", text::clean(file))),
        );
        let by = &self.tester().name;
        render::diagnose(&format!("{by} wrote tests that fail now:\n  {}\n", lines.join("\n  ")));
        let question =
            "Lock these tests, and go on with the code? [y/N, or what is wrong with them]";
        let Some(answer) = answer_until(question, interrupt)? else {
            render::diagnose_as_is("\n");
            return Ok(Answer::Stop);
        };
        Ok(match answer.to_lowercase().as_str() {
            _ if is_yes(&answer) => Answer::Lock,
            "" | "n" | "no" => Answer::Stop,
            _ => Answer::Remark(answer),
        })
    }
}
