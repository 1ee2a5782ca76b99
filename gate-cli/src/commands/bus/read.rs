//! `gate bus read` and `gate bus poll`: messages, as they are and as they come.

use std::io::{self, Read as _};
use std::path::Path;
use std::time::Instant;

use gate_core::protocol::bus::{self, Message};

use super::super::common::DONE;
use super::super::lines::{Flow, Lines};
use super::place;
use crate::args::{Place, Poll, Read, Wanted};
use crate::context::Here;
use crate::failure::Failure;
use crate::governance::Bus;
use crate::render;

/// How many are shown where nobody says.
const COUNT: usize = 20;

/// Exit code where there is nothing new.
const NOTHING: u8 = 1;

pub(super) fn run(here: &Here, args: &Read) -> Result<u8, Failure> {
    let mut shown = Shown::new(&args.wanted, args.json);
    let (bus, read) = match args.file.as_deref() {
        Some(file) if file == Path::new("-") => (None, bus::read(&stdin()?)),
        Some(file) => {
            let file = here.places.folder.join(file);
            there(&file)?;
            let bus = Bus::at(file);
            (Some(bus.clone()), bus.read()?)
        }
        None => {
            let bus = of(here, &args.place)?;
            (Some(bus.clone()), bus.read()?)
        }
    };
    let named = bus.clone().unwrap_or_else(|| Bus::at("-"));
    render::bus_problems(named.path(), &read.problems);
    let all = shown.wanted(&named, &read.messages)?;
    let skip = all.len().saturating_sub(count(args).unwrap_or(usize::MAX));
    let last = read.messages.last().map(|it| it.msg_id.clone());
    if shown.show(&all[skip..])?.is_break() {
        return Ok(DONE);
    }
    match bus.filter(|_| args.follow) {
        Some(bus) => shown.follow(&bus, last.unwrap_or_default()),
        None => Ok(DONE),
    }
}

pub(super) fn poll(here: &Here, args: &Poll) -> Result<u8, Failure> {
    let until = args.wait.map(|wait| Instant::now() + wait);
    let bus = of(here, &args.place)?;
    let mut shown = Shown::new(&args.wanted, args.json);
    loop {
        let read = bus.read()?;
        let new = shown.wanted(&bus, &read.messages)?;
        if !new.is_empty() {
            let _ = shown.show(&new)?;
            return Ok(DONE);
        }
        let size = bus.size();
        while bus.size() == size {
            if until.is_none_or(|until| Instant::now() >= until) || shown.lines.wait()?.is_break() {
                return Ok(NOTHING);
            }
        }
    }
}

/// How many of the latest are shown; all where it is none.
fn count(args: &Read) -> Option<usize> {
    let some = args.wanted.since_id.is_some() || args.wanted.thread.is_some();
    args.last.or(if args.all || some { None } else { Some(COUNT) })
}

fn of(here: &Here, place: &Place) -> Result<Bus, Failure> {
    let bus = place::meant(here, place, &place::caller(here, place)?)?.bus;
    if place.bus.is_some() && bus.path().symlink_metadata().is_err() {
        let path = bus.path().display();
        render::notes(&[format!("{path}: there is no such bus yet, so it is empty")]);
    }
    Ok(bus)
}

/// That the file to read is there: an empty answer would hide a slip.
fn there(file: &Path) -> Result<(), Failure> {
    let there = file.symlink_metadata();
    there.map(drop).map_err(|error| Failure::file("bus-unreadable", "read the bus", file, &error))
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
struct Shown<'a> {
    wanted: &'a Wanted,
    json: bool,
    lines: Lines,
}

impl<'a> Shown<'a> {
    fn new(wanted: &'a Wanted, json: bool) -> Self {
        Self { wanted, json, lines: if json { Lines::exact() } else { Lines::shown() } }
    }

    /// Those that are asked for.
    fn wanted<'m>(&self, bus: &Bus, all: &'m [Message]) -> Result<Vec<&'m Message>, Failure> {
        let unknown = |error| bus.unknown(&error);
        let since = self.wanted.since_id.as_deref().unwrap_or_default();
        let new = bus::since(all, since).map_err(unknown)?;
        let thread = self.wanted.thread.as_deref().map(|id| bus::thread(all, id));
        let thread = thread.transpose().map_err(unknown)?;
        let is_new = |it: &&Message| new.iter().any(|new| std::ptr::eq(new, *it));
        let found = match thread {
            Some(thread) => thread.into_iter().filter(is_new).collect::<Vec<_>>(),
            None => new.iter().collect(),
        };
        Ok(found.into_iter().filter(|it| self.is_of_type(it)).collect())
    }

    fn is_of_type(&self, message: &Message) -> bool {
        let kinds = &self.wanted.kinds;
        kinds.is_empty() || kinds.iter().any(|kind| kind.eq_ignore_ascii_case(&message.kind))
    }

    fn show(&mut self, messages: &[&Message]) -> Result<Flow, Failure> {
        for message in messages {
            let line =
                if self.json { render::json_line(message)? } else { render::bus_message(message) };
            if self.lines.line(line.trim_end_matches('\n'))?.is_break() {
                return Ok(Flow::Break(()));
            }
        }
        self.lines.flush()
    }

    /// Goes on behind a message, as long as somebody reads. Where the message is
    /// gone, the bus was begun anew, and all of it is new.
    fn follow(&mut self, bus: &Bus, mut last: String) -> Result<u8, Failure> {
        let mut size = bus.size();
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
            let new: Vec<_> = new.iter().filter(|it| self.is_of_type(it)).collect();
            if self.show(&new)?.is_break() {
                return Ok(DONE);
            }
            last = read.messages.last().map(|it| it.msg_id.clone()).unwrap_or_default();
        }
    }
}
