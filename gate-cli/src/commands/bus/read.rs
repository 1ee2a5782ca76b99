//! `gate bus read` and `gate bus poll`: messages, as they are and as they come.

use std::fmt::Write as _;
use std::io::{self, Read as _};
use std::path::Path;
use std::time::Instant;

use gate_core::text::clean;
use gate_fleet::bus::{self, Message, Problem};

use super::super::common::DONE;
use super::target;
use super::{BusArgs, BusFilter, Poll, Read};
use crate::context::Here;
use crate::failure::Failure;
use crate::governance::Bus;
use crate::render::{self, diagnose};
use gate_card::{Flow, Lines};

/// Messages that are shown by default.
const DEFAULT_COUNT: usize = 20;

/// Exit code if there is nothing new.
const NOTHING: u8 = 1;

pub(super) fn run(here: &Here, args: &Read) -> Result<u8, Failure> {
    let mut output = Output::new(&args.filter, args.json);
    let bus = match args.file.as_deref() {
        Some(file) if file == Path::new("-") => None,
        Some(file) => {
            let file = here.places.folder.join(file);
            must_exist(&file)?;
            Some(Bus::at(file))
        }
        None => Some(open(here, &args.place)?),
    };
    // Before the reading: what is written meanwhile changes it.
    let size = bus.as_ref().map(Bus::size).unwrap_or_default();
    let read = match &bus {
        Some(bus) => bus.read()?,
        None => bus::read(&stdin()?),
    };
    let named = bus.clone().unwrap_or_else(|| Bus::at("-"));
    bus_problems(named.path(), &read.problems);
    let all = output.select(&named, &read.messages)?;
    let skip = all.len().saturating_sub(count(args).unwrap_or(usize::MAX));
    let last = read.messages.last().map(|message| message.msg_id.clone());
    if output.show(&all[skip..])?.is_break() {
        return Ok(DONE);
    }
    match bus {
        Some(bus) if args.follow => output.follow(&bus, (last.unwrap_or_default(), size)),
        _ => Ok(DONE),
    }
}

pub(super) fn poll(here: &Here, args: &Poll) -> Result<u8, Failure> {
    let until = args.wait.map(|wait| Instant::now() + wait);
    let bus = open(here, &args.place)?;
    let mut output = Output::new(&args.filter, args.json);
    loop {
        // Before the reading: what is written meanwhile changes it.
        let size = bus.size();
        let read = bus.read()?;
        let new = output.select(&bus, &read.messages)?;
        if !new.is_empty() {
            let _ = output.show(&new)?;
            return Ok(DONE);
        }
        while bus.size() == size {
            if until.is_none_or(|until| Instant::now() >= until) || output.lines.wait()?.is_break()
            {
                return Ok(NOTHING);
            }
        }
    }
}

/// The number of latest messages to show; none means all.
fn count(args: &Read) -> Option<usize> {
    let is_part = args.filter.since_id.is_some() || args.filter.thread.is_some();
    args.last.or(if args.all || is_part { None } else { Some(DEFAULT_COUNT) })
}

fn open(here: &Here, place: &BusArgs) -> Result<Bus, Failure> {
    let bus = target::resolve(here, place, &target::caller(here, place)?)?.bus;
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
struct Output<'a> {
    filter: &'a BusFilter,
    json: bool,
    lines: Lines,
}

impl<'a> Output<'a> {
    fn new(filter: &'a BusFilter, json: bool) -> Self {
        Self { filter, json, lines: Lines::new(json) }
    }

    /// The messages that pass the filter.
    fn select<'m>(&self, bus: &Bus, all: &'m [Message]) -> Result<Vec<&'m Message>, Failure> {
        let since = self.filter.since_id.as_deref().unwrap_or_default();
        let new = bus::since(all, since).map_err(|error| bus.unknown(&error))?;
        let mut found: Vec<_> = new.iter().collect();
        if let Some(id) = &self.filter.thread {
            let thread = bus::thread(all, id).map_err(|error| bus.unknown(&error))?;
            found.retain(|message| thread.iter().any(|other| std::ptr::eq(*other, *message)));
        }
        found.retain(|message| self.is_of_type(message));
        Ok(found)
    }

    fn is_of_type(&self, message: &Message) -> bool {
        let kinds = &self.filter.kinds;
        kinds.is_empty() || kinds.iter().any(|kind| kind.eq_ignore_ascii_case(&message.kind))
    }

    fn show(&mut self, messages: &[&Message]) -> Result<Flow, Failure> {
        for message in messages {
            let line = if self.json { render::json_line(message)? } else { bus_message(message) };
            if self.lines.line(line.trim_end_matches('\n'))?.is_break() {
                return Ok(Flow::Break(()));
            }
        }
        self.lines.flush()
    }

    /// Goes on behind a message, as long as somebody reads; `size` is the bus's size before the
    /// message was read. If the message is gone, the bus was begun anew, and all of it is new.
    fn follow(&mut self, bus: &Bus, (mut last, mut size): (String, u64)) -> Result<u8, Failure> {
        loop {
            if self.lines.wait()?.is_break() {
                return Ok(DONE);
            }
            if bus.size() == size {
                continue;
            }
            size = bus.size();
            let read = bus.read()?;
            let new = bus::since(&read.messages, &last).unwrap_or(&read.messages);
            let new: Vec<_> = new.iter().filter(|message| self.is_of_type(message)).collect();
            if self.show(&new)?.is_break() {
                return Ok(DONE);
            }
            last = read.messages.last().map(|message| message.msg_id.clone()).unwrap_or_default();
        }
    }
}

/// A message: its head, and below it its text.
fn bus_message(message: &Message) -> String {
    let from = if message.run_id.is_empty() { "" } else { "  run " };
    let mut out = clean(&format!(
        "{}  {}  {}{from}{}",
        message.ts, message.kind, message.msg_id, message.run_id
    ));
    for parent in &message.parents {
        let kind = if parent.kind.is_empty() { "reply" } else { parent.kind.as_str() };
        let _ = write!(out, "\n    {} to {}", clean(kind), clean(&parent.msg_id));
    }
    for link in &message.links {
        let _ = write!(out, "\n    see {}", clean(&link.url));
    }
    for line in message.body.lines() {
        let _ = write!(out, "\n    {}", clean(line));
    }
    out
}

/// Reports the problems of a bus on stderr. They do not stop its reading.
fn bus_problems(bus: &Path, problems: &[Problem]) {
    for problem in problems {
        diagnose(&format!("gate: {}: {}\n", bus.display(), clean(&problem.to_string())));
    }
}
