//! The arguments of `gate exit`.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::builder::TypedValueParser;
use clap::{Args, Subcommand};
use gate_core::exit::ExitReason;
use gate_core::exit::WorkPhase;
use gate_transcript::Forced;

use crate::commands::arguments::FormatName;

#[derive(Debug, Subcommand)]
pub(crate) enum Exit {
    /// Validate an exit signal, or an agent's output that ends with one.
    #[command(after_help = PARSE_CODES)]
    Parse(Parse),
    /// End a phase of a work item with an exit signal: the item goes to its next
    /// phase, and its lease is over.
    #[command(after_help = SUBMIT_CODES)]
    Submit(Submit),
    /// Print an exit signal on one line, for an agent to say.
    Emit(Emit),
}

const PARSE_CODES: &str = "\
Exit codes: 0 the signal holds, 1 it does not or there is none, 2 or 5 nothing was found out

AGENT_EXIT_PROTOCOL_ENABLED=true switches the protocol on; without it nothing is read, and no signal
holds.";

#[derive(Debug, Args)]
pub(crate) struct Parse {
    /// The signal, or the agent's output or session file; `-` is the standard input.
    #[arg(value_name = "FILE", default_value = "-")]
    pub(crate) file: PathBuf,
    /// Input format or agent [default: detected]
    #[arg(long, value_name = "F", value_parser = FormatName)]
    pub(crate) format: Option<Forced>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

const SUBMIT_CODES: &str = "\
Exit codes: 0 accepted, 1 refused and nothing changed, 2 or 5 nothing was found out

AGENT_EXIT_PROTOCOL_ENABLED=true switches the protocol on; without it every signal is refused.";

#[derive(Debug, Args)]
pub(crate) struct Submit {
    /// The signal, or the agent's output or session file; `-` is the standard input.
    #[arg(value_name = "FILE", default_value = "-")]
    pub(crate) file: PathBuf,
    /// The work item.
    #[arg(long, value_name = "ID")]
    pub(crate) work: String,
    /// The holder of the lease.
    #[arg(long, value_name = "A")]
    pub(crate) actor: String,
    /// The lease's id: fail if the item has another one.
    #[arg(long, value_name = "L")]
    pub(crate) lease: Option<String>,
    /// Input format or agent [default: detected]
    #[arg(long, value_name = "F", value_parser = FormatName)]
    pub(crate) format: Option<Forced>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Emit {
    /// The phase that ends.
    #[arg(long, value_name = "P", ignore_case = true, value_parser = phase())]
    pub(crate) phase: WorkPhase,
    /// Why the session ends.
    #[arg(long, value_name = "R", ignore_case = true, value_parser = reason())]
    pub(crate) reason: ExitReason,
    /// The pull request: an address of https, at most 2,048 bytes.
    #[arg(long, value_name = "U")]
    pub(crate) pr_url: Option<String>,
    /// The place of the evidence: a relative path without `..`, at most 2,048 bytes.
    #[arg(long, value_name = "E")]
    pub(crate) evidence_bundle_ref: Option<String>,
    /// Remarks for a person, at most 10,240 bytes.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) notes: Option<String>,
    /// Print a failure as JSON, too. A signal is JSON either way.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn phase() -> impl TypedValueParser<Value = WorkPhase> {
    PossibleValuesParser::new(WorkPhase::NAMES).try_map(|name| WorkPhase::parse(&name))
}

/// clap accepts only these names, in any case.
fn reason() -> impl TypedValueParser<Value = ExitReason> {
    PossibleValuesParser::new(ExitReason::NAMES).try_map(|name| {
        let mut reasons = ExitReason::ALL.into_iter();
        reasons.find(|reason| reason.as_str().eq_ignore_ascii_case(&name)).ok_or("no such reason")
    })
}
