//! The command line, as it is written.

mod baseline;
mod config;
mod exit;
mod governance;
pub(crate) mod handoff;
mod hook;
mod install;
mod ledger;
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
pub(crate) use self::install::{Install, Uninstall};
pub(crate) use self::ledger::{Ledger, Log, Show, Verify};
pub(crate) use self::replay::{Only, Replay};
pub(crate) use self::run::{Cwd, ExitCodes, Run, Stop};
use self::shared::non_empty;
pub(crate) use self::shared::{InputArgs, SettingsArgs};
pub(crate) use self::trust::{Lock, Trust, Version, Wrong};
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
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Decide whether the loop may end, from the output of one iteration.
    #[command(after_help = EXIT_CODES)]
    Check(Check),
    /// Show the signal and the indicators in transcripts: no checks, no state.
    Scan(Scan),
    /// Judge old transcripts as gate would have, and compare with labels.
    #[command(after_help = replay::CODES)]
    Replay(Replay),
    /// Run an agent again and again until gate says that the work is done.
    #[command(after_help = run::CODES)]
    Run(Run),
    /// Ask the loops here to stop.
    Stop(Stop),
    /// Print the completion protocol, for an agent's prompt.
    Prompt(Prompt),
    /// Write a commented gate.toml, or a loop around an agent.
    Init(Init),
    /// Put gate in front of an agent's stop, and at the start of its sessions.
    #[command(after_help = install::PLACES)]
    Install(Install),
    /// Take gate away from an agent's stop again.
    Uninstall(Uninstall),
    /// Keep what the work tree is now, before an agent acts: what it changes is
    /// compared with that. For the operator; recorded.
    #[command(after_help = baseline::CODES)]
    Baseline(Baseline),
    /// Show, describe or import settings.
    #[command(subcommand)]
    Config(Config),
    /// Say what is missing or wrong here; prove that each check can fail.
    Doctor(Doctor),
    /// Show the latest decision here, and end with its exit code.
    #[command(after_help = LAST_CODES)]
    Last(Last),
    /// Explain a decision, with all that led to it, or a reason's code.
    #[command(after_help = EXPLAIN_CODES)]
    Explain(Explain),
    /// Answer an agent's hook: the event of its stop, or of a session that begins, on
    /// stdin, the reply on stdout.
    Hook(Hook),
    /// Let agents stop here without being judged. For the operator; recorded.
    Off(Off),
    /// Judge the stops of agents here again. For the operator; recorded.
    On(On),
    /// Say whether stops of agents are judged here, and how.
    Status(Status),
    /// Look at the circuit breaker, or operate it.
    #[command(subcommand)]
    Breaker(Breaker),
    /// Show what the project's gate.toml starts, and approve it. For the operator; recorded.
    Trust(Trust),
    /// Hold a run to the policy of this moment. For the operator; recorded.
    Lock(Lock),
    /// Mark a decision as a false refusal or a false exit: `gate replay` takes the mark as a
    /// label. For the operator; recorded.
    Wrong(Wrong),
    /// Verify, show or export what gate has recorded.
    #[command(subcommand)]
    Ledger(Ledger),
    /// Show the latest records, a line each.
    Log(Log),
    /// Read or write a message bus: what runs and agents tell each other.
    #[command(subcommand)]
    Bus(Bus),
    /// Write down what was found out, for a task or for the project.
    #[command(subcommand)]
    Fact(Fact),
    /// The agent exit protocol: hold signals against it, or make one.
    #[command(subcommand)]
    Exit(Exit),
    /// Hand work out: items, the phases that they go through, and who has them.
    #[command(subcommand)]
    Work(Work),
    /// Draft, check, convert or verify what one agent leaves to the next.
    #[command(subcommand)]
    Handoff(Handoff),
    /// Say which gate this is, down to its bytes.
    Version(Version),
    /// Print the completions for a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Print the manual page, of gate or of one of its commands.
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

const LAST_CODES: &str = "\
Exit codes: the latest decision's own, as of `gate check`; 5 where nothing was decided here";

const EXPLAIN_CODES: &str = "\
Exit codes: 0, or 1 where the decision, decided again from its record, is another one";

const STATUS_CODES: &str = "\
Exit codes: 0 closed or half open, 3 open or isolated, 5 the state could not be read";

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// The agent's output or session file; `-` is the standard input.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) reading: InputArgs,
    /// The task's id; each task has its own breaker.
    #[arg(long, value_name = "ID")]
    pub(crate) task: Option<String>,
    /// The loop's name; else it is named by its task and work tree.
    #[arg(long, value_name = "ID")]
    pub(crate) run: Option<String>,
    /// The iteration's number within the run: asked again with the same number,
    /// the recorded decision is given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub(crate) iteration: Option<u64>,
    /// Begin a new run.
    #[arg(long)]
    pub(crate) new_run: bool,
    /// An earlier call has read the transcript up to this byte, as its
    /// `transcript.bytes` said: read on from there. gate still reads the earlier parts
    /// that the decision needs.
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
    /// End the loop whatever speaks against it. For the operator; recorded.
    #[arg(long, requires = "reason")]
    pub(crate) force_complete: bool,
    /// Why it is forced.
    #[arg(long, value_name = "TEXT", requires = "force_complete", value_parser = non_empty)]
    pub(crate) reason: Option<String>,
    /// Go on although the agent claims completion, if no passing check stands behind
    /// the claim.
    #[arg(long)]
    pub(crate) require_evidence: bool,
    #[command(flatten)]
    pub(crate) checks: CheckSelection,
    /// Run checks although an earlier result of the same tree is known.
    #[arg(long)]
    pub(crate) no_cache: bool,
    /// Neither read nor keep state.
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) no_state: bool,
    /// Decide without recording.
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
#[group(multiple = false)]
pub(crate) struct CheckSelection {
    /// Run all checks, even if the signal already forbids exit.
    #[arg(long)]
    pub(crate) all_checks: bool,
    /// Run no checks.
    #[arg(long)]
    pub(crate) no_checks: bool,
    /// Run this check alone.
    #[arg(long, value_name = "CHECK")]
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
    /// Show everything: also what is fine, and what decided nothing.
    #[arg(long, short)]
    pub(crate) verbose: bool,
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
    /// The task's id, as `check` is given it. It and what follows say which
    /// iteration's token is shown, if `signal.token` is "required".
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
    /// Do not run the tests and builds that are found to see how long they take.
    #[arg(long, conflicts_with = "language")]
    pub(crate) no_run: bool,
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
    /// Look at this agent's settings instead: whether gate is installed, trusted
    /// and would be asked; and let it block a test stop.
    #[arg(long, value_name = "AGENT", conflicts_with_all = [
        "self_test", "only", "config", "task_type", "exit_threshold",
    ])]
    pub(crate) agent: Option<Agent>,
    /// Bring hooks up to date that an older gate put into agents' settings: this agent's,
    /// or every one's.
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
    #[arg(value_name = "DECISION|#N|CODE")]
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
    #[arg(long, value_name = "CHECK", conflicts_with_all = ["json", "quiet", "verbose"])]
    pub(crate) log: Option<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Breaker {
    /// Say which are not closed, whose they are, and why.
    #[command(after_help = STATUS_CODES)]
    Status(BreakerSelection),
    /// Close what is open, with all counters at zero. For the operator; recorded.
    Reset(BreakerOperation),
    /// Open one: of a task or a run, else of all work without a task. For the operator; recorded.
    Trip(BreakerOperation),
    /// Hold one open until it is reset. For the operator; recorded.
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
