//! `gate tune`: settings under which fewer labelled transcripts are judged wrong.
//!
//! It proposes, and changes nothing. A proposal never has more false exits than the
//! settings in force: what a check proves is not for labels to replace.

mod proposal;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use gate_core::config::Resolved;
use gate_core::decide::policy::Threshold;

pub(crate) use self::proposal::TuneRecord;
use self::proposal::{Case, Phrase, Proposed};
use super::accuracy::Accuracy;
use super::given::Labels;
use super::inputs::{self, Inputs};
use super::workers::{Finding, Findings, MAX_THRESHOLD, Row, Work, with_thresholds};
use crate::commands::arguments::InputArgs;
use crate::commands::common::DONE;
use crate::context::Here;
use crate::failure::Failure;
use crate::memory::Memory;
use crate::render::{self, print, print_text};
use crate::settings;

/// The time between two looks while transcripts are read.
const TICK: Duration = Duration::from_millis(100);

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

pub(crate) fn run(here: &Here, args: &Tune) -> Result<u8, Failure> {
    let settings = settings::resolve(&here.places, &args.reading.settings.selection())?;
    let record = match &args.labels {
        Some(file) => from_labels(here, args, &settings, file)?,
        None => from_ledger(here, &settings)?,
    };
    if args.json { print(&render::json(&record)?) } else { print_text(&record.card()) }?;
    Ok(DONE)
}

/// Reads labelled transcripts, and again with a phrase that may be proposed.
fn from_labels(
    here: &Here,
    args: &Tune,
    settings: &Resolved,
    file: &Path,
) -> Result<TuneRecord, Failure> {
    let labelled = |settings: &Resolved| {
        let labels = Labels::read(&here.places.folder.join(file))?;
        let paths = labels.paths(file);
        let Inputs { all, .. } = inputs::find(&here.places.folder, &paths, false, &labels)?;
        let (format, policies) = (args.reading.format, with_thresholds(&settings.policy));
        let work = Work::new(here, settings, all);
        cases(&Arc::new(Work { labels, format, policies, ..work }))
    };
    let now = labelled(settings)?;
    let phrase = Phrase::missing(&now);
    let with_phrase = match &phrase {
        Some(phrase) => labelled(&phrase.added(settings))?,
        None => now.clone(),
    };
    // A phrase that lets unfinished work go is none to propose.
    let (phrase, then) =
        match measured(&with_phrase, None).false_exits > measured(&now, None).false_exits {
            true => (None, &now),
            false => (phrase, &with_phrase),
        };
    let mut proposed = Proposed { phrase, threshold: best_threshold(then, settings) };
    let after: Vec<_> = then.iter().map(|case| case.under(proposed.threshold)).collect();
    if measured(&after, None).wrong() >= measured(&now, None).wrong() {
        proposed = Proposed::default();
    }
    TuneRecord::new(&here.places, settings, &proposed, &now, &after)
}

/// Decides marked decisions again. Their transcripts may be gone, so only the threshold
/// can be tried.
fn from_ledger(here: &Here, settings: &Resolved) -> Result<TuneRecord, Failure> {
    let mut memory = Memory::open(&here.places, settings.policy.project.id.as_deref())?;
    let policies = with_thresholds(&settings.policy);
    let marked = memory.marked_decisions()?;
    let now: Vec<_> = marked.iter().map(|marked| Case::marked(marked, &policies)).collect();
    let threshold = best_threshold(&now, settings);
    let after: Vec<_> = now.iter().map(|case| case.under(threshold)).collect();
    let proposed = Proposed { phrase: None, threshold };
    TuneRecord::new(&here.places, settings, &proposed, &now, &after)
}

/// The labelled iterations, with their verdicts.
fn cases(work: &Arc<Work>) -> Result<Vec<Case>, Failure> {
    let mut findings = Findings::start(work)?;
    let mut cases = Vec::new();
    while !findings.is_done() {
        for finding in findings.next(TICK) {
            let Finding::Row(row) = finding else { continue };
            let Row { record, exits } = *row;
            if let Some(failure) = record.error {
                return Err(failure);
            }
            cases.extend(Case::labelled(record, exits));
        }
    }
    Ok(cases)
}

/// The verdicts if this were the threshold; without one under the settings in force.
fn measured(cases: &[Case], threshold: Option<u32>) -> Accuracy {
    let mut accuracy = Accuracy::default();
    cases.iter().for_each(|case| accuracy.add_as(case.exits(threshold), Some(case.label)));
    accuracy
}

/// The threshold with the fewest wrong verdicts and no more false exits than now; the
/// highest one among equals. None if no other is better.
fn best_threshold(cases: &[Case], settings: &Resolved) -> Option<u32> {
    let now = measured(cases, None);
    let all = (0..=MAX_THRESHOLD).map(|threshold| (threshold, measured(cases, Some(threshold))));
    let safe = all.filter(|(_, then)| then.false_exits <= now.false_exits);
    let best = safe.min_by_key(|(threshold, then)| (then.wrong(), u32::MAX - threshold))?;
    let other = settings.policy.exit_gate.threshold != Threshold::Fixed(best.0);
    (best.1.wrong() < now.wrong() && other).then_some(best.0)
}
