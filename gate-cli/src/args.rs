//! The command line, as it is written.

mod baseline;
mod config;
mod examples;
mod exit;
mod governance;
pub(crate) mod handoff;
pub(crate) mod help;
mod hook;
mod install;
mod ledger;
mod prune;
mod replay;
mod run;
mod shared;
#[cfg(test)]
mod tests;
mod trust;
mod work;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::agent::Agent;

pub(crate) use self::baseline::Baseline;
pub(crate) use self::config::Config;
pub use self::config::SchemaName;
pub(crate) use self::exit::{Emit, Exit, Parse, Submit};
pub(crate) use self::governance::{
    Add, Bus, BusArgs, BusFilter, Fact, FactOwner, Poll, Post, Promote, Read, ScopeName,
};
use self::handoff::Handoff;
pub(crate) use self::hook::{Hook, Off, On, Status};
pub(crate) use self::install::{Install, Setup, Uninstall};
pub(crate) use self::ledger::{Ledger, Log, Show, Verify};
pub(crate) use self::prune::Prune;
pub(crate) use self::replay::{Only, Replay};
pub(crate) use self::run::{Cwd, ExitCodes, Run, Stop};
pub(crate) use self::shared::{InputArgs, SettingsArgs};
use self::shared::{Suggested, checks, codes, non_empty};
pub(crate) use self::trust::{Approve, Lock, Trust, Version, Wrong};
pub(crate) use self::work::{AddWork, Ci, CiResult, ClaimWork, LeaseArgs, ListWork, Unblock, Work};

/// Decides whether a coding agent's loop may end.
///
/// exit = (indicators >= threshold) AND (explicit exit signal) AND (every
/// required check passes)
#[derive(Debug, Parser)]
#[command(name = "gate", version, max_term_width = 100)]
pub(crate) struct Cli {
    /// Run as if started in this folder.
    #[arg(short = 'C', value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) color: colorchoice_clap::Color,
    /// None: what is set up here, and the next step.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Set up a project: its checks, your agents' hooks, one test stop
    ///
    /// Writes gate.toml if there is none, installs the hooks of the agents that are found, lets
    /// each refuse a test stop, and says how to undo it. It can be run again at any time.
    #[command(after_help = install::SETUP_CODES)]
    Setup(Setup),
    /// Decide if the loop may end, from the output of one iteration
    #[command(after_help = EXIT_CODES)]
    Check(Check),
    /// Show the signal and the indicators of transcripts
    ///
    /// Runs no checks and keeps no state.
    Scan(Scan),
    /// Judge past transcripts, and compare with labels
    #[command(after_help = replay::CODES)]
    Replay(Replay),
    /// Run an agent until gate says that the work is done
    #[command(after_help = run::CODES)]
    Run(Run),
    /// Stop the loops of this project
    Stop(Stop),
    /// Print the completion protocol for an agent's prompt
    Prompt(Prompt),
    /// Watch gate refuse a false "all done", and let an honest one go
    ///
    /// Takes a few seconds, in a temporary folder: nothing of yours is read or changed.
    #[command(after_help = DEMO_CODES)]
    Demo,
    /// Write gate.toml, or a loop around an agent
    Init(Init),
    /// Install gate's stop hook for an agent
    #[command(after_help = install::PLACES)]
    Install(Install),
    /// Remove gate's hooks from an agent's settings
    Uninstall(Uninstall),
    /// Record the current tree as the starting point for comparison
    ///
    /// Do that before the agent starts. For the operator; recorded.
    #[command(after_help = baseline::CODES)]
    Baseline(Baseline),
    /// Show, describe or import settings
    #[command(subcommand)]
    Config(Config),
    /// Find what is missing or wrong; prove that each check can fail
    Doctor(Doctor),
    /// Show the latest decision and exit with its code
    #[command(after_help = LAST_CODES)]
    Last(Last),
    /// Explain a decision, or the code of a reason
    #[command(after_help = EXPLAIN_CODES)]
    Explain(Explain),
    /// Answer an agent's hook; its client calls this
    ///
    /// The event is read from stdin, and the reply is written to stdout.
    Hook(Hook),
    /// Switch the stop hooks off here
    ///
    /// For the operator; recorded.
    Off(Off),
    /// Switch the stop hooks on again
    ///
    /// For the operator; recorded.
    On(On),
    /// Show if stops are checked here, and how
    Status(Status),
    /// Show or operate the circuit breaker
    #[command(subcommand)]
    Breaker(Breaker),
    /// Show what gate.toml starts, and approve it
    ///
    /// For the operator; recorded.
    Trust(Trust),
    /// Approve changed tests, so that the work may be done with them
    ///
    /// The next check goes by it, without another turn of the agent. For the operator;
    /// recorded.
    Approve(Approve),
    /// Pin the current settings for a run
    ///
    /// For the operator; recorded.
    Lock(Lock),
    /// Mark a decision as a false refusal or a false exit
    ///
    /// `gate replay` takes the mark as a label. For the operator; recorded.
    Wrong(Wrong),
    /// Verify, show or export gate's records
    #[command(subcommand)]
    Ledger(Ledger),
    /// Show the latest records, one a line
    Log(Log),
    /// Read and write messages between runs and agents
    #[command(subcommand)]
    Bus(Bus),
    /// Record a fact for a task or for the project
    #[command(subcommand)]
    Fact(Fact),
    /// Check or create signals of the agent exit protocol
    #[command(subcommand)]
    Exit(Exit),
    /// Hand out work items: add, claim, list
    #[command(subcommand)]
    Work(Work),
    /// Draft, check, convert or verify a handoff between agents
    #[command(subcommand)]
    Handoff(Handoff),
    /// Free the disk space of copies, build output and old logs
    ///
    /// Removes what gate can make again and no running check uses: copies of work trees, the
    /// build output beside them, folders that killed gates left behind, and logs of checks that
    /// are older than an hour. Decisions, baselines and old texts of tests stay. It is safe while
    /// other gates run.
    Prune(Prune),
    /// Show gate's version and digest
    Version(Version),
    /// Print completions for a shell
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Print a manual page, of gate or of a command
    Man {
        /// The command.
        command: Option<String>,
    },
}

const EXIT_CODES: &str = "\
Exit codes:
  0  exit: the loop may end
  1  continue: not done, the only code on which a loop goes on (with --while: 0, and exit is 10)
  2  usage or configuration error, nothing decided
  3  tripped: the breaker is open; stop, not done
  4  blocked: the agent cannot go on; stop, not done
  5  internal error, nothing decided";

const DEMO_CODES: &str = "\
Exit codes: 0 shown, 5 it could not be shown";

const LAST_CODES: &str = "\
Exit codes: that of the latest decision, as of `gate check`; 5 if nothing was decided here";

const EXPLAIN_CODES: &str = "\
Exit codes: 0, or 1 if the decision, made again from its record, is another one";

const STATUS_CODES: &str = "\
Exit codes: 0 closed or half open, 3 open or isolated, 5 the state could not be read";

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// The agent's output or session file; `-` is the standard input.
    #[arg(value_name = "FILE", required_unless_present = "plan")]
    pub(crate) file: Option<PathBuf>,
    /// Show the checks that would run here, and how long each took last. Nothing is run.
    #[arg(long, conflicts_with_all = ["as_while", "force_complete", "quiet"])]
    pub(crate) plan: bool,
    #[command(flatten)]
    pub(crate) reading: InputArgs,
    /// The task's id; each task has its own breaker.
    #[arg(long, value_name = "ID")]
    pub(crate) task: Option<String>,
    /// The loop's name [default: made of task and work tree]
    #[arg(long, value_name = "ID")]
    pub(crate) run: Option<String>,
    /// The iteration's number. The same number again prints the recorded decision.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub(crate) iteration: Option<u64>,
    /// Begin a new run.
    #[arg(long)]
    pub(crate) new_run: bool,
    /// Continue reading at this byte (`transcript.bytes` of an earlier decision).
    #[arg(long, value_name = "BYTE")]
    pub(crate) since: Option<u64>,
    /// The exit code of the agent's program.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) agent_exit_code: Option<i32>,
    /// Answer "another iteration?": 0 for continue, 10 for exit.
    #[arg(long = "while")]
    pub(crate) as_while: bool,
    /// Write the text for the agent's next turn to this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) feedback: Option<PathBuf>,
    /// Write what the check integrity found to this file, as SARIF.
    #[arg(long, value_name = "FILE")]
    pub(crate) sarif: Option<PathBuf>,
    /// End the loop, whatever the checks say. For the operator; recorded.
    #[arg(long, requires = "reason")]
    pub(crate) force_complete: bool,
    /// Why it is forced.
    #[arg(long, value_name = "TEXT", requires = "force_complete", value_parser = non_empty)]
    pub(crate) reason: Option<String>,
    /// Refuse a claim of completion that no passing check confirms.
    #[arg(long)]
    pub(crate) require_evidence: bool,
    #[command(flatten)]
    pub(crate) checks: CheckSelection,
    /// Run checks even if a result for the same tree is known.
    #[arg(long)]
    pub(crate) no_cache: bool,
    /// Read no state and write none.
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) no_state: bool,
    /// Decide without recording.
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) output: Output,
    /// Show everything on the card, also what is fine.
    #[arg(long, short)]
    pub(crate) verbose: bool,
}

#[derive(Debug, Args)]
#[group(multiple = false)]
pub(crate) struct CheckSelection {
    /// Run every check, even if the agent does not claim completion.
    #[arg(long)]
    pub(crate) all_checks: bool,
    /// Run no checks.
    #[arg(long)]
    pub(crate) no_checks: bool,
    /// Run only this check.
    #[arg(long, value_name = "CHECK", value_parser = Suggested(checks), hide_possible_values = true)]
    pub(crate) only: Option<String>,
}

#[derive(Debug, Args)]
#[group(multiple = false)]
pub(crate) struct Output {
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print nothing.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Scan {
    /// Transcripts; `-` is the standard input.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: InputArgs,
    /// Print one JSON object a file.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Prompt {
    /// The task's id, as for `gate check`. With `signal.token = "required"` it selects
    /// the token.
    #[arg(long, value_name = "ID")]
    pub(crate) task: Option<String>,
    /// The run's name.
    #[arg(long, value_name = "ID")]
    pub(crate) run: Option<String>,
    /// The iteration's number, if the caller counts.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub(crate) iteration: Option<u64>,
    /// Begin a new run with it.
    #[arg(long)]
    pub(crate) new_run: bool,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
}

#[derive(Debug, Args)]
pub(crate) struct Init {
    /// Write a loop around an agent instead, in this language.
    #[arg(long = "loop", value_name = "LANGUAGE")]
    pub(crate) language: Option<Language>,
    /// Do not run the checks that are found to see how long they take.
    #[arg(long, conflicts_with = "language")]
    pub(crate) no_run: bool,
    /// Add the checks that are found to the gate.toml that is there, in this folder or above.
    #[arg(long, conflicts_with = "language")]
    pub(crate) merge: bool,
}

/// The languages in which `gate init` writes a loop.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Language {
    /// gate-loop.sh
    Bash,
    /// gate-loop.py
    Python,
    /// gate-loop.mts
    Ts,
    /// gate-loop.go
    Go,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 nothing is wrong, 1 something is, 2 or 5 nothing was found out"
)]
pub(crate) struct Doctor {
    /// Run each check in a copy of the work tree in which it has to fail.
    #[arg(long)]
    pub(crate) self_test: bool,
    /// Look at this check alone.
    #[arg(long, value_name = "CHECK")]
    pub(crate) only: Option<String>,
    /// Test the hook of this agent instead: is it installed, trusted and called, and
    /// does it block a stop?
    #[arg(long, value_name = "AGENT", conflicts_with_all = [
        "self_test", "only", "config", "task_type", "exit_threshold",
    ])]
    pub(crate) agent: Option<Agent>,
    /// Update hooks that an older gate installed, of this agent or of all.
    #[arg(long)]
    pub(crate) fix: bool,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// A decision's id or its beginning, a record's number (`#12` or `12`), or
    /// a code such as `signal-absent`; the latest decision here if not given.
    #[arg(value_name = "DECISION|#N|CODE", value_parser = Suggested(codes), hide_possible_values = true)]
    pub(crate) what: Option<String>,
    /// List all codes instead.
    #[arg(long, conflicts_with_all = ["what", "json"])]
    pub(crate) codes: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Last {
    /// Of this run, or of the runs of this name.
    #[arg(long, value_name = "ID")]
    pub(crate) run: Option<String>,
    /// Of this task.
    #[arg(long, value_name = "ID")]
    pub(crate) task: Option<String>,
    /// Print what this check wrote.
    #[arg(long, value_name = "CHECK", conflicts_with_all = ["json", "quiet", "verbose"],
        value_parser = Suggested(checks), hide_possible_values = true)]
    pub(crate) log: Option<String>,
    #[command(flatten)]
    pub(crate) output: Output,
    /// Show everything on the card, also what is fine.
    #[arg(long, short)]
    pub(crate) verbose: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Breaker {
    /// Show which breakers are not closed, and why.
    #[command(after_help = STATUS_CODES)]
    Status(BreakerSelection),
    /// Close the open breakers and set their counters to zero. For the operator; recorded.
    Reset(BreakerOperation),
    /// Open the breaker of a task or a run, else of all work without a task. For the operator; recorded.
    Trip(BreakerOperation),
    /// Open a breaker until it is reset. For the operator; recorded.
    Isolate(BreakerOperation),
}

/// The breakers to look at; by default those of this work tree.
#[derive(Debug, Args)]
pub(crate) struct BreakerSelection {
    /// Those of this task.
    #[arg(long, value_name = "ID", conflicts_with = "run")]
    pub(crate) task: Option<String>,
    /// That of this run, loop or session.
    #[arg(long, visible_alias = "session", value_name = "ID")]
    pub(crate) run: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BreakerOperation {
    /// Why.
    #[arg(long, value_name = "TEXT", value_parser = non_empty)]
    pub(crate) reason: String,
    #[command(flatten)]
    pub(crate) selection: BreakerSelection,
}
