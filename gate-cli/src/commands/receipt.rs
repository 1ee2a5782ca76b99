//! `gate receipt`: what was claimed, what gate ran, on which tree, and where that is recorded.

mod intoto;
mod junit;
mod markdown;
mod verify;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use gate_core::Verdict;
use gate_core::decide::changed_tests::DecidedIn;
use gate_core::decide::evidence::Outcome;
use gate_core::decide::policy::Mode;
use gate_core::decide::signal::Status;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::common::DONE;
use super::log;
use crate::context::Here;
use crate::failure::Failure;
use crate::memory::{Memory, RecordSelector};
use crate::record::{Ledger, Record};
use crate::render::{self, print};
use crate::secrets;
pub use verify::ReceiptCheckRecord;

pub(crate) const CODES: &str = "\
Exit codes: 0 printed, 2 there is no such decision; of `verify`: 0 the receipt holds, 1 it does not";

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Receipt {
    #[command(subcommand)]
    pub(crate) verify: Option<ReceiptCommand>,
    /// The decision: the number of its record, or the beginning of its id [default: the latest]
    #[arg(value_name = "DECISION")]
    pub(crate) decision: Option<String>,
    /// Print Markdown; the default.
    #[arg(long)]
    pub(crate) md: bool,
    /// Print one JSON object.
    #[arg(long, conflicts_with = "md")]
    pub(crate) json: bool,
    /// Print an in-toto statement with a test result.
    #[arg(long, conflicts_with_all = ["md", "json"])]
    pub(crate) intoto: bool,
    /// Write the checks as JUnit XML to this file as well.
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ReceiptCommand {
    /// Compare a receipt (JSON or in-toto) with the ledger
    Verify(Verify),
}

#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// The receipt; `-` is standard input.
    #[arg(value_name = "FILE", default_value = "-")]
    pub(crate) file: PathBuf,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

impl Receipt {
    pub(super) fn json(&self) -> bool {
        match &self.verify {
            Some(ReceiptCommand::Verify(verify)) => verify.json,
            None => self.json || self.intoto,
        }
    }
}

/// `gate.receipt.v1`: a decision, with what it rests on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReceiptRecord {
    /// Always `gate.receipt.v1`.
    pub(super) schema: String,
    /// The decision's id.
    pub(super) decision_id: String,
    /// When it was decided (RFC 3339, UTC).
    pub(super) time: String,
    /// The version of gate that decided.
    pub(super) gate_version: String,
    /// The project's id.
    pub(super) project: String,
    /// The run's name.
    pub(super) run: Option<String>,
    /// The iteration's number within the run.
    pub(super) iteration: Option<u64>,
    /// The task's id.
    pub(super) task: Option<String>,
    /// The verdict.
    pub(super) verdict: Verdict,
    /// True if the work counts as done.
    pub(super) success: bool,
    /// True if the verdict rests on more than the agent's word.
    pub(super) verified: bool,
    /// True if an operator forced the verdict.
    pub(super) forced: bool,
    /// The folder in which tests ran last.
    pub(super) deciding: DecidedIn,
    /// The first reason, as a sentence.
    pub(super) why: String,
    /// The agent's statement.
    pub(super) claim: Claim,
    /// The checks.
    pub(super) checks: Vec<RunCheck>,
    /// The commit that was checked out.
    pub(super) commit: Option<String>,
    /// The digest of the work tree that was judged.
    pub(super) tree: Option<String>,
    /// The baseline that checks were compared with.
    pub(super) baseline: Option<String>,
    /// The digest of the policy.
    pub(super) policy_digest: String,
    /// The effort that the agent needs to get around the gate: T0 to T3.
    pub(super) trust: String,
    /// The place of the decision in the ledger.
    pub(super) ledger: Option<Ledger>,
}

/// The agent's statement about being done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Claim {
    /// The status.
    pub(super) status: Status,
    /// The agent's reason.
    pub(super) reason: Option<String>,
    /// Line of the transcript, from 1.
    pub(super) line: Option<u64>,
}

/// A check that gate ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct RunCheck {
    /// The check's name.
    pub(super) check: String,
    /// The weight of its outcome.
    pub(super) mode: Mode,
    /// The outcome.
    pub(super) outcome: Outcome,
    /// True if the outcome is an earlier one of the same tree.
    pub(super) cached: bool,
    /// The program and its arguments.
    pub(super) argv: Vec<String>,
    /// The program's exit code.
    pub(super) exit_code: Option<i32>,
    /// The run time in milliseconds.
    pub(super) duration_ms: u64,
    /// One line for a person.
    pub(super) summary: String,
}

impl ReceiptRecord {
    fn new(record: &Record, project: &str) -> Self {
        let decision = &record.decision;
        let seen = decision.observed.tree.as_ref();
        let checks = decision.evidence.iter().map(|evidence| RunCheck {
            check: evidence.check.clone(),
            mode: evidence.mode,
            outcome: evidence.outcome,
            cached: evidence.cached,
            argv: evidence.argv.clone(),
            exit_code: evidence.exit_code,
            duration_ms: evidence.duration_ms,
            summary: evidence.summary.clone(),
        });
        Self {
            schema: "gate.receipt.v1".to_owned(),
            decision_id: record.decision_id.clone(),
            time: record.time.clone(),
            gate_version: record.gate_version.clone(),
            project: project.to_owned(),
            run: record.run.clone(),
            iteration: record.iteration,
            task: record.task.clone(),
            verdict: decision.verdict,
            success: decision.success,
            verified: decision.verified,
            forced: decision.forced,
            deciding: decision.deciding,
            why: decision.reasons.first().map(|one| one.message.clone()).unwrap_or_default(),
            claim: Claim {
                status: decision.signal.status,
                reason: decision.signal.reason.clone(),
                line: decision.signal.line,
            },
            checks: checks.collect(),
            commit: seen.and_then(|seen| seen.after.head.clone()),
            tree: record.tree.as_ref().map(|tree| tree.after.clone()),
            baseline: record.baseline.clone(),
            policy_digest: record.policy_digest.clone(),
            trust: record.trust.clone(),
            ledger: record.ledger.clone(),
        }
    }
}

pub(super) fn run(here: &Here, args: &Receipt) -> Result<u8, Failure> {
    let mut memory = log::opened(here)?;
    if let Some(ReceiptCommand::Verify(verify)) = &args.verify {
        return verify::run(here, &mut memory, verify);
    }
    let record = chosen(&mut memory, args.decision.as_deref())?;
    let receipt = ReceiptRecord::new(&record, memory.project());
    if let Some(file) = &args.junit {
        write(&here.places.folder.join(file), &junit::document(&record)?)?;
    }
    let text = if args.intoto {
        render::json(&intoto::statement(&receipt))?
    } else if args.json {
        render::json(&receipt)?
    } else {
        markdown::document(&receipt)
    };
    print(&secrets::masked(&text))?;
    Ok(DONE)
}

fn chosen(memory: &mut Memory, named: Option<&str>) -> Result<Record, Failure> {
    let found = match named {
        Some(named) => memory.decision(named)?,
        None => memory.latest(&RecordSelector::default())?,
    };
    found.ok_or_else(|| {
        let message = match named {
            Some(named) => format!("no decision is called `{named}`"),
            None => "gate has decided nothing here yet".to_owned(),
        };
        Failure::usage("unknown-decision", message).hint("`gate log` lists the decisions")
    })
}

fn write(file: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(file, secrets::masked(text))
        .map_err(|error| Failure::file("report-unwritable", "write JUnit XML to", file, &error))
}
