//! `gate approve`: approves changed tests, or shows what waits for that.

use super::common::DONE;
use crate::args::Approve;
use crate::context::Here;
use crate::failure::Failure;
use crate::render::{self, print, print_text};
use crate::store::PATIENCE;
use crate::test_approval::{ApproveRecord, approve, card, doubts, waiting};

pub(super) fn run(here: &Here, args: &Approve) -> Result<u8, Failure> {
    let Some(reason) = &args.reason else {
        return answer(args, &waiting(here)?);
    };
    let operator = here.operator("gate approve")?;
    let record = approve(here, (&args.tests, reason), &operator, PATIENCE)?;
    render::notes(&doubts(&record));
    answer(args, &record)
}

fn answer(args: &Approve, record: &ApproveRecord) -> Result<u8, Failure> {
    if args.json { print(&render::json(record)?) } else { print_text(&card(record)) }?;
    Ok(DONE)
}
