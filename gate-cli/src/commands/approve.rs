//! `gate approve`: approves changed tests, or shows what waits for that.

use super::common::DONE;
use crate::commands::arguments::non_empty;
use crate::context::Here;
use crate::failure::Failure;
use crate::render::{self, print, print_text};
use crate::test_approval::{ApproveRecord, approve, card, doubts, waiting};
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Approve {
    /// Changed tests, by their names in reports or by their files; `*` stands for anything.
    /// Without any, gate shows what the latest decision here waits for.
    #[arg(value_name = "TEST", requires = "reason", value_parser = non_empty)]
    pub(crate) tests: Vec<String>,
    /// Why the change is right.
    #[arg(long, value_name = "TEXT", requires = "tests", value_parser = non_empty)]
    pub(crate) reason: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(super) fn run(here: &Here, args: &Approve) -> Result<u8, Failure> {
    let Some(reason) = &args.reason else {
        return answer(args, &waiting(here)?);
    };
    let operator = here.operator("gate approve")?;
    let record = approve(here, (&args.tests, reason), &operator, here.places.patience()?)?;
    render::notes(&doubts(&record));
    answer(args, &record)
}

fn answer(args: &Approve, record: &ApproveRecord) -> Result<u8, Failure> {
    if args.json { print(&render::json(record)?) } else { print_text(&card(record)) }?;
    Ok(DONE)
}
