//! `gate log`: the latest records, a line each.

use std::num::NonZeroU64;
use std::time::Duration;

use clap::Args;
use gate_card::{Flow, Lines, brief};
use gate_core::ledger::Sealed;
use gate_lens::log::{Costs, card};
use gate_lens::loops::{LoopRecord, LoopState};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::common::{DONE, ago};
use super::entries;
use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::loops::{self, Window};
use crate::memory::Memory;
use crate::settings::{self, Selection, parse_duration};

#[derive(Debug, Default, Args)]
pub(crate) struct Log {
    /// Go on with new records as they come.
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// The most records to show [default: 20, or all with --since].
    #[arg(short = 'n', value_name = "N")]
    pub(crate) count: Option<NonZeroU64>,
    /// Show the records of this time, such as 12h or 7d.
    #[arg(long, value_name = "AGE", value_parser = parse_duration)]
    pub(crate) since: Option<Duration>,
    /// Show the records of this run, or of the runs of this name, alone.
    #[arg(long, value_name = "R")]
    pub(crate) run: Option<String>,
    /// Show the records of this task alone.
    #[arg(long, value_name = "ID")]
    pub(crate) task: Option<String>,
    /// Show the decisions with this verdict alone.
    #[arg(long, value_name = "V", value_parser = VERDICTS)]
    pub(crate) verdict: Option<String>,
    /// Show what each decision cost, and the sum.
    #[arg(long)]
    pub(crate) cost: bool,
    /// Show the records of all projects in the store.
    #[arg(long, conflicts_with = "follow")]
    pub(crate) all_projects: bool,
    /// Print the records as JSON, one a line, with their hashes and, if there may be several,
    /// their projects.
    #[arg(long, conflicts_with = "cost")]
    pub(crate) json: bool,
}

/// The verdicts in records, and `released` for a stop that a hook let go without dead_loop.
const VERDICTS: [&str; 5] = ["exit", "continue", "tripped", "blocked", "released"];

/// Without `--since`, the longest time since a death for which the loop is named.
const MAX_DEATH_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// The age of the oldest records that are searched for the start of a loop that died.
const MAX_LOOP_AGE: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Records that are shown by default.
pub(super) const DEFAULT_COUNT: u64 = 20;

pub(super) fn run(invocation: &Invocation, args: &Log) -> Result<u8, Failure> {
    let count = match (args.count, args.since) {
        (None, Some(_)) => None,
        (count, _) => Some(count.map_or(DEFAULT_COUNT, NonZeroU64::get)),
    };
    let policy = settings::resolve(&invocation.places, &Selection::default())?.policy;
    let mut memory = match args.all_projects {
        true => invocation.whole_store(&policy)?,
        false => invocation.memory(&policy)?,
    };
    list(&mut memory, args, count)
}

/// The project's ledger.
pub(super) fn open_ledger(invocation: &Invocation) -> Result<Memory, Failure> {
    let policy = settings::resolve(&invocation.places, &Selection::default())?.policy;
    invocation.memory(&policy)
}

/// Lists so many records, the latest last; all without `count`.
pub(super) fn list(memory: &mut Memory, args: &Log, count: Option<u64>) -> Result<u8, Failure> {
    let (since, lines) = (args.since.map(ago), Lines::new(args.json));
    let list = List { args, count, since, lines, costs: Costs::default() };
    match !args.all_projects && (args.since.is_none() || args.follow) {
        true => list.show_pages(memory),
        false => list.show_window(memory),
    }
}

/// A list that is being printed.
struct List<'l> {
    args: &'l Log,
    /// The number of latest records; `None` for all.
    count: Option<u64>,
    /// Only records since this time.
    since: Option<Timestamp>,
    lines: Lines,
    costs: Costs,
}

impl List<'_> {
    /// Shows the records of one project, page after page, and with `--follow` new ones.
    fn show_pages(mut self, memory: &mut Memory) -> Result<u8, Failure> {
        let mut next_seq = match self.count {
            Some(count) => entries::start(memory, count, |sealed| self.wants(sealed))?,
            None => 1,
        };
        loop {
            let end = entries::each(memory, next_seq, |sealed| self.show(None, sealed))?;
            let flow = self.lines.flush()?;
            match end {
                Some(end_seq) if self.args.follow && flow.is_continue() => next_seq = end_seq,
                _ => return self.end(memory),
            }
            if self.lines.wait()?.is_break() {
                return Ok(DONE);
            }
        }
    }

    /// Shows the records since a time, of one project or all.
    fn show_window(mut self, memory: &mut Memory) -> Result<u8, Failure> {
        let all_projects = self.args.all_projects;
        let window = Window { since: self.since, all_projects };
        let count = self.count.and_then(|count| usize::try_from(count).ok());
        let latest = loops::latest_records(memory, &window, count, |sealed| self.wants(sealed))?;
        for (project, sealed) in &latest {
            let project = if all_projects { Some(project.as_str()) } else { None };
            if self.show(project, sealed)?.is_break() {
                break;
            }
        }
        self.end(memory)
    }

    fn show(&mut self, project: Option<&str>, sealed: &Sealed) -> Result<Flow, Failure> {
        if !self.wants(sealed) {
            return Ok(Flow::Continue(()));
        }
        if self.args.json {
            return self.lines.line(&json_line(sealed, project));
        }
        let cost = match self.args.cost {
            true => self.costs.add(sealed, project)?,
            false => None,
        };
        self.lines.line(&card::log_line(sealed, project, cost.as_deref()))
    }

    /// Shows a line for each loop that died: no record has its end, and its start may be long ago.
    fn show_deaths(&mut self, memory: &mut Memory) -> Result<Flow, Failure> {
        if self.args.verdict.is_some() {
            return Ok(Flow::Continue(()));
        }
        let all_projects = self.args.all_projects;
        let since = self.since.unwrap_or_else(|| ago(MAX_DEATH_AGE));
        // A loop is known by the record of its start, which may be older than the records that the
        // list shows.
        let window = Window { since: Some(since.min(ago(MAX_LOOP_AGE))), all_projects };
        for dead_loop in loops::read(memory, &window)? {
            let is_recent = dead_loop.ended.parse::<Timestamp>().is_ok_and(|time| time >= since);
            let name = dead_loop.run.split('#').next();
            let is_wanted = matches_filter(self.args.run.as_deref(), &[Some(&dead_loop.run), name])
                && matches_filter(self.args.task.as_deref(), &[dead_loop.task.as_deref()]);
            let earlier_deaths = dead_loop.deaths_in_words();
            let has_died = dead_loop.state == LoopState::Died || earlier_deaths.is_some();
            if !is_recent || !is_wanted || !has_died {
                continue;
            }
            let line = match self.args.json {
                true => death_json(&dead_loop, earlier_deaths.as_deref(), all_projects),
                false => death_line(&dead_loop, earlier_deaths.as_deref()),
            };
            if self.lines.line(&line)?.is_break() {
                return Ok(Flow::Break(()));
            }
        }
        Ok(Flow::Continue(()))
    }

    fn end(mut self, memory: &mut Memory) -> Result<u8, Failure> {
        if self.show_deaths(memory)?.is_break() {
            return Ok(DONE);
        }
        if self.args.cost {
            let sum = self.costs.sum();
            if self.lines.line(&sum)?.is_break() {
                return Ok(DONE);
            }
        }
        // Nothing follows, so it does not matter whether the reader has gone.
        let _ = self.lines.flush()?;
        Ok(DONE)
    }

    fn wants(&self, sealed: &Sealed) -> bool {
        let record = &sealed.record;
        let state = |key: &str| record.body.get("state")?.get(key)?.as_str();
        // A time that cannot be read does not hide its record.
        let is_early = match (self.since, record.time.parse::<Timestamp>()) {
            (Some(since), Ok(time)) => time < since,
            _ => false,
        };
        let verdict = record.body.get("decision").map(|decision| {
            match decision.get("released").and_then(Value::as_str) {
                Some(_) => "released",
                None => decision.get("verdict").and_then(Value::as_str).unwrap_or_default(),
            }
        });
        let task = state("task").or_else(|| record.body.get("task")?.as_str());
        !is_early
            && matches_filter(self.args.run.as_deref(), &[record.run.as_deref(), state("loop")])
            && matches_filter(self.args.task.as_deref(), &[task])
            && matches_filter(self.args.verdict.as_deref(), &[verdict])
    }
}

/// Without a filter, every record matches.
fn matches_filter(filter: Option<&str>, names: &[Option<&str>]) -> bool {
    filter.is_none() || names.contains(&filter)
}

/// The deaths of a loop: those after which it was started again, then the last.
fn deaths(dead_loop: &LoopRecord, earlier_deaths: Option<&str>) -> String {
    let is_dead = dead_loop.state == LoopState::Died;
    let last_death = if is_dead { Some(dead_loop.why.as_str()) } else { None };
    earlier_deaths.into_iter().chain(last_death).collect::<Vec<_>>().join("; ")
}

fn death_line(dead_loop: &LoopRecord, earlier_deaths: Option<&str>) -> String {
    let mut text = deaths(dead_loop, earlier_deaths);
    if dead_loop.state == LoopState::Died
        && let Some(next) = &dead_loop.next
    {
        text.push_str(&format!("; {next}"));
    }
    let name = dead_loop.task.as_ref().unwrap_or(&dead_loop.run);
    brief(&format!("{} {name}: {text}", LoopState::Died.word()))
}

/// A loop that died as JSON. It is no record: it has no number and no hash.
fn death_json(dead_loop: &LoopRecord, earlier_deaths: Option<&str>, all_projects: bool) -> String {
    let mut line = json!({
        "type": "loop_died",
        "time": dead_loop.ended,
        "run": dead_loop.run,
        "task": dead_loop.task,
        "state": dead_loop.state,
        "why": deaths(dead_loop, earlier_deaths),
        "next": dead_loop.next,
        "tree": dead_loop.tree,
    });
    if all_projects {
        line["project"] = Value::from(dead_loop.project.as_str());
    }
    line.to_string()
}

/// A record as JSON, with its hash. If the log has several projects, its own comes first.
fn json_line(sealed: &Sealed, project: Option<&str>) -> String {
    let line = sealed.to_line();
    match (project, line.strip_prefix('{')) {
        (Some(project), Some(members)) => {
            format!("{{\"project\":{},{members}", Value::from(project))
        }
        _ => line,
    }
}
