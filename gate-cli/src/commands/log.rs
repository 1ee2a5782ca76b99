//! `gate log`: the latest records, a line each.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::time::Duration;

use clap::Args;
use gate_card::{Flow, Lines, brief};
use gate_core::history::kind;
use gate_core::ledger::Sealed;
use gate_lens::log::{Costs, card};
use gate_lens::loops::{LoopState, fold};
use jiff::Timestamp;
use serde_json::Value;

use super::common::{DONE, ago};
use super::entries;
use crate::context::Here;
use crate::failure::Failure;
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

/// The verdicts in records, and `released` for a stop that a hook let go without one.
const VERDICTS: [&str; 5] = ["exit", "continue", "tripped", "blocked", "released"];

/// Records that are shown by default.
pub(super) const DEFAULT_COUNT: u64 = 20;

pub(super) fn run(here: &Here, args: &Log) -> Result<u8, Failure> {
    let count = match (args.count, args.since) {
        (None, Some(_)) => None,
        (count, _) => Some(count.map_or(DEFAULT_COUNT, NonZeroU64::get)),
    };
    let policy = settings::resolve(&here.places, &Selection::default())?.policy;
    let mut memory = match args.all_projects {
        true => here.whole_store(&policy)?,
        false => here.memory(&policy)?,
    };
    list(&mut memory, args, count)
}

/// The project's ledger.
pub(super) fn opened(here: &Here) -> Result<Memory, Failure> {
    let policy = settings::resolve(&here.places, &Selection::default())?.policy;
    here.memory(&policy)
}

/// Lists so many records, the latest last; all without `count`.
pub(super) fn list(memory: &mut Memory, args: &Log, count: Option<u64>) -> Result<u8, Failure> {
    let (since, lines) = (args.since.map(ago), Lines::new(args.json));
    let list = List { args, count, since, lines, costs: Costs::default(), loops: BTreeMap::new() };
    match !args.all_projects && (args.since.is_none() || args.follow) {
        true => list.follow(memory),
        false => list.window(memory),
    }
}

/// A list that is being printed.
struct List<'l> {
    args: &'l Log,
    /// The number of latest records; none means all.
    count: Option<u64>,
    /// Only records since this time.
    since: Option<Timestamp>,
    lines: Lines,
    costs: Costs,
    /// The records of loops that were shown, by project: at the end of the log these tell which
    /// loops died.
    loops: BTreeMap<String, Vec<Sealed>>,
}

impl List<'_> {
    /// The records of one project, page after page, and those that come.
    fn follow(mut self, memory: &mut Memory) -> Result<u8, Failure> {
        let mut next = match self.count {
            Some(count) => entries::start(memory, count, |sealed| self.wants(sealed))?,
            None => 1,
        };
        loop {
            let shown = entries::each(memory, next, |sealed| self.show(None, sealed))?;
            let flow = self.lines.flush()?;
            match shown {
                Some(after) if self.args.follow && flow.is_continue() => next = after,
                _ => return self.end(),
            }
            if self.lines.wait()?.is_break() {
                return Ok(DONE);
            }
        }
    }

    /// The records since a time, of one project or all.
    fn window(mut self, memory: &mut Memory) -> Result<u8, Failure> {
        let all_projects = self.args.all_projects;
        let window = Window { since: self.since, all_projects };
        let most = self.count.and_then(|count| usize::try_from(count).ok());
        let latest = loops::latest_records(memory, &window, most, |sealed| self.wants(sealed))?;
        for (project, sealed) in &latest {
            let project = if all_projects { Some(project.as_str()) } else { None };
            if self.show(project, sealed)?.is_break() {
                break;
            }
        }
        self.end()
    }

    fn show(&mut self, project: Option<&str>, sealed: &Sealed) -> Result<Flow, Failure> {
        if !self.wants(sealed) {
            return Ok(Flow::Continue(()));
        }
        if self.args.json {
            return self.lines.line(&json_line(sealed, project));
        }
        if sealed.record.kind.starts_with("run_") || kind::is_decision(&sealed.record.kind) {
            let of_project = self.loops.entry(project.unwrap_or_default().to_owned()).or_default();
            of_project.push(sealed.clone());
        }
        let cost = match self.args.cost {
            true => self.costs.add(sealed, project)?,
            false => None,
        };
        self.lines.line(&card::log_line(sealed, project, cost.as_deref()))
    }

    /// A line for each loop that died: no record has its end.
    fn died(&mut self) -> Result<Flow, Failure> {
        for (project, records) in &self.loops {
            let mut loops = fold(project, records)?;
            loops.iter_mut().for_each(loops::note_death);
            for one in loops.iter().filter(|one| one.state == LoopState::Died) {
                let (name, why) = (one.task.as_ref().unwrap_or(&one.run), &one.why);
                let next = one.next.iter().map(|next| format!("; {next}")).collect::<String>();
                let line = brief(&format!("{} {name} {why}{next}", one.state.word()));
                if self.lines.line(&line)?.is_break() {
                    return Ok(Flow::Break(()));
                }
            }
        }
        Ok(Flow::Continue(()))
    }

    fn end(mut self) -> Result<u8, Failure> {
        if self.died()?.is_break() {
            return Ok(DONE);
        }
        if self.args.cost {
            let sum = self.costs.sum();
            if self.lines.line(&sum)?.is_break() {
                return Ok(DONE);
            }
        }
        let _reader_may_have_gone = self.lines.flush()?;
        Ok(DONE)
    }

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
            && is_wanted(self.args.run.as_deref(), &[record.run.as_deref(), state("loop")])
            && is_wanted(self.args.task.as_deref(), &[task])
            && is_wanted(self.args.verdict.as_deref(), &[verdict])
    }
}

/// Any name is wanted if none was asked for.
fn is_wanted(wanted: Option<&str>, names: &[Option<&str>]) -> bool {
    wanted.is_none() || names.contains(&wanted)
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
