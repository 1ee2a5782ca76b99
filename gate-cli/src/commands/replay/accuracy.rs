//! Verdicts beside labels: how many are right, and in which way the others are wrong.

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::Serialize;

use super::labels::Labelled;
use crate::replay::{Judged, ReplayRecord, ReplayVerdict};
use crate::share::Share;

/// The property by which verdicts are counted apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ValueEnum, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum By {
    /// The format of the transcript, by which its client is known.
    #[default]
    Agent,
    /// The model.
    Model,
    /// The folder of the file.
    Folder,
}

impl By {
    /// The group of a row.
    pub(crate) fn group(self, row: &ReplayRecord) -> String {
        let transcript = row.transcript.as_ref();
        let name = match self {
            Self::Agent => transcript.and_then(|transcript| transcript.format.clone()),
            Self::Model => transcript.and_then(|transcript| transcript.model.clone()),
            Self::Folder => {
                let folder = std::path::Path::new(&row.file).parent();
                let folder = folder.map(|folder| folder.display().to_string());
                folder.map(|folder| if folder.is_empty() { ".".to_owned() } else { folder })
            }
        };
        let absent = if row.error.is_some() { "unread" } else { "unknown" };
        name.unwrap_or_else(|| absent.to_owned())
    }

    /// The title of a column of groups.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Agent => "AGENT",
            Self::Model => "MODEL",
            Self::Folder => "FOLDER",
        }
    }
}

/// The numbers of verdicts beside labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Accuracy {
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
    pub(crate) fn add(&mut self, row: &ReplayRecord) {
        let exits = row.verdict.is_some_and(ReplayVerdict::lets_end);
        self.count(exits, row.judged);
    }

    /// Counts an iteration as it would be judged if its verdict were an exit, or were none.
    pub(super) fn add_as(&mut self, exits: bool, label: Option<Labelled>) {
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
    pub(crate) fn right(&self) -> u64 {
        self.right_exits + self.right_refusals
    }

    /// The number of false and missed exits.
    pub(crate) fn wrong(&self) -> u64 {
        self.false_exits + self.missed_exits
    }

    /// The share of labelled exits that are right; none without a labelled exit.
    pub(crate) fn precision(&self) -> Option<Share> {
        Share::new(self.right_exits, self.right_exits + self.false_exits)
    }

    /// The share of rows labelled `exit` that are let go; none if no row is so labelled.
    pub(crate) fn recall(&self) -> Option<Share> {
        Share::new(self.right_exits, self.right_exits + self.missed_exits)
    }
}
