//! `gate run`: an agent in a loop, until gate says that it ends.

mod args;
mod display;
mod job;
mod loop_gate;
mod tests_first;

use std::env;
use std::path::Path;
use std::time::Duration;

use gate_checks::GatherOptions;
use gate_checks::process::{GRACE, Supervisor, ancestors, command_line};
use gate_checks::worktree::WorkTree;
use gate_core::Policy;
use gate_core::config::{Backoff, Origin, Resolved};
use gate_core::decide::policy::{Allowance, Unverified, When};
use gate_core::decide::signal;
use gate_fleet::run;
use gate_transcript::Forced;
use jiff::Timestamp;

pub(crate) use self::args::{CODES, Cwd, ExitCodes, Run, USAGE};
use self::display::{LoopDisplay, LoopReporter};
use self::job::Job;
use self::loop_gate::{LoopGate, gate_for};
use self::tests_first::{Stage, Writes};
use super::common::DONE;
use super::junit::write_junit;
use super::locked;
use crate::agent::{IN_RUN, is_of_session};
use crate::context::Here;
use crate::failure::Failure;
use crate::governance::{Caller, Project, Runs, Task};
use crate::interrupt::Interrupt;
use crate::memory::{LoopId, StoppedBy};
use crate::notify::{self, Notifier};
use crate::operator::project_marks;
use crate::render::{self, print};
use crate::request::{Asker, Request, Turn};
use crate::runner::{
    AgentStart, End, LiveFile, Loop, Order, PresetContext, agent_start, agents, other_loop_here,
    shell_word, starts_runs,
};
use crate::secrets;
use crate::settings::Selection;
use crate::source::Source;
use crate::supervision::ATTEND;
use crate::test_approval::file_glob;
use crate::trust::{self, Trust};

/// Exit code of a loop whose work is not done.
const UNDONE: u8 = 1;

/// The time that an agent has to end after SIGTERM (the seed's cancellation protocol).
const AGENTS_GRACE: Duration = Duration::from_secs(30);

/// Prefix of variables that no agent gets: the prompt gives them instead.
const HIDDEN: &str = "JRUN_";

pub(super) fn run(here: &Here, args: &Run) -> Result<u8, Failure> {
    for (act, _) in acts(args) {
        here.operator(&format!("--{}", act.replace('_', "-")))?;
    }
    args.may_change.iter().try_for_each(|glob| file_glob(glob))?;
    let selection = Selection { threshold: args.exit_threshold, ..Selection::default() };
    let (mut settings, trust) = trust::settings_in_force(&here.places, &selection)?;
    unlocked(&settings, args)?;
    verifiable(&settings.policy, args)?;
    budget(&mut settings.policy, args);
    // Before an agent has cost anything.
    trust.admit_deciding(&settings.policy.clone().at(When::Run), &here.site_under(&trust)?)?;
    if let Some(changed) = trust.report()?.changed {
        render::notes(&[changed]);
    }
    tests_first::admit(args.confirm)?;
    let worker = worker(here, args, args.agent, (&settings, &trust))?;
    let tester = args.tests_by.map(|by| preset(here, args, by, (&settings, &trust))).transpose()?;
    let trust = trust.lasting();
    let project = Runs::here(&here.places)?;
    let parent = parent(here, &project)?;
    let depth = parent.as_ref().map_or(Ok(0), |run| project.depth(&run.run_id))?;
    if depth > settings.run.max_depth as usize {
        let message = format!("{depth} runs stand in each other, and more are not started");
        return Err(Failure::usage("too-deep", message).hint("`max_depth` in [run] of gate.toml"));
    }
    let prompt = args.prompt.as_deref().map(|file| Source::named(file, &here.places.folder).text());
    let notifier = Notifier::new(here, &settings, &trust)?;
    let prompt = prompt.transpose()?;
    let command = RunCommand { prompt, parent, args, project, worker, tester, notifier };
    let interrupt = Interrupt::listen()?;
    if args.work.is_none() {
        let task = command.task_id();
        let setting = (settings, trust);
        let end = if args.tests_first {
            command.tests_then_work(here, &setting, &interrupt, &task)?
        } else {
            command.looped(here, &setting, &interrupt, Stage::whole(&task, None))?
        };
        return command.answer(here, &task, &end);
    }
    let Some(job) = Job::claimed(here, args, &settings, &interrupt)? else {
        let by = interrupt.code().map_or(StoppedBy::NoWork, |_| StoppedBy::Cancelled);
        return command.answer(here, "", &End::without_work(by, &command.project.folder()));
    };
    let task = job.task_id();
    let setting = (settings, trust);
    let end = job.run(here, (&setting.0, &setting.1), |job| {
        if args.tests_first && job.is_draft() {
            command.write_tests(here, &setting, &interrupt, (&task, Some(job)))
        } else {
            command.looped(here, &setting, &interrupt, Stage::whole(&task, Some(job)))
        }
    })?;
    command.answer(here, &task, &end)
}

/// The run whose agent starts this one. A process that was cut off from its agent, or that the
/// system does not show, names the run itself. That name counts only for a run below the one
/// that the system shows.
fn parent(here: &Here, project: &Project) -> Result<Option<run::RunInfo>, Failure> {
    let known = Caller::from_process(project)?.run;
    let named = here.places.variable(IN_RUN).map(|id| project.run(id)).transpose()?.flatten();
    let above = known.as_ref().map_or("", |run| &run.run_id);
    let named = named
        .and_then(|run| run.info().ok())
        .filter(|info| info.status == run::Status::Running && info.parent_run_id == above);
    Ok(named.or(known))
}

/// The settings that a loop runs under, and their approval.
type Setting = (Resolved, Trust);

/// An agent, and how it is started.
struct Worker {
    name: String,
    format: Option<Forced>,
    start: AgentStart,
}

/// A `gate run` with all that it needs to start loops.
struct RunCommand<'a> {
    args: &'a Run,
    worker: Worker,
    /// Writes the tests in the place of the worker.
    tester: Option<Worker>,
    project: Project,
    prompt: Option<String>,
    notifier: Option<Notifier>,
    /// The run whose agent started this command.
    parent: Option<run::RunInfo>,
}

impl RunCommand<'_> {
    /// The agent that writes tests.
    fn tester(&self) -> &Worker {
        self.tester.as_ref().unwrap_or(&self.worker)
    }

    /// The agent of a loop.
    fn worker(&self, stage: Stage<'_>) -> &Worker {
        if stage.writes_tests() { self.tester() } else { &self.worker }
    }

    /// Runs a loop.
    fn looped(
        &self,
        here: &Here,
        setting: &Setting,
        interrupt: &Interrupt,
        stage: Stage<'_>,
    ) -> Result<End, Failure> {
        let (settings, trust) = setting.clone();
        let (job, writes_tests) = (stage.job, stage.writes_tests());
        let site = here.site_under(&trust)?;
        let Some(Supervisor { program, .. }) = site.supervisor.clone() else {
            return Err(Failure::internal("no-supervisor", "gate's own program is not found"));
        };
        let project = here.places.top().display().to_string();
        let marks = project_marks(&here.places, settings.policy.project.id.as_deref()).join(",");
        let supervisor = Supervisor { program, args: vec![ATTEND.to_owned(), project, marks] };
        let task = self.project.task(stage.task)?;
        let prompt = self.described(&task, stage)?;
        let backoff = settings.run.backoff();
        let prompt_digest = gate_core::digest(prompt.as_bytes());
        // Without an id from somebody, the same prompt is the same task.
        let id = match (&self.args.task, &self.args.work) {
            (None, None) => LoopId::Prompt(&prompt_digest),
            _ => LoopId::Task(task.id()),
        };
        let began_at = gate_checks::head(&site);
        let about = (&task, stage, id);
        let LoopGate { gate, baseline, first_tests: first } =
            gate_for(here, (settings, trust), (site, interrupt), about)?;
        let prompt = stage.prompt(prompt, first.as_ref());
        let signal = &gate.policy().signal;
        let protocol = job.map_or_else(|| signal::prompt(signal, None), |_| Job::protocol(signal));
        let prompt = format!("{}\n\n{protocol}", prompt.trim_end());
        let order = self.order(here, stage, &task, prompt, gate.policy(), backoff)?;
        let format = self.worker(stage).format;
        let (raw, json) = (self.args.raw, self.args.json);
        let run = format!("{}-{}", task.project().id(), task.id());
        let root = here.places.top();
        render::notes(&other_loop_here(task.project().runs(), &root, &task));
        let file = LiveFile::new(&task, &root, &run, &order.agent);
        let reporter = LoopReporter::new(LoopDisplay { format, raw, json }, file);
        let asker = Asker {
            task: self.args.task.as_ref().map(|_| stage.task.to_owned()).or(job.map(Job::task_id)),
            run: Some(run),
            force_reason: self.args.reason.clone(),
            acts: acts(self.args),
            actor: Some(order.agent.clone()),
            of_work: job.is_some(),
            ..Asker::default()
        };
        let checking = GatherOptions {
            allow: may_change(self.args),
            baseline: baseline.clone(),
            first_tests: first,
            events: reporter.checks(),
            ..GatherOptions::default()
        };
        let request = Request { asker, turn: Turn { format, ..Turn::default() }, checking };
        let parts = (&gate, request);
        let end = Loop::new(&order, &task, parts, supervisor, (interrupt, &reporter)).run()?;
        if !writes_tests {
            let is_exit = end.by == StoppedBy::Completed;
            if is_exit {
                gate.forget_task(task.id())?;
            }
            gate.end_loop(id, began_at.as_deref(), is_exit)?;
            if let (LoopId::Prompt(_), false) = (id, is_exit)
                && let Some(prompt) = self.prompt_now(here)
            {
                // An agent that ticks boxes in its prompt makes no other task of it.
                let digest = gate_core::digest(prompt.as_bytes());
                gate.remember_as(baseline.as_ref(), LoopId::Prompt(&digest))?;
            }
        }
        Ok(end)
    }

    /// The prompt as its file has it now; none if it came from a pipe, or its file is gone.
    fn prompt_now(&self, here: &Here) -> Option<String> {
        let file = self.args.prompt.as_deref().filter(|file| *file != "-")?;
        Source::named(file, &here.places.folder).text().ok()
    }

    /// The text of a loop's task.
    fn described(&self, task: &Task, stage: Stage<'_>) -> Result<String, Failure> {
        let prompt = self.prompt.as_deref();
        match (stage.job, stage.writes) {
            (Some(job), _) => task.describe(Some(&job.prompt(prompt, stage.writes_tests()))),
            (None, Writes::Work) => task.describe(prompt),
            (None, Writes::Tests { whole, .. }) => {
                let whole = self.project.task(whole)?.describe(prompt)?;
                task.describe(Some(&whole))
            }
        }
    }

    /// The command that resumes a loop; none for a work item, which is claimed again.
    fn resume(&self, stage: Stage<'_>) -> Option<String> {
        let is_first = stage.writes_tests();
        stage.job.is_none().then(|| resume(stage.subject(), is_first))
    }

    /// The id given, else one made from the time and the prompt's first line.
    fn task_id(&self) -> String {
        if let Some(task) = &self.args.task {
            return task.clone();
        }
        let mut lines = self.prompt.as_deref().unwrap_or_default().lines();
        let title = lines.find(|line| !line.trim().is_empty()).unwrap_or_default();
        run::task_id(Timestamp::now(), title, "task")
    }

    fn answer(&self, here: &Here, task: &str, end: &End) -> Result<u8, Failure> {
        let code = code(self.args, end);
        let record = end.record(self.project.id(), task, code);
        print(&if self.args.json {
            render::json_line(&record)?
        } else {
            display::run_card(&record)
        })?;
        if let Some(notifier) = &self.notifier {
            notify::loop_ended(notifier, &record);
        }
        write_junit(here, self.args.junit.as_deref(), end.last.as_ref())?;
        Ok(code)
    }
}

fn code(args: &Run, end: &End) -> u8 {
    match (args.exit_codes, end.is_success()) {
        (_, true) => DONE,
        (ExitCodes::Check, false) => end.by.check_code().max(UNDONE),
        (ExitCodes::Run, false) => UNDONE,
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
    let allowed = args.may_change.iter().map(|glob| Allowance {
        path: Some(glob.clone()),
        test: None,
        rule: None,
        reason: "`--may-change` of this loop".to_owned(),
    });
    allowed.collect()
}

/// Fails if only the agent's own words would decide, unless the operator accepts that.
fn verifiable(policy: &Policy, args: &Run) -> Result<(), Failure> {
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

/// True if a loop that the operator started with `--unverified` is among the processes
/// above: its agent delegates a part of the same work.
fn is_below_unverified() -> bool {
    ancestors().any(|process| {
        let words = command_line(process.pid);
        let own = words.split(|word| word == "--").next().unwrap_or_default();
        starts_runs(own) && own.iter().any(|word| word == "--unverified")
    })
}

/// Fails if a flag is against a setting that the machine's settings lock.
fn unlocked(settings: &Resolved, args: &Run) -> Result<(), Failure> {
    let is_verified = settings.policy.exit_gate.unverified == Unverified::Continue;
    let flags = [
        (args.unverified && is_verified, "--unverified", "exit_gate.unverified"),
        (args.budget_tokens.is_some(), "--budget-tokens", "budget.tokens"),
        (args.budget_cost.is_some(), "--budget-cost", "budget.cost_usd"),
        (args.budget_wall.is_some(), "--budget-wall", "budget.wall"),
    ];
    let mut given = flags.into_iter().filter(|(is_given, ..)| *is_given);
    given.try_for_each(|(_, flag, key)| locked::admit(settings, flag, key))
}

/// The limits that the command line sets.
fn budget(policy: &mut Policy, args: &Run) {
    let budget = &mut policy.budget;
    budget.tokens = args.budget_tokens.unwrap_or(budget.tokens);
    if let Some(usd) = args.budget_cost {
        budget.cost_micro_usd = (usd.max(0.0) * 1e6) as u64;
    }
    if let Some(wall) = args.budget_wall {
        budget.wall_ms = u64::try_from(wall.as_millis()).unwrap_or(u64::MAX);
    }
}

/// The agent of the command that was given, or of its preset.
fn worker(
    here: &Here,
    args: &Run,
    agent: Option<Forced>,
    under: (&Resolved, &Trust),
) -> Result<Worker, Failure> {
    let (Some(agent), true) = (agent, args.command.is_empty()) else {
        let words = args.command.iter().map(|word| word.to_string_lossy().into_owned());
        let start = AgentStart { argv: words.collect(), ..AgentStart::default() };
        let program = start.argv.first().map(Path::new).and_then(Path::file_name);
        let program = program.unwrap_or_default().to_string_lossy().into_owned();
        let name = agent.map_or(program, |agent| agent_name(agent).to_owned());
        return Ok(Worker { name, format: agent, start });
    };
    preset(here, args, agent, under)
}

/// An agent that gate knows how to start.
fn preset(
    here: &Here,
    args: &Run,
    agent: Forced,
    (settings, trust): (&Resolved, &Trust),
) -> Result<Worker, Failure> {
    let name = agent_name(agent);
    let configured = settings.run.agents.get(name);
    let args_of_agent = configured.and_then(|configured| configured.args.as_deref());
    let args_of_agent = args_of_agent.unwrap_or_default();
    let key = format!("run.agents.{name}.args");
    let is_projects = settings.settings().iter().any(|setting| {
        setting.key == key && matches!(setting.origin, Origin::Project(_) | Origin::File(_))
    });
    if !args_of_agent.is_empty() && is_projects {
        trust.admit_words(&key)?;
    }
    let tree = WorkTree::open(&here.site()?).ok();
    let git = tree.and_then(|tree| tree.git_folder());
    let project =
        PresetContext { policy: &settings.policy, git: git.as_deref(), args: args_of_agent };
    let start = agent_start(name, args.allow, &project).ok_or_else(|| {
        let known = agents().collect::<Vec<_>>().join(", ");
        let message = format!("gate does not know how to start {name}; it can start {known}");
        Failure::usage("agent-unknown", message).hint("give its command behind `--`")
    })?;
    Ok(Worker { name: name.to_owned(), format: Some(agent), start })
}

fn agent_name(agent: Forced) -> &'static str {
    match agent {
        Forced::Agent(name) => name,
        Forced::Format(format) => format.name(),
    }
}

/// The command that goes on with a task: this one, without its prompt, which is the task's by
/// now, and without the flags for writing tests, unless these are still to be written.
fn resume(task: &str, writes_tests: bool) -> String {
    let args: Vec<_> = env::args_os().map(|arg| arg.to_string_lossy().into_owned()).collect();
    let end = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
    let mut words = vec!["gate".to_owned()];
    let mut own_args = args[..end].iter().skip(1);
    let mut is_named = false;
    while let Some(arg) = own_args.next() {
        match arg.as_str() {
            "run" if !is_named => {
                is_named = true;
                words.extend(["run", "--task", task].map(str::to_owned));
            }
            "--prompt" | "--task" => drop(own_args.next()),
            arg if arg.starts_with("--prompt=") || arg.starts_with("--task=") => {}
            "--tests-first" | "--confirm" if !writes_tests => {}
            "--tests-by" if !writes_tests => drop(own_args.next()),
            arg if arg.starts_with("--tests-by=") && !writes_tests => {}
            arg => words.push(arg.to_owned()),
        }
    }
    words.extend(args[end..].iter().cloned());
    secrets::masked(&words.iter().map(|arg| shell_word(arg)).collect::<Vec<_>>().join(" "))
}

impl RunCommand<'_> {
    fn order(
        &self,
        here: &Here,
        stage: Stage<'_>,
        task: &Task,
        prompt: String,
        policy: &Policy,
        backoff: Backoff,
    ) -> Result<Order, Failure> {
        let (args, Worker { name, start, .. }) = (self.args, self.worker(stage));
        let wall = Some(policy.budget.wall_ms).filter(|limit| *limit > 0);
        let variables = here.places.environment.iter();
        // It begins a session of its own, also where an agent's session started gate.
        let variables = variables
            .filter(|(name, value)| !name.starts_with(HIDDEN) && !is_of_session(name, value));
        Ok(Order {
            agent: name.clone(),
            argv: start.argv.clone(),
            shown: (secrets::masked(&start.shell_line()), start.note),
            cwd: match args.cwd {
                Cwd::Tree => here.places.project()?,
                Cwd::Task => task.folder(),
            },
            prompt,
            iterations: args.max_iterations.get(),
            timeout: args.timeout,
            wall: wall.map(Duration::from_millis),
            idle: args.idle_timeout,
            children: args.children_timeout,
            grace: AGENTS_GRACE.max(GRACE),
            parent: self.parent.clone(),
            lost: stage.job.map(|job| job.lost.clone()).unwrap_or_default(),
            environment: variables.chain(&start.variables).cloned().collect(),
            plain_prompt: args.plain_prompt,
            backoff,
            writes_tests: stage.writes_tests(),
            resume: self.resume(stage),
        })
    }
}
