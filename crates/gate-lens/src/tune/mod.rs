//! Settings under which fewer labelled transcripts are judged wrong.
//!
//! A proposal never has more false exits than the settings in force: fewer missed exits are no reason to
//! let unfinished work go.

mod proposal;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use gate_core::Failure;
use gate_core::config::Resolved;
use gate_core::decide::policy::Threshold;
use gate_transcript::Forced;

use crate::replay::accuracy::Accuracy;
use crate::replay::{
    Finding, Findings, Host, Inputs, Labels, MAX_THRESHOLD, MarkedDecision, Row, Work, find,
    with_thresholds,
};

pub use proposal::TuneRecord;
use proposal::{Case, Phrase, Proposed};

/// The time between two looks while transcripts are read.
const TICK: Duration = Duration::from_millis(100);

/// The settings to improve.
#[derive(Debug)]
pub struct Tuning<'t> {
    /// The settings in force.
    pub settings: &'t Resolved,
    /// The project's settings file, which the proposal is a change of.
    pub file: &'t Path,
}

impl Tuning<'_> {
    /// Proposes by labelled transcripts, which are read again with a phrase that may be proposed.
    /// `labels_file` has the right answers; it is named from `folder`.
    ///
    /// # Errors
    ///
    /// Labels or a transcript that cannot be read.
    pub fn propose_from_labels(
        &self,
        host: &Arc<dyn Host>,
        folder: &Path,
        labels_file: &Path,
        format: Option<Forced>,
    ) -> Result<TuneRecord, Failure> {
        let cases_under = |settings: &Resolved| {
            let labels = Labels::read(&folder.join(labels_file))?;
            let Inputs { all, .. } = find(folder, &labels.paths(labels_file), false, &labels)?;
            let policies = with_thresholds(&settings.policy);
            let work = Work::new(host.clone(), settings, all);
            cases(&Arc::new(Work { labels, format, policies, ..work }))
        };
        let settings = self.settings;
        let cases = cases_under(settings)?;
        let mut phrase = Phrase::in_missed_exits(&cases);
        let mut proposed_cases = match &phrase {
            Some(phrase) => cases_under(&phrase.added(settings))?,
            None => cases.clone(),
        };
        // A phrase that lets unfinished work go is not proposed.
        let (in_force, with_phrase) = (accuracy(&cases), accuracy(&proposed_cases));
        if with_phrase.false_exits > in_force.false_exits {
            phrase = None;
            proposed_cases.clone_from(&cases);
        }
        let threshold = best_threshold(&proposed_cases, settings);
        let mut proposed = Proposed { phrase, threshold };
        proposed_cases = proposed_cases.iter().map(|case| case.under(threshold)).collect();
        if accuracy(&proposed_cases).wrong() >= in_force.wrong() {
            // Without a change the record compares nothing.
            proposed = Proposed::default();
        }
        TuneRecord::new(self, &proposed, &cases, &proposed_cases)
    }

    /// Proposes by marked decisions, which are decided again. Their transcripts may be gone, so only
    /// the threshold can be tried.
    ///
    /// # Errors
    ///
    /// A settings file that is not TOML.
    pub fn propose_from_marks(&self, marked: &[MarkedDecision]) -> Result<TuneRecord, Failure> {
        let policies = with_thresholds(&self.settings.policy);
        let cases: Vec<_> = marked.iter().map(|marked| Case::marked(marked, &policies)).collect();
        let threshold = best_threshold(&cases, self.settings);
        let proposed_cases: Vec<_> = cases.iter().map(|case| case.under(threshold)).collect();
        let proposed = Proposed { phrase: None, threshold };
        TuneRecord::new(self, &proposed, &cases, &proposed_cases)
    }
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

/// The accuracy under the settings in force.
fn accuracy(cases: &[Case]) -> Accuracy {
    count_verdicts(cases, None)
}

/// The accuracy if this were the threshold.
fn accuracy_at(cases: &[Case], threshold: u32) -> Accuracy {
    count_verdicts(cases, Some(threshold))
}

fn count_verdicts(cases: &[Case], threshold: Option<u32>) -> Accuracy {
    let mut accuracy = Accuracy::default();
    cases.iter().for_each(|case| accuracy.add_as(case.exits(threshold), Some(case.label)));
    accuracy
}

/// The threshold if nobody sets one.
fn default_threshold(settings: &Resolved) -> u32 {
    let mut policy = settings.policy.clone();
    policy.exit_gate.threshold = Threshold::Reachable;
    policy.threshold_in_force()
}

/// The threshold with the fewest wrong verdicts and no more false exits than the settings in force; the
/// highest one among equals. `None` if no other threshold is better. One below the default would take a
/// part of the double condition away, so it is never proposed.
fn best_threshold(cases: &[Case], settings: &Resolved) -> Option<u32> {
    let in_force = accuracy(cases);
    let candidates = (default_threshold(settings)..=MAX_THRESHOLD)
        .map(|threshold| (threshold, accuracy_at(cases, threshold)));
    let candidates =
        candidates.filter(|(_, accuracy)| accuracy.false_exits <= in_force.false_exits);
    let (threshold, accuracy) =
        candidates.min_by_key(|(threshold, accuracy)| (accuracy.wrong(), u32::MAX - threshold))?;
    let is_change = settings.policy.exit_gate.threshold != Threshold::Fixed(threshold);
    if is_change && accuracy.wrong() < in_force.wrong() { Some(threshold) } else { None }
}
