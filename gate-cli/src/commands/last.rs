//! `gate last`: the latest decision here, and its exit code.

use std::fs;
use std::path::{Path, PathBuf};

use gate_checks::CheckSite;
use gate_checks::worktree::work_trees;
use gate_core::Verdict;
use jiff::Timestamp;

use crate::commands::arguments::{Output, Suggested, checks};
use crate::commands::explain::card::last_card;
use crate::context::Here;
use crate::failure::Failure;
use crate::gate::{moved, place_name};
use crate::governance::Runs;
use crate::hook::session::latest_beginning;
use crate::memory::{Last as Happened, Memory, RecordSelector};
use crate::record::Record;
use crate::render::{self, local_time, print};
use crate::settings::{Places, Selection};
use crate::test_approval::literal_glob;
use crate::trust;
use clap::Args;

pub(crate) const CODES: &str = "\
Exit codes: that of the latest decision, as of `gate check`; 5 if nothing was decided here, or\nnothing since a prompt, a session or a loop began or the tree changed";

#[derive(Debug, Default, Args)]
pub(crate) struct Last {
    /// Of this run, or of the runs of this name.
    #[arg(long, value_name = "ID")]
    pub(crate) run: Option<String>,
    /// Of this task.
    #[arg(long, value_name = "ID")]
    pub(crate) task: Option<String>,
    /// Print what this check wrote.
    #[arg(long, value_name = "CHECK", conflicts_with_all = ["json", "quiet", "verbose"],
        value_parser = Suggested(checks), hide_possible_values = true)]
    pub(crate) log: Option<String>,
    #[command(flatten)]
    pub(crate) output: Output,
    /// Show everything on the card, also what is fine.
    #[arg(long, short)]
    pub(crate) verbose: bool,
}

/// The card of the latest decision.
///
/// # Errors
///
/// As of the command.
pub(super) fn text(here: &Here) -> Result<String, Failure> {
    Ok(last_card(&latest(here, &Last::default())?, false))
}

pub(super) fn run(here: &Here, args: &Last) -> Result<u8, Failure> {
    let record = latest(here, args)?;
    if let Some(check) = &args.log {
        print(&log(&record, check)?)?;
    } else if args.output.json {
        print(&render::json(&record)?)?;
    } else if !args.output.quiet {
        print(&last_card(&record, args.verbose))?;
    }
    Ok(record.decision.verdict.exit_code())
}

/// The latest decision that is meant.
fn latest(here: &Here, args: &Last) -> Result<Record, Failure> {
    let (settings, trust) = trust::settings_in_force(&here.places, &Selection::default())?;
    let policy = settings.policy;
    let wanted = RecordSelector { run: args.run.as_deref(), task: args.task.as_deref() };
    let is_named = args.run.is_some() || args.task.is_some();
    let mut memory = here.memory_under(&trust, &policy)?;
    let latest = match memory.last(&wanted)? {
        Some(latest) => Some((here.places.folder.clone(), latest)),
        None if !is_named => in_other_tree(here, &mut memory)?,
        None => None,
    };
    let (folder, record) = match latest {
        Some((folder, Happened::Decided(record))) => (folder, *record),
        Some((_, Happened::Undecided(why))) => {
            let message = format!("the latest stop here was let go, undecided: {why}");
            return Err(Failure::internal("undecided", message));
        }
        None => return Err(nothing_decided(args)),
    };
    if !is_named && args.log.is_none() {
        let is_here = folder == here.places.folder;
        let there = Here { places: Places { folder, ..here.places.clone() } };
        let site = if is_here { here.site_under(&trust)? } else { there.site()? };
        still_true(&there, &CheckSite { ignore: policy.tree.ignore, ..site }, &record)?;
    }
    Ok(record)
}

/// The latest decision of the only other work tree of the repository that has one, with the place
/// of the project there.
fn in_other_tree(here: &Here, memory: &mut Memory) -> Result<Option<(PathBuf, Happened)>, Failure> {
    let (top, project) = (here.places.top(), here.places.project()?);
    let mut decided = Vec::new();
    for tree in work_trees(&top).into_iter().filter(|tree| *tree != top) {
        let project = moved(&project, &top, &tree);
        if let Some(latest) = memory.last_in(&project)? {
            decided.push((project, latest));
        }
    }
    match decided.len() {
        0 | 1 => Ok(decided.pop()),
        _ => {
            let trees = decided.iter().map(|(project, _)| place_name(project, &top));
            let trees: Vec<_> = trees.collect();
            let message = format!(
                "nothing was decided in this work tree, but in others: {}",
                trees.join(", ")
            );
            let failure = Failure::internal("no-decision", message);
            Err(failure.hint("ask in that work tree: `gate -C FOLDER last`"))
        }
    }
}

/// Fails if the latest decision says nothing about now: a prompt, a session or a loop began after
/// it, or the tree that it let pass is another one by now. A commit changes no content.
fn still_true(here: &Here, site: &CheckSite, record: &Record) -> Result<(), Failure> {
    let decided_at = record.time.parse::<Timestamp>().map_or(0, Timestamp::as_millisecond);
    let session = latest_beginning(here.places.state.as_deref(), &here.places.top());
    let session = session.and_then(|at| i64::try_from(at).ok());
    let began = [session, latest_start(here)].into_iter().flatten().max();
    if began.is_some_and(|began| began > decided_at) {
        let at = began.and_then(|at| Timestamp::from_millisecond(at).ok());
        let at = at.map(|at| format!(" at {}", local_time(&at.to_string()))).unwrap_or_default();
        return Err(stale(record, &format!("a prompt, a session or a loop began here{at}")));
    }
    if record.decision.verdict != Verdict::Exit {
        return Ok(());
    }
    let Some(tree) = &record.tree else { return Ok(()) };
    let callers_files = tree.callers_files.iter().map(|file| site.project.join(file)).collect();
    let untracked = CheckSite { callers_files, ..site.clone() };
    // Those that were added to git since then.
    let names = tree.callers_files.iter().map(|name| literal_glob(name));
    let added = CheckSite { ignore: names.chain(site.ignore.clone()).collect(), ..site.clone() };
    let is_same =
        |site: &CheckSite| gate_checks::look(site).is_ok_and(|now| now.after.digest == tree.after);
    match is_same(&untracked) || is_same(&added) {
        true => Ok(()),
        false => Err(stale(record, "files changed here after it")),
    }
}

fn stale(record: &Record, change: &str) -> Failure {
    let message = format!(
        "nothing was decided since: {change}; the latest decision is of {}",
        local_time(&record.time)
    );
    let failure = Failure::internal("no-decision-since", message);
    match &record.run {
        Some(run) => failure.hint(format!("that decision: `gate last --run {run}`")),
        None => failure,
    }
}

/// The start of the latest loop of `gate run` in this work tree, in milliseconds since 1970.
fn latest_start(here: &Here) -> Option<i64> {
    let tasks = Runs::here(&here.places).ok()?.tasks().ok()?;
    let runs = tasks.iter().flat_map(|task| task.runs().unwrap_or_default());
    let infos = runs.filter_map(|run| run.info().ok());
    let top = here.places.top();
    let here = infos.filter(|info| Path::new(&info.cwd).starts_with(&top));
    here.map(|info| info.start_time.as_millisecond()).max()
}

/// The failure if there is no decision, or none for the given task and run.
fn nothing_decided(args: &Last) -> Failure {
    let task = args.task.as_ref().map(|task| format!("the task {task}"));
    let run = args.run.as_ref().map(|run| format!("the run {run}"));
    let wanted: Vec<_> = task.into_iter().chain(run).collect();
    if wanted.is_empty() {
        let failure = Failure::internal("no-decision", "gate has decided nothing here yet");
        return failure.hint("`gate check FILE` decides over an agent's output");
    }
    let message = format!("nothing was decided for {}", wanted.join(" and "));
    Failure::internal("no-decision", message)
        .hint("`gate log` lists what was decided here, with its runs and tasks")
}

/// The text that a check of the decision wrote.
fn log(record: &Record, check: &str) -> Result<String, Failure> {
    let evidence = &record.decision.input.evidence;
    let Some(found) = evidence.iter().find(|evidence| evidence.check == check) else {
        let names: Vec<_> = evidence.iter().map(|evidence| evidence.check.as_str()).collect();
        let message = format!("the latest decision has no check {check}");
        let failure = Failure::usage("check-unknown", message);
        return Err(match names.is_empty() {
            true => failure.hint("no check was run for it"),
            false => failure.hint(format!("its checks: {}", names.join(", "))),
        });
    };
    let Some(file) = &found.log else {
        return Err(Failure::usage("no-log", format!("check {check} wrote no log")));
    };
    let bytes = fs::read(file).map_err(|error| {
        let failure = Failure::file("no-log", "read the log", Path::new(file), &error);
        failure.hint("gate keeps logs of recent decisions only")
    })?;
    Ok(render::lines(&String::from_utf8_lossy(&bytes)))
}
