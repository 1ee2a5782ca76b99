//! `gate demo`: an agent claims what is not so, is refused, repairs the work, and may stop.
//! The claims are staged; checks, decisions and cards are those of `gate check`.

mod stage;

use clap::Parser;

use super::check;
use super::cli::{Cli, Command};
use super::common::DONE;
use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::render::{Mark, Page, print};
use stage::{CLAIMS, Claim, Stage};

pub(crate) const CODES: &str = "\
Exit codes: 0 shown, 5 it could not be shown";

/// The command that judges each claim, as a person or a loop types it.
const CHECK_COMMAND: &str = "gate check out.log";

pub(super) fn run(invocation: &Invocation) -> Result<u8, Failure> {
    let stage = Stage::new(&invocation.places)?;
    print(&opening())?;
    for (number, claim) in (1..).zip(&CLAIMS) {
        stage.play(claim)?;
        print(&scene(number, claim))?;
        let code = judge(&stage.invocation)?;
        if code != claim.code {
            let message = format!("claim {number} ended with code {code}, not {}", claim.code);
            return Err(Failure::internal("demo-differs", message));
        }
    }
    print(&ending())?;
    Ok(DONE)
}

fn judge(invocation: &Invocation) -> Result<u8, Failure> {
    let cli = Cli::try_parse_from(CHECK_COMMAND.split(' '));
    match cli.map(|cli| cli.command) {
        Ok(Some(Command::Check(args))) => check::run(invocation, &args),
        _ => Err(Failure::internal("demo-differs", format!("{CHECK_COMMAND}: not understood"))),
    }
}

fn opening() -> String {
    let mut page = Page::new();
    let task = "an agent works on a small shop; its task: orders from 100.00 on are 10% cheaper";
    page.head(Mark::None, "DEMO", task);
    page.into_text()
}

fn scene(number: usize, claim: &Claim) -> String {
    let mut page = Page::new();
    page.blank();
    page.text(&format!("{number}. {}", claim.step));
    page.blank();
    let words = claim.words.lines().filter(|line| !line.is_empty());
    page.rows("price.sh", claim.change);
    page.rows("agent", words);
    page.row("$", CHECK_COMMAND);
    page.blank();
    page.into_text()
}

fn ending() -> String {
    let mut page = Page::new();
    page.blank();
    page.text(
        "gate ran the tests itself both times, in a temporary folder that is gone now. Nothing \
         of yours was read or changed.",
    );
    page.blank();
    page.row("next", "cd into a project of yours, then: gate setup");
    page.into_text()
}
