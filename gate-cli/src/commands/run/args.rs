//! The arguments of `gate run`.

use std::ffi::{OsStr, OsString};
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Args, Command, Error, ValueEnum};
use gate_core::exit::WorkPhase;
use gate_transcript::Forced;

use crate::commands::arguments::non_empty;
use crate::commands::exit::phase;
use crate::runner::{Allow, preset_agents};
use crate::settings::parse_duration;

pub(crate) const CODES: &str = "\
Exit codes: 0 the work is done, 1 it is not, also if the agent could not be started,
2 wrong usage or settings, 5 an error inside gate;
with --exit-codes check: those of gate check (2 also if the agent could not be started,
3 tripped, cancelled or out of iterations, 4 blocked)";

/// The command line in short. clap's own names neither the prompt nor the command as a choice.
pub(crate) const USAGE: &str = "\
gate run --prompt <FILE> --agent <A> [OPTIONS]
       gate run --prompt <FILE> [OPTIONS] -- <COMMAND>...";

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// The prompt, a file; `-` is the standard input. It becomes the task's
    /// TASK.md.
    #[arg(long, value_name = "FILE", required_unless_present_any = ["task", "work"])]
    pub(crate) prompt: Option<PathBuf>,
    /// The task's id; without --prompt its TASK.md is the prompt.
    #[arg(long, value_name = "ID")]
    pub(crate) task: Option<String>,
    /// Claim a work item, this one or the next, and run until its phase has ended;
    /// then its exit signal is submitted, and the lease is over.
    #[arg(long, value_name = "ID", num_args = 0..=1, conflicts_with = "task")]
    pub(crate) work: Option<Option<String>>,
    /// The name of the one who claims; else a new name for each loop.
    #[arg(long, value_name = "A", requires = "work", conflicts_with = "task")]
    pub(crate) actor: Option<String>,
    /// Claim an item in this phase.
    #[arg(long, value_name = "P", requires = "work", conflicts_with = "task", ignore_case = true, value_parser = phase())]
    pub(crate) phase: Option<WorkPhase>,
    /// Sleep until an item can be claimed; the longest wait, such as 1h.
    #[arg(long, value_name = "T", requires = "work", conflicts_with = "task", value_parser = parse_duration)]
    pub(crate) wait: Option<Duration>,
    /// The length of the lease; it is renewed while the loop runs.
    #[arg(long, value_name = "D", value_parser = parse_duration, default_value = "30m")]
    pub(crate) ttl: Duration,
    /// The agent: gate knows how to start it and how to read its output. With its command behind
    /// `--`, also the format of its output: `gate scan --help` lists them.
    #[arg(long, value_name = "A", required_unless_present = "command",
        value_parser = AgentName { or_format: true })]
    pub(crate) agent: Option<Forced>,
    /// The actions that the agent may take without asking anybody.
    #[arg(long, value_enum, default_value_t = Allow::Checks, conflicts_with = "command")]
    pub(crate) allow: Allow,
    /// The most iterations in which the agent worked.
    #[arg(long, value_name = "N", default_value = "100")]
    pub(crate) max_iterations: NonZeroU64,
    /// The most time that one run of the agent may take, such as 2h.
    #[arg(long, value_name = "D", value_parser = parse_duration)]
    pub(crate) timeout: Option<Duration>,
    /// The most time in which the agent may print nothing, such as 10m.
    #[arg(long, value_name = "D", value_parser = parse_duration)]
    pub(crate) idle_timeout: Option<Duration>,
    /// When the agent has ended, wait so long for runs that it started, then end them.
    #[arg(long, value_name = "D", value_parser = parse_duration, default_value = "5m")]
    pub(crate) children_timeout: Duration,
    /// Stop when the loop has used so many tokens, if its transcripts report them.
    #[arg(long, value_name = "N")]
    pub(crate) budget_tokens: Option<u64>,
    /// Stop when the loop has cost so many US dollars, if its transcripts report it.
    #[arg(long, value_name = "USD")]
    pub(crate) budget_cost: Option<f64>,
    /// Stop after so long, such as 8h.
    #[arg(long, value_name = "D", value_parser = parse_duration)]
    pub(crate) budget_wall: Option<Duration>,
    /// End after one iteration, whatever speaks against it. For the operator; recorded.
    #[arg(long, requires = "reason")]
    pub(crate) force_complete: bool,
    /// Why it is forced.
    #[arg(long, value_name = "TEXT", requires = "force_complete", value_parser = non_empty)]
    pub(crate) reason: Option<String>,
    /// The number of indicators that exit needs. For the operator; recorded.
    #[arg(long, value_name = "N")]
    pub(crate) exit_threshold: Option<u32>,
    /// Run although no check is configured: the agent's own words decide then. For the
    /// operator; recorded.
    #[arg(long)]
    pub(crate) unverified: bool,
    /// Test files that the agent may change, relative to the project, such as
    /// 'tests/golden/**'. For the operator; recorded.
    #[arg(long, value_name = "GLOB", value_parser = non_empty)]
    pub(crate) may_change: Vec<String>,
    /// Tests first: a first loop writes tests that fail, gate locks them, and a second loop
    /// makes them pass. With --work, an item in DRAFT gets its tests.
    #[arg(long, conflicts_with = "force_complete")]
    pub(crate) tests_first: bool,
    /// The agent that writes the tests, if it is another one than that of the code.
    #[arg(long, value_name = "A", requires = "tests_first",
        value_parser = AgentName { or_format: false })]
    pub(crate) tests_by: Option<Forced>,
    /// Show the tests at the terminal, and lock them only if you agree.
    #[arg(long, requires = "tests_first")]
    pub(crate) confirm: bool,
    #[command(flatten)]
    pub(crate) goal: RunGoal,
    /// Open decisions first: the first turn writes no code, and lists what the task leaves open. The
    /// work begins when a person has confirmed or edited the list.
    #[arg(long, conflicts_with_all = ["work", "force_complete"])]
    pub(crate) decide_first: bool,
    /// The agent's working folder.
    #[arg(long, value_enum, default_value_t = Cwd::Tree)]
    pub(crate) cwd: Cwd,
    /// The exit codes that the program ends with.
    #[arg(long, value_enum, default_value_t = ExitCodes::Run)]
    pub(crate) exit_codes: ExitCodes,
    /// Give the agent the prompt, the completion protocol and gate's feedback alone,
    /// without the run's folders and the message bus.
    #[arg(long)]
    pub(crate) plain_prompt: bool,
    /// At a terminal, show what the agent prints as it is.
    #[arg(long)]
    pub(crate) raw: bool,
    /// Write the checks of the last decision to this file, as JUnit XML.
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Print one JSON object at the end.
    #[arg(long)]
    pub(crate) json: bool,
    /// The agent's command. It reads its prompt from the standard input, or in
    /// the place of `{prompt}`.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

// The goal. No doc: clap would print that as the command's text.
#[derive(Debug, Args)]
pub(crate) struct RunGoal {
    /// A goal for the agent, in your own words. For the operator; recorded.
    #[arg(long, value_name = "TEXT", value_parser = non_empty)]
    pub(crate) goal: Option<String>,
    /// The command that exits with 0 if the goal is reached: the loop does not end before.
    #[arg(long, value_name = "CMD", requires = "goal", value_parser = non_empty)]
    pub(crate) goal_command: Option<String>,
}

/// The value of an option that names an agent. The help lists those that gate can start, and
/// shells complete them; a format's name is read, too.
#[derive(Clone)]
struct AgentName {
    /// A format is enough if the command is given.
    or_format: bool,
}

impl AgentName {
    fn unknown(&self, name: &str) -> String {
        let agents = preset_agents().collect::<Vec<_>>().join(", ");
        let format = if self.or_format { "; with `-- COMMAND` any format" } else { "" };
        format!("unknown agent `{name}`: gate can start {agents}{format}")
    }
}

impl TypedValueParser for AgentName {
    type Value = Forced;

    fn parse_ref(
        &self,
        command: &Command,
        option: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Forced, Error> {
        let parser = self.clone();
        let parse = move |name: &str| name.parse::<Forced>().map_err(|_| parser.unknown(name));
        parse.parse_ref(command, option, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(preset_agents().map(PossibleValue::new)))
    }
}

/// The agent's working folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Cwd {
    /// In the project.
    Tree,
    /// In the task's folder.
    Task,
}

/// The exit codes that a loop ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExitCodes {
    /// 0 the work is done, 1 it is not.
    Run,
    /// Those of `gate check`.
    Check,
}
