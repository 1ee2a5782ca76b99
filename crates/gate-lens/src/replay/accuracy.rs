//! Verdicts beside labels: how many are right, and in which way the others are wrong.

use std::collections::BTreeMap;
use std::path::Path;

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::Serialize;

use super::given::Labelled;
use crate::replay::{Judged, ReplayRecord, ReplayVerdict};
use crate::share::Share;
use gate_card::text::{aligned, plain};

/// The property by which verdicts are counted apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ValueEnum, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum By {
    /// The format of the transcript.
    #[default]
    Agent,
    /// The program that wrote the transcript.
    Client,
    /// The model.
    Model,
    /// The folder of the file.
    Folder,
}

impl By {
    /// The group of a row.
    pub fn group(self, row: &ReplayRecord) -> String {
        let transcript = row.transcript.as_ref();
        let name = match self {
            Self::Agent => transcript.and_then(|transcript| transcript.format.clone()),
            Self::Client => transcript.and_then(|transcript| transcript.client.clone()),
            Self::Model => transcript.and_then(|transcript| transcript.model.clone()),
            Self::Folder => folder(&row.file),
        };
        let absent = if row.error.is_some() { "unread" } else { "unknown" };
        name.unwrap_or_else(|| absent.to_owned())
    }
}

/// The folder of a file, as the file was named.
pub fn folder(file: &str) -> Option<String> {
    let folder = Path::new(file).parent()?.display().to_string();
    Some(if folder.is_empty() { ".".to_owned() } else { folder })
}

/// The numbers of verdicts beside labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Accuracy {
    /// Iterations that were judged, labelled or not.
    pub iterations: u64,
    /// Iterations that the loop may end after, checks or not.
    pub exits: u64,
    /// Exits of those labelled `exit`.
    pub right_exits: u64,
    /// Refusals of those not labelled `exit`.
    pub right_refusals: u64,
    /// Exits of those not labelled `exit`.
    pub false_exits: u64,
    /// Refusals of those labelled `exit`.
    pub missed_exits: u64,
    /// Refusals of those whose label `exit` is marked as ambiguous.
    pub unclear: u64,
}

impl Accuracy {
    /// Counts a row as it was judged.
    pub fn add(&mut self, row: &ReplayRecord) {
        let exits = row.verdict.is_some_and(ReplayVerdict::lets_end);
        self.count(exits, row.judged);
    }

    /// Counts an iteration as it would be judged if its verdict were an exit, or were none.
    pub fn add_as(&mut self, exits: bool, label: Option<Labelled>) {
        let verdict = if exits { ReplayVerdict::Exit } else { ReplayVerdict::Continue };
        let judged = label.map(|label| Judged::new(verdict, label.label, label.ambiguous));
        self.count(exits, judged);
    }

    fn count(&mut self, exits: bool, judged: Option<Judged>) {
        self.iterations += 1;
        self.exits += u64::from(exits);
        let number = match judged {
            None => return,
            Some(Judged::Right) if exits => &mut self.right_exits,
            Some(Judged::Right) => &mut self.right_refusals,
            Some(Judged::FalseExit) => &mut self.false_exits,
            Some(Judged::MissedExit) => &mut self.missed_exits,
            Some(Judged::Unclear) => &mut self.unclear,
        };
        *number += 1;
    }

    /// The number of right verdicts.
    pub fn right(&self) -> u64 {
        self.right_exits + self.right_refusals
    }

    /// The number of false and missed exits.
    pub fn wrong(&self) -> u64 {
        self.false_exits + self.missed_exits
    }

    /// The share of labelled exits that are right; none without a labelled exit.
    pub fn precision(&self) -> Option<Share> {
        Share::new(self.right_exits, self.right_exits + self.false_exits)
    }

    /// The share of rows labelled `exit` that are let go; none if no row is so labelled.
    pub fn recall(&self) -> Option<Share> {
        Share::new(self.right_exits, self.right_exits + self.missed_exits)
    }
}

/// The numbers of all rows, which follow them if `--by` asks for that.
/// Fields are added, never changed.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ReplaySummary {
    /// Always `gate.replay.summary.v1`.
    pub schema: &'static str,
    /// The property by which rows are counted apart.
    pub by: By,
    /// The numbers of each group.
    pub groups: BTreeMap<String, Measured>,
    /// The numbers of all rows.
    pub all: Measured,
}

/// Numbers, with the shares that they predict for later verdicts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Measured {
    /// The numbers of verdicts.
    #[serde(flatten)]
    pub counts: Accuracy,
    /// The share of labelled exits that are right; null without any.
    precision: Option<Share>,
    /// The share of rows labelled `exit` that are let go; null without any.
    recall: Option<Share>,
}

impl From<&Accuracy> for Measured {
    fn from(counts: &Accuracy) -> Self {
        Self { counts: *counts, precision: counts.precision(), recall: counts.recall() }
    }
}

impl Measured {
    /// The shares and the wrong verdicts, for a person.
    pub fn sentence(&self) -> String {
        let named = [("precision", self.precision), ("recall", self.recall)];
        let shares =
            named.into_iter().filter_map(|(name, share)| Some(format!("{name} {}", share?)));
        let Accuracy { false_exits, missed_exits, .. } = self.counts;
        let wrong = format!("{false_exits} false, {missed_exits} missed");
        shares.chain([wrong]).collect::<Vec<_>>().join(", ")
    }
}

/// The table of groups; with labels, the precision and recall of all below.
pub fn table(
    by: By,
    groups: &BTreeMap<String, Accuracy>,
    all: &Accuracy,
    has_labels: bool,
) -> Vec<String> {
    let numbers = if has_labels { 6 } else { 2 };
    let title = by.to_possible_value().map(|value| value.get_name().to_uppercase());
    let titles = ["iterations", "exits", "right", "false exit", "missed exit", "unclear"];
    let mut rows = vec![(title.unwrap_or_default(), titles.map(str::to_owned))];
    let named = groups.iter().map(|(name, group)| (plain(name), group));
    rows.extend(named.chain([("all".to_owned(), all)]).map(|(name, group)| {
        let Accuracy { iterations, exits, false_exits, missed_exits, unclear, .. } = *group;
        let numbers = [iterations, exits, group.right(), false_exits, missed_exits, unclear];
        (name, numbers.map(|number| number.to_string()))
    }));
    let rows = rows.into_iter().map(|(name, cells)| {
        [name].into_iter().chain(cells.into_iter().take(numbers)).collect::<Vec<_>>()
    });
    let mut lines = vec![String::new()];
    lines.extend(aligned(&rows.collect::<Vec<_>>(), &[0]));
    if let Some(precision) = all.precision() {
        lines.push(format!("precision {precision}: exits that are right"));
    }
    if let Some(recall) = all.recall() {
        lines.push(format!("recall    {recall}: finished work that is let go"));
    }
    lines
}
