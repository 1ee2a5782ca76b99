//! The arguments of `gate work`.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use clap::builder::TypedValueParser;
use clap::{Args, Subcommand, ValueEnum};
use gate_core::exit::WorkPhase;
use gate_fleet::work::CLAIMABLE;

use crate::commands::arguments::non_empty;
use crate::commands::exit::phase;
use crate::settings::parse_duration;

const CLAIM_CODES: &str = "\
Exit codes: 0 claimed, 1 there is nothing to claim, 2 or 5 nothing was found out";

const CI_CODES: &str = "\
Exit codes: 0 the checks passed, 1 they failed, 2 or 5 nothing was found out and nothing changed";

#[derive(Debug, Subcommand)]
pub(crate) enum Work {
    /// Add a work item.
    Add(AddWork),
    /// Claim the next item, or this one: nobody else has it until the lease is
    /// released or expires. Who holds one already gets that one again.
    #[command(after_help = CLAIM_CODES)]
    Claim(ClaimWork),
    /// Extend a lease.
    Renew {
        #[command(flatten)]
        lease: LeaseArgs,
        /// The lease's new length from now, such as 30m.
        #[arg(long, value_name = "D", value_parser = parse_duration, default_value = "30m")]
        ttl: Duration,
    },
    /// Return a lease; the item stays in its phase.
    Release(LeaseArgs),
    /// Let a blocked item go on. For the operator.
    Unblock(Unblock),
    /// Run the checks of `[work] ci` for an item in CI_PENDING, or take a CI's
    /// result; the item goes on to READY_FOR_REVIEW, or is BLOCKED.
    #[command(after_help = CI_CODES)]
    Ci(Ci),
    /// Show an item.
    Show(ShowWork),
    /// List the items, in the order of their adding.
    List(ListWork),
}

#[derive(Debug, Args)]
pub(crate) struct AddWork {
    /// The item's id, such as W-00042.
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// The title, in one line.
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(crate) title: String,
    /// The task, a file that agents are given; `-` is the standard input.
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// The phase that it begins in.
    #[arg(long, value_name = "P", default_value = "DRAFT", ignore_case = true, value_parser = phase())]
    pub(crate) phase: WorkPhase,
    /// The name of the one who adds it; else the operator.
    #[arg(long, value_name = "A")]
    pub(crate) actor: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ClaimWork {
    /// This item alone.
    #[arg(value_name = "ID")]
    pub(crate) id: Option<String>,
    /// The name of the one who claims.
    #[arg(long, value_name = "A")]
    pub(crate) actor: String,
    /// An item in this phase, one that agents claim.
    #[arg(long, value_name = "P", ignore_case = true, value_parser = claimable())]
    pub(crate) phase: Option<WorkPhase>,
    /// Sleep until something can be claimed; the longest wait, such as 1h.
    #[arg(long, value_name = "T", value_parser = parse_duration)]
    pub(crate) wait: Option<Duration>,
    /// The length of the lease, such as 30m.
    #[arg(long, value_name = "D", value_parser = parse_duration, default_value = "30m")]
    pub(crate) ttl: Duration,
    /// An id of your own for this request, which becomes the lease's id. If you do not know how a
    /// claim ended, claim with its id again: you get the same item. With another id you get a
    /// further one.
    #[arg(long, value_name = "ID", value_parser = non_empty)]
    pub(crate) request: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// A work item and the lease on it.
#[derive(Debug, Args)]
pub(crate) struct LeaseArgs {
    /// The item's id.
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// The holder of the lease.
    #[arg(long, value_name = "A")]
    pub(crate) actor: String,
    /// The lease's id: fail if the item has another one.
    #[arg(long, value_name = "L")]
    pub(crate) lease: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Unblock {
    /// The item's id.
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// The phase to go back to, at most the one that was blocked. Else that one,
    /// and after a failed CI the implementation.
    #[arg(long, value_name = "P", ignore_case = true, value_parser = phase())]
    pub(crate) phase: Option<WorkPhase>,
    /// Why.
    #[arg(long, value_name = "TEXT", value_parser = non_empty)]
    pub(crate) reason: Option<String>,
    /// The name of the one who unblocks it; else the operator.
    #[arg(long, value_name = "A")]
    pub(crate) actor: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Ci {
    /// The item's id.
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// The result of a CI: then no check runs here.
    #[arg(long, value_enum, value_name = "R")]
    pub(crate) result: Option<CiResult>,
    /// A remark on it, such as the CI's address.
    #[arg(long, value_name = "TEXT", value_parser = non_empty)]
    pub(crate) reason: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The result of continuous integration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CiResult {
    /// It passed.
    Passed,
    /// It failed.
    Failed,
}

#[derive(Debug, Args)]
pub(crate) struct ShowWork {
    /// The item's id.
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ListWork {
    /// Those in this phase alone.
    #[arg(long, value_name = "P", ignore_case = true, value_parser = phase())]
    pub(crate) phase: Option<WorkPhase>,
    /// Those that this actor has alone.
    #[arg(long, value_name = "A")]
    pub(crate) actor: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

fn claimable() -> impl TypedValueParser<Value = WorkPhase> {
    let names = CLAIMABLE.map(|phase| phase.as_str());
    PossibleValuesParser::new(names).try_map(|name| WorkPhase::parse(&name))
}
