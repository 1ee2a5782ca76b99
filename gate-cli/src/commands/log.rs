//! `gate log`: the latest records, a line each.

pub(super) mod card;
mod cost;

use std::num::NonZeroU64;
use std::time::Duration;

use clap::Args;
use gate_core::ledger::Sealed;
use jiff::Timestamp;
use serde_json::Value;

use super::common::{DONE, ago};
use super::entries;
use super::lines::{Flow, Lines};
use crate::context::Here;
use crate::failure::Failure;
use crate::loops::{self, Window};
use crate::memory::Memory;
use crate::settings::{self, Selection, parse_duration};
use cost::Costs;

#[derive(Debug, Args)]
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

/// The verdicts in records, and `released` for a stop that a hook let go without one.
const VERDICTS: [&str; 5] = ["exit", "continue", "tripped", "blocked", "released"];

/// Records that are shown by default.
pub(super) const DEFAULT_COUNT: u64 = 20;

pub(super) fn run(here: &Here, args: &Log) -> Result<u8, Failure> {
    let since = args.since.map(ago);
    let count = match (args.count, since) {
        (None, Some(_)) => None,
        (count, _) => Some(count.map_or(DEFAULT_COUNT, NonZeroU64::get)),
    };
    let listing = Listing {
        count,
        since,
        run: args.run.as_deref(),
        task: args.task.as_deref(),
        verdict: args.verdict.as_deref(),
        all_projects: args.all_projects,
        follow: args.follow,
        cost: args.cost,
        json: args.json,
    };
    let policy = settings::resolve(&here.places, &Selection::default())?.policy;
    let mut memory = match args.all_projects {
        true => here.whole_store(&policy)?,
        false => here.memory(&policy)?,
    };
    list(&mut memory, &listing)
}

/// The project's ledger.
pub(super) fn opened(here: &Here) -> Result<Memory, Failure> {
    let policy = settings::resolve(&here.places, &Selection::default())?.policy;
    here.memory(&policy)
}

/// The records to list, and their form.
#[derive(Default)]
pub(super) struct Listing<'a> {
    /// The number of latest records; none means all.
    pub(super) count: Option<u64>,
    /// Only records since this time.
    pub(super) since: Option<Timestamp>,
    /// Only records of this run, or of the runs of this loop.
    pub(super) run: Option<&'a str>,
    /// Only records of this task.
    pub(super) task: Option<&'a str>,
    /// Only decisions with this verdict.
    pub(super) verdict: Option<&'a str>,
    /// Records of all projects in the store.
    pub(super) all_projects: bool,
    /// Wait for new records.
    pub(super) follow: bool,
    /// With the cost of each decision.
    pub(super) cost: bool,
    /// As JSON.
    pub(super) json: bool,
}

/// Lists records, the latest last.
pub(super) fn list(memory: &mut Memory, listing: &Listing<'_>) -> Result<u8, Failure> {
    let lines = if listing.json { Lines::for_program() } else { Lines::for_person() };
    let mut list = List { listing, lines, costs: Costs::default() };
    if !listing.all_projects && (listing.since.is_none() || listing.follow) {
        return list.follow(memory);
    }
    list.window(memory)?;
    list.end()
}

/// A list that is being printed.
struct List<'l> {
    listing: &'l Listing<'l>,
    lines: Lines,
    costs: Costs,
}

impl List<'_> {
    /// The records of one project, page after page, and those that come.
    fn follow(mut self, memory: &mut Memory) -> Result<u8, Failure> {
        let listing = self.listing;
        let mut next = match listing.count {
            Some(count) => entries::start(memory, count, |sealed| listing.wants(sealed))?,
            None => 1,
        };
        loop {
            let shown = entries::each(memory, next, |sealed| self.show(None, sealed))?;
            let flow = self.lines.flush()?;
            match shown {
                Some(after) if listing.follow && flow.is_continue() => next = after,
                _ => return self.end(),
            }
            if self.lines.wait()?.is_break() {
                return Ok(DONE);
            }
        }
    }

    /// The records since a time, of one project or all.
    fn window(&mut self, memory: &mut Memory) -> Result<(), Failure> {
        let listing = self.listing;
        let window = Window { since: listing.since, all_projects: listing.all_projects };
        let most = listing.count.and_then(|count| usize::try_from(count).ok());
        let latest = loops::latest_records(memory, &window, most, |sealed| listing.wants(sealed))?;
        for (project, sealed) in &latest {
            let project = if listing.all_projects { Some(project.as_str()) } else { None };
            if self.show(project, sealed)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn show(&mut self, project: Option<&str>, sealed: &Sealed) -> Result<Flow, Failure> {
        if !self.listing.wants(sealed) {
            return Ok(Flow::Continue(()));
        }
        if self.listing.json {
            return self.lines.line(&json_line(sealed, project));
        }
        let cost = match self.listing.cost {
            true => self.costs.add(sealed, project)?,
            false => None,
        };
        self.lines.line(&card::log_line(sealed, project, cost.as_deref()))
    }

    fn end(mut self) -> Result<u8, Failure> {
        if self.listing.cost {
            let sum = self.costs.sum();
            if self.lines.line(&sum)?.is_break() {
                return Ok(DONE);
            }
        }
        let _reader_may_have_gone = self.lines.flush()?;
        Ok(DONE)
    }
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

impl Listing<'_> {
    fn wants(&self, sealed: &Sealed) -> bool {
        let record = &sealed.record;
        let state = |key: &str| record.body.get("state")?.get(key)?.as_str();
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
            && self
                .run
                .is_none_or(|run| record.run.as_deref() == Some(run) || state("loop") == Some(run))
            && self.task.is_none_or(|wanted| task == Some(wanted))
            && self.verdict.is_none_or(|wanted| verdict == Some(wanted))
    }
}
