//! `gate ledger accept`: the end of the ledger is lost, and an operator goes on without it.

use super::{Accept, verify};
use crate::commands::common::DONE;
use crate::commands::log;
use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::memory::AcceptedLoss;
use crate::render::{self, Mark, Page, print};

pub(super) fn run(invocation: &Invocation, args: &Accept) -> Result<u8, Failure> {
    let operator = invocation.operator("gate ledger accept")?;
    let mut memory = log::open_ledger(invocation)?;
    let Some(loss) = memory.loss()? else {
        let message = "nothing is lost: the ledger has the last record that is known here";
        return Err(Failure::usage("nothing-lost", message).hint("`gate ledger verify` checks it"));
    };
    let report = verify::verify_without_mark(&mut memory)?;
    if let Some(problem) = report.problem {
        let message = format!("the records that are there do not hold: {}", problem.message);
        return Err(Failure::internal("state-corrupt", message)
            .hint("put a whole backup in its place; or `gate breaker reset --reason …` begins a new ledger"));
    }
    let accepted = memory.accept_loss(loss, &args.reason, &operator)?;
    print(&if args.json { render::json(&accepted)? } else { card(&accepted) })?;
    Ok(DONE)
}

/// The loss in words.
fn loss_text(accepted: &AcceptedLoss) -> String {
    let AcceptedLoss { marked, missing, .. } = accepted;
    match missing {
        Some(1) => format!("1 record is missing: record {}", marked.seq),
        Some(count) => format!("{count} records are missing, up to record {}", marked.seq),
        None => format!("record {} is another one than it was", marked.seq),
    }
}

fn card(accepted: &AcceptedLoss) -> String {
    let AcceptedLoss { found, ledger, .. } = accepted;
    let mut page = Page::new();
    page.head(Mark::Unsure, "ACCEPTED", &format!("the ledger goes on after record {}", found.seq));
    page.blank();
    page.row("lost", &loss_text(accepted));
    page.row("recorded", &format!("record {}", ledger.seq));
    page.into_text()
}
