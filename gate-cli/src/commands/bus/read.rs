//! `gate bus read` and `gate bus poll`: messages, as they are and as they come.

use std::io::{self, Read as _};
use std::path::Path;
use std::time::{Duration, Instant};

use gate_core::text::clean;
use gate_fleet::bus::{self, Filter, Message, Problem, message_text};
use gate_fleet::disk::Follower;

use super::super::common::DONE;
use super::{BusArgs, Poll, Read, SharedBus, shared_bus, target};
use crate::context::Here;
use crate::failure::Failure;
use crate::governance::Bus;
use crate::render::{self, diagnose};
use gate_card::{Flow, Lines};

/// Messages that are shown by default.
const DEFAULT_COUNT: usize = 20;

/// The time between two looks into a database for what other machines have posted.
const PULL_INTERVAL: Duration = Duration::from_secs(1);

/// Exit code if there is nothing new.
const NOTHING: u8 = 1;

pub(super) fn run(here: &Here, args: &Read) -> Result<u8, Failure> {
    let mut output = Output::new(args.filter.filter(), args.json);
    let bus = match args.file.as_deref() {
        Some(file) if file == Path::new("-") => None,
        Some(file) => {
            let file = here.places.folder.join(file);
            must_exist(&file)?;
            Some(Bus::at(file))
        }
        None => Some(open(here, &args.place)?),
    };
    let mut shared = match &bus {
        Some(bus) => shared_bus(here, bus)?,
        None => None,
    };
    pull(&mut shared)?;
    let (follower, read) = match &bus {
        Some(bus) => {
            let (follower, read) = Follower::new(bus)?;
            (Some(follower), read)
        }
        None => (None, bus::read(&stdin()?)),
    };
    let named = bus.clone().unwrap_or_else(|| Bus::at("-"));
    bus_problems(named.path(), &read.problems);
    let selected = output.select(&named, &read.messages)?;
    let skipped = selected.len().saturating_sub(count(args).unwrap_or(usize::MAX));
    if output.show(&selected[skipped..])?.is_break() {
        return Ok(DONE);
    }
    match follower {
        Some(follower) if args.follow => output.follow(follower, shared),
        _ => Ok(DONE),
    }
}

pub(super) fn poll(here: &Here, args: &Poll) -> Result<u8, Failure> {
    let deadline = args.wait.map(|wait| Instant::now() + wait);
    let bus = open(here, &args.place)?;
    let mut output = Output::new(args.filter.filter(), args.json);
    let mut shared = shared_bus(here, &bus)?;
    loop {
        pull(&mut shared)?;
        let (follower, read) = Follower::new(&bus)?;
        let selected = output.select(&bus, &read.messages)?;
        if !selected.is_empty() {
            let _ = output.show(&selected)?;
            return Ok(DONE);
        }
        let looked_at = Instant::now();
        while !follower.has_news() && !is_due(&shared, looked_at) {
            let is_over = deadline.is_none_or(|deadline| Instant::now() >= deadline);
            if is_over || output.lines.wait()?.is_break() {
                return Ok(NOTHING);
            }
        }
    }
}

/// Writes to the bus what other machines have posted.
fn pull(shared: &mut Option<SharedBus>) -> Result<(), Failure> {
    match shared {
        Some(shared) => shared.memory.pull_notices(&shared.project),
        None => Ok(()),
    }
}

/// True if it is time for another look into the database, after one at that moment.
fn is_due(shared: &Option<SharedBus>, looked_at: Instant) -> bool {
    shared.is_some() && looked_at.elapsed() >= PULL_INTERVAL
}

/// The number of latest messages to show; `None` means all.
fn count(args: &Read) -> Option<usize> {
    let is_part = args.filter.since_id.is_some() || args.filter.thread.is_some();
    args.last.or(if args.all || is_part { None } else { Some(DEFAULT_COUNT) })
}

fn open(here: &Here, place: &BusArgs) -> Result<Bus, Failure> {
    let bus = target(here, place)?.0.bus;
    if place.bus.is_some() && bus.path().symlink_metadata().is_err() {
        let path = bus.path().display();
        render::notes(&[format!("{path}: there is no such bus yet, so it is empty")]);
    }
    Ok(bus)
}

/// Fails if the file is missing: an empty answer would hide a mistyped path.
fn must_exist(file: &Path) -> Result<(), Failure> {
    let metadata = file.symlink_metadata();
    metadata
        .map(drop)
        .map_err(|error| Failure::file("bus-unreadable", "read the bus", file, &error))
}

fn stdin() -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = io::stdin().lock().read_to_end(&mut bytes);
    read.map_err(|error| {
        Failure::internal("input-unreadable", format!("the standard input: {error}"))
    })?;
    Ok(bytes)
}

/// Messages on the standard output.
struct Output {
    filter: Filter,
    json: bool,
    lines: Lines,
}

impl Output {
    fn new(filter: Filter, json: bool) -> Self {
        Self { filter, json, lines: Lines::new(json) }
    }

    /// The messages that pass the filter.
    fn select<'m>(&self, bus: &Bus, messages: &'m [Message]) -> Result<Vec<&'m Message>, Failure> {
        self.filter.select(messages).map_err(|error| bus.unknown(&error))
    }

    fn show(&mut self, messages: &[&Message]) -> Result<Flow, Failure> {
        for message in messages {
            let line = match self.json {
                true => render::json_line(message)?,
                false => message_text(message),
            };
            if self.lines.line(line.trim_end_matches('\n'))?.is_break() {
                return Ok(Flow::Break(()));
            }
        }
        self.lines.flush()
    }

    /// Goes on with new messages, as long as somebody reads.
    fn follow(
        &mut self,
        mut follower: Follower<'_>,
        mut shared: Option<SharedBus>,
    ) -> Result<u8, Failure> {
        let mut looked_at = Instant::now();
        loop {
            if self.lines.wait()?.is_break() {
                return Ok(DONE);
            }
            if is_due(&shared, looked_at) {
                pull(&mut shared)?;
                looked_at = Instant::now();
            }
            if !follower.has_news() {
                continue;
            }
            let news = follower.news()?;
            let selected: Vec<_> =
                news.iter().filter(|message| self.filter.takes_kind(message)).collect();
            if self.show(&selected)?.is_break() {
                return Ok(DONE);
            }
        }
    }
}

/// Reports the problems of a bus on stderr. They do not stop its reading.
fn bus_problems(bus: &Path, problems: &[Problem]) {
    for problem in problems {
        diagnose(&format!("gate: {}: {}\n", bus.display(), clean(&problem.to_string())));
    }
}
