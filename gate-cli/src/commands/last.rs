//! `gate last`: the latest decision here, and its exit code.

use crate::args::Last;
use crate::context::Here;
use crate::failure::Failure;
use crate::memory::{Last as Happened, RecordSelector};
use crate::render::{self, print};
use crate::settings::{self, Selection};

pub(super) fn run(here: &Here, args: &Last) -> Result<u8, Failure> {
    let policy = settings::resolve(&here.places, &Selection::default())?.policy;
    let wanted = RecordSelector { run: args.run.as_deref(), task: args.task.as_deref() };
    let record = match here.memory(&policy)?.last(&wanted)? {
        Some(Happened::Decided(record)) => record,
        Some(Happened::Undecided(why)) => {
            let message = format!("the latest stop here was let go, undecided: {why}");
            return Err(Failure::internal("undecided", message));
        }
        None => {
            let failure = Failure::internal("no-decision", "gate has decided nothing here yet");
            return Err(failure.hint("`gate check FILE` decides over an agent's output"));
        }
    };
    if args.output.json {
        print(&render::json(&record)?)?;
    } else if !args.output.quiet {
        print(&render::last_card(&record))?;
    }
    Ok(record.decision.verdict.exit_code())
}
