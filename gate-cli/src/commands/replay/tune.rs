//! `gate tune`: settings under which fewer labelled transcripts are judged wrong. It proposes, and
//! changes nothing.

use std::path::PathBuf;

use clap::Args;
use gate_lens::tune::Tuning;

use super::host;
use crate::commands::arguments::InputArgs;
use crate::commands::common::DONE;
use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::memory::Memory;
use crate::render::{self, print, print_text};
use crate::settings;

#[derive(Debug, Args)]
#[group(id = "source", required = true, multiple = false, args = ["labels", "ledger"])]
pub(crate) struct Tune {
    /// The right answers, as for `gate replay --labels`; the files that it names are read.
    #[arg(long, value_name = "FILE")]
    pub(crate) labels: Option<PathBuf>,
    /// Take the decisions that `gate wrong` has marked.
    #[arg(long)]
    pub(crate) ledger: bool,
    #[command(flatten)]
    pub(crate) reading: InputArgs,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(invocation: &Invocation, args: &Tune) -> Result<u8, Failure> {
    let places = &invocation.places;
    let settings = &settings::resolve(places, &args.reading.settings.selection())?;
    let file = &places.project()?.join(settings::FILE);
    let tuning = Tuning { settings, file };
    let record = match &args.labels {
        Some(labels) => tuning.propose_from_labels(
            &host(invocation),
            &places.folder,
            labels,
            args.reading.format,
        )?,
        None => {
            let id = settings.policy.project.id.as_deref();
            tuning.propose_from_marks(&Memory::open(places, id)?.marked_decisions()?)?
        }
    };
    if args.json { print(&render::json(&record)?) } else { print_text(&record.card()) }?;
    Ok(DONE)
}
