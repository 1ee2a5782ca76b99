//! `gate last`: the latest decision here, and its exit code.

use std::fs;
use std::path::{Path, PathBuf};

use gate_checks::CheckSite;
use gate_checks::worktree::work_trees;
use gate_core::Verdict;
use jiff::Timestamp;

use crate::commands::arguments::{Output, Suggested, checks};
use crate::commands::explain::card::last_card;
use crate::failure::Failure;
use crate::gate::{moved, place_name};
use crate::governance::project_here;
use crate::hook::session::latest_beginning;
use crate::invocation::Invocation;
use crate::memory::{LastEvent, Memory, RecordSelector};
use crate::record::Record;
use crate::render::{self, local_time, print};
use crate::settings::{Places, Selection};
use crate::test_approval::literal_glob;
use crate::trust;
use clap::Args;

pub(crate) const CODES: &str = "\
Exit codes: that of the latest decision, as of `gate check`; 5 if nothing was decided here, or\nnothing since a prompt, a session or a loop began, or since the tree of an exit changed";

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
pub(super) fn text(invocation: &Invocation) -> Result<String, Failure> {
    Ok(latest(invocation, &Last::default())?.card(false))
}

pub(super) fn run(invocation: &Invocation, args: &Last) -> Result<u8, Failure> {
    let latest = latest(invocation, args)?;
    let record = &latest.record;
    if let Some(check) = &args.log {
        print(&log(record, check)?)?;
    } else if args.output.json {
        print(&render::json(record)?)?;
    } else if !args.output.quiet {
        print(&latest.card(args.verbose))?;
    }
    Ok(record.decision.verdict.exit_code())
}

/// The latest decision.
struct Latest {
    record: Record,
    /// It refused an exit, and files changed after it.
    has_later_changes: bool,
}

impl Latest {
    fn card(&self, verbose: bool) -> String {
        let mut card = last_card(&self.record, verbose);
        if self.has_later_changes {
            card.push_str("\nFiles changed here after this decision: only the next check tells if they are right.\n");
        }
        card
    }
}

/// The latest decision that the arguments select.
fn latest(invocation: &Invocation, args: &Last) -> Result<Latest, Failure> {
    let (settings, trust) = trust::settings_in_force(&invocation.places, &Selection::default())?;
    let policy = settings.policy;
    let selector = RecordSelector { run: args.run.as_deref(), task: args.task.as_deref() };
    let is_named = args.run.is_some() || args.task.is_some();
    let mut memory = invocation.memory_under(&trust, &policy)?;
    let latest = match memory.last_event(&selector)? {
        Some(event) => Some((invocation.places.folder.clone(), event)),
        None if !is_named => latest_in_other_tree(invocation, &mut memory)?,
        None => None,
    };
    let (folder, record) = match latest {
        Some((folder, LastEvent::Decided(record))) => (folder, *record),
        Some((_, LastEvent::Undecided(reason))) => {
            let message = format!("the latest stop here was let go, undecided: {reason}");
            return Err(Failure::internal("undecided", message));
        }
        None => return Err(nothing_decided(args)),
    };
    let mut has_later_changes = false;
    // Who names a run, or wants a log, asks for the past.
    if !is_named && args.log.is_none() {
        let is_here = folder == invocation.places.folder;
        let decided_in = Invocation { places: Places { folder, ..invocation.places.clone() } };
        let site = if is_here { invocation.site_under(&trust)? } else { decided_in.site()? };
        let site = CheckSite { ignore: policy.tree.ignore, ..site };
        require_no_start_since(&decided_in, &record)?;
        if record.decision.verdict == Verdict::Exit {
            // A tree that cannot be read is not the one that passed.
            if has_changed_since(&site, &record) != Some(false) {
                return Err(stale_decision(&record, "files changed here after it"));
            }
        } else if !args.output.json && !args.output.quiet {
            has_later_changes = has_changed_since(&site, &record) == Some(true);
        }
    }
    Ok(Latest { record, has_later_changes })
}

/// The latest event of the only other work tree of the repository that has one, with the project's
/// folder in that tree.
fn latest_in_other_tree(
    invocation: &Invocation,
    memory: &mut Memory,
) -> Result<Option<(PathBuf, LastEvent)>, Failure> {
    let (top, project) = (invocation.places.top(), invocation.places.project()?);
    let mut events = Vec::new();
    for tree in work_trees(&top).into_iter().filter(|tree| *tree != top) {
        let project_in_tree = moved(&project, &top, &tree);
        if let Some(event) = memory.last_event_in(&project_in_tree)? {
            events.push((project_in_tree, event));
        }
    }
    if events.len() > 1 {
        let trees: Vec<_> = events.iter().map(|(project, _)| place_name(project, &top)).collect();
        let message =
            format!("nothing was decided in this work tree, but in others: {}", trees.join(", "));
        let failure = Failure::internal("no-decision", message);
        return Err(failure.hint("ask in that work tree: `gate -C FOLDER last`"));
    }
    Ok(events.pop())
}

/// Fails if the latest decision says nothing about the present: a prompt, a session or a loop began
/// after it.
fn require_no_start_since(invocation: &Invocation, record: &Record) -> Result<(), Failure> {
    let decided_at = record.time.parse::<Timestamp>().map_or(0, Timestamp::as_millisecond);
    let session_start =
        latest_beginning(invocation.places.state.as_deref(), &invocation.places.top())
            .and_then(|millis| i64::try_from(millis).ok());
    let latest_start = session_start.max(latest_loop_start(invocation));
    if let Some(start) = latest_start.filter(|start| *start > decided_at) {
        let time = match Timestamp::from_millisecond(start) {
            Ok(time) => format!(" at {}", local_time(&time.to_string())),
            Err(_) => String::new(),
        };
        let change = format!("a prompt, a session or a loop began here{time}");
        return Err(stale_decision(record, &change));
    }
    Ok(())
}

/// The tree is another one than the decision saw; `None` if it cannot be read. A commit changes no
/// content.
fn has_changed_since(site: &CheckSite, record: &Record) -> Option<bool> {
    let Some(tree) = &record.tree else { return Some(false) };
    // The decision left the caller's files out. If they were added to git since, only a glob leaves
    // them out.
    let callers_files = tree.callers_files.iter().map(|file| site.project.join(file)).collect();
    let without_untracked = CheckSite { callers_files, ..site.clone() };
    let globs = tree.callers_files.iter().map(|name| literal_glob(name));
    let ignore = globs.chain(site.ignore.clone()).collect();
    let without_tracked = CheckSite { ignore, ..site.clone() };
    let is_same = |site: &CheckSite| {
        gate_checks::look(site).ok().map(|present| present.after.digest == tree.after)
    };
    Some(!is_same(&without_untracked)? && !is_same(&without_tracked)?)
}

fn stale_decision(record: &Record, change: &str) -> Failure {
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
fn latest_loop_start(invocation: &Invocation) -> Option<i64> {
    let tasks = project_here(&invocation.places).ok()?.tasks().ok()?;
    let runs = tasks.iter().flat_map(|task| task.runs().unwrap_or_default());
    let infos = runs.filter_map(|run| run.info().ok());
    let top = invocation.places.top();
    let in_this_tree = infos.filter(|info| Path::new(&info.cwd).starts_with(&top));
    in_this_tree.map(|info| info.start_time.as_millisecond()).max()
}

/// The failure if there is no decision, or no decision for the selected task and run.
fn nothing_decided(args: &Last) -> Failure {
    let task = args.task.as_ref().map(|task| format!("the task {task}"));
    let run = args.run.as_ref().map(|run| format!("the run {run}"));
    let selection: Vec<_> = task.into_iter().chain(run).collect();
    if selection.is_empty() {
        let failure = Failure::internal("no-decision", "gate has decided nothing here yet");
        return failure.hint("`gate check FILE` decides over an agent's output");
    }
    let message = format!("nothing was decided for {}", selection.join(" and "));
    Failure::internal("no-decision", message)
        .hint("`gate log` lists what was decided here, with its runs and tasks")
}

/// The text that a check of the decision wrote.
fn log(record: &Record, check: &str) -> Result<String, Failure> {
    let evidence = &record.decision.input.evidence;
    let Some(result) = evidence.iter().find(|evidence| evidence.check == check) else {
        let names: Vec<_> = evidence.iter().map(|evidence| evidence.check.as_str()).collect();
        let message = format!("the latest decision has no check {check}");
        let failure = Failure::usage("check-unknown", message);
        return Err(match names.is_empty() {
            true => failure.hint("no check was run for it"),
            false => failure.hint(format!("its checks: {}", names.join(", "))),
        });
    };
    let Some(file) = &result.log else {
        return Err(Failure::usage("no-log", format!("check {check} wrote no log")));
    };
    let bytes = fs::read(file).map_err(|error| {
        let failure = Failure::file("no-log", "read the log", Path::new(file), &error);
        failure.hint("gate keeps logs of recent decisions only")
    })?;
    Ok(render::lines(&String::from_utf8_lossy(&bytes)))
}
