//! `gate run`: an agent in a loop, until gate says that it ends.

mod args;
mod decide_first;
mod display;
mod goal;
mod job;
mod loop_gate;
mod order;
mod run_command;
mod tests_first;
mod worker;

use std::env;

use gate_checks::GatherOptions;
use gate_checks::process::{Supervisor, ancestors, command_line};
use gate_core::Policy;
use gate_core::config::Resolved;
use gate_core::decide::policy::{Allowance, Unverified, When};
use gate_core::decide::signal;
use gate_core::text::shell_word;
use gate_fleet::run;
use jiff::Timestamp;

#[cfg(test)]
pub(crate) use self::args::Cwd;
pub(crate) use self::args::{CODES, ExitCodes, Run, USAGE};
use self::display::{LoopDisplay, LoopReporter};
use self::job::Job;
use self::loop_gate::LoopGate;
use self::run_command::RunCommand;
use self::tests_first::{Stage, Writes};
use self::worker::{Worker, preset, worker};
use super::common::DONE;
use super::junit::write_junit;
use super::locked;
use crate::agent::IN_RUN;
use crate::failure::Failure;
use crate::governance::{self, Project, Task};
use crate::interrupt::Interrupt;
use crate::invocation::Invocation;
use crate::memory::{LoopId, StoppedBy};
use crate::notify::{self, Notifier};
use crate::operator::project_marks;
use crate::render::{self, print};
use crate::request::{Asker, Request, Turn};
use crate::runner::{End, LiveFile, Loop, RunRecord, is_run_command, other_loop_here};
use crate::secrets;
use crate::settings::Selection;
use crate::source::Source;
use crate::supervision::ATTEND;
use crate::test_approval::check_file_glob;
use crate::trust;

/// Exit code of a loop whose work is not done.
const NOT_DONE: u8 = 1;

pub(super) fn run(invocation: &Invocation, args: &Run) -> Result<u8, Failure> {
    // The flags that let work pass are for a person, and an agent can call gate, too.
    for (act, _) in acts(args) {
        invocation.operator(&format!("--{}", act.replace('_', "-")))?;
    }
    args.may_change.iter().try_for_each(|glob| check_file_glob(glob))?;
    let selection = Selection { threshold: args.exit_threshold, ..Selection::default() };
    let (mut settings, trust) = trust::settings_in_force(&invocation.places, &selection)?;
    admit_flags(&settings, args)?;
    if !goal::admit(invocation, args, &trust, &settings.policy)? {
        admit_unverified(&settings.policy, args)?;
    }
    set_budget(&mut settings.policy, args);
    // Before an agent has cost anything.
    trust
        .admit_deciding(&settings.policy.clone().at(When::Run), &invocation.site_under(&trust)?)?;
    if let Some(changed) = trust.report()?.changed {
        render::notes(&[changed]);
    }
    tests_first::admit(args.confirm)?;
    let worker = worker(invocation, args, &settings, &trust)?;
    let tester = match args.tests_by {
        Some(agent) => Some(preset(invocation, args, agent, &settings, &trust)?),
        None => None,
    };
    let trust = trust.lasting();
    let project = governance::project_here(&invocation.places)?;
    let parent = parent_run(invocation, &project)?;
    let depth = parent.as_ref().map_or(Ok(0), |run| project.depth(&run.run_id))?;
    if depth > settings.run.max_depth as usize {
        let message = format!("{depth} runs stand in each other, and more are not started");
        return Err(Failure::usage("too-deep", message).hint("`max_depth` in [run] of gate.toml"));
    }
    let prompt = match args.prompt.as_deref() {
        Some(file) => Some(Source::named(file, &invocation.places.folder).text()?),
        None => None,
    };
    let notifier = Notifier::new(invocation, &settings, &trust)?;
    let interrupt = Interrupt::listen()?;
    let command = RunCommand {
        invocation,
        args,
        settings,
        trust,
        interrupt,
        worker,
        tester,
        project,
        prompt,
        notifier,
        parent,
    };
    if args.work.is_some() { command.run_work_item() } else { command.run_task() }
}

/// The run whose agent starts this one. A process that was cut off from its agent, or that the
/// system does not show, names the run itself. That name counts only for a run below the one
/// that the system shows.
fn parent_run(invocation: &Invocation, project: &Project) -> Result<Option<run::RunInfo>, Failure> {
    let callers_run = governance::caller(project)?.run;
    let callers_run_id = callers_run.as_ref().map_or("", |run| &run.run_id);
    let Some(id) = invocation.places.variable(IN_RUN) else { return Ok(callers_run) };
    let named_run = project
        .run(id)?
        .and_then(|run| run.info().ok())
        .filter(|info| info.status == run::Status::Running && info.parent_run_id == callers_run_id);
    Ok(named_run.or(callers_run))
}

impl RunCommand<'_> {
    /// Runs the loops over a task, and prints their end.
    fn run_task(&self) -> Result<u8, Failure> {
        let task = self.task_id()?;
        let mut decisions = None;
        if self.args.decide_first {
            decisions = match self.decide_first(&task)? {
                Ok(decisions) => Some(decisions),
                Err(end) => return self.print_end(&task, &end),
            };
        }
        let end = if self.args.tests_first {
            self.tests_then_work(&task)?
        } else {
            self.run_loop(Stage::whole(&task, None))?
        };
        self.print_end(&task, &End { decisions, ..end })
    }

    /// Claims a work item, runs the loop over its phase, and prints its end.
    fn run_work_item(&self) -> Result<u8, Failure> {
        let Some(job) = Job::claim(self.invocation, self.args, &self.settings, &self.interrupt)?
        else {
            let is_cancelled = self.interrupt.code().is_some();
            let by = if is_cancelled { StoppedBy::Cancelled } else { StoppedBy::NoWork };
            return self.print_end("", &End::without_work(by, &self.project.folder()));
        };
        let task = job.task_id();
        let end = job.run(self.invocation, &self.settings, &self.trust, |job| {
            if self.args.tests_first && job.is_draft() {
                self.write_tests(&task, Some(job))
            } else {
                self.run_loop(Stage::whole(&task, Some(job)))
            }
        })?;
        self.print_end(&task, &end)
    }

    /// The agent that writes tests.
    fn tester(&self) -> &Worker {
        self.tester.as_ref().unwrap_or(&self.worker)
    }

    /// The agent of a loop.
    fn worker(&self, stage: Stage<'_>) -> &Worker {
        if stage.writes_tests() { self.tester() } else { &self.worker }
    }

    /// Runs a loop.
    fn run_loop(&self, stage: Stage<'_>) -> Result<End, Failure> {
        let site = self.invocation.site_under(&self.trust)?;
        let supervisor = self.supervisor(site.supervisor.clone())?;
        let task = self.project.task(stage.task)?;
        let task_text = self.task_text(&task, stage)?;
        let text_digest = gate_core::digest(task_text.as_bytes());
        // Without an id from somebody, the same prompt is the same task.
        let id = match (&self.args.task, &self.args.work) {
            (None, None) => LoopId::Prompt(&text_digest),
            _ => LoopId::Task(task.id()),
        };
        let began_at = gate_checks::head(&site);
        // A turn that lists decisions is before them.
        let decided = match stage.lists_decisions() {
            true => Vec::new(),
            false => self.decided(stage.subject())?,
        };
        let loop_gate = self.loop_gate(site, &task, stage, id, &decided)?;
        let LoopGate { gate, baseline, first_tests } = loop_gate;
        let instructions = stage.prompt(task_text, first_tests.as_ref(), &decided);
        let signal = &gate.policy().signal;
        let protocol = match stage.job {
            // The list is what such a turn ends with.
            _ if stage.lists_decisions() => String::new(),
            Some(_) => Job::protocol(signal),
            None => signal::prompt(signal, None),
        };
        let loop_name = format!("{}-{}", task.project().id(), task.id());
        let named_task = self.args.task.as_ref().map(|_| stage.task.to_owned());
        let asker = Asker {
            task: named_task.or(stage.job.map(Job::task_id)),
            run: Some(loop_name.clone()),
            force_reason: self.args.reason.clone(),
            acts: acts(self.args),
            of_work: stage.job.is_some(),
            ..Asker::default()
        };
        let goals = match stage.writes_tests() {
            true => Vec::new(),
            false => self.goals(&gate, &asker)?,
        };
        let mut parts = vec![instructions.trim_end().to_owned()];
        parts.extend((!goals.is_empty()).then(|| goals.join("\n")));
        parts.push(protocol);
        let order = self.order(stage, &task, parts.join("\n\n"), &gate)?;
        let format = self.worker(stage).format;
        let display = LoopDisplay { format, raw: self.args.raw, json: self.args.json };
        let root = self.invocation.places.top();
        render::notes(&other_loop_here(task.project().runs(), &root, &task));
        let live_file = LiveFile::new(&task, &root, &loop_name, &order.agent);
        let reporter = LoopReporter::new(display, live_file);
        let asker = Asker { actor: Some(order.agent.clone()), ..asker };
        let checking = GatherOptions {
            allow: may_change(self.args),
            baseline: baseline.clone(),
            first_tests,
            events: reporter.checks(),
            ..GatherOptions::default()
        };
        let turn = Turn { format, decided, ..Turn::default() };
        let request = Request { asker, turn, checking };
        let mut agent_loop =
            Loop::new(&order, &task, &gate, request, supervisor, &self.interrupt, &reporter);
        let ended = agent_loop.run();
        if let (Err(failure), Some(end)) = (&ended, agent_loop.failed_end()) {
            self.notify(&end.record(self.project.id(), task.id(), failure.exit_code));
        }
        let end = ended?;
        // A loop that writes tests has kept no baseline for a later loop; that of its task goes when
        // the tests are locked.
        if stage.writes_tests() {
            return Ok(end);
        }
        let is_exit = end.stopped_by == StoppedBy::Completed;
        if is_exit {
            gate.forget_task(task.id())?;
        }
        gate.end_loop(id, began_at.as_deref(), is_exit)?;
        if let (LoopId::Prompt(_), false) = (id, is_exit)
            && let Some(prompt) = self.prompt_of_file()
        {
            // An agent that ticks boxes in its prompt makes no other task of it.
            let digest = gate_core::digest(prompt.as_bytes());
            gate.remember_as(baseline.as_ref(), LoopId::Prompt(&digest))?;
        }
        Ok(end)
    }

    /// The program below which the agent runs: gate itself, with the project's marks.
    fn supervisor(&self, checks_supervisor: Option<Supervisor>) -> Result<Supervisor, Failure> {
        let Some(Supervisor { program, .. }) = checks_supervisor else {
            return Err(Failure::internal("no-supervisor", "gate's own program is not found"));
        };
        let places = &self.invocation.places;
        let root = places.top().display().to_string();
        let marks = project_marks(places, self.settings.policy.project.id.as_deref()).join(",");
        Ok(Supervisor { program, args: vec![ATTEND.to_owned(), root, marks] })
    }

    /// The prompt as its file has it now; `None` if it came from a pipe, or its file is gone.
    fn prompt_of_file(&self) -> Option<String> {
        let file = self.args.prompt.as_deref().filter(|file| *file != "-")?;
        Source::named(file, &self.invocation.places.folder).text().ok()
    }

    /// The text of a loop's task.
    fn task_text(&self, task: &Task, stage: Stage<'_>) -> Result<String, Failure> {
        let prompt = self.prompt.as_deref();
        match (stage.job, stage.writes) {
            (Some(job), _) => task.describe(Some(&job.prompt(prompt, stage.writes_tests()))),
            (None, Writes::Work | Writes::Decisions) => task.describe(prompt),
            (None, Writes::Tests { whole_task, .. }) => {
                let whole_text = self.project.task(whole_task)?.describe(prompt)?;
                task.describe(Some(&whole_text))
            }
        }
    }

    /// The command that resumes a loop; `None` for a work item, which is claimed again.
    fn resume(&self, stage: Stage<'_>) -> Option<String> {
        match stage.job {
            Some(_) => None,
            None => {
                let keeps_tests = stage.writes_tests() || stage.lists_decisions();
                Some(resuming_command(stage.subject(), keeps_tests))
            }
        }
    }

    /// The id given, or that of an earlier loop whose decisions were listed. Else one made from the
    /// time and the prompt's first line, which no other loop has.
    fn task_id(&self) -> Result<String, Failure> {
        let given_id = self.args.task.clone();
        let id = given_id.unwrap_or_else(|| {
            let mut lines = self.prompt.as_deref().unwrap_or_default().lines();
            let title = lines.find(|line| !line.trim().is_empty()).unwrap_or_default();
            run::task_id(Timestamp::now(), title, "task")
        });
        match self.task_with_decisions(&id)? {
            Some(task) => Ok(task),
            None if self.args.task.is_some() => Ok(id),
            None => Ok(self.project.new_task(&id)?.id().to_owned()),
        }
    }

    fn notify(&self, end: &RunRecord<'_>) {
        if let Some(notifier) = &self.notifier {
            notify::send_loop_end(notifier, end);
        }
    }

    /// Prints the end of the loops, and tells those who are to be notified. Returns the exit code.
    fn print_end(&self, task: &str, end: &End) -> Result<u8, Failure> {
        let code = exit_code(self.args, end);
        let record = end.record(self.project.id(), task, code);
        print(&if self.args.json {
            render::json_line(&record)?
        } else {
            display::run_card(&record)
        })?;
        self.notify(&record);
        write_junit(self.invocation, self.args.junit.as_deref(), end.last_record.as_ref())?;
        Ok(code)
    }
}

fn exit_code(args: &Run, end: &End) -> u8 {
    match (args.exit_codes, end.is_success()) {
        (_, true) => DONE,
        (ExitCodes::Check, false) => end.stopped_by.check_code().max(NOT_DONE),
        (ExitCodes::Run, false) => NOT_DONE,
    }
}

/// The operator's flags, for the record.
fn acts(args: &Run) -> Vec<(&'static str, Option<String>)> {
    [
        args.force_complete.then(|| ("force_complete", args.reason.clone())),
        args.exit_threshold.map(|threshold| ("exit_threshold", Some(threshold.to_string()))),
        args.unverified.then_some(("unverified", None)),
    ]
    .into_iter()
    .flatten()
    .chain(args.may_change.iter().map(|glob| ("may_change", Some(glob.clone()))))
    .collect()
}

/// The edits of test files that the operator allows beforehand.
fn may_change(args: &Run) -> Vec<Allowance> {
    let allowances = args.may_change.iter().map(|glob| Allowance {
        path: Some(glob.clone()),
        test: None,
        rule: None,
        reason: "`--may-change` of this loop".to_owned(),
    });
    allowances.collect()
}

/// Fails if only the agent's own words would decide, unless the operator accepts that.
fn admit_unverified(policy: &Policy, args: &Run) -> Result<(), Failure> {
    let has_checks = policy.checks.values().any(|check| check.when.contains(&When::Run));
    if has_checks || args.force_complete || args.unverified || is_below_unverified() {
        return Ok(());
    }
    let message = match policy.checks.is_empty() {
        true => "no check is configured, so nothing but the agent's own words would end this loop",
        false => "no check is configured to run here, so only the agent's own words would end it",
    };
    Err(Failure::usage("no-checks", message).hint(
        "`gate init` finds the project's checks; with --unverified, the agent's words decide",
    ))
}

/// A loop that the operator started with `--unverified` is among the processes above: its agent
/// delegates a part of the same work.
fn is_below_unverified() -> bool {
    ancestors().any(|process| {
        let words = command_line(process.pid);
        // The words behind `--` are the agent's.
        let gates_words = words.split(|word| word == "--").next().unwrap_or_default();
        is_run_command(gates_words) && gates_words.iter().any(|word| word == "--unverified")
    })
}

/// Fails if a flag is against a setting that the machine's settings lock.
fn admit_flags(settings: &Resolved, args: &Run) -> Result<(), Failure> {
    let is_verified = settings.policy.exit_gate.unverified == Unverified::Continue;
    if args.unverified && is_verified {
        locked::admit(settings, "--unverified", "exit_gate.unverified")?;
    }
    if args.budget_tokens.is_some() {
        locked::admit(settings, "--budget-tokens", "budget.tokens")?;
    }
    if args.budget_cost.is_some() {
        locked::admit(settings, "--budget-cost", "budget.cost_usd")?;
    }
    if args.budget_wall.is_some() {
        locked::admit(settings, "--budget-wall", "budget.wall")?;
    }
    Ok(())
}

/// Sets the limits of the command line in the policy.
fn set_budget(policy: &mut Policy, args: &Run) {
    let budget = &mut policy.budget;
    budget.tokens = args.budget_tokens.unwrap_or(budget.tokens);
    if let Some(usd) = args.budget_cost {
        budget.cost_micro_usd = (usd.max(0.0) * 1e6) as u64;
    }
    if let Some(wall) = args.budget_wall {
        budget.wall_ms = u64::try_from(wall.as_millis()).unwrap_or(u64::MAX);
    }
}

/// The command that goes on with a task: this one, without its prompt, which is the task's by
/// now, and without the flags for writing tests, unless these are still to be written.
fn resuming_command(task: &str, keeps_tests: bool) -> String {
    let args: Vec<_> = env::args_os().map(|arg| arg.to_string_lossy().into_owned()).collect();
    let command_start = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
    let (gate_command, agent_command) = args.split_at(command_start);
    let mut words = vec!["gate".to_owned()];
    let mut gate_args = gate_command.iter().skip(1);
    let mut is_past_run = false;
    while let Some(arg) = gate_args.next() {
        match arg.as_str() {
            // A later `run` is the value of an option.
            "run" if !is_past_run => {
                is_past_run = true;
                words.extend(["run", "--task", task].map(str::to_owned));
            }
            "--prompt" | "--task" => drop(gate_args.next()),
            arg if arg.starts_with("--prompt=") || arg.starts_with("--task=") => {}
            "--tests-first" | "--confirm" if !keeps_tests => {}
            "--tests-by" if !keeps_tests => drop(gate_args.next()),
            arg if arg.starts_with("--tests-by=") && !keeps_tests => {}
            arg => words.push(arg.to_owned()),
        }
    }
    words.extend(agent_command.iter().cloned());
    let shell_words: Vec<_> = words.iter().map(|word| shell_word(word)).collect();
    secrets::masked(&shell_words.join(" "))
}
