//! `gate goal`: criteria that a person gives for a session, a task, or a work tree, and those of the
//! settings beside them.

mod criteria;

use clap::{Args, Subcommand};
use gate_core::config::nearest_name;
use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::record::{GoalRecord, GoalState};
use gate_core::text::counted;
use schemars::JsonSchema;
use serde::Serialize;

use self::criteria::{CriteriaResults, CriterionRecord};
use super::arguments::non_empty;
use super::common::DONE;
use crate::failure::Failure;
use crate::gate::Gate;
use crate::hook::session::has_open_session;
use crate::invocation::Invocation;
use crate::memory::{Goal, Memory, RecordSelector, Scope, chosen_goals, command_of_words};
use crate::render::{self, Mark, Page, print};
use crate::secrets;
use crate::settings::Selection;
use crate::trust;

pub(crate) const USAGE: &str = "\
gate goal <TEXT> [--task <ID>] [-- <COMMAND>...]
       gate goal [--task <ID>]
       gate goal drop [TEXT] [--task <ID>]";

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct GoalArgs {
    /// The goal, in your own words. Without it, goals and criteria are shown, and their commands run.
    #[arg(value_name = "TEXT", value_parser = non_empty)]
    pub(crate) text: Option<String>,
    #[command(flatten)]
    pub(crate) options: Options,
    /// The command that exits with 0 if the goal is reached. Without one no stop is refused for it:
    /// the agent is told, and you see it.
    #[arg(last = true, value_name = "COMMAND", requires = "text")]
    pub(crate) command: Vec<String>,
    #[command(subcommand)]
    pub(crate) act: Option<Act>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Act {
    /// End goals that are not reached
    ///
    /// For the operator; recorded.
    Drop(DropArgs),
    /// Show goals and criteria, as without a text
    #[command(visible_alias = "list")]
    Show(Options),
}

#[derive(Debug, Args)]
pub(crate) struct DropArgs {
    /// The goal with these words; by default all of this work tree.
    #[arg(value_name = "TEXT", value_parser = non_empty)]
    pub(crate) text: Option<String>,
    #[command(flatten)]
    pub(crate) options: Options,
}

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// For this task; by default for the sessions and loops of this work tree.
    #[arg(long, value_name = "ID", value_parser = non_empty)]
    pub(crate) task: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `gate.goal.v1`: the goals that are open. Fields are added, never changed.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct GoalsRecord {
    /// Always `gate.goal.v1`.
    pub(crate) schema: &'static str,
    /// The goals after the command, the oldest first.
    pub(crate) goals: Vec<OpenGoal>,
    /// The criteria of the settings, in the order of the settings and files; null if they are not known,
    /// or a goal was given or dropped.
    pub(crate) criteria: Option<Vec<CriterionRecord>>,
}

/// A goal that is open.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct OpenGoal {
    #[serde(flatten)]
    pub(crate) goal: GoalRecord,
    /// The task that it is for.
    pub(crate) task: Option<String>,
    /// The session, or the loop without a task, that it is for.
    pub(crate) run: Option<String>,
    /// The result of the command, if it ran.
    pub(crate) why: Option<String>,
}

impl OpenGoal {
    fn new(goal: &Goal, state: GoalState) -> Self {
        let (task, run) = match &goal.scope {
            Scope::Tree => (None, None),
            Scope::Task(task) => (Some(task.clone()), None),
            Scope::Session(run) | Scope::Run(run) => (None, Some(run.clone())),
        };
        let text = secrets::masked(&goal.text);
        let command = goal.command_line().map(|command| secrets::masked(&command));
        Self { goal: GoalRecord { text, command, state }, task, run, why: None }
    }
}

pub(super) fn run(invocation: &Invocation, args: &GoalArgs) -> Result<u8, Failure> {
    match (&args.act, &args.text) {
        (Some(Act::Drop(args)), _) => drop_goals(invocation, args),
        (Some(Act::Show(options)), _) => show(invocation, options),
        (None, Some(text)) => {
            admit_text(text, &args.command)?;
            give(invocation, args, text)
        }
        (None, None) => show(invocation, &args.options),
    }
}

/// One word that is almost a subcommand is no goal.
fn admit_text(text: &str, command: &[String]) -> Result<(), Failure> {
    match nearest_name(text, &["drop", "show", "list"]) {
        Some(act) if command.is_empty() => {
            let message = format!("`{text}` is no subcommand of `gate goal`");
            Err(Failure::usage("unknown-command", message)
                .hint(format!("`gate goal {act}`; a goal of this word needs a command")))
        }
        _ => Ok(()),
    }
}

fn show(invocation: &Invocation, options: &Options) -> Result<u8, Failure> {
    let task = options.task.as_deref();
    let (gate, goals) = goals_here(invocation, task)?;
    let criteria = CriteriaResults::new(&gate, task)?;
    let sentence = match (goals.len(), criteria.tally()) {
        (0, None) => "none is open here; `gate goal \"TEXT\" -- COMMAND` gives one".to_owned(),
        (0, Some(tally)) => format!("none is open here; {tally}"),
        (count, tally) => {
            let goals = format!("{} here", counted(count as u64, "open goal"));
            tally.map_or(goals.clone(), |tally| format!("{goals}; {tally}"))
        }
    };
    GoalResults { criteria: Some(criteria), ..GoalResults::new(&gate, goals)? }
        .print(options, &sentence)
}

/// Gives a goal, and runs its command: whoever gives one sees if it is red.
fn give(invocation: &Invocation, args: &GoalArgs, text: &str) -> Result<u8, Failure> {
    let operator = invocation.operator("gate goal")?;
    let gate = open(invocation)?;
    let scope = args.options.task.clone().map_or(Scope::Tree, Scope::Task);
    let command = command_of_words(&args.command);
    let Some(mut memory) = gate.memory() else { return Ok(DONE) };
    let goal = memory.new_goal(text, command, scope);
    memory.give_goal(&goal, &operator)?;
    drop(memory);
    let results = GoalResults::new(&gate, vec![goal])?;
    let sentence = match results.goals.first().map(|shown| shown.goal.state) {
        Some(GoalState::Met) => {
            "given, but its command passes already: as long as it does, no stop is refused"
        }
        Some(GoalState::Unknown) => {
            "given, but its command gives no result: see if you mean this one"
        }
        Some(GoalState::Open) => {
            "given: the agent is told; without a command no stop is refused for it"
        }
        _ => "given: a stop that changed something is refused until its command passes",
    };
    results.print(&args.options, sentence)
}

fn drop_goals(invocation: &Invocation, args: &DropArgs) -> Result<u8, Failure> {
    let operator = invocation.operator("gate goal drop")?;
    let task = args.options.task.as_deref();
    let (gate, mut goals) = goals_here(invocation, task)?;
    goals.retain(|goal| task.is_some() || !matches!(goal.scope, Scope::Task(_)));
    let Some(mut memory) = gate.memory() else { return Ok(DONE) };
    let chosen = chosen_goals(&goals, args.text.as_deref())?;
    let words: Vec<_> = chosen.iter().map(|goal| goal.text.clone()).collect();
    memory.drop_goals(&chosen, &operator)?;
    drop(memory);
    let remaining = goals.into_iter().filter(|goal| !chosen.contains(goal)).collect();
    let sentence = format!("dropped: {}", words.join("; "));
    GoalResults::new(&gate, remaining)?.print(&args.options, &sentence)
}

/// A gate whose memory has the project's goals.
fn open(invocation: &Invocation) -> Result<Gate, Failure> {
    let (settings, trust) = trust::settings_in_force(&invocation.places, &Selection::default())?;
    let gate = Gate::open(settings, invocation.site_under(&trust)?)?;
    let memory = invocation.memory_under(&trust, gate.policy())?;
    gate.remembering(memory).trusting(trust)
}

/// The open goals of a task; without one, those of this work tree and of all tasks.
fn goals_here(invocation: &Invocation, task: Option<&str>) -> Result<(Gate, Vec<Goal>), Failure> {
    let gate = open(invocation)?;
    let Some(mut memory) = gate.memory() else { return Ok((gate, Vec::new())) };
    let mut goals = match task {
        Some(_) => memory.goals()?,
        None => memory.goals_of_tree()?,
    };
    drop(memory);
    if let Some(task) = task {
        goals.retain(|goal| goal.scope == Scope::Task(task.to_owned()));
    }
    Ok((gate, goals))
}

/// Goals whose commands ran just now.
struct GoalResults {
    goals: Vec<OpenGoal>,
    evidence: Option<Evidence>,
    criteria: Option<CriteriaResults>,
}

impl GoalResults {
    /// Runs the commands of goals.
    fn new(gate: &Gate, goals: Vec<Goal>) -> Result<Self, Failure> {
        let mut shown: Vec<_> =
            goals.iter().map(|goal| OpenGoal::new(goal, GoalState::Open)).collect();
        let mut evidence = None;
        if goals.iter().any(|goal| !goal.command.is_empty()) {
            let record = gate.try_goals(goals)?;
            for (goal, tried) in shown.iter_mut().zip(record.goals) {
                goal.goal = tried;
            }
            let mut records = record.decision.input.evidence.into_iter();
            evidence = records.find(|evidence| evidence.outcome != Outcome::Skipped);
        }
        add_results(&mut shown, evidence.as_ref());
        Ok(Self { goals: shown, evidence, criteria: None })
    }

    fn print(self, options: &Options, sentence: &str) -> Result<u8, Failure> {
        if options.json {
            let Self { goals, criteria, .. } = self;
            let criteria = criteria.and_then(CriteriaResults::into_list);
            print(&render::json(&GoalsRecord { schema: "gate.goal.v1", goals, criteria })?)?;
        } else {
            print(&self.card(sentence))?;
        }
        Ok(DONE)
    }

    fn card(&self, sentence: &str) -> String {
        let mut page = Page::new();
        page.head(Mark::None, "GOAL", sentence);
        add_rows(&mut page, &self.goals);
        let evidence = self.evidence.as_ref();
        let failed = evidence.filter(|evidence| evidence.outcome == Outcome::Fail);
        for line in failed.and_then(|evidence| evidence.excerpt.as_deref()).unwrap_or("").lines() {
            page.detail(line);
        }
        if let Some(criteria) = &self.criteria {
            criteria.add_rows(&mut page);
        }
        page.into_text()
    }
}

/// Adds the results of their commands, as the check tells them.
fn add_results(goals: &mut [OpenGoal], evidence: Option<&Evidence>) {
    let detail = evidence.and_then(|evidence| evidence.detail.as_ref());
    let criteria = detail.and_then(|detail| detail.get("criteria")?.as_array());
    let results = criteria.into_iter().flatten().map(|criterion| criterion["why"].as_str());
    let with_command = goals.iter_mut().filter(|goal| goal.goal.command.is_some());
    for (goal, result) in with_command.zip(results) {
        goal.why = result.map(str::to_owned);
    }
}

/// A row for each goal.
pub(super) fn add_rows(page: &mut Page, goals: &[OpenGoal]) {
    for OpenGoal { goal, task, run, why } in goals {
        let mark = match goal.state {
            GoalState::Met => Mark::Good,
            GoalState::NotMet => Mark::Bad,
            _ => Mark::Unsure,
        };
        let work = match (task, run) {
            (Some(task), _) => format!(", for task {task}"),
            (None, Some(run)) => format!(", for {run} alone"),
            (None, None) => String::new(),
        };
        let result = why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
        page.marked(mark, goal.state.words(), &format!("{}{work}{result}", goal.words()));
    }
}

/// The open goals of this work tree, each with its state at the latest decision. No command runs.
///
/// # Errors
///
/// A store that cannot be read.
pub(crate) fn known_goals(
    invocation: &Invocation,
    memory: &mut Memory,
) -> Result<Vec<OpenGoal>, Failure> {
    let mut goals = memory.goals_of_tree()?;
    if goals.is_empty() {
        return Ok(Vec::new());
    }
    // A goal of a session goes with it.
    let places = &invocation.places;
    if !has_open_session(places.state.as_deref(), &places.top()) {
        goals.retain(|goal| !matches!(goal.scope, Scope::Session(_)));
    }
    let latest = memory.latest(&RecordSelector::default())?;
    let last_goals = latest.map(|record| record.goals).unwrap_or_default();
    let shown = goals.iter().map(|goal| {
        let state = match goal.command.is_empty() {
            true => GoalState::Open,
            false => GoalState::NotRun,
        };
        let mut shown = OpenGoal::new(goal, state);
        let is_same = |known: &&GoalRecord| {
            known.text == shown.goal.text && known.command == shown.goal.command
        };
        if let Some(known) = last_goals.iter().find(is_same) {
            shown.goal.state = known.state;
        }
        shown
    });
    Ok(shown.collect())
}

/// The open goals of this work tree as a card, for an agent's client. No command runs.
///
/// # Errors
///
/// Settings or a store that cannot be read.
pub(super) fn text(invocation: &Invocation) -> Result<String, Failure> {
    let (settings, trust) = trust::settings_in_force(&invocation.places, &Selection::default())?;
    let mut memory = invocation.memory_under(&trust, &settings.policy)?;
    let goals = known_goals(invocation, &mut memory)?;
    let sentence = match goals.len() {
        0 => "none is open here".to_owned(),
        count => format!("{} here", counted(count as u64, "open goal")),
    };
    Ok(GoalResults { goals, evidence: None, criteria: None }.card(&sentence))
}
