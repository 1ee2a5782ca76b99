//! The numbers of all rows, by agent, model or folder.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::super::accuracy::{Accuracy, By};
use super::Layout;
use crate::render::text::plain;
use crate::share::Share;

/// The name of the summary's schema.
pub(crate) const SUMMARY: &str = "gate.replay.summary.v1";

/// The numbers of all rows, which follow them if `--by` asks for that.
/// Fields are added, never changed.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct ReplaySummary {
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
pub(crate) struct Measured {
    /// The numbers of verdicts.
    #[serde(flatten)]
    pub(crate) counts: Accuracy,
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
    pub(crate) fn sentence(&self) -> String {
        let named = [("precision", self.precision), ("recall", self.recall)];
        let shares =
            named.into_iter().filter_map(|(name, share)| Some(format!("{name} {}", share?)));
        let Accuracy { false_exits, missed_exits, .. } = self.counts;
        let wrong = format!("{false_exits} false, {missed_exits} missed");
        shares.chain([wrong]).collect::<Vec<_>>().join(", ")
    }
}

impl ReplaySummary {
    pub(super) fn new(
        layout: &Layout,
        groups: &BTreeMap<String, Accuracy>,
        all: &Accuracy,
    ) -> Self {
        Self {
            schema: SUMMARY,
            by: layout.by.unwrap_or_default(),
            groups: groups.iter().map(|(name, group)| (name.clone(), group.into())).collect(),
            all: all.into(),
        }
    }
}

/// The table of groups; with labels, the precision and recall of all below.
pub(super) fn table(
    by: By,
    groups: &BTreeMap<String, Accuracy>,
    all: &Accuracy,
    labels: bool,
) -> Vec<String> {
    let mut titles = vec!["iterations", "exits"];
    if labels {
        titles.extend(["right", "false exit", "missed exit", "unclear"]);
    }
    let named = groups.iter().map(|(name, group)| (plain(name), group));
    let named: Vec<_> = named.chain([("all".to_owned(), all)]).collect();
    let names = named.iter().map(|(name, _)| name.chars().count());
    let width = names.chain([by.title().len()]).max().unwrap_or_default();
    let head =
        titles.iter().fold(format!("{:<width$}", by.title()), |line, title| line + "  " + title);
    let mut lines = vec![String::new(), head];
    for (name, group) in named {
        let numbers = [
            group.iterations,
            group.exits,
            group.right(),
            group.false_exits,
            group.missed_exits,
            group.unclear,
        ];
        let cells = titles.iter().zip(numbers);
        lines.push(cells.fold(format!("{name:<width$}"), |line, (title, number)| {
            format!("{line}  {number:>0$}", title.len())
        }));
    }
    if let Some(precision) = all.precision() {
        lines.push(format!("precision {precision}: exits that are right"));
    }
    if let Some(recall) = all.recall() {
        lines.push(format!("recall    {recall}: finished work that is let go"));
    }
    lines
}
