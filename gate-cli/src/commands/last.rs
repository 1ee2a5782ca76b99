//! `gate last`: the latest decision here, and its exit code.

use std::fs;
use std::path::Path;

use crate::commands::arguments::{Output, Suggested, checks};
use crate::commands::explain::card::last_card;
use crate::context::Here;
use crate::failure::Failure;
use crate::memory::{Last as Happened, RecordSelector};
use crate::record::Record;
use crate::render::{self, print};
use crate::settings::Selection;
use crate::trust;
use clap::Args;

pub(crate) const CODES: &str = "\
Exit codes: that of the latest decision, as of `gate check`; 5 if nothing was decided here";

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

pub(super) fn run(here: &Here, args: &Last) -> Result<u8, Failure> {
    let policy = trust::settings_in_force(&here.places, &Selection::default())?.0.policy;
    let wanted = RecordSelector { run: args.run.as_deref(), task: args.task.as_deref() };
    let record = match here.memory(&policy)?.last(&wanted)? {
        Some(Happened::Decided(record)) => record,
        Some(Happened::Undecided(why)) => {
            let message = format!("the latest stop here was let go, undecided: {why}");
            return Err(Failure::internal("undecided", message));
        }
        None => return Err(nothing_decided(args)),
    };
    if let Some(check) = &args.log {
        print(&log(&record, check)?)?;
    } else if args.output.json {
        print(&render::json(&record)?)?;
    } else if !args.output.quiet {
        print(&last_card(&record, args.verbose))?;
    }
    Ok(record.decision.verdict.exit_code())
}

/// The failure if there is no decision, or none for the given task and run.
fn nothing_decided(args: &Last) -> Failure {
    let task = args.task.as_ref().map(|task| format!("the task {task}"));
    let run = args.run.as_ref().map(|run| format!("the run {run}"));
    let wanted: Vec<_> = task.into_iter().chain(run).collect();
    if wanted.is_empty() {
        let failure = Failure::internal("no-decision", "gate has decided nothing here yet");
        return failure.hint("`gate check FILE` decides over an agent's output");
    }
    let message = format!("nothing was decided for {}", wanted.join(" and "));
    Failure::internal("no-decision", message)
        .hint("`gate log` lists what was decided here, with its runs and tasks")
}

/// The text that a check of the decision wrote.
fn log(record: &Record, check: &str) -> Result<String, Failure> {
    let evidence = &record.decision.evidence;
    let Some(found) = evidence.iter().find(|evidence| evidence.check == check) else {
        let names: Vec<_> = evidence.iter().map(|evidence| evidence.check.as_str()).collect();
        let message = format!("the latest decision has no check {check}");
        let failure = Failure::usage("check-unknown", message);
        return Err(match names.is_empty() {
            true => failure.hint("no check was run for it"),
            false => failure.hint(format!("its checks: {}", names.join(", "))),
        });
    };
    let Some(file) = &found.log else {
        return Err(Failure::usage("no-log", format!("check {check} wrote no log")));
    };
    let bytes = fs::read(file).map_err(|error| {
        let failure = Failure::file("no-log", "read the log", Path::new(file), &error);
        failure.hint("gate keeps logs of recent decisions only")
    })?;
    Ok(render::lines(&String::from_utf8_lossy(&bytes)))
}
