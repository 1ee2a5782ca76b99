//! `gate prune`: frees the disk space of what can be made again and of old runs.

mod card;

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use gate_checks::{PruneOptions, Pruned, prune};
use gate_fleet::run::project_slug;

use schemars::JsonSchema;
use serde::Serialize;

use super::common::{DONE, ago};
use crate::failure::Failure;
use crate::governance;
use crate::invocation::Invocation;
use crate::memory::LeasedItem;
use crate::render::{self, print};
use crate::runner::{OldTask, old_tasks, phase_task};
use crate::settings::{Selection, parse_duration};
use crate::trust;

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

/// Exit code if something could not be removed.
const SOME_FAILED: u8 = 1;

/// The answer of `gate prune --json`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PruneRecord {
    /// Always `gate.prune.v1`.
    schema: &'static str,
    /// Nothing was removed: the other fields say what would be.
    dry_run: bool,
    /// The state folder.
    state: String,
    /// Freed space of all kinds, in bytes.
    bytes: u64,
    /// The removed things.
    removed: Pruned,
}

pub(super) fn run(invocation: &Invocation, args: &Prune) -> Result<u8, Failure> {
    let state = state_folder(invocation)?;
    let options = PruneOptions { older: args.older.unwrap_or_default(), dry_run: args.dry_run };
    let runs = old_runs(invocation, args.older)?;
    let mut removed = prune(state, &options).map_err(|error| {
        Failure::file("state-unreadable", "read the list of work trees in", state, &error)
    })?;
    removed.remove_runs(&runs, &options);
    let code = if removed.failed.is_empty() { DONE } else { SOME_FAILED };
    let record = PruneRecord {
        schema: "gate.prune.v1",
        dry_run: args.dry_run,
        state: state.display().to_string(),
        bytes: removed.bytes(),
        removed,
    };
    print(&if args.json { render::json(&record)? } else { card::card(&record, options.older) })?;
    Ok(code)
}

/// The state folder, which has to be there.
fn state_folder(invocation: &Invocation) -> Result<&Path, Failure> {
    let Some(state) = invocation.places.state.as_deref() else {
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

/// The folders of runs that ended longer ago than this, of all projects. What agents printed
/// cannot be made again, so without an age all of them stay.
///
/// # Errors
///
/// A folder or a store that cannot be read.
fn old_runs(invocation: &Invocation, min_age: Option<Duration>) -> Result<Vec<PathBuf>, Failure> {
    let Some(min_age) = min_age else { return Ok(Vec::new()) };
    // The approved settings: an agent could name another folder to have it emptied.
    let (settings, trust) = trust::settings_in_force(&invocation.places, &Selection::default())?;
    let runs = governance::runs(&invocation.places, settings.run.folder.as_deref())?;
    let mut tasks = old_tasks(&runs, ago(min_age))?;
    if !tasks.is_empty() {
        let leased = invocation.memory_under(&trust, &settings.policy)?.leased_items()?;
        tasks.retain(|task| !leased.iter().any(|leased| is_of_item(task, leased)));
    }
    Ok(tasks.into_iter().flat_map(|task| task.runs).collect())
}

/// The task is the one of the item's phase, in which its holder may go on.
fn is_of_item(task: &OldTask, leased: &LeasedItem) -> bool {
    task.project == project_slug(&leased.project) && task.task == phase_task(&leased.item)
}
