//! `gate bus read` and `gate bus poll`: messages, as they are and as they come.

use std::io::{self, Read as _};
use std::path::Path;
use std::time::{Duration, Instant};

use gate_core::text::clean;
use gate_fleet::bus::{self, Filter, Message, Problem, message_text};
use gate_fleet::disk::Follower;

use super::super::common::DONE;
use super::{BusArgs, Poll, Read, SharedBus, addressee, shared_bus};
use crate::failure::Failure;
use crate::governance::Bus;
use crate::invocation::Invocation;
use crate::render::{self, diagnose};
use gate_card::{Flow, Lines};

/// Messages that are shown by default.
const DEFAULT_COUNT: usize = 20;

/// The time between two looks into a database for messages that other machines have posted.
const PULL_INTERVAL: Duration = Duration::from_secs(1);

/// Exit code if there is nothing new.
const NOTHING: u8 = 1;

pub(super) fn run(invocation: &Invocation, args: &Read) -> Result<u8, Failure> {
    let mut output = Output::new(args.filter.filter(), args.json);
    let bus = match args.file.as_deref() {
        Some(file) if file == Path::new("-") => None,
        Some(file) => {
            let file = invocation.places.folder.join(file);
            must_exist(&file)?;
            Some(Bus::at(file))
        }
        None => Some(open(invocation, &args.place)?),
    };
    let mut machines = bus.as_ref().map(|bus| OtherMachines::new(invocation, bus));
    // Their messages come first into the file, which is read then.
    if let Some(machines) = &mut machines {
        machines.pull_or_tell()?;
    }
    let (follower, content) = match &bus {
        Some(bus) => {
            let (follower, content) = Follower::new(bus)?;
            (Some(follower), content)
        }
        None => (None, bus::read(&stdin()?)),
    };
    let named_bus = bus.clone().unwrap_or_else(|| Bus::at("-"));
    report_problems(named_bus.path(), &content.problems);
    let selected = output.select(&named_bus, &content.messages)?;
    let skipped = selected.len().saturating_sub(count(args).unwrap_or(usize::MAX));
    if output.show(&selected[skipped..])?.is_break() {
        return Ok(DONE);
    }
    match (follower, machines) {
        (Some(follower), Some(machines)) if args.follow => output.follow(follower, machines),
        _ => Ok(DONE),
    }
}

pub(super) fn poll(invocation: &Invocation, args: &Poll) -> Result<u8, Failure> {
    let deadline = args.wait.map(|wait| Instant::now() + wait);
    let bus = open(invocation, &args.place)?;
    let mut output = Output::new(args.filter.filter(), args.json);
    let mut machines = OtherMachines::new(invocation, &bus);
    loop {
        machines.pull()?;
        let (follower, content) = Follower::new(&bus)?;
        let selected = output.select(&bus, &content.messages)?;
        if !selected.is_empty() {
            let _ = output.show(&selected)?;
            return Ok(DONE);
        }
        while !follower.has_news() && !machines.is_due() {
            let is_over = deadline.is_none_or(|deadline| Instant::now() >= deadline);
            if is_over || output.lines.wait()?.is_break() {
                return Ok(NOTHING);
            }
        }
    }
}

/// The other machines that post to a bus, if there are any.
struct OtherMachines<'b> {
    invocation: &'b Invocation,
    bus: &'b Bus,
    /// The bus in the database; `None` before the first look, too.
    shared: Option<SharedBus>,
    last_look: Instant,
    /// At the last look the database did not answer.
    is_unreachable: bool,
}

impl<'b> OtherMachines<'b> {
    fn new(invocation: &'b Invocation, bus: &'b Bus) -> Self {
        Self { invocation, bus, shared: None, last_look: Instant::now(), is_unreachable: false }
    }

    /// Writes their new messages to the bus.
    fn pull(&mut self) -> Result<(), Failure> {
        if self.shared.is_none() {
            self.shared = shared_bus(self.invocation, self.bus)?;
        }
        if let Some(shared) = &mut self.shared {
            shared.memory.pull_notices(&shared.project)?;
        }
        self.last_look = Instant::now();
        Ok(())
    }

    /// As [`OtherMachines::pull`]. If the database does not answer, a note on stderr says so once, and
    /// the bus stays as it is.
    fn pull_or_tell(&mut self) -> Result<(), Failure> {
        let outcome = self.pull();
        let was_unreachable = self.is_unreachable;
        self.is_unreachable = outcome.as_ref().is_err_and(Failure::is_of_connection);
        match outcome {
            Err(failure) if self.is_unreachable => {
                self.last_look = Instant::now();
                if !was_unreachable {
                    render::notes(&[format!(
                        "messages of the other machines may be missing here: {}",
                        failure.message
                    )]);
                }
                Ok(())
            }
            outcome => outcome,
        }
    }

    /// It is time for another look into the database.
    fn is_due(&self) -> bool {
        let is_shared = self.shared.is_some() || self.is_unreachable;
        is_shared && self.last_look.elapsed() >= PULL_INTERVAL
    }
}

/// The number of latest messages to show; `None` means all.
fn count(args: &Read) -> Option<usize> {
    let is_selection = args.filter.since_id.is_some() || args.filter.thread.is_some();
    args.last.or(if args.all || is_selection { None } else { Some(DEFAULT_COUNT) })
}

fn open(invocation: &Invocation, place: &BusArgs) -> Result<Bus, Failure> {
    let bus = addressee(invocation, place)?.target.bus;
    if place.bus.is_some() && bus.path().symlink_metadata().is_err() {
        let path = bus.path().display();
        render::notes(&[format!("{path}: there is no such bus yet, so it is empty")]);
    }
    Ok(bus)
}

/// Fails if the file is missing: an empty answer would hide a mistyped path.
fn must_exist(file: &Path) -> Result<(), Failure> {
    file.symlink_metadata()
        .map(drop)
        .map_err(|error| Failure::file("bus-unreadable", "read the bus", file, &error))
}

fn stdin() -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes).map_err(|error| {
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
        mut machines: OtherMachines<'_>,
    ) -> Result<u8, Failure> {
        loop {
            if self.lines.wait()?.is_break() {
                return Ok(DONE);
            }
            if machines.is_due() {
                machines.pull_or_tell()?;
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
fn report_problems(bus: &Path, problems: &[Problem]) {
    for problem in problems {
        diagnose(&format!("gate: {}: {}\n", bus.display(), clean(&problem.to_string())));
    }
}
