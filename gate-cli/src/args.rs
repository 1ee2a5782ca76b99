//! The command line, as it is written.

use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use gate_core::read::Forced;

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
    /// Print the completion protocol, for an agent's prompt.
    Prompt(Prompt),
    /// Write a commented gate.toml, or a loop around an agent.
    Init(Init),
    /// Show, describe or import settings.
    #[command(subcommand)]
    Config(Config),
    /// Say what is missing or wrong here; prove that each check can fail.
    Doctor(Doctor),
    /// Explain the code of a reason or a warning; all of them without CODE.
    Explain(Explain),
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

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// The agent's output or session file; `-` is the standard input.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) reading: Reading,
    /// The task's id, for the record.
    #[arg(long, value_name = "ID")]
    pub(crate) task: Option<String>,
    /// The run's name, for the record.
    #[arg(long, value_name = "ID")]
    pub(crate) run: Option<String>,
    /// The iteration's number within the run, for the record.
    #[arg(long, value_name = "N")]
    pub(crate) iteration: Option<NonZeroU64>,
    /// Begin a new run.
    #[arg(long)]
    pub(crate) new_run: bool,
    /// The exit code of the agent's program.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) agent_exit_code: Option<i32>,
    /// Answer "another iteration?": 0 for continue, 10 for exit.
    #[arg(long = "while")]
    pub(crate) as_while: bool,
    /// Write the text for the agent's next turn to this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) feedback: Option<PathBuf>,
    /// End the loop whatever speaks against it. For the operator; recorded.
    #[arg(long, requires = "reason")]
    pub(crate) force_complete: bool,
    /// Why it is forced.
    #[arg(long, value_name = "TEXT", requires = "force_complete", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) reason: Option<String>,
    #[command(flatten)]
    pub(crate) checks: Checks,
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
pub(crate) struct Checks {
    /// Run all checks, also where the signal already forbids exit.
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
}

/// How transcripts are read and under which settings.
#[derive(Debug, Args)]
pub(crate) struct Reading {
    /// The format of the input, or the agent that wrote it, where it should
    /// not be found by itself.
    #[arg(long, value_name = "F")]
    pub(crate) format: Option<Forced>,
    #[command(flatten)]
    pub(crate) settings: Settings,
}

/// Which settings hold.
#[derive(Debug, Args)]
pub(crate) struct Settings {
    /// Read settings from this file instead of the project's gate.toml.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Take the settings of [task_types.T].
    #[arg(long, value_name = "T")]
    pub(crate) task_type: Option<String>,
    /// The number of indicators that exit needs.
    #[arg(long, value_name = "N")]
    pub(crate) exit_threshold: Option<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct Scan {
    /// Transcripts; `-` is the standard input.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: Reading,
    /// Print one JSON object a file.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Prompt {
    #[command(flatten)]
    pub(crate) settings: Settings,
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
    #[command(flatten)]
    pub(crate) settings: Settings,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Config {
    /// Print the settings in force.
    Show {
        /// Say where each comes from.
        #[arg(long)]
        origin: bool,
        #[command(flatten)]
        settings: Settings,
    },
    /// Print a JSON Schema: of the settings, or of what gate prints.
    Schema {
        /// Which schema.
        #[arg(value_enum, default_value_t = crate::schema::Name::Config)]
        name: crate::schema::Name,
        /// Print the two schemas of a check's plug-in instead.
        #[arg(long, conflicts_with = "name")]
        plugin: bool,
    },
    /// Print the gate.toml that means the same as the seed's JSON settings.
    Import {
        /// The JSON file; `-` is the standard input.
        #[arg(value_name = "FILE.json")]
        file: PathBuf,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// A code, such as `signal-absent`.
    pub(crate) code: Option<String>,
}
