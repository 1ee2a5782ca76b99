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

/// The verdicts in records, and `released` for a stop that a hook let go without one.
const VERDICTS: [&str; 5] = ["exit", "continue", "tripped", "blocked", "released"];

/// The time in which a loop that died is named without `--since`.
const DEAD_FOR: Duration = Duration::from_secs(24 * 60 * 60);

/// The longest loop that is looked for: its start is a record, too.
const LONGEST_LOOP: Duration = Duration::from_secs(7 * 24 * 60 * 60);

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
pub(super) fn opened(invocation: &Invocation) -> Result<Memory, Failure> {
    let policy = settings::resolve(&invocation.places, &Selection::default())?.policy;
    invocation.memory(&policy)
}

/// Lists so many records, the latest last; all without `count`.
pub(super) fn list(memory: &mut Memory, args: &Log, count: Option<u64>) -> Result<u8, Failure> {
    let (since, lines) = (args.since.map(ago), Lines::new(args.json));
    let list = List { args, count, since, lines, costs: Costs::default() };
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
                _ => return self.end(memory),
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

    /// A line for each loop that died: no record has its end, and its start may be long ago.
    fn died(&mut self, memory: &mut Memory) -> Result<Flow, Failure> {
        if self.args.verdict.is_some() {
            return Ok(Flow::Continue(()));
        }
        let all_projects = self.args.all_projects;
        let since = self.since.unwrap_or_else(|| ago(DEAD_FOR));
        let window = Window { since: Some(since.min(ago(LONGEST_LOOP))), all_projects };
        for one in loops::read(memory, &window)? {
            let was_seen = one.ended.parse::<Timestamp>().is_ok_and(|time| time >= since);
            let name = one.run.split('#').next();
            let is_wanted = is_wanted(self.args.run.as_deref(), &[Some(&one.run), name])
                && is_wanted(self.args.task.as_deref(), &[one.task.as_deref()]);
            let deaths = one.deaths_in_words();
            let has_died = one.state == LoopState::Died || deaths.is_some();
            if !was_seen || !is_wanted || !has_died {
                continue;
            }
            let line = match self.args.json {
                true => death_json(&one, deaths.as_deref(), all_projects),
                false => death_line(&one, deaths.as_deref()),
            };
            if self.lines.line(&line)?.is_break() {
                return Ok(Flow::Break(()));
            }
        }
        Ok(Flow::Continue(()))
    }

    fn end(mut self, memory: &mut Memory) -> Result<u8, Failure> {
        if self.died(memory)?.is_break() {
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

/// The deaths of a loop: those before it was started again, then the last.
fn deaths(one: &LoopRecord, earlier: Option<&str>) -> String {
    let last = (one.state == LoopState::Died).then_some(one.why.as_str());
    earlier.into_iter().chain(last).collect::<Vec<_>>().join("; ")
}

fn death_line(one: &LoopRecord, earlier: Option<&str>) -> String {
    let is_dead = one.state == LoopState::Died;
    let next = one.next.iter().filter(|_next| is_dead).map(|next| format!("; {next}"));
    let (name, word) = (one.task.as_ref().unwrap_or(&one.run), LoopState::Died.word());
    brief(&format!("{word} {name}: {}{}", deaths(one, earlier), next.collect::<String>()))
}

/// A loop that died as JSON. It is no record: it has no number and no hash.
fn death_json(one: &LoopRecord, earlier: Option<&str>, all_projects: bool) -> String {
    let mut line = json!({
        "type": "loop_died",
        "time": one.ended,
        "run": one.run,
        "task": one.task,
        "state": one.state,
        "why": deaths(one, earlier),
        "next": one.next,
        "tree": one.tree,
    });
    if all_projects {
        line["project"] = Value::from(one.project.as_str());
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
