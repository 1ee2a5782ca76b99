//! Rows of one folder or session together.

use std::collections::HashMap;

use clap::ValueEnum;

use super::super::accuracy::folder;
use super::Layout;
use crate::replay::{GROUP, Judged, ReplayGroup, ReplayRecord, ReplayVerdict};
use gate_card::json_line;
use gate_card::text::{aligned, plain};
use gate_core::Failure;

/// The unit of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Grouping {
    /// Each iteration of each file.
    File,
    /// All iterations in a folder.
    Folder,
    /// All iterations of a session; the last one decides.
    Session,
}

/// The groups, in the order in which they were found.
pub(crate) struct Groups {
    by: Grouping,
    groups: Vec<ReplayGroup>,
    places: HashMap<String, usize>,
}

impl Groups {
    pub(crate) fn new(by: Grouping) -> Self {
        Self { by, groups: Vec::new(), places: HashMap::new() }
    }

    pub(crate) fn add(&mut self, row: &ReplayRecord) {
        let name = name(self.by, row);
        let place = *self.places.entry(name).or_insert_with_key(|name| {
            let group = name.to_owned();
            self.groups.push(ReplayGroup { schema: GROUP, group, ..ReplayGroup::default() });
            self.groups.len() - 1
        });
        let group = &mut self.groups[place];
        group.last = row.verdict.or(group.last);
        group.iterations += u64::from(row.verdict.is_some());
        group.exits += u64::from(row.verdict.is_some_and(ReplayVerdict::lets_end));
        group.blocked += u64::from(row.verdict == Some(ReplayVerdict::Blocked));
        group.errors += u64::from(row.error.is_some());
        group.false_exits += u64::from(row.judged == Some(Judged::FalseExit));
        group.missed_exits += u64::from(row.judged == Some(Judged::MissedExit));
        group.changed += u64::from(row.changed.is_some());
        group.bytes += row.bytes;
    }

    pub(crate) fn json(&self) -> Result<Vec<String>, Failure> {
        self.groups.iter().map(|group| Ok(json_line(group)?.trim_end().to_owned())).collect()
    }

    /// The table; the columns of labels and comparison only if there are any.
    pub(crate) fn table(&self, layout: &Layout) -> Vec<String> {
        let head = cells(&ReplayGroup::default(), layout).map(|(title, _)| title.to_uppercase());
        let mut rows = vec![head.chain(["GROUP".to_owned()]).collect::<Vec<_>>()];
        for group in &self.groups {
            let values = cells(group, layout).map(|(_, value)| value);
            rows.push(values.chain([plain(&group.group)]).collect());
        }
        let lines = aligned(&rows, &[0, rows[0].len() - 1]);
        let longest = lines.iter().map(|line| line.chars().count()).max().unwrap_or_default();
        if layout.columns.is_none_or(|terminal| longest <= terminal) {
            return lines;
        }
        self.groups.iter().map(|group| entry(group, layout)).collect()
    }
}

/// A group, if there is no room for a table.
fn entry(group: &ReplayGroup, layout: &Layout) -> String {
    let cells = cells(group, layout).map(|(title, value)| format!("{title} {value}"));
    format!("{}\n  {}", plain(&group.group), cells.collect::<Vec<_>>().join(", "))
}

/// The values of a group, each with its title.
fn cells(
    group: &ReplayGroup,
    layout: &Layout,
) -> impl Iterator<Item = (&'static str, String)> + use<> {
    let last = group.last.map_or("-", ReplayVerdict::name).to_owned();
    let numbers = [
        ("iterations", group.iterations, true),
        ("exits", group.exits, true),
        ("blocked", group.blocked, true),
        ("errors", group.errors, true),
        ("false exits", group.false_exits, layout.labels),
        ("missed exits", group.missed_exits, layout.labels),
        ("changed", group.changed, layout.compared),
    ];
    let numbers = numbers.into_iter().filter(|(_, _, is_shown)| *is_shown);
    let numbers = numbers.map(|(title, number, _)| (title, number.to_string()));
    [("last", last)].into_iter().chain(numbers)
}

/// The group of a row: its folder, or its session, else its file.
fn name(by: Grouping, row: &ReplayRecord) -> String {
    match by {
        Grouping::Folder => folder(&row.file).unwrap_or_else(|| ".".to_owned()),
        Grouping::Session => {
            let session = row.transcript.as_ref().and_then(|transcript| transcript.session.clone());
            session.unwrap_or_else(|| row.file.clone())
        }
        Grouping::File => row.file.clone(),
    }
}
