//! Rows of one folder or session together.

use std::collections::HashMap;
use std::path::Path;

use clap::ValueEnum;

use super::Layout;
use crate::failure::Failure;
use crate::render::json_line;
use crate::render::text::plain;
use crate::replay::{GROUP, Judged, ReplayGroup, ReplayRecord, ReplayVerdict};

/// The unit of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Grouping {
    /// Each iteration of each file.
    File,
    /// All iterations in a folder.
    Folder,
    /// All iterations of a session; the last one decides.
    Session,
}

/// The groups, in the order in which they were found.
pub(super) struct Groups {
    by: Grouping,
    all: Vec<ReplayGroup>,
    places: HashMap<String, usize>,
}

impl Groups {
    pub(super) fn new(by: Grouping) -> Self {
        Self { by, all: Vec::new(), places: HashMap::new() }
    }

    pub(super) fn add(&mut self, row: &ReplayRecord) {
        let name = name(self.by, row);
        let place = *self.places.entry(name).or_insert_with_key(|name| {
            self.all.push(empty(name));
            self.all.len() - 1
        });
        let group = &mut self.all[place];
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

    pub(super) fn json(&self) -> Result<Vec<String>, Failure> {
        self.all.iter().map(|group| Ok(json_line(group)?.trim_end().to_owned())).collect()
    }

    /// The table; the columns of labels and comparison only if there are any.
    pub(super) fn table(&self, layout: &Layout) -> Vec<String> {
        let columns: Vec<usize> = (1..HEAD.len())
            .filter(|column| match column {
                6 | 7 => layout.labels,
                8 => layout.compared,
                _ => true,
            })
            .collect();
        let titles = HEAD.map(|title| title.replace('_', " ").to_uppercase());
        let rows: Vec<_> = std::iter::once(titles).chain(self.all.iter().map(cells)).collect();
        let widths: Vec<_> = columns
            .iter()
            .map(|&at| rows.iter().map(|row| row[at].len()).max().unwrap_or(0))
            .collect();
        let lines: Vec<String> = rows
            .iter()
            .map(|row| {
                let cells = columns.iter().zip(&widths).map(|(&at, &width)| match at {
                    1 => format!("{:<width$}  ", row[at]),
                    _ => format!("{:>width$}  ", row[at]),
                });
                cells.collect::<String>() + &plain(&row[0])
            })
            .collect();
        let longest = lines.iter().map(|line| line.chars().count()).max().unwrap_or_default();
        if layout.columns.is_none_or(|terminal| longest <= terminal) {
            return lines;
        }
        rows[1..].iter().map(|row| entry(row, &columns)).collect()
    }
}

/// A group, if there is no room for a table.
fn entry(row: &[String; 9], columns: &[usize]) -> String {
    let cells = columns.iter().map(|&at| format!("{} {}", HEAD[at].replace('_', " "), row[at]));
    format!("{}\n  {}", plain(&row[0]), cells.collect::<Vec<_>>().join(", "))
}

const HEAD: [&str; 9] = [
    "group",
    "last",
    "iterations",
    "exits",
    "blocked",
    "errors",
    "false_exits",
    "missed_exits",
    "changed",
];

fn cells(group: &ReplayGroup) -> [String; 9] {
    let numbers = [
        group.iterations,
        group.exits,
        group.blocked,
        group.errors,
        group.false_exits,
        group.missed_exits,
        group.changed,
    ];
    let [a, b, c, d, e, f, g] = numbers.map(|number| number.to_string());
    let last = group.last.map_or("-", ReplayVerdict::name).to_owned();
    [group.group.clone(), last, a, b, c, d, e, f, g]
}

fn empty(name: &str) -> ReplayGroup {
    ReplayGroup {
        schema: GROUP,
        group: name.to_owned(),
        last: None,
        iterations: 0,
        exits: 0,
        blocked: 0,
        errors: 0,
        false_exits: 0,
        missed_exits: 0,
        changed: 0,
        bytes: 0,
    }
}

/// The group of a row: its folder, or its session, else its file.
fn name(by: Grouping, row: &ReplayRecord) -> String {
    match by {
        Grouping::Folder => {
            let folder = Path::new(&row.file).parent().map(|folder| folder.display().to_string());
            folder.filter(|name| !name.is_empty()).unwrap_or_else(|| ".".to_owned())
        }
        Grouping::Session => {
            let session = row.transcript.as_ref().and_then(|transcript| transcript.session.clone());
            session.unwrap_or_else(|| row.file.clone())
        }
        Grouping::File => row.file.clone(),
    }
}
