//! `gate wrong`: marks a decision as a false refusal or a false exit.

use super::common::DONE;
use crate::commands::arguments::non_empty;
use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::memory::WrongRecord;
use crate::render::{self, print, print_text};
use crate::settings::Selection;
use crate::trust;
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Wrong {
    /// The decision: the number of its record, or the beginning of its id. In a shell,
    /// leave the `#` of a number out or quote it.
    #[arg(value_name = "DECISION")]
    pub(crate) decision: String,
    /// Why the decision was wrong.
    #[arg(long, value_name = "TEXT", value_parser = non_empty)]
    pub(crate) reason: String,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(super) fn run(invocation: &Invocation, args: &Wrong) -> Result<u8, Failure> {
    let operator = invocation.operator("gate wrong")?;
    let (settings, trust) = trust::settings_in_force(&invocation.places, &Selection::default())?;
    let mut memory = invocation.memory_under(&trust, &settings.policy)?;
    let record = memory.mark_wrong(&args.decision, &args.reason, &operator)?;
    if args.json { print(&render::json(&record)?) } else { print_text(&card(&record)) }?;
    Ok(DONE)
}

fn card(record: &WrongRecord) -> String {
    let WrongRecord { decision, label, mark, .. } = record;
    format!(
        "decision {decision} is marked as a {}\n\
         `gate replay` labels its transcript `{}`, as long as the transcript stays as it is\n",
        mark.mistake.words(),
        label.name(),
    )
}
