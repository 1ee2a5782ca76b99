//! `gate report`: a night of loops on one page.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use gate_core::config::nearest_name;
use gate_fleet::run::layout;
use gate_lens::audit::Transcript;
use gate_lens::loops::LoopRecord;
use gate_lens::report::{BehindClaims, ReportRecord, markdown, page, text};
use jiff::Timestamp;

use super::common::{DONE, ago, write_page};
use crate::failure::Failure;
use crate::governance::project_here;
use crate::invocation::Invocation;
use crate::loops::{self, Window};
use crate::render::{self, print};
use crate::secrets;
use crate::settings::{self, Selection, parse_duration};

/// The time that a report covers by default.
const USUAL_AGE: Duration = Duration::from_secs(12 * 60 * 60);

/// The remark on an empty report.
const ELSEWHERE: &str =
    "these are the loops of this project alone; `gate report --all-projects` has those of all";

#[derive(Debug, Args)]
pub(crate) struct Report {
    /// The run, the loop or the task to report alone, however old it is.
    #[arg(value_name = "RUN", conflicts_with = "since")]
    pub(crate) run: Option<String>,
    /// Report the loops of this time, such as 12h or 7d [default: 12h]
    #[arg(long, value_name = "AGE", value_parser = parse_duration)]
    pub(crate) since: Option<Duration>,
    /// Report the loops of all projects in the store.
    #[arg(long)]
    pub(crate) all_projects: bool,
    /// Write one HTML page that needs no network to this file; `-` is standard output.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["md", "json"])]
    pub(crate) html: Option<PathBuf>,
    /// Print Markdown.
    #[arg(long, conflicts_with = "json")]
    pub(crate) md: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(super) fn run(invocation: &Invocation, args: &Report) -> Result<u8, Failure> {
    let until = Timestamp::now();
    let since = match args.run {
        Some(_) => None,
        None => Some(ago(args.since.unwrap_or(USUAL_AGE))),
    };
    let policy = settings::resolve(&invocation.places, &Selection::default())?.policy;
    let window = Window { since, all_projects: args.all_projects };
    let mut memory = match args.all_projects {
        true => invocation.whole_store(&policy)?,
        false => invocation.memory(&policy)?,
    };
    let found = loops::read(&mut memory, &window)?;
    let loops = match &args.run {
        Some(name) => named(found, name)?,
        None => found,
    };
    let files = transcripts(invocation, &loops, since)?;
    let behind = BehindClaims::read(files, &policy, super::audit::tools())?;
    let mut report = ReportRecord { behind, ..ReportRecord::new(loops, since, until) };
    if !args.json {
        report.loops.sort_by_key(|one| one.state.rank());
    }
    let text = match &args.html {
        Some(_) => page::document(&report),
        None if args.json => render::json(&report)?,
        None if args.md => markdown::document(&report),
        None => text::card(&report),
    };
    let text = secrets::masked(&text);
    match &args.html {
        Some(file) => write_page("report", file, &text)?,
        None => print(&text)?,
    }
    if report.loops.is_empty() && !args.all_projects {
        render::notes(&[ELSEWHERE.to_owned()]);
    }
    Ok(DONE)
}

/// The transcripts in the run folders of these loops.
fn transcripts(
    invocation: &Invocation,
    loops: &[LoopRecord],
    since: Option<Timestamp>,
) -> Result<Vec<Transcript>, Failure> {
    let project = project_here(&invocation.places)?;
    let names: BTreeSet<_> =
        loops.iter().filter_map(|one| one.run.split('#').next()).map(str::to_owned).collect();
    let mut files = Vec::new();
    for task in project.tasks()? {
        if !names.contains(&format!("{}-{}", project.id(), task.id())) {
            continue;
        }
        for run in task.runs()? {
            // A run without a record is no run of the night.
            let started = run.info().map(|info| info.start_time).ok();
            let is_wanted = started.is_some_and(|at| since.is_none_or(|since| at >= since));
            let path = run.file(layout::STDOUT);
            if let (true, Ok(metadata)) = (is_wanted, fs::metadata(&path)) {
                let shown = path.display().to_string();
                files.push(Transcript { path, shown, size: metadata.len() });
            }
        }
    }
    Ok(files)
}

/// The loops with this name: a run, the runs of a loop, or those of a task.
fn named(all: Vec<LoopRecord>, name: &str) -> Result<Vec<LoopRecord>, Failure> {
    let is_named = |one: &LoopRecord| {
        let rest = one.run.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('#'))
            || one.task.as_deref() == Some(name)
    };
    if all.iter().any(is_named) {
        return Ok(all.into_iter().filter(is_named).collect());
    }
    let tasks = all.iter().filter_map(|one| one.task.as_deref());
    let known: Vec<_> = all.iter().map(|one| one.run.as_str()).chain(tasks).collect();
    let failure =
        Failure::usage("run-unknown", format!("no run, loop or task here is called {name}"));
    Err(match nearest_name(name, &known) {
        Some(nearest) => failure.hint(format!("the nearest name is {nearest}")),
        None => failure.hint("`gate status` lists them"),
    })
}
