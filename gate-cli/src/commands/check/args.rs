//! The arguments of `gate check`.

use std::path::PathBuf;

use clap::Args;

use crate::commands::arguments::{InputArgs, Output, Suggested, checks, non_empty};

pub(crate) const CODES: &str = "\
Exit codes:
  0  exit: the loop may end
  1  continue: not done, the only code on which a loop goes on (with --while: 0, and exit is 10)
  2  usage or configuration error, nothing decided
  3  tripped: the breaker stopped the loop; not done
  4  blocked: the agent cannot go on; stop, not done
  5  internal error, nothing decided";

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
    /// Write the checks to this file, as JUnit XML.
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
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
