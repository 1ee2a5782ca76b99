//! `gate prune`: frees the disk space of what can be made again, and of old runs.

mod runs;

use std::path::Path;
use std::time::Duration;

use gate_checks::{PruneOptions, Pruned, prune};
use gate_core::config::Millis;
use gate_core::text::readable_size;
use schemars::JsonSchema;
use serde::Serialize;

use super::common::DONE;
use crate::context::Here;
use crate::failure::Failure;
use crate::render::{self, Mark, Page, print};
use crate::settings::parse_duration;
use clap::Args;
use runs::old_runs;

#[derive(Debug, Args)]
#[command(after_help = CODES)]
pub(crate) struct Prune {
    /// Keep what was used within this time, such as 12h or 7d. Folders of runs go only
    /// with it.
    #[arg(long, value_name = "AGE", value_parser = parse_duration)]
    pub(crate) older: Option<Duration>,
    /// Show what would be removed, and remove nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

const CODES: &str = "\
Exit codes: 0 removed, 1 something could not be removed, 2 or 5 nothing was looked at";

/// The longest label of the card, in characters.
const MAX_LABEL_CHARS: usize = 15;

/// Exit code if something could not be removed.
const NOT_ALL: u8 = 1;

/// The answer of `gate prune --json`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PruneRecord {
    /// Always `gate.prune.v1`.
    schema: &'static str,
    /// True if nothing was removed: the rest says what would be.
    dry_run: bool,
    /// The state folder.
    state: String,
    /// Freed space of all kinds, in bytes.
    bytes: u64,
    /// The removed things.
    removed: Pruned,
}

pub(super) fn run(here: &Here, args: &Prune) -> Result<u8, Failure> {
    let state = state_folder(here)?;
    let options = PruneOptions { older: args.older.unwrap_or_default(), dry_run: args.dry_run };
    let runs = old_runs(here, args.older)?;
    let mut removed = prune(state, &options).map_err(|error| {
        Failure::file("state-unreadable", "read the list of work trees in", state, &error)
    })?;
    removed.remove_runs(&runs, &options);
    let code = if removed.failed.is_empty() { DONE } else { NOT_ALL };
    let record = PruneRecord {
        schema: "gate.prune.v1",
        dry_run: args.dry_run,
        state: state.display().to_string(),
        bytes: removed.bytes(),
        removed,
    };
    print(&if args.json { render::json(&record)? } else { card(&record, options.older) })?;
    Ok(code)
}

/// The state folder, which has to be there.
fn state_folder(here: &Here) -> Result<&Path, Failure> {
    let Some(state) = here.places.state.as_deref() else {
        let failure = Failure::usage("state-missing", "there is no folder for state");
        return Err(failure.hint("set GATE_STATE_DIR, or HOME"));
    };
    if state.is_dir() {
        return Ok(state);
    }
    let message = format!("there is no folder {}, in which gate keeps its state", state.display());
    Err(Failure::usage("state-missing", message)
        .hint("the first check makes it; GATE_STATE_DIR names another one"))
}

fn card(record: &PruneRecord, older: Duration) -> String {
    let removed = &record.removed;
    let kinds = [
        ("copies of trees", removed.copies),
        ("build output", removed.builds),
        ("left behind", removed.leftovers),
        ("logs of checks", removed.logs),
        ("folders of runs", removed.runs),
    ];
    let kinds = kinds.iter().filter(|(_, kind)| kind.count > 0);
    let mut rows: Vec<_> = kinds
        .map(|(label, kind)| {
            (Mark::None, *label, format!("{}, {}", kind.count, readable_size(kind.bytes)))
        })
        .collect();
    let mut page = Page::new().with_labels(MAX_LABEL_CHARS);
    page.text(&first_line(record, rows.is_empty(), older));
    match removed.in_use {
        0 => {}
        1 => rows.push((Mark::None, "in use", "1 copy, left alone".to_owned())),
        more => rows.push((Mark::None, "in use", format!("{more} copies, left alone"))),
    }
    for failure in &removed.failed {
        rows.push((Mark::Bad, "not removed", format!("{}: {}", failure.path, failure.error)));
    }
    if !rows.is_empty() {
        page.blank();
    }
    for (mark, label, text) in &rows {
        page.marked(*mark, label, text);
    }
    if removed.copies.count > 0 && !record.dry_run {
        page.blank();
        page.text("The next check of a tree whose copy is gone builds everything anew.");
    }
    page.into_text()
}

fn first_line(record: &PruneRecord, is_empty: bool, older: Duration) -> String {
    let size = readable_size(record.bytes);
    match (is_empty, record.dry_run) {
        (true, _) if older.is_zero() => "nothing to remove".to_owned(),
        (true, _) => {
            let age = Millis(u64::try_from(older.as_millis()).unwrap_or(u64::MAX));
            format!("nothing to remove that is older than {age}")
        }
        (false, true) => format!("would free {size}"),
        (false, false) => format!("freed {size}"),
    }
}
