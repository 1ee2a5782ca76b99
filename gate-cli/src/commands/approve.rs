//! `gate approve`: approves changes that a decision names, or shows what waits for that.

use super::common::DONE;
use crate::commands::arguments::non_empty;
use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::render::{self, print, print_text};
use crate::test_approval::{ApproveRecord, approve, card, doubts, waiting_changes};
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Approve {
    /// Changes that a decision names: tests, by their names in reports or by their files, where
    /// `*` stands for anything; settings; a finding's rule; or `all`. Also a test that fails and
    /// is to be left out. Without any, gate shows what waits.
    #[arg(value_name = "NAME", value_parser = non_empty)]
    pub(crate) names: Vec<String>,
    /// Why the change is right.
    #[arg(long, value_name = "TEXT", value_parser = non_empty)]
    pub(crate) reason: Option<String>,
    /// The run, or the task, whose latest decision is meant. Without names, all that it names is
    /// approved.
    #[arg(long, value_name = "RUN", value_parser = non_empty)]
    pub(crate) run: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(super) fn run(invocation: &Invocation, args: &Approve) -> Result<u8, Failure> {
    let (names, run) = (args.names.as_slice(), args.run.as_deref());
    let names = match (names, run, &args.reason) {
        ([], None, None) => return answer(args, &waiting_changes(invocation, None)?),
        ([], None, Some(_)) => {
            return Err(Failure::usage("usage", "--reason: name what is approved, or `all`"));
        }
        ([], Some(_), _) => vec!["all".to_owned()],
        (names, ..) => names.to_vec(),
    };
    let reason = args.reason.as_deref().unwrap_or("none was given");
    let operator = invocation.operator("gate approve")?;
    let record =
        approve(invocation, &names, reason, run, &operator, invocation.places.patience()?)?;
    render::notes(&doubts(&record));
    answer(args, &record)
}

fn answer(args: &Approve, record: &ApproveRecord) -> Result<u8, Failure> {
    if args.json { print(&render::json(record)?) } else { print_text(&card(record)) }?;
    Ok(DONE)
}
