//! `gate wrong`: marks a decision as a false refusal or a false exit.

use super::common::DONE;
use crate::args::Wrong;
use crate::context::Here;
use crate::failure::Failure;
use crate::memory::WrongRecord;
use crate::render::{self, print, print_text};
use crate::settings::Selection;
use crate::store::PATIENCE;
use crate::trust;

pub(super) fn run(here: &Here, args: &Wrong) -> Result<u8, Failure> {
    let operator = here.operator("gate wrong")?;
    let (settings, trust) = trust::settings_in_force(&here.places, &Selection::default())?;
    let mut memory = here.memory_under(&trust, &settings.policy, PATIENCE)?;
    let marked = memory.mark_wrong(&args.decision, &args.reason, &operator)?;
    if args.json { print(&render::json(&marked)?) } else { print_text(&card(&marked)) }?;
    Ok(DONE)
}

fn card(marked: &WrongRecord) -> String {
    let WrongRecord { decision, label, mark, .. } = marked;
    format!(
        "decision {decision} is marked as a {}\n\
         `gate replay` labels its transcript `{}`, as long as the transcript stays as it is\n",
        mark.mistake.words(),
        label.name(),
    )
}
